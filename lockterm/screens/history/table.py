"""The history as a table: one line for each operation, the newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo

from rich.cells import cell_len

from lockterm.domain import dates
from lockterm.domain.history import HistoryLine
from lockterm.domain.left_state import left_state
from lockterm.domain.operation import CALL_WORDS, STATE_WORDS, State
from lockterm.domain.plan import RunLine, RunState, StepState
from lockterm.domain.plan_words import counts_words
from lockterm.domain.text import clean
from lockterm.domain.wording import counted
from lockterm.widgets.line_table import Piece
from lockterm.widgets.row_table import Column, LazyRows, RowTable

WHEN = 12
"""Cells of the column of times."""
_STATE = 3
"""The column of the sign."""
_LOCK = 5
LONGEST = 60
"""The most characters of a field that are looked at for showing it."""

OUTCOMES: Mapping[State, str] = {
    **STATE_WORDS,
    State.CONFIRMED: "recorded",
    State.CONFIRMED_BY_READING: "recorded",
    State.UNKNOWN: "unknown",
    State.NOT_SEEN: "not seen",
    State.AMBIGUOUS: "probably",
    State.CONFLICT: "differs",
}
"""``STATE_WORDS`` in a narrow column; the line below the table has the whole words."""


class HistoryTable(RowTable):
    """When, what, result, the sign of the state it has left, remote, lock."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            Column("When", most=WHEN, least=WHEN),
            Column("What", most=11, least=11),
            Column("Result", most=16, least=8),
            Column("", most=1, least=1, rank=2),
            Column("Remote", most=60, least=12),
            Column("Lock", most=40, least=10, rank=1),
            id=id,
        )
        self._lines: Mapping[str, HistoryLine | RunLine] = {}
        self._now_ms = 0

    def show_lines(
        self,
        lines: Sequence[HistoryLine | RunLine],
        zone: tzinfo,
        now_ms: int,
        *,
        top: bool = False,
        one_lock: bool = False,
    ) -> None:
        """Replace the rows; the cursor stays on its operation.

        Args:
            lines: In the order in which they are to stand.
            zone: In which times are shown.
            now_ms: As of when some of them are long ago.
            top: Whether to stand on the first row instead: it is another page.
            one_lock: Whether they are all of one lock, which the title line names.
        """
        first = lines[0].id if top and lines else None
        self.hidden = frozenset({_LOCK} if one_lock else ())
        self._lines, self._now_ms = {line.id: line for line in lines}, now_ms
        self.show(LazyRows(self._lines, lambda line: _cells(line, zone, now_ms)), first)

    def widest(self) -> Sequence[int]:
        """Told without making the cells of all rows of a page, of which twenty are seen."""
        lines = [line for line in self._lines.values() if isinstance(line, HistoryLine)]
        runs = [line for line in self._lines.values() if isinstance(line, RunLine)]
        texts = (
            {what_of(line) for line in lines} | {"run" for _ in runs},
            {_outcome(*one) for one in {(line.state, line.code) for line in lines}}
            | {run_outcome(run) for run in runs},
            {target_of(line) for line in lines} | {run_words(run) for run in runs},
            {clean(name, LONGEST) for name in {line.lock_name for line in lines}},
        )
        what, result, remote, lock = (max(map(cell_len, one), default=0) for one in texts)
        return WHEN, what, result, 1, remote, lock

    def signs(self, row: int) -> Mapping[int, Sequence[Piece]]:
        """The sign of what the remote of an operation is by the dates that it has left."""
        line = self._lines[self._keys[row]]
        state = left_state(line, self._now_ms) if isinstance(line, HistoryLine) else None
        return {} if state is None else {_STATE: [(state.sign, state.look)]}


def what_of(line: HistoryLine) -> str:
    """What was done, in a word or two."""
    return "restore" if line.restores else CALL_WORDS.get(line.call, clean(line.call, LONGEST))


def target_of(line: HistoryLine) -> str:
    """The remote it was done to, safe to show; for a clear how many, for a voice which."""
    if line.call == "clear":
        return counted(line.count, "remote")
    if line.call == "updateLockSetting":
        return clean(line.voice, LONGEST)
    if line.remote_name:
        return clean(line.remote_name, LONGEST)
    return "" if line.remote_id is None else f"remote {line.remote_id}"


def run_outcome(run: RunLine) -> str:
    """How far a run got, in a narrow column."""
    return f"! {run.state}" if run.state is RunState.INTERRUPTED else run.state


def run_words(run: RunLine) -> str:
    """Where a run comes from, and what became of its steps."""
    counts = run.counts()
    left = 0 if run.is_running else counts.pop(StepState.TO_DO, 0)
    told = counts_words(counts, run.left_out, is_running=run.is_running)
    words = filter(None, (told, f"{left:,} left" if left else ""))
    return f"{clean(run.title, LONGEST)}: {', '.join(words)}"


def _cells(line: HistoryLine | RunLine, zone: tzinfo, now_ms: int) -> tuple[str, ...]:
    if isinstance(line, RunLine):
        when = dates.recent(line.made_ms, zone, now_ms)
        return when, "run", run_outcome(line), "", run_words(line), ""
    when, outcome = dates.recent(line.prepared_ms, zone, now_ms), _outcome(line.state, line.code)
    return when, what_of(line), outcome, "", target_of(line), clean(line.lock_name, LONGEST)


def _outcome(state: State, code: int | None) -> str:
    return OUTCOMES[state] if code is None else f"{OUTCOMES[state]} {code}"
