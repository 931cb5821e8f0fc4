"""The days to come, each with how many periods end on it: by the calendar of each lock's zone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from datetime import date, timedelta, tzinfo

from lockterm.domain import dates

AHEAD_MS = 30 * dates.DAY_MS
"""Ends farther away are not counted."""

DAYS = 34
"""So many days that is at most: today is two dates at once around the world, and a day that is an
hour short brings one more."""


class Timeline:
    """Counts ends by day, lock by lock.

    Args:
        now_ms: When today is.
        zones: Those of the locks; the first day is the earliest that is today in one of them.
    """

    def __init__(self, now_ms: int, zones: Iterable[tzinfo]) -> None:
        todays = {zone: at.date() for zone in zones if (at := dates.local(now_ms, zone))}
        self.first: date | None = min(todays.values(), default=None)
        """The first day; None if there is no lock."""
        self.counts: dict[int, list[int]] = {}
        """By the id of the lock how many end on each day, of the locks where any does."""
        self._now_ms = now_ms
        self._begins: dict[tzinfo, list[int]] = {}
        if self.first is not None:
            days = [self.first + timedelta(days=day) for day in range(DAYS)]
            self._begins = {zone: [dates.begin_of(day, zone) for day in days] for zone in todays}

    def by_first_day(self) -> list[tuple[int, list[int]]]:
        """Return the locks with their counts, those with the earliest and most ends first."""

        def first(counts: list[int]) -> tuple[int, int]:
            return next((day, -count) for day, count in enumerate(counts) if count)

        return sorted(self.counts.items(), key=lambda one: first(one[1]))

    def add(self, lock_id: int, zone: tzinfo, end_ms: int) -> None:
        """Count an end that is in the future and within the shown days."""
        if not self._now_ms < end_ms <= self._now_ms + AHEAD_MS:
            return
        day = bisect_right(self._begins[zone], end_ms - 1) - 1  # at midnight, the day before
        self.counts.setdefault(lock_id, [0] * DAYS)[day] += 1
