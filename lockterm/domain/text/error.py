"""Texts about errors, on one line that is safe to show."""

from __future__ import annotations

from lockterm.domain.safe_text import clean
from lockterm.errors import LONGEST_MEANING, LocktermError


def format_meaning(error: LocktermError) -> str:
    """Return the meaning of an error, without its title and the next step."""
    return clean(error.meaning, LONGEST_MEANING)


def format_sentences(error: LocktermError) -> str:
    """Return the meaning of an error and the next step, without its title."""
    return clean(error.sentences, LONGEST_MEANING)


def format_titled_meaning(error: LocktermError) -> str:
    """Return the title and the meaning of an error, without the next step."""
    return clean(f"{error.title}: {error.meaning}", LONGEST_MEANING)


def format_error(error: LocktermError) -> str:
    """Return the title and the meaning of an error, and the next step."""
    return clean(f"{error.title}: {error.sentences}", LONGEST_MEANING)
