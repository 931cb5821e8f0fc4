"""The table of the history, the panel of the selected change, and the changes per day.

The table has one row for each operation or run, the newest first. Only large terminals show the
panels beside and above it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, tzinfo

from rich.cells import cell_len
from textual import events, work
from textual.content import Content
from textual.widget import Widget

from lockterm.domain import dates, glyphs
from lockterm.domain.operation import (
    RECORDED,
    WITHOUT_EFFECT,
    DayCounts,
    HistoryLine,
    Operation,
    OperationState,
    first_day,
    left_state,
    sum_up_quarters,
)
from lockterm.domain.plan import RunLine, StepState
from lockterm.domain.remotes import CALL_NAMES
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.operation import STATE_NAMES, compare_remotes, remotes_around
from lockterm.domain.text.remote import Difference, SameValue
from lockterm.domain.text.run import describe_counts, format_run_state
from lockterm.domain.validity import RemoteState
from lockterm.errors import StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations
from lockterm.widgets.cells import Part, cut, join_parts, wrap
from lockterm.widgets.line_table import Piece
from lockterm.widgets.row_table import Column, LazyRows, RowTable

WHEN = 12
"""The width of the column with the times, in cells."""
_RESULT = 2
"""The index of the column with the result."""
_STATE = 3
"""The index of the column with the icon of the remote's state."""
_LOCK = 5
_CHANGED = 6
"""The index of the column with the changed fields, which only wide terminals show."""
_MOST_CHANGED = 120

_TOLD = frozenset({"add", "update", "delete", "updateRemoteUserNo"})
"""The calls whose changed fields the table shows. A clear is not included, because it has too many
remotes to read."""

OUTCOMES: Mapping[OperationState, str] = {
    **STATE_NAMES,
    OperationState.CONFIRMED: "recorded",
    OperationState.CONFIRMED_BY_READING: "recorded",
    OperationState.NOT_SEEN: "not seen",
    OperationState.AMBIGUOUS: "probably",
    OperationState.CONFLICT: "differs",
}
"""Maps the state of an operation to a short text for a narrow column. The line below the table
shows the full text of ``STATE_NAMES``."""

LOOKS: Mapping[OperationState, str] = {
    **dict.fromkeys((OperationState.REFUSED, OperationState.CONFLICT), RemoteState.DISAGREE.look),
    **dict.fromkeys(
        (OperationState.UNKNOWN, OperationState.NOT_SEEN, OperationState.AMBIGUOUS),
        RemoteState.UNCLEAR.look,
    ),
}
"""Maps the state of an operation to a style name, for states that need attention."""


class HistoryTable(RowTable):
    """The table of changes: time, call, result, state icon, remote, lock, and changed fields.

    The changed fields are read only for visible rows. Their column is visible before its cells are
    filled.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            Column("When", most=WHEN, least=WHEN),
            Column("What", most=11, least=11),
            Column("Result", most=16, least=8),
            Column("", most=1, least=1, rank=2),
            Column("Remote", most=60, least=12),
            Column("Lock", most=40, least=10, rank=1),
            Column("Changed", most=_MOST_CHANGED, least=32, rank=3),
            id=id,
        )
        self._lines: Mapping[str, HistoryLine | RunLine] = {}
        self._changed: Mapping[str, str] = {}
        """Maps row keys to the changed fields that were read so far."""
        self._left: dict[str, RemoteState | None] = {}
        """Maps row keys to the state of the remote after the change; the value is None if it is
        unknown.

        The states are cached because visible rows are painted often.
        """
        self._zone: tzinfo | None = None
        self._now_ms = 0
        self._is_one_lock = False

    def show_lines(
        self,
        lines: Sequence[HistoryLine | RunLine],
        zone: tzinfo,
        now_ms: int,
        *,
        top: bool,
        one_lock: bool,
    ) -> None:
        """Replace the rows. The same change stays selected.

        Args:
            lines: The changes and runs, in display order.
            zone: The time zone of the shown times.
            now_ms: The current time in milliseconds.
            top: Whether to select the first row instead, for example on another page.
            one_lock: Whether all rows belong to one lock, so that the column of locks is hidden.
        """
        first = lines[0].id if top and lines else None
        self._lines, self._now_ms = {line.id: line for line in lines}, now_ms
        self._left = {}
        known = self._changed if zone == self._zone else {}
        self._changed = {key: words for key, words in known.items() if key in self._lines}
        self._zone, self._is_one_lock = zone, one_lock
        self._choose_columns()
        self.show(LazyRows(self._lines, self._cells), first)
        self.call_after_refresh(self.look_for_lacking)

    def show_changes(self, changes: Mapping[str, str]) -> None:
        """Show the changed fields of rows in their column, without a new layout.

        Args:
            changes: Maps row keys to texts without control characters. A text may be empty.
        """
        self._changed = {
            **self._changed,
            **{key: words for key, words in changes.items() if key in self._lines},
        }
        self.refresh()

    @property
    def lacking(self) -> Sequence[str]:
        """The keys of the visible rows whose changed fields must be read."""
        if _CHANGED in self.hidden:
            return ()
        return [
            key
            for key in self.in_sight
            if key not in self._changed
            and isinstance(line := self._lines[key], HistoryLine)
            and line.call in _TOLD
        ]

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns before the base class divides the width among the columns."""
        self._choose_columns()
        self.call_after_refresh(self.look_for_lacking)

    def _choose_columns(self) -> None:
        # In a terminal with frames, the panel of the selected change has the values.
        is_wide = self.screen.has_class("-wide") and not self.screen.has_class("-framed")
        unwanted = ((_LOCK, self._is_one_lock), (_CHANGED, not is_wide))
        self.hidden = frozenset(column for column, is_unwanted in unwanted if is_unwanted)

    def widest(self) -> Sequence[int]:
        """Return the width of each column's longest content, in cells.

        The method does not create the cells of all rows, because only a few rows are visible.
        """
        lines = [line for line in self._lines.values() if isinstance(line, HistoryLine)]
        runs = [line for line in self._lines.values() if isinstance(line, RunLine)]
        texts = (
            {what_of(line) for line in lines} | {"run" for _ in runs},
            {_outcome(*one) for one in {(line.state, line.code) for line in lines}}
            | {run_outcome(run) for run in runs},
            {target_of(line) for line in lines} | {format_run(run) for run in runs},
            {clean(name, LONGEST_CELL) for name in {line.lock_name for line in lines}},
        )
        what, result, remote, lock = (max(map(cell_len, one), default=0) for one in texts)
        return WHEN, what, result, 1, remote, lock, _MOST_CHANGED

    def signs(self, row: int) -> Mapping[int, Sequence[Piece]]:
        """Return styled texts by column index: the colored result, and the remote's state icon."""
        line = self._lines[key := self._keys[row]]
        found: dict[int, Sequence[Piece]] = {}
        if isinstance(line, HistoryLine) and line.state in LOOKS:
            width = self._widths[_RESULT]
            outcome = cut(_outcome(line.state, line.code), width).ljust(width)
            found[_RESULT] = [(outcome, LOOKS[line.state])]
        if isinstance(line, HistoryLine) and key not in self._left:
            self._left[key] = left_state(line, self._now_ms)
        state = self._left.get(key)
        if state is not None:
            found[_STATE] = [(state.sign, state.look)]
        return found

    def _cells(self, line: HistoryLine | RunLine) -> tuple[str, ...]:
        assert self._zone is not None
        if isinstance(line, RunLine):
            when = dates.recent(line.made_ms, self._zone, self._now_ms)
            return when, "run", run_outcome(line), "", format_run(line), "", ""
        when = dates.recent(line.prepared_ms, self._zone, self._now_ms)
        changed = self._changed.get(line.id, "")
        if changed and line.call != "delete" and line.state not in RECORDED:
            changed = f"wanted: {changed}"
        lock = clean(line.lock_name, LONGEST_CELL)
        outcome = _outcome(line.state, line.code)
        return when, what_of(line), outcome, "", target_of(line), lock, changed


def what_of(line: HistoryLine) -> str:
    """Return the verb for a change, such as ``add``."""
    return "restore" if line.restores else CALL_NAMES.get(line.call, clean(line.call, LONGEST_CELL))


def target_of(line: HistoryLine) -> str:
    """Return the target of a change as safe text: a remote, a number of remotes, or a voice."""
    if line.call == "clear":
        return format_count(line.count, "remote")
    if line.call == "updateLockSetting":
        return clean(line.voice, LONGEST_CELL)
    if line.remote_name:
        return clean(line.remote_name, LONGEST_CELL)
    return "" if line.remote_id is None else f"remote {line.remote_id}"


def format_line(line: HistoryLine, zone: tzinfo, now_ms: int, *, with_target: bool = False) -> str:
    """Return a change as a line of safe text, such as ``20 Nov 09:00  add Anna, recorded``.

    Args:
        line: The change.
        zone: The time zone of the shown time.
        now_ms: The current time in milliseconds.
        with_target: Whether to include the target, such as the name of the remote.
    """
    target = target_of(line) if with_target else ""
    what = " ".join(filter(None, (what_of(line), target)))
    return f"{dates.recent(line.prepared_ms, zone, now_ms)}  {what}, {OUTCOMES[line.state]}"


def run_outcome(run: RunLine) -> str:
    """Return the state of a run as a short text for a narrow column."""
    state = format_run_state(run)
    return f"! {state}" if run.is_interrupted or run.is_incomplete else state


def format_run(run: RunLine) -> str:
    """Return a text with the title of a run, and the number of its steps with each result."""
    counts = run.counts()
    left = 0 if run.is_running else counts.pop(StepState.TO_DO, 0)
    counts_text = describe_counts(counts, run.left_out, is_running=run.is_running)
    parts = filter(None, (counts_text, f"{left:,} left" if left else ""))
    return f"{clean(run.title, LONGEST_CELL)}: {', '.join(parts)}"


def _outcome(state: OperationState, code: int | None) -> str:
    return OUTCOMES[state] if code is None else f"{OUTCOMES[state]} {code}"


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

    def __init__(self, operations: Operations) -> None:
        super().__init__()
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
    """Yield the lines with the values of a change, the unchanged values last."""
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
"""The maximum number of days in the line with the changes per day."""


class DayStrip(Widget):
    """A line with a bar for each of the last days, and the most changes on one day.

    Args:
        operations: The operations on the service and the local store.
    """

    def __init__(self, operations: Operations, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._operations = operations
        self._days: DayCounts | None = None
        self._read: tuple[object, ...] = ()
        """The arguments and the date of the last call of :meth:`show_days`."""

    def show_days(self, total: int, lock_id: int | None, zone: tzinfo) -> None:
        """Show the number of changes per day. Count again only if an argument or the date is new.

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
    """Return the cell of a day: a bar relative to ``most``, or a dot for a day without changes."""
    return (glyphs.bar(count, most), "bold") if count else (glyphs.nothing(), "dim")
