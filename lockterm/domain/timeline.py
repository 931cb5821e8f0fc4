"""Numbers of expiring remotes and of changes by day, and a bar that shows a remote's period."""

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
"""Maximum time from now to an end that :class:`Timeline` counts, in milliseconds."""

DAYS = 34
"""Number of days for which :class:`Timeline` has counts, from the first day.

The number is greater than 30, because locks in different time zones have different dates for today,
and because a day may be an hour shorter."""


class Timeline:
    """The number of remotes that end on each day, for each lock.

    Args:
        now_ms: Now, in milliseconds.
        zones: The time zones of the locks. The first day is the earliest date in any of them.
    """

    def __init__(self, now_ms: int, zones: Iterable[tzinfo]) -> None:
        todays = {zone: at.date() for zone in zones if (at := dates.local(now_ms, zone))}
        self.first: date | None = min(todays.values(), default=None)
        """The first day of the counts; None if there are no locks."""
        self.counts: dict[int, list[int]] = {}
        """Maps lock IDs to the number of remotes that end on each day. Locks without such remotes
        are missing."""
        self._now_ms = now_ms
        self._begins: dict[tzinfo, list[int]] = {}
        if self.first is not None:
            days = [self.first + timedelta(days=day) for day in range(DAYS)]
            self._begins = {zone: [dates.begin_of(day, zone) for day in days] for zone in todays}

    def by_first_day(self) -> list[tuple[int, list[int]]]:
        """Return lock IDs with their counts, sorted by the first day on which a remote ends.

        If this day is the same for several locks, the lock on which the most remotes end that day
        comes first.
        """

        def first(counts: list[int]) -> tuple[int, int]:
            return next((day, -count) for day, count in enumerate(counts) if count)

        return sorted(self.counts.items(), key=lambda one: first(one[1]))

    def add(self, lock_id: int, zone: tzinfo, end_ms: int) -> None:
        """Count the end of a remote if it is in the future, but at most :data:`AHEAD_MS` away."""
        if not self._now_ms < end_ms <= self._now_ms + AHEAD_MS:
            return
        day = bisect_right(self._begins[zone], end_ms - 1) - 1  # at midnight, the day before
        self.counts.setdefault(lock_id, [0] * DAYS)[day] += 1


QUARTER_MS = 15 * dates.MINUTE_MS
"""A quarter of an hour, in milliseconds. In every time zone, days begin at such a quarter."""


@dataclass(frozen=True, slots=True)
class DayCounts:
    """The numbers of changes on consecutive days."""

    first: date
    """The first counted day."""
    counts: Sequence[int]
    """The number of changes on each day. The last day is today."""

    @property
    def today(self) -> date:
        """Today, which is the last counted day."""
        return self.first + timedelta(len(self.counts) - 1)

    def last(self, days: int) -> DayCounts:
        """Return the counts of the last ``days`` days only."""
        left_out = max(len(self.counts) - days, 0)
        return DayCounts(self.first + timedelta(left_out), self.counts[left_out:])


def first_day(today: date, days: int) -> date:
    """Return the first day of a period that has ``days`` days and ends today."""
    return today - timedelta(days - 1)


def sum_up_quarters(quarters: Mapping[int, int], today: date, days: int, zone: tzinfo) -> DayCounts:
    """Return the number of changes on each of the last days, from counts by quarter of an hour.

    Args:
        quarters: Maps quarters of an hour since 1970 to numbers of changes. Quarters after today,
            which exist if the clock was set back, are ignored.
        today: The last day to count.
        days: The number of days to count.
        zone: The time zone that decides when a day begins.
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
"""The minimum width of a bar, in cells."""


def period_bar(remote: Remote, now_ms: int, width: int) -> str:
    """Return the period of a remote as a bar: ``├━━━━━╋──────┤``.

    The bar shows the time that has passed, a mark for today, and the rest of the period. If the
    period has not started or is over, the mark for today is outside of the bar.

    Args:
        remote: The remote with the period.
        now_ms: Now, in milliseconds.
        width: The width in cells.

    Returns:
        The bar; empty if the remote has no start or end, or if the width is less than
        :data:`LEAST`.
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
