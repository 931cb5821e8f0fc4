"""Errors, on one line that is safe to show."""

from __future__ import annotations

from lockterm.domain.safe_text import clean
from lockterm.errors import LONGEST_MEANING, LocktermError


def format_meaning(error: LocktermError) -> str:
    """What an error means."""
    return clean(error.meaning, LONGEST_MEANING)


def format_sentences(error: LocktermError) -> str:
    """What an error means, and what to do."""
    return clean(error.sentences, LONGEST_MEANING)


def format_titled_meaning(error: LocktermError) -> str:
    """What happened and what it means."""
    return clean(f"{error.title}: {error.meaning}", LONGEST_MEANING)


def format_error(error: LocktermError) -> str:
    """What happened, what it means, and what to do."""
    return clean(f"{error.title}: {error.sentences}", LONGEST_MEANING)
