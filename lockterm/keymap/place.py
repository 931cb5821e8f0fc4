"""The classes that declare an action with its keys, and a place where keys work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Key:
    """The keys of one action at one place; the same ID may mean another action at another place."""

    id: str
    """The ID of the action, by which the configuration chooses its keys."""
    keys: str
    """The default keys in Textual's names, separated by commas."""
    verb: str
    """The verb in the footer."""
    sentence: str = ""
    """A longer description of the action; empty if the verb is enough."""
    action: str = ""
    """The action of the screen or widget; if empty, the last part of the ID."""
    line: int = 0
    """The position in the footer, from 1; 0 if the footer does not show the key.

    If the footer is too narrow, it leaves out the last keys.
    """
    opens: bool = False
    """Whether the key opens a screen or a dialog, for which the next keys are meant.

    If the action is disabled, a dialog shows the reason. The next keys then go to that dialog, and
    do not act on the screen.
    """
    priority: bool = False
    """Whether the key works in every dialog and every field, before all other keys."""

    @property
    def does(self) -> str:
        """A description of the action, as a sentence without a period."""
        text = self.sentence or self.verb
        return text[0].upper() + text[1:]


@dataclass(frozen=True)
class Place:
    """A screen, a dialog, or a widget inside them that can have the focus."""

    words: str
    """A phrase for the place, such as ``on the remotes``."""
    tasks: Mapping[str, tuple[Key, ...]]
    """Heading in the help -> the keys that this place adds, in the order of the help."""
    like: Place | None = None
    """Another place whose keys also work in this place, or None."""
    holds: tuple[str, ...] = ()
    """The names of widgets' places inside this place; at most one of them is active at a time."""
    is_typed_into: bool = False
    """Whether the keys of this place must work while the user types text."""
    is_inner: bool = False
    """Whether the place is a widget inside a screen or a dialog."""
    everywhere: tuple[str, ...] | None = None
    """The IDs of the global keys that work in this place, or None if all of them work."""

    @cached_property
    def own(self) -> tuple[Key, ...]:
        """The keys that this place adds. Keys in the footer come first, in its order."""
        keys = [key for keys in self.tasks.values() for key in keys]
        return tuple(sorted(keys, key=lambda key: key.line or len(keys) + 1))

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """ID of an action -> its default keys in this place, separated by commas.

        The actions of ``like`` are included.
        """
        above = self.like.keys if self.like else {}
        return {**above, **{key.id: key.keys for key in self.own}}
