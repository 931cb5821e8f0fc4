"""The line above a wide history that shows the number of changes on each of the last days."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, tzinfo

from textual import work
from textual.content import Content
from textual.widget import Widget

from lockterm.domain import dates, glyphs
from lockterm.domain.timeline import DayCounts, first_day, sum_up_quarters
from lockterm.errors import StoreError
from lockterm.operations import Operations
from lockterm.widgets.parts import Part, join_parts

MOST_DAYS = 90
"""The maximum number of days in the line."""


class DayStrip(Widget):
    """A line with a bar for each of the last days, the first and last date, and the maximum.

    Args:
        operations: The operations on the service and the local store.
    """

    def __init__(self, operations: Operations, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._operations = operations
        self._days: DayCounts | None = None
        self._read: tuple[object, ...] = ()
        """The arguments of :meth:`show_days` and the date of the last count."""

    def show_days(self, total: int, lock_id: int | None, zone: tzinfo) -> None:
        """Show the numbers of changes; count them again only if an argument or the date is new.

        Args:
            total: The number of changes in the whole history.
            lock_id: The ID of the lock whose changes are counted; None for all locks.
            zone: The time zone that decides when a day begins.
        """
        now = dates.local(self._operations.machine_ms(), zone)
        if now is None or (total, lock_id, zone, now.date()) == self._read:
            return
        self._read = (total, lock_id, zone, now.date())
        self.call_after_refresh(self.read_days, lock_id, zone, now.date())

    @work(exclusive=True, group="days")
    async def read_days(self, lock_id: int | None, zone: tzinfo, today: date) -> None:
        """Count the changes of each day in the journal, and show the numbers."""
        since_ms = dates.begin_of(first_day(today, MOST_DAYS), zone)
        with suppress(StoreError):  # the history reports the error
            quarters = await self._operations.journal.count_by_quarter(since_ms, lock_id)
            self._days = sum_up_quarters(quarters, today, MOST_DAYS, zone)
            self.refresh()

    def render(self) -> Content:
        if self._days is None:
            return Content("")
        title, last = "Changes per day  ", f" {_day(self._days.today)}  max "
        digits = len(f"{max(self._days.counts):,}")
        room = self.content_size.width - len(title) - len("30 Sep ") - len(last) - digits
        days = self._days.last(max(room, 1))
        most = max(days.counts)
        parts: list[Part] = [(f"{title}{_day(days.first)} ", "dim")]
        parts += [_cell(count, most) for count in days.counts]
        parts.append((f"{last}{most:,}", "dim"))
        return join_parts(parts, self.app.theme_variables)


def _day(day: date) -> str:
    return f"{day.day} {dates.MONTHS[day.month - 1]}"


def _cell(count: int, most: int) -> Part:
    """Return the cell of a day: a bar, or a dot for a day without changes."""
    return (glyphs.bar(count, most), "bold") if count else (glyphs.nothing(), "dim")
