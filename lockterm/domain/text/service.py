"""The service, its clock, and what a profile may do with it."""

from __future__ import annotations

from lockterm.domain.safe_text import clean

LOCK_MAY_NOT_KNOW = "The service does not report whether the change has reached the lock."
"""The limit of every recorded change."""


def describe_read_only(profile: str, so: str = "") -> str:
    """Return that a profile is read-only, and what it prevents: ``nothing can be restored``."""
    return f"The profile {clean(profile, 40)} is read-only{so and f'. {so}'}."


def describe_clock_doubt(offset_s: float) -> str:
    """Return what a clock difference means for dates.

    Args:
        offset_s: The lead of the service's clock over this machine's, in seconds.
    """
    return (
        f"{_describe_clock_difference(offset_s)}. Dates such as now or +30d"
        " use the service's clock. Check them."
    )


def describe_clock(offset_s: float) -> str:
    """Return which clock periods are judged by, as a sentence."""
    words = _describe_clock_difference(offset_s)
    return f"{words[0].upper()}{words[1:]}. lockterm uses the service's clock."


def _describe_clock_difference(offset_s: float) -> str:
    """Return how far this machine's clock is off the service's: ``offset_s`` ahead of it."""
    minutes = round(abs(offset_s) / 60)
    off = f"{minutes} min" if minutes < 48 * 60 else f"{minutes // 60 // 24:,} days"
    side = "behind" if offset_s > 0 else "ahead of"
    return f"this machine's clock is {off} {side} the service's"
