"""Counts of ends and changes by day, and the bar of one remote's period."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from typing import TYPE_CHECKING

from lockterm.domain import dates, glyphs
from lockterm.domain.validity import Phase, phase_of

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote

AHEAD_MS = 30 * dates.DAY_MS
"""The time from now, in milliseconds, within which ends are counted."""

DAYS = 34
"""Maximum number of days in :data:`AHEAD_MS`, with some more for two reasons.

Different time zones have two different dates for today, and a day may be an hour short.
"""


class Timeline:
    """The counts of ends by day, for each lock.

    Args:
        now_ms: Now, in milliseconds.
        zones: The time zones of the locks. The earliest local date in them is the first day.
    """

    def __init__(self, now_ms: int, zones: Iterable[tzinfo]) -> None:
        todays = {zone: at.date() for zone in zones if (at := dates.local(now_ms, zone))}
        self.first: date | None = min(todays.values(), default=None)
        """The first day; None if there is no lock."""
        self.counts: dict[int, list[int]] = {}
        """Lock ID -> the number of ends on each day; only locks with at least one end."""
        self._now_ms = now_ms
        self._begins: dict[tzinfo, list[int]] = {}
        if self.first is not None:
            days = [self.first + timedelta(days=day) for day in range(DAYS)]
            self._begins = {zone: [dates.begin_of(day, zone) for day in days] for zone in todays}

    def by_first_day(self) -> list[tuple[int, list[int]]]:
        """Return the lock IDs with their counts, the earliest ends first.

        If the first ends of several locks are on the same day, the lock with most ends on it is
        first.
        """

        def first(counts: list[int]) -> tuple[int, int]:
            return next((day, -count) for day, count in enumerate(counts) if count)

        return sorted(self.counts.items(), key=lambda one: first(one[1]))

    def add(self, lock_id: int, zone: tzinfo, end_ms: int) -> None:
        """Count an end, if it is in the future and within :data:`AHEAD_MS`."""
        if not self._now_ms < end_ms <= self._now_ms + AHEAD_MS:
            return
        day = bisect_right(self._begins[zone], end_ms - 1) - 1  # at midnight, the day before
        self.counts.setdefault(lock_id, [0] * DAYS)[day] += 1


QUARTER_MS = 15 * dates.MINUTE_MS
"""A quarter of an hour, in milliseconds. In every time zone, a day begins with one."""


@dataclass(frozen=True, slots=True)
class DayCounts:
    """The numbers of changes on consecutive days."""

    first: date
    """The first day."""
    counts: Sequence[int]
    """The number for each day; today is the last one."""

    @property
    def today(self) -> date:
        """The last day."""
        return self.first + timedelta(len(self.counts) - 1)

    def last(self, days: int) -> DayCounts:
        """Return the numbers of the last days only."""
        left_out = max(len(self.counts) - days, 0)
        return DayCounts(self.first + timedelta(left_out), self.counts[left_out:])


def first_day(today: date, days: int) -> date:
    """Return the first of a number of days that end with today."""
    return today - timedelta(days - 1)


def sum_up_quarters(quarters: Mapping[int, int], today: date, days: int, zone: tzinfo) -> DayCounts:
    """Return the numbers of the last days. Later times, after the clock was set back, are left out.

    Args:
        quarters: Quarter of an hour since 1970 -> number of changes.
        today: The last day.
        days: The number of days.
        zone: The time zone of the days.
    """
    first = first_day(today, days)
    begins = [dates.begin_of(first + timedelta(day), zone) for day in range(days + 1)]
    counts = [0] * days
    for quarter, count in quarters.items():
        day = bisect_right(begins, quarter * QUARTER_MS) - 1
        if 0 <= day < days:
            counts[day] += count
    return DayCounts(first, counts)


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
