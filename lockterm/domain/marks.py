"""Which remotes are marked: by lock and id, each with what was seen of it last.

A table shows rows, and marks are no rows: they stay while it pages, sorts, searches, reads again.
Whoever acts on them names them all, also those that are not on the screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lockterm.domain.remotes import Remote, is_still

Key = tuple[int, int]
"""The lock and the remote's id."""

Row = tuple[int, Remote]
"""The lock, and the remote as it is shown."""


class Marks:
    """The marked remotes, in the order in which they were marked."""

    def __init__(self) -> None:
        self._seen: dict[Key, Remote] = {}
        self._last: Key | None = None
        """The one that was marked last: where a range begins."""
        self._dropped: dict[Key, Remote] = {}
        """Those of which all were unmarked at once."""

    def __len__(self) -> int:
        return len(self._seen)

    def has(self, row: Row) -> bool:
        """Whether a row is marked, and not another remote that has the same id."""
        key = _key(row)
        seen = self._seen.get(key) if key is not None else None
        return seen is not None and (seen is row[1] or is_still(seen.raw, row[1]))

    @property
    def rows(self) -> list[Row]:
        """All of them, as they were seen last."""
        return [(lock_id, remote) for (lock_id, _), remote in self._seen.items()]

    def still(self, rows: Iterable[Row]) -> list[Row]:
        """Those of some that are marked now, as they were seen last."""
        return [(row[0], self._seen[row[0], row[1].id or 0]) for row in rows if self.has(row)]

    def hidden(self, shown: Iterable[Row]) -> list[Row]:
        """Those that are none of the rows that are shown."""
        keys = {_key(row) for row in shown if self.has(row)}
        return [row for row in self.rows if _key(row) not in keys]

    def words(self, shown: Iterable[Row]) -> str:
        """``5 marked, 2 not shown``; empty: none is marked."""
        if not self._seen:
            return ""
        hidden = len(self.hidden(shown))
        return f"{len(self):,} marked{f', {hidden:,} not shown' if hidden else ''}"

    # --- marking -------------------------------------------------------------------------------

    def toggle(self, row: Row) -> None:
        """Mark a row, or unmark it; one without an id can be neither."""
        if self.has(row):
            self.drop([row])
        else:
            self._add([row])

    def toggle_all(self, rows: Sequence[Row]) -> int:
        """Mark all rows; unmark them where all are marked already.

        Returns:
            How many more are marked than before.
        """
        before, usable = len(self), [row for row in rows if _key(row) is not None]
        if usable and all(map(self.has, usable)):
            self.drop(usable)
        else:
            self._add(usable)
        return len(self) - before

    def mark_range(self, rows: Sequence[Row], to: int) -> bool:
        """Mark the rows from the one that was marked last to another, both of them too.

        Args:
            rows: Those that are shown, from top to bottom.
            to: The place of the other among them.

        Returns:
            Whether both are among the rows: else nothing is done.
        """
        if not 0 <= to < len(rows):
            return False
        places = [at for at, row in enumerate(rows) if _key(row) == self._last and self.has(row)]
        if not places:
            return False
        begin = min(places, key=lambda at: abs(at - to))
        step = 1 if to >= begin else -1
        self._add([rows[at] for at in range(begin, to + step, step)])
        return True

    def clear(self) -> int:
        """Unmark all; :meth:`bring_back` marks them again.

        Returns:
            How many there were.
        """
        if self._seen:
            self._dropped, self._seen, self._last = self._seen, {}, None
        return len(self._dropped)

    @property
    def may_bring_back(self) -> int:
        """How many :meth:`bring_back` would mark."""
        return 0 if self._seen else len(self._dropped)

    def bring_back(self) -> None:
        """Mark again those that were all unmarked at once."""
        self._seen, self._dropped = self._dropped | self._seen, {}

    # --- what becomes of them ------------------------------------------------------------------

    def see(self, rows: Iterable[Row]) -> None:
        """Take over how marked remotes are shown now: what is changed is what was seen of them."""
        for row in rows:
            if self.has(row):
                self._seen[row[0], row[1].id or 0] = row[1]

    def drop(self, rows: Iterable[Row]) -> None:
        """Unmark some."""
        self.drop_keys(key for row in rows if (key := _key(row)) is not None)

    def drop_keys(self, keys: Iterable[Key]) -> None:
        """Unmark some by lock and id."""
        for key in keys:
            self._seen.pop(key, None)
            self._dropped.pop(key, None)
            if key == self._last:
                self._last = next(reversed(self._seen), None)

    def _add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if (key := _key(row)) is not None:
                self._seen[key] = row[1]
                self._last = key
        self._dropped = {}


def _key(row: Row) -> Key | None:
    return None if row[1].id is None else (row[0], row[1].id)
