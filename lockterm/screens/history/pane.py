"""The panel of the selected change beside a wide history, and the changes per day above it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, tzinfo

from textual import work
from textual.content import Content
from textual.widget import Widget

from lockterm.domain import dates, glyphs
from lockterm.domain.history import HistoryLine
from lockterm.domain.operation import RECORDED, WITHOUT_EFFECT, Operation
from lockterm.domain.plan import RunLine
from lockterm.domain.safe_text import clean
from lockterm.domain.text.difference import Difference, SameValue
from lockterm.domain.text.operation import STATE_NAMES, compare_remotes, remotes_around
from lockterm.domain.timeline import DayCounts, first_day, sum_up_quarters
from lockterm.errors import StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.screens.history.table import LOOKS, format_run, target_of, what_of
from lockterm.widgets.cells import Part, join_parts, wrap

_DONE: Mapping[str, str] = {
    "add": "added",
    "update": "changed",
    "updateRemoteUserNo": "changed",
    "delete": "deleted",
}
"""Maps calls that affect one remote to the heading of their values in the panel. The panel reads
the journal only for these calls."""

_MOST_LINES = 3
"""The maximum number of lines for one value. The detail screen of the change shows all lines."""

_LABEL = 12
"""The width of a label and the gap after it, in cells."""

Value = Difference | SameValue


class ChangePane(Widget):
    """A panel with the result of the selected change, and the values before and after the change.

    Args:
        operations: The operations on the service and the local store.
    """

    def __init__(self, operations: Operations, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._operations = operations
        self._row: HistoryLine | RunLine | None = None
        self._zone: tzinfo = UTC
        self._values: Sequence[Value] = ()
        """The values of the change in display order; empty until they are read."""

    def show_row(self, row: HistoryLine | RunLine | None, zone: tzinfo) -> None:
        """Show a row of the history with times in ``zone``, or nothing if the row is None."""
        if (row, zone) == (self._row, self._zone):  # nothing new, as after each read of the page
            return
        if row is None or self._row is None or row.id != self._row.id:
            self._values = ()
        # The values of the row before may be under way, and would appear below this row.
        self.workers.cancel_group(self, "change")
        self._row, self._zone = row, zone
        self.border_title = Content(_title(row))
        self.refresh()
        if isinstance(row, HistoryLine) and row.call in _DONE:
            self.read_values(row.id, zone)

    @work(exclusive=True, group="change")
    async def read_values(self, operation_id: str, zone: tzinfo) -> None:
        """Read the values before and after a change from the journal, and show them."""
        with suppress(StoreError):  # opening the change reports it
            operation = await self._operations.journal.find(operation_id)
            if operation is not None:
                self._values = await asyncio.to_thread(_values_of, operation, zone)
                self.refresh()

    def render(self) -> Content:
        row, (width, height) = self._row, self.content_size
        if row is None:
            return Content("")
        if isinstance(row, RunLine):
            at = dates.day_time(row.made_ms, self._zone)
            lines = [*_wrapped(format_run(row), width), [(at, "dim")]]
        else:
            lines = [*_head(row, self._zone, width), *_body(row, self._values, width)]
        if len(lines) > height:
            more = len(lines) - height + 1
            words = with_keys(f"{more} more lines; {{history.open}} shows all")
            lines[height - 1 :] = [[(words, "dim")]]
        parts = [part for line in lines for part in (*line, ("\n", ""))]
        return join_parts(parts, self.app.theme_variables)


def _title(row: HistoryLine | RunLine | None) -> str:
    if row is None:
        return ""
    if isinstance(row, RunLine):
        return "Run"
    what = what_of(row)
    return clean(" ".join(filter(None, (what[:1].upper() + what[1:], target_of(row)))), 60)


def _values_of(operation: Operation, zone: tzinfo) -> list[Value]:
    before, after = remotes_around(operation)
    if operation.call == "add":
        before = after
    with suppress(RecursionError):  # JSON nested as deeply as Python can read it
        return [*compare_remotes(before, before if after is None else after, zone)]
    return []


def _head(line: HistoryLine, zone: tzinfo, width: int) -> Iterator[list[Part]]:
    """Yield the lines with the time, the result and the lock of a change."""
    yield [(dates.day_time(line.prepared_ms, zone), "dim")]
    result = STATE_NAMES[line.state] + (f", code {line.code}" if line.code is not None else "")
    yield [(result, LOOKS.get(line.state, "bold"))]
    if line.message:
        yield from _wrapped(clean(line.message, 200), width)
    yield from _labeled("Lock", f"{clean(line.lock_name, 60)} ({line.lock_id})", width, "dim")


def _body(line: HistoryLine, values: Sequence[Value], width: int) -> Iterator[list[Part]]:
    """Yield the lines with the values of a change: the changed values first, then the others."""
    if line.voice:
        yield from _labeled("Voice", clean(line.voice, 60), width, "dim")
    if line.call == "clear":
        yield []
        yield from _wrapped(with_keys("{history.open} lists the affected remotes."), width)
    if not values:
        return
    done, after = _DONE[line.call], "after"
    if line.state in WITHOUT_EFFECT:
        done, after = f"not {done}", "requested"
    elif line.state not in RECORDED:
        done, after = f"possibly {done}", "possible"
    changed = [value for value in values if isinstance(value, Difference)]
    same = [value for value in values if isinstance(value, SameValue)]
    if changed:
        yield from _titled(done.capitalize())
        for value in changed:
            yield [(clean(value.label, width), "bold")]
            yield from _labeled("  before", value.before, width, "dim")
            yield from _labeled(f"  {after}", value.after, width, "dim", "bold")
    if same:
        yield from _titled("Unchanged" if changed else done.capitalize())
        for one in same:
            yield from _labeled(one.label, one.value, width, "dim")


def _titled(title: str) -> Iterator[list[Part]]:
    yield []
    yield [(title, "bold")]


def _labeled(label: str, text: str, width: int, look: str, value: str = "") -> Iterator[list[Part]]:
    """Yield the lines of a label and its value. A long value continues below its first line.

    Args:
        label: The label.
        text: The value, without control characters.
        width: The width of a line, in cells.
        look: The style name of the label.
        value: The style name of the value.
    """
    for number, [(piece, _)] in enumerate(_wrapped(text, width - _LABEL)):
        yield [(f"{label if not number else '':<{_LABEL}}", look), (piece, value)]


def _wrapped(text: str, width: int) -> Iterator[list[Part]]:
    for piece in wrap(text, max(width, 8))[:_MOST_LINES]:
        yield [(piece, "")]


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
        """The arguments of the last call of :meth:`show_days`, and the date of that count."""

    def show_days(self, total: int, lock_id: int | None, zone: tzinfo) -> None:
        """Show the numbers of changes. Count again only if an argument or the date has changed.

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
        title, last = "Changes per day  ", f" {_day(self._days.today)}  busiest day: "
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
