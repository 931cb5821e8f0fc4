"""The number of changes on each of the last days, in a time zone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo

from lockterm.domain import dates

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
