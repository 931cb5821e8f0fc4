"""The table of the history, with one row for each operation or run, the newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo

from rich.cells import cell_len
from textual import events

from lockterm.domain import dates
from lockterm.domain.constants import CALL_NAMES
from lockterm.domain.history import HistoryLine, left_state
from lockterm.domain.operation import RECORDED, OperationState
from lockterm.domain.plan import RunLine, StepState
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.operation import STATE_NAMES
from lockterm.domain.text.run import describe_counts, format_run_state
from lockterm.domain.validity import RemoteState
from lockterm.widgets.cells import cut
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
        """Maps row keys to the state of the remote after the change.

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
        top: bool = False,
        one_lock: bool = False,
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
    """Return the title of a run and the results of its steps as text."""
    counts = run.counts()
    left = 0 if run.is_running else counts.pop(StepState.TO_DO, 0)
    counts_text = describe_counts(counts, run.left_out, is_running=run.is_running)
    parts = filter(None, (counts_text, f"{left:,} left" if left else ""))
    return f"{clean(run.title, LONGEST_CELL)}: {', '.join(parts)}"


def _outcome(state: OperationState, code: int | None) -> str:
    return OUTCOMES[state] if code is None else f"{OUTCOMES[state]} {code}"
