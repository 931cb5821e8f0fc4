"""The lock book as a table."""

from __future__ import annotations

from collections.abc import Sequence

from lockterm import moments
from lockterm.models.locks import Lock
from lockterm.text import clean
from lockterm.widgets.row_table import Column, RowTable

LONGEST = 60
"""The most characters of a field that are looked at for showing it."""


class LocksTable(RowTable):
    """Name, id, vendor, model, zone, remotes at the last look, last opened."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            Column("Name", most=40, least=18),
            Column("Id", most=19, least=19),
            Column("Vendor", most=20, least=8, rank=2),
            Column("Model", most=20, least=6, rank=3),
            Column("Zone", most=24, least=13, rank=4),
            Column("Remotes", right=True),
            Column("Opened", least=12, rank=1),
            id=id,
        )

    def show_locks(self, locks: Sequence[Lock], now_ms: int, cursor: int | None = None) -> None:
        """Replace the rows.

        Args:
            locks: In the order in which they are to stand.
            now_ms: What "3 days ago" is counted from.
            cursor: The lock to stand on; by default the one of now.
        """
        rows = {str(lock.lock_id): _cells(lock, now_ms) for lock in locks}
        self.show(rows, str(cursor) if cursor is not None else None)

    @property
    def lock_id(self) -> int | None:
        """The id of the lock under the cursor; None in an empty table."""
        return int(key) if (key := self.highlighted) is not None else None


def _cells(lock: Lock, now_ms: int) -> tuple[str, ...]:
    return (
        clean(lock.title, LONGEST),
        str(lock.lock_id),
        clean(lock.vendor, LONGEST),
        clean(lock.model, LONGEST),
        clean(lock.zone, LONGEST),
        "-" if lock.remotes is None else str(lock.remotes),
        "not yet" if lock.opened_ms is None else moments.distance(lock.opened_ms, now_ms),
    )


def more_about(lock: Lock) -> list[str]:
    """What the table has no column for, as words to show."""
    parts = []
    if lock.alias:
        parts.append(f"alias {clean(lock.alias, 40)}")
    if lock.voice:
        voice = f"{clean(lock.voice.lang, 20)} {clean(lock.voice.timbre, 30)}"
        parts.append(f"voice {voice}, last set from here")
    return parts
