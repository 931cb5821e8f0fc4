"""Texts about the service, its clock, and read-only profiles."""

from __future__ import annotations

from lockterm.domain.safe_text import clean

LOCK_MAY_NOT_KNOW = "The service does not report whether the change has reached the lock."
"""The sentence about the limit of lockterm's knowledge of a recorded change."""


def describe_read_only(profile: str, so: str = "") -> str:
    """Return the sentence that a profile is read-only, and why that matters here.

    Args:
        profile: The name of the profile.
        so: The consequence, as a sentence without a full stop; empty for none.
    """
    return f"The profile {clean(profile, 40)} is read-only{so and f'. {so}'}."


def describe_clock_doubt(offset_s: float) -> str:
    """Return a warning about the effect of a clock difference on dates.

    Args:
        offset_s: The lead of the service's clock over this machine's, in seconds.
    """
    return (
        f"{_describe_clock_difference(offset_s)}. lockterm calculates dates such as now or +30d"
        " with the service's clock. Check these dates."
    )


def describe_clock(offset_s: float) -> str:
    """Return sentences about a clock difference, and about the clock that lockterm uses."""
    return f"{_describe_clock_difference(offset_s)}. lockterm uses the service's clock."


def _describe_clock_difference(offset_s: float) -> str:
    """Return how far this machine's clock is behind or ahead of the service's, without a full stop.

    Args:
        offset_s: The lead of the service's clock over this machine's, in seconds.
    """
    minutes = round(abs(offset_s) / 60)
    off = f"{minutes} min" if minutes < 48 * 60 else f"{minutes // 60 // 24:,} days"
    side = "behind" if offset_s > 0 else "ahead of"
    return f"This machine's clock is {off} {side} the service's clock"
