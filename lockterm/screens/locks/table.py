"""The lock book as a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import tzinfo
from functools import cached_property
from typing import Any

from rich.cells import cell_len

from lockterm.domain import dates
from lockterm.domain.locks import Lock
from lockterm.domain.text import clean
from lockterm.widgets.row_table import Column, LazyRows, RowTable

LONGEST = 60
"""The most characters of a field that are looked at for showing it."""


_BY: Mapping[str, Callable[[Lock], Any]] = {
    "Name": lambda lock: lock.title,
    "Id": lambda lock: lock.lock_id,
    "Vendor": lambda lock: lock.vendor or None,
    "Model": lambda lock: lock.model or None,
    "Zone": lambda lock: lock.zone or None,
    "Remotes": lambda lock: lock.remotes,
    "Opened": lambda lock: lock.opened_ms,
}
"""Title -> what locks are sorted by where it was clicked; None: the lock has none."""


class Shelf:
    """Some locks of the book, and what is told of all of them together: once, not at each key.

    Args:
        locks: In the order in which they are to stand.
    """

    def __init__(self, locks: Sequence[Lock]) -> None:
        self.locks: Mapping[str, Lock] = {str(lock.lock_id): lock for lock in locks}
        """By the key of their row."""
        self._widest_opened: tuple[int, int] | None = None

    @cached_property
    def widest(self) -> Sequence[int]:
        """The most cells of each column but the last, without making cells of ten thousand rows."""
        locks = self.locks.values()
        return (
            _widest([lock.name or lock.title for lock in locks]),
            _widest(self.locks),
            _widest({lock.vendor for lock in locks}),
            _widest({lock.model for lock in locks}),
            _widest({lock.zone for lock in locks}),
            _widest([str(count) for count in {lock.remotes or 0 for lock in locks}]),
        )

    def widest_opened(self, now_ms: int) -> int:
        """The most cells that "3 days ago" takes of one of them; counted once a minute."""
        minute = now_ms // dates.MINUTE_MS
        if self._widest_opened is None or self._widest_opened[0] != minute:
            told = [opened(at_ms, now_ms) for at_ms in self._moments(now_ms)]
            self._widest_opened = minute, _widest(told)
        return self._widest_opened[1]

    def _moments(self, now_ms: int) -> set[int | None]:
        """A moment for each distance that the locks were opened at: whole minutes, or days."""
        two_days_ago_ms, found = now_ms - 2 * dates.DAY_MS, set[int | None]()
        for at_ms in {lock.opened_ms for lock in self.locks.values()}:
            if at_ms is None:
                found.add(None)
            else:
                unit = dates.MINUTE_MS if at_ms > two_days_ago_ms else dates.DAY_MS
                found.add(now_ms - (now_ms - at_ms) // unit * unit)
        return found


class LocksTable(RowTable):
    """Name, id, vendor, model, zone, remotes at the last look, last opened.

    Args:
        marked: Tells whether a lock is marked.
    """

    sortable = _BY

    def __init__(self, marked: Callable[[Lock], bool], *, id: str | None = None) -> None:
        super().__init__(
            Column("Name", most=40, least=18),
            Column("Id", most=19, least=19),
            Column("Vendor", most=20, least=8, rank=2),
            Column("Model", most=20, least=6, rank=3),
            Column("Zone", most=24, least=13, rank=4),
            Column("Remotes", right=True),
            Column("Opened", least=14, rank=1),
            id=id,
        )
        self._marked = marked
        self._shelf = Shelf(())
        self._now_ms = 0

    def show_locks(self, shelf: Shelf, now_ms: int, cursor: int | None = None) -> None:
        """Replace the rows.

        Args:
            shelf: What is to stand here.
            now_ms: What "3 days ago" is counted from.
            cursor: The lock to stand on; by default the one of now.
        """
        self._shelf = shelf
        self._now_ms = now_ms
        rows = LazyRows(shelf.locks, self._cells)
        self.show(rows, str(cursor) if cursor is not None else None)

    def in_order(self, locks: Sequence[Lock]) -> Sequence[Lock]:
        """Locks sorted by the title that was clicked; as they are where none was."""
        if self.sorting is None:
            return locks
        from lockterm.domain.sorting import natural, sorted_by

        by = _BY[self.sorting.key]

        def key(lock: Lock) -> Any:
            value = by(lock)
            return natural(value) if isinstance(value, str) else value

        return sorted_by(locks, key, descending=self.sorting.descending)

    @property
    def locks(self) -> Collection[Lock]:
        """What is shown, from top to bottom."""
        return self._shelf.locks.values()

    def is_marked(self, row: int) -> bool:
        return self._marked(self._shelf.locks[self._keys[row]])

    @property
    def selected(self) -> Lock | None:
        """The lock under the cursor; None in an empty table."""
        return self._shelf.locks.get(self.highlighted or "")

    def widest(self) -> Sequence[int]:
        return (*self._shelf.widest, self._shelf.widest_opened(self._now_ms))

    def _cells(self, lock: Lock) -> tuple[str, ...]:
        return (
            clean(lock.title, LONGEST),
            str(lock.lock_id),
            clean(lock.vendor, LONGEST),
            clean(lock.model, LONGEST),
            clean(lock.zone, LONGEST),
            "-" if lock.remotes is None else str(lock.remotes),
            opened(lock.opened_ms, self._now_ms),
        )


def opened(at_ms: int | None, now_ms: int) -> str:
    """How long ago a lock was opened here; times in milliseconds."""
    return "not yet" if at_ms is None else dates.distance(at_ms, now_ms)


def _widest(texts: Collection[str]) -> int:
    """The most cells that one of them takes as it is shown; most are told by their length."""
    if "".join(texts).isascii():
        return max(map(len, texts), default=0)
    return max(len(text) if text.isascii() else cell_len(clean(text, LONGEST)) for text in texts)


def more_about(lock: Lock, zone: tzinfo, now_ms: int) -> list[str]:
    """What the table has no column for, as words to show, days as in a zone.

    As long as there is room for it: the longest first, and nothing at last.
    """
    alias = [f"alias {clean(lock.alias, 40)}"] if lock.alias else []
    voices = []
    if lock.voice:
        voice = f"voice {clean(lock.voice.lang, 20)} {clean(lock.voice.timbre, 30)}"
        voices = [f"{voice}, {lock.voice_since(zone, now_ms)}", voice]
    return [*("   ".join([*alias, voice]) for voice in voices), *alias, ""]
