"""The declaration of a key, and of a place where keys work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Key:
    """A key at one place; at another place, the same ID may have another action."""

    id: str
    """The name of the key in the configuration."""
    keys: str
    """The default keys in Textual's names, separated by commas."""
    verb: str
    """The verb in the footer."""
    sentence: str = ""
    """A longer description of the action; empty if the verb is enough."""
    action: str = ""
    """The action of the screen or widget; if empty, the last part of the ID."""
    line: int = 0
    """The position in the footer, from 1; the first keys get room first. 0 means not shown."""
    opens: bool = False
    """Whether later keys are meant for the screen or dialog that this key opens.

    If the action is disabled, a dialog shows the reason, so that those keys do not act on the
    screen.
    """
    priority: bool = False
    """Whether the key works before all other keys, in every dialog and every field."""

    @property
    def does(self) -> str:
        """A description of the action, as a sentence without a period."""
        text = self.sentence or self.verb
        return text[0].upper() + text[1:]


@dataclass(frozen=True)
class Place:
    """A screen, a dialog, or a widget inside them that can have the focus."""

    words: str
    """The place in words, such as ``on the remotes``."""
    tasks: Mapping[str, tuple[Key, ...]]
    """Help heading -> the keys that this place adds, in the order of the help."""
    like: Place | None = None
    """Another place whose keys work here too, or None."""
    holds: tuple[str, ...] = ()
    """The names of the inner places; one of them may be active together with this place."""
    is_typed_into: bool = False
    """Whether the keys of this place must work while the user types text."""
    is_inner: bool = False
    """Whether the place is a widget inside screens or dialogs."""
    everywhere: tuple[str, ...] | None = None
    """The IDs of the global keys that work in this place, or None if all of them work."""

    @cached_property
    def own(self) -> tuple[Key, ...]:
        """The keys that this place adds: first the keys of the footer, in the footer's order."""
        keys = [key for keys in self.tasks.values() for key in keys]
        return tuple(sorted(keys, key=lambda key: key.line or len(keys) + 1))

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """ID -> its default keys here, separated by commas, including the keys of ``like``."""
        above = self.like.keys if self.like else {}
        return {**above, **{key.id: key.keys for key in self.own}}
