"""Words that are said in more than one place, each of them clean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockterm.domain.safe_text import clean
from lockterm.errors import LONGEST_MEANING, LocktermError

if TYPE_CHECKING:
    pass


LOCK_MAY_NOT_KNOW = "Whether the lock knows it already is not told by the service."
"""What a service that has recorded a change does not say of the lock."""


def counted(count: int, thing: str) -> str:
    """``1 remote``, ``2,000 remotes``."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def unreadable_periods(count: int) -> str:
    """``2 remotes have a period that cannot be read``; empty if all can be."""
    have = "has" if count == 1 else "have"
    return f"{counted(count, 'remote')} {have} a period that cannot be read" if count else ""


def none_of(count: int, thing: str, does: str, do: str) -> str:
    """``None of the 5 locks matches``; of a single one, ``The only lock does not match``.

    Args:
        count: How many there are.
        thing: What they are, in the singular.
        does: What none of them does: ``matches``, ``is shown``.
        do: What the only one does: ``does not match``, ``is not shown``.
    """
    return f"The only {thing} {do}" if count == 1 else f"None of the {counted(count, thing)} {does}"


def read_only(profile: str, so: str = "") -> str:
    """Why a profile sends nothing, and what cannot be done: ``nothing can be restored``."""
    return f"The profile {clean(profile, 40)} is read-only{so and f': {so}'}."


def clock_doubt(offset_s: float) -> str:
    """What two clocks that disagree mean for dates.

    Args:
        offset_s: How far the service's clock is ahead of this machine's, in seconds.
    """
    return (
        f"{clock_difference(offset_s)}. Dates such as now or +30d are counted from the service's:"
        " see that they are right."
    )


def clock_note(offset_s: float) -> str:
    """Return which clock periods are judged by, as a sentence."""
    words = clock_difference(offset_s)
    return f"{words[0].upper()}{words[1:]}. Periods are judged by the service's."


def clock_difference(offset_s: float) -> str:
    """Return how far this machine's clock is off the service's: ``offset_s`` ahead of it."""
    minutes = round(abs(offset_s) / 60)
    off = f"{minutes} min" if minutes < 48 * 60 else f"{minutes // 60 // 24:,} days"
    side = "behind" if offset_s > 0 else "ahead of"
    return f"this machine's clock is {off} {side} the service's"


def meaning(error: LocktermError) -> str:
    """What an error means."""
    return clean(error.meaning, LONGEST_MEANING)


def sentences(error: LocktermError) -> str:
    """What an error means, and what to do."""
    return clean(error.sentences, LONGEST_MEANING)


def named_meaning(error: LocktermError) -> str:
    """What happened and what it means."""
    return clean(f"{error.title}: {error.meaning}", LONGEST_MEANING)


def whole(error: LocktermError) -> str:
    """What happened, what it means, and what to do."""
    return clean(f"{error.title}: {error.sentences}", LONGEST_MEANING)


def roughly(seconds: float) -> str:
    """``40 s``, ``17 min``, ``2.5 h``: a time that nobody knows just so."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{seconds / 3600:.1f} h"


def size_words(size: float) -> str:
    """A number of bytes, wherever people read one: ``830 bytes``, ``1.4 MiB``."""
    amount, units = float(size), iter(("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
    unit = ""
    while amount >= 1023.95 and (larger := next(units, "")):
        amount, unit = amount / 1024, larger
    return f"{amount:,.1f} {unit}" if unit else f"{size:.0f} byte{'' if size == 1 else 's'}"
