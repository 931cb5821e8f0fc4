"""What can be done on a screen: the one list behind key line, help and command palette."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen

from lockterm.keymap.names import written


@dataclass(frozen=True, slots=True)
class Action:
    """Something that keys do now."""

    action: str
    """As Textual names it, for running it on ``node``."""
    node: DOMNode
    """Whose it is: the screen, the widget with the focus, or the app."""
    keys: tuple[str, ...]
    """Its keys as people read them."""
    binding: Binding
    """The first of its bindings: verb, sentence, whether the key line shows it."""
    enabled: bool
    """Whether it can do something now."""
    reason: str = ""
    """Why it cannot, as a sentence; may be empty."""

    @property
    def sentence(self) -> str:
        """What it does, at some length."""
        return self.binding.tooltip or titled(self.binding)


def titled(binding: Binding) -> str:
    """The verb of a binding as a title: ``Copy URL``."""
    return binding.description[:1].upper() + binding.description[1:]


def actions_of(screen: Screen[Any]) -> list[Action]:
    """Every action that has a verb, in the order of the bindings; one entry for all its keys."""
    actions: dict[tuple[DOMNode, str], Action] = {}
    for node, binding, enabled, _ in screen.active_bindings.values():
        if not binding.description or binding.action == "screen.copy_text":
            continue
        if is_typed(screen, binding):
            continue
        known = actions.get((node, binding.action))
        if known is not None:
            keys = (*known.keys, written(binding.key))
            actions[node, binding.action] = replace(known, keys=keys)
            continue
        reason = "" if enabled else reason_against(node, binding.action)
        keys = tuple(filter(None, [written(binding.key)]))
        binding = named(node, binding)
        actions[node, binding.action] = Action(binding.action, node, keys, binding, enabled, reason)
    return list(actions.values())


def reason_against(node: DOMNode, action: str) -> str:
    """Why an action of a screen, a widget or the app can do nothing now; empty: it can."""
    why_not: Callable[[str], str] | None = getattr(node, "why_not", None)
    return why_not(action.partition("(")[0]) if why_not is not None else ""


def named(node: DOMNode, binding: Binding) -> Binding:
    """A binding whose verb is what its key does now, where that changes; see ``verb_now``."""
    verb_now: Callable[[str], str] | None = getattr(node, "verb_now", None)
    verb = verb_now(binding.action) if verb_now is not None else ""
    return replace(binding, description=verb) if verb else binding


def is_typed(screen: Screen[Any], binding: Binding) -> bool:
    """Whether the key goes into the field with the focus; Textual overlooks the slash."""
    character = written(binding.key)
    return (
        screen.focused is not None
        and len(character) == 1
        and screen.focused.check_consume_key(binding.key, character)
    )
