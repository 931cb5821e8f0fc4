"""Texts about the service, its clock, read-only profiles, and errors."""

from __future__ import annotations

from lockterm.domain.safe_text import clean
from lockterm.errors import LONGEST_MEANING, LocktermError

LOCK_MAY_NOT_KNOW = "The service does not report whether the change has reached the lock."
"""The sentence about a recorded change that the lock may not have received yet."""


def describe_read_only(profile: str, so: str = "") -> str:
    """Return the message that a profile is read-only, with the consequence if there is one.

    Args:
        profile: The name of the profile.
        so: The consequence for the user, as a sentence without a full stop; empty to show none.
    """
    return f"The profile {clean(profile, 40)} is read-only{so and f'. {so}'}."


def describe_clock_doubt(offset_s: float) -> str:
    """Return a warning that dates such as ``+30d`` may be wrong, because the clocks differ.

    Args:
        offset_s: How far the service's clock is ahead of this machine's clock, in seconds.
    """
    return (
        f"{_describe_clock_difference(offset_s)}. lockterm calculates dates such as now or +30d"
        " with the service's clock. Check these dates."
    )


def describe_clock(offset_s: float) -> str:
    """Return sentences about a clock difference, and about the clock that lockterm uses.

    Args:
        offset_s: How far the service's clock is ahead of this machine's clock, in seconds.
    """
    return f"{_describe_clock_difference(offset_s)}. lockterm uses the service's clock."


def _describe_clock_difference(offset_s: float) -> str:
    """Return a sentence about the difference between the two clocks, without a full stop.

    Args:
        offset_s: How far the service's clock is ahead of this machine's clock, in seconds.
    """
    minutes = round(abs(offset_s) / 60)
    off = f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
    if minutes >= 48 * 60:
        off = f"{minutes // 60 // 24:,} days"
    side = "behind" if offset_s > 0 else "ahead of"
    return f"This machine's clock is {off} {side} the service's clock"


def format_meaning(error: LocktermError) -> str:
    """Return the meaning of an error, without its title and the next step; safe to show."""
    return clean(error.meaning, LONGEST_MEANING)


def format_sentences(error: LocktermError) -> str:
    """Return the meaning of an error and the next step, without its title; safe to show."""
    return clean(error.sentences, LONGEST_MEANING)


def format_titled_meaning(error: LocktermError) -> str:
    """Return the title and the meaning of an error, without the next step; safe to show."""
    return clean(f"{error.title}: {error.meaning}", LONGEST_MEANING)


def format_error(error: LocktermError) -> str:
    """Return the title, the meaning and the next step of an error; safe to show."""
    return clean(f"{error.title}: {error.sentences}", LONGEST_MEANING)
