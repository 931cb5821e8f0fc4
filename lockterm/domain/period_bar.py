"""The period of a remote as a bar from its start to its end, with today on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockterm.domain import glyphs
from lockterm.domain.validity import Phase, phase_of

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote

LEAST = 12
"""The minimum width of a bar in cells."""


def period_bar(remote: Remote, now_ms: int, width: int) -> str:
    """Return ``├━━━━━╋──────┤``: the past, today, and the rest; today may be outside of it.

    Args:
        remote: The remote with the period.
        now_ms: Now, in milliseconds.
        width: The width in cells.

    Returns:
        Empty without a period, or without room.
    """
    phase, start, end = phase_of(remote, now_ms), remote.start_ms, remote.end_ms
    if phase in (Phase.ALWAYS, Phase.UNCLEAR) or not start or not end or width < LEAST:
        return ""
    first, over, today, left, last = "[=|-]" if glyphs.are_ascii() else "├━╋─┤"
    if phase is Phase.AHEAD:
        return f"{today} {first}{left * (width - 4)}{last}"
    if phase is Phase.OVER:
        return f"{first}{over * (width - 4)}{last} {today}"
    cells = width - 3
    passed = (now_ms - start) * (cells + 1) // (end - start)
    return f"{first}{over * passed}{today}{left * (cells - passed)}{last}"
