"""Marked rows with their last known values: remotes by lock and ID, locks by ID.

Marks are independent of the rows of a table. They stay when the table is paged, sorted, searched
or reloaded. An action on marks must name all marked rows, including those not on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, TypeVar

from lockterm.domain.remotes import is_still

if TYPE_CHECKING:
    from lockterm.domain.locks import Lock
    from lockterm.domain.plan import Step
    from lockterm.domain.remotes import Remote

Key = tuple[int, int]
"""Lock ID and remote ID."""

Row = tuple[int, "Remote"]
"""Lock ID, and the remote as shown."""

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")


class Marks(Generic[K, R]):
    """The marked rows, in the order in which they were marked.

    Args:
        key: A function that returns the key of a row; None if the row cannot be marked.
        is_same: A function that takes a marked row and a row with the same key, and returns
            whether both are the same thing.
    """

    def __init__(
        self, key: Callable[[R], K | None], is_same: Callable[[R, R], bool] = lambda *_: True
    ) -> None:
        self._key = key
        self._is_same = is_same
        self._seen: dict[K, R] = {}
        self._last: K | None = None
        """The key that was marked last, where a range begins."""
        self._dropped: dict[K, R] = {}
        """The rows that :meth:`clear` has unmarked, by key."""
        self._made: dict[K, int] = {}
        """Key -> the number of its mark."""
        self.count = 0
        """Number of marks made so far, including marks that were removed since."""

    def __len__(self) -> int:
        return len(self._seen)

    def has(self, row: R) -> bool:
        """Return whether this row is marked, not another row that had the same key."""
        return self._marked(row) is not None

    def may_have(self, row: R) -> bool:
        """Return whether a row can be marked."""
        return self._key(row) is not None

    def _marked(self, row: R) -> K | None:
        key = self._key(row)
        if key is None or key not in self._seen:
            return None
        return key if self._is_same(self._seen[key], row) else None

    @property
    def rows(self) -> list[R]:
        """All marked rows, with the values that were last shown."""
        return [*self._seen.values()]

    def still(self, rows: Iterable[R]) -> list[R]:
        """Return the rows that are marked, with the values that were last shown."""
        return [self._seen[key] for row in rows if (key := self._marked(row)) is not None]

    def hidden(self, shown: Iterable[R]) -> list[R]:
        """Return the marked rows that are not among the shown rows."""
        keys = {*map(self._marked, shown)}
        return [row for key, row in self._seen.items() if key not in keys]

    def describe(self, shown: Iterable[R]) -> str:
        """Return ``5 marked, 2 not shown``; empty if no row is marked."""
        if not self._seen:
            return ""
        hidden = len(self.hidden(shown))
        return f"{len(self):,} marked{f', {hidden:,} not shown' if hidden else ''}"

    # --- marking -------------------------------------------------------------------------------

    def toggle(self, row: R) -> None:
        """Mark or unmark a row; a row without an ID cannot be marked."""
        if self.has(row):
            self.drop([row])
        else:
            self._add([row])

    def toggle_all(self, rows: Sequence[R]) -> int:
        """Mark all rows; unmark them if all are marked already.

        Returns:
            The change in the number of marked rows; negative if rows were unmarked.
        """
        before, usable = len(self), [row for row in rows if self.may_have(row)]
        if usable and all(map(self.has, usable)):
            self.drop(usable)
        else:
            self._add(usable)
        return len(self) - before

    def mark_range(self, rows: Sequence[R], to: int) -> bool:
        """Mark all rows from the last marked row to another row, including both.

        Args:
            rows: The shown rows, from top to bottom.
            to: The index of the other row.

        Returns:
            Whether both rows are shown. If not, nothing is marked.
        """
        if not 0 <= to < len(rows):
            return False
        last = self._last
        places = [
            at for at, row in enumerate(rows) if last is not None and self._marked(row) == last
        ]
        if not places:
            return False
        begin = min(places, key=lambda at: abs(at - to))
        step = 1 if to >= begin else -1
        self._add([rows[at] for at in range(begin, to + step, step)])
        return True

    def clear(self) -> int:
        """Unmark all rows; :meth:`bring_back` marks them again.

        Returns:
            The number of rows that :meth:`bring_back` would mark again.
        """
        if self._seen:
            self._dropped, self._seen, self._last = self._seen, {}, None
        return len(self._dropped)

    @property
    def may_bring_back(self) -> int:
        """The number of rows that :meth:`bring_back` would mark."""
        return 0 if self._seen else len(self._dropped)

    def bring_back(self) -> None:
        """Mark the rows that :meth:`clear` has unmarked."""
        self._seen, self._dropped = self._dropped | self._seen, {}

    # --- what becomes of them ------------------------------------------------------------------

    def see(self, rows: Iterable[R]) -> None:
        """Store the present values of marked rows. Actions then expect these values."""
        for row in rows:
            if (key := self._marked(row)) is not None:
                self._seen[key] = row

    def drop(self, rows: Iterable[R]) -> None:
        """Unmark some rows."""
        self.drop_keys(key for row in rows if (key := self._key(row)) is not None)

    def drop_keys(self, keys: Iterable[K], made: int | None = None) -> None:
        """Unmark rows by their keys.

        Args:
            keys: The keys of the rows.
            made: An earlier value of :attr:`count`; rows marked since then stay marked. None to
                unmark all of the rows.
        """
        for key in keys:
            if made is not None and self._made.get(key, 0) > made:
                continue
            self._seen.pop(key, None)
            self._dropped.pop(key, None)
            if key == self._last:
                self._last = next(reversed(self._seen), None)

    def _add(self, rows: Iterable[R]) -> None:
        for row in rows:
            if (key := self._key(row)) is not None:
                if self._marked(row) is None:
                    self.count += 1
                    self._made[key] = self.count
                self._seen[key] = row
                self._last = key
        self._dropped = {}


def remote_marks() -> Marks[Key, Row]:
    """Return new marks for remotes, by lock and ID."""
    return Marks(_key, lambda seen, row: seen[1] is row[1] or is_still(seen[1].raw, row[1]))


def lock_marks() -> Marks[int, Lock]:
    """Return new marks for locks, by ID."""
    return Marks(attrgetter("lock_id"))


def _key(row: Row) -> Key | None:
    return None if row[1].id is None else (row[0], row[1].id)


def key_of_remote(step: Step) -> Key | None:
    """Return the key of the remote that a step changes; None if it has no remote ID."""
    return None if step.remote_id is None else (step.lock_id, step.remote_id)
