"""The actions of a screen with their keys, and functions that create Textual's bindings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.screen import Screen

from lockterm.keymap.hints import label, written
from lockterm.keymap.keys import PLACES
from lockterm.keymap.keys.shared import Key


@dataclass(frozen=True, slots=True)
class Action:
    """An action of a screen, with its keys."""

    action: str
    """The name of the action, as the binding contains it."""
    node: DOMNode
    """The owner of the binding: the screen, the focused widget, or the app."""
    keys: tuple[str, ...]
    """The keys as the interface writes them, such as ``Ctrl+S``."""
    binding: Binding
    """The first of the action's bindings, which contains its verb and its description."""
    enabled: bool
    """Whether the action works now."""
    reason: str = ""
    """Why the action is disabled, as a sentence; may be empty."""

    @property
    def sentence(self) -> str:
        """A sentence that describes the action, or the verb if the binding has no sentence."""
        return self.binding.tooltip or titled(self.binding)


def titled(binding: Binding) -> str:
    """Return the verb of a binding as a title, such as ``Copy URL``."""
    return binding.description[:1].upper() + binding.description[1:]


def actions_of(screen: Screen[Any]) -> list[Action]:
    """Return the screen's actions that have a verb, each with all its keys, in binding order."""
    actions: dict[tuple[DOMNode, str], Action] = {}
    for node, binding, enabled, _ in screen.active_bindings.values():
        if not binding.description or binding.action == "screen.copy_text":
            continue
        if is_typed(screen, binding):
            continue
        known = actions.get((node, binding.action))
        if known is not None:
            keys = (*known.keys, label(binding.key))
            actions[node, binding.action] = replace(known, keys=keys)
            continue
        reason = "" if enabled else reason_against(node, binding.action)
        keys = tuple(filter(None, [label(binding.key)]))
        binding = named(node, binding)
        actions[node, binding.action] = Action(binding.action, node, keys, binding, enabled, reason)
    return list(actions.values())


def reason_against(node: DOMNode, action: str) -> str:
    """Return why an action is disabled; empty if it is enabled."""
    disabled_reason: Callable[[str], str] | None = getattr(node, "disabled_reason", None)
    return disabled_reason(action.partition("(")[0]) if disabled_reason is not None else ""


def named(node: DOMNode, binding: Binding) -> Binding:
    """Return the binding with its current verb, which the node's method ``verb_now`` may change.

    Args:
        node: The owner of the binding.
        binding: The binding.
    """
    verb_now: Callable[[str], str] | None = getattr(node, "verb_now", None)
    verb = verb_now(binding.action) if verb_now is not None else ""
    return replace(binding, description=verb) if verb else binding


def is_typed(screen: Screen[Any], binding: Binding) -> bool:
    """Return whether a binding's key types text into the focused field.

    ``Screen.active_bindings`` lists the binding of the slash even if the slash types text into the
    field.
    """
    character = written(binding.key)
    return (
        screen.focused is not None
        and len(character) == 1
        and screen.focused.check_consume_key(binding.key, character)
    )


def bindings(place: str) -> list[BindingType]:
    """Return Textual's bindings for the keys that the registry lists for a place.

    Args:
        place: The name of the place in the registry, such as ``table``.
    """
    return bind(PLACES[place].own)


def bind(keys: Iterable[Key]) -> list[BindingType]:
    """Return Textual's bindings for keys of the registry."""
    return [
        Binding(
            key.keys,
            key.action or key.id.rpartition(".")[2],
            key.verb,
            show=bool(key.line),
            id=key.id,
            tooltip=key.sentence,
            priority=key.priority,
        )
        for key in keys
    ]
