"""The history as a table: one line for each operation, the newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from lockterm import moments
from lockterm.models.history import HistoryLine
from lockterm.models.operation import CALL_WORDS, STATE_WORDS, State
from lockterm.text import clean
from lockterm.widgets.row_table import Column, RowTable

LONGEST = 60
"""The most characters of a field that are looked at for showing it."""

_RECENT_MS = 180 * moments.DAY_MS
"""What is older is shown with its year instead of its time of day, as ``ls -l`` does."""

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


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """An operation, ready to be shown and searched."""

    line: HistoryLine
    cells: tuple[str, ...]
    text: str
    """All of it in lower case, the whole words and times too."""


class HistoryTable(RowTable):
    """When, what, outcome, remote, lock."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            Column("When", most=12, least=12),
            Column("What", most=11, least=11),
            Column("Outcome", most=16, least=8),
            Column("Remote", most=60, least=12),
            Column("Lock", most=40, least=10, rank=1),
            id=id,
        )

    def show_rows(self, rows: Sequence[HistoryRow]) -> None:
        """Replace the rows; the cursor stays on its operation."""
        self.show({row.line.id: row.cells for row in rows})


def what_of(line: HistoryLine) -> str:
    """What was done, in a word or two."""
    return "restore" if line.restores else CALL_WORDS.get(line.call, clean(line.call, LONGEST))


def target_of(line: HistoryLine) -> str:
    """The remote it was done to, safe to show; for a clear how many, for a voice which."""
    if line.call == "clear":
        return "1 remote" if line.count == 1 else f"{line.count} remotes"
    if line.call == "updateLockSetting":
        return clean(line.voice, LONGEST)
    if line.remote_name:
        return clean(line.remote_name, LONGEST)
    return "" if line.remote_id is None else f"remote {line.remote_id}"


def make_rows(lines: Sequence[HistoryLine], zone: tzinfo, now_ms: int) -> list[HistoryRow]:
    """Prepare every line. It takes a moment for thousands: use a thread."""
    return [_row(line, zone, now_ms) for line in lines]


def _row(line: HistoryLine, zone: tzinfo, now_ms: int) -> HistoryRow:
    stamp = moments.stamp(line.prepared_ms, zone)
    when = _when(line.prepared_ms, stamp, zone, now_ms)
    outcome = OUTCOMES[line.state]
    if line.code is not None:
        outcome = f"{outcome} {line.code}"
    cells = (when, what_of(line), outcome, target_of(line), clean(line.lock_name, LONGEST))
    searched = (
        *cells,
        stamp,
        CALL_WORDS.get(line.call, ""),
        STATE_WORDS[line.state],
        line.message,
        line.remote_name,
        line.remote_id,
        line.lock_name,
        line.lock_id,
    )
    return HistoryRow(line, cells, "\n".join(map(str, searched)).casefold())


def _when(ms: int, stamp: str, zone: tzinfo, now_ms: int) -> str:
    """``20 Nov 09:00``, ``20 Nov 2025``."""
    day = moments.day(ms, zone)
    if abs(now_ms - ms) > _RECENT_MS:
        return day
    return f"{day[:-5]} {stamp[11:16]}".rjust(12)
