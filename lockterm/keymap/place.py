"""The classes that declare an action with its keys, and a place where keys work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Key:
    """The keys of an action in one place. In another place, the same ID may mean another action."""

    id: str
    """The ID by which the configuration refers to the action."""
    keys: str
    """The default keys in Textual's names, separated by commas."""
    verb: str
    """The label in the footer, which is a verb."""
    sentence: str = ""
    """A longer description of the action; empty if the label is enough."""
    action: str = ""
    """The name of the action on the screen or widget; if empty, the last part of the ID."""
    line: int = 0
    """The position in the footer, from 1; 0 if the footer does not show the key.

    If the footer is too narrow, it leaves out the keys with the highest positions.
    """
    opens: bool = False
    """Whether the action opens a screen or a dialog, which receives the keys typed next.

    If the action is disabled, a dialog shows the reason instead, so that these keys do not act on
    the current screen.
    """
    priority: bool = False
    """Whether the key takes precedence over all other keys, in every dialog and every field."""

    @property
    def does(self) -> str:
        """A description of the action, as a sentence without a period."""
        text = self.sentence or self.verb
        return text[0].upper() + text[1:]


@dataclass(frozen=True)
class KeyContext:
    """A place where keys work: a screen, a dialog, or a widget inside a screen or dialog."""

    words: str
    """A phrase for the place, such as ``on the remotes``."""
    tasks: Mapping[str, tuple[Key, ...]]
    """Maps headings in the help to the keys that this place adds, in the order of the help."""
    like: KeyContext | None = None
    """Another place whose keys also work here; None if there is none."""
    holds: tuple[str, ...] = ()
    """The names of the places of widgets inside this place. At most one of these widgets has the
    focus at a time."""
    is_typed_into: bool = False
    """Whether the user types text here, so that each action needs a key that types no text."""
    is_inner: bool = False
    """Whether the place is a widget inside a screen or a dialog."""
    everywhere: tuple[str, ...] | None = None
    """The IDs of the global keys that work here; None if all of them work."""

    @cached_property
    def own(self) -> tuple[Key, ...]:
        """The keys that this place adds to those of :attr:`like`.

        The keys that the footer shows come first.
        """
        keys = [key for keys in self.tasks.values() for key in keys]
        return tuple(sorted(keys, key=lambda key: key.line or len(keys) + 1))

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """Maps the IDs of actions to their default keys in this place, separated by commas.

        The actions of ``like`` are included.
        """
        above = self.like.keys if self.like else {}
        return {**above, **{key.id: key.keys for key in self.own}}
