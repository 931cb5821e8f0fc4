"""The declaration of a key, and of a place where keys work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Key:
    """A key at one place; an id that is at several can do something else at each."""

    id: str
    """The name in the configuration."""
    keys: str
    """The keys unless others are chosen, as Textual names them, with commas between."""
    verb: str
    """The verb in the footer."""
    sentence: str = ""
    """The same at some length; empty where the verb says it all."""
    action: str = ""
    """The action of the screen or widget; empty: the end of the id."""
    line: int = 0
    """Which of the line of keys it is, from 1 on, as they get room; 0: it is not shown there."""
    opens: bool = False
    """Whether later keys are meant for what it opens. If it can do nothing, they must not reach the
    screen below."""
    priority: bool = False
    """Whether it works before anything else does, in every dialog and every field."""

    @property
    def does(self) -> str:
        """The description as a sentence without a period."""
        text = self.sentence or self.verb
        return text[0].upper() + text[1:]


@dataclass(frozen=True)
class Place:
    """A screen, a dialog, or something in them that can have the focus."""

    words: str
    """The place in words: ``on the remotes``."""
    tasks: Mapping[str, tuple[Key, ...]]
    """Heading of help -> the keys that are here alone, in its order."""
    like: Place | None = None
    """Another place, whose keys are here too."""
    holds: tuple[str, ...] = ()
    """The inner places it contains; a screen and one of them are active at the same time."""
    is_typed_into: bool = False
    """Whether its keys have to work while text is typed."""
    is_inner: bool = False
    """Whether it is something inside of screens."""
    everywhere: tuple[str, ...] | None = None
    """Those of the keys of everywhere that work in it; None: all of them."""

    @cached_property
    def own(self) -> tuple[Key, ...]:
        """The keys that are here alone: those of the line of keys first, in its order."""
        keys = [key for keys in self.tasks.values() for key in keys]
        return tuple(sorted(keys, key=lambda key: key.line or len(keys) + 1))

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """Id -> its keys here unless chosen, with commas between."""
        above = self.like.keys if self.like else {}
        return {**above, **{key.id: key.keys for key in self.own}}
