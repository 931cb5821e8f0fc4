"""The period of a remote as a bar from start to end, with a mark for today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockterm.domain import glyphs
from lockterm.domain.validity import Phase, phase_of

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote

LEAST = 12
"""The minimum width of a bar in cells."""


def period_bar(remote: Remote, now_ms: int, width: int) -> str:
    """Return the period of a remote as a bar: ``├━━━━━╋──────┤``.

    The bar shows the past part, today, and the rest. Before the start or after the end, the mark
    for today is outside of the bar.

    Args:
        remote: The remote with the period.
        now_ms: Now, in milliseconds.
        width: The width in cells.

    Returns:
        The bar; empty if the remote has no start or end, or if the width is less than ``LEAST``.
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
