"""What the doctor found: one line of its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lockterm.errors import LocktermError

State = Literal["ok", "note", "wrong"]
"""``note`` is worth knowing; only ``wrong`` makes the exit code 1."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    state: State
    """How it is."""
    subject: str
    """Terminal, configuration, store or service."""
    sentence: str
    """What was seen and, unless it is well, what to do."""


def trouble(subject: str, error: LocktermError) -> Finding:
    """The finding that something is wrong, in the words of its error."""
    return Finding("wrong", subject, sentence_of(error))


def sentence_of(error: LocktermError) -> str:
    """What an error means and what to do, in one line."""
    return " ".join(filter(None, (error.message, error.hint)))
