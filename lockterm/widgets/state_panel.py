"""The words that stand where a table or a tree has nothing to show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from textual.widgets import Static

from lockterm.errors import LocktermError
from lockterm.text import clean

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """Something that is read again and again: what is known of it now."""

    value: T | None = None
    """What was read last; None: nothing yet."""
    error: LocktermError | None = None
    """Why the last reading failed; with a value, that one is stale."""
    at_ms: int = 0
    """When the value was read."""
    busy: bool = False
    """Whether it is being read now."""
    kept: bool = False
    """Whether the value is of an earlier time, shown until the service answers."""


class StatePanel(Static):
    """Loading, empty, nothing matches, error: what it is, what it means, the next key."""

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(text, markup=False, id=id)

    def say(self, text: str, next_key: str = "") -> None:
        """Show a sentence, and the keys that lead on below it."""
        self.update("\n\n".join(filter(None, (text, next_key))))
        self.display = True

    def say_error(self, error: LocktermError, next_key: str) -> None:
        """Show an error: what happened, what it means, what to do."""
        sentence = " ".join(filter(None, (clean(error.message, 300), clean(error.hint, 300))))
        self.say(f"{clean(error.title)}\n\n{sentence}", next_key)
