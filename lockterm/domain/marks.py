"""The rows that the user has marked: remotes by lock and ID, or locks by ID.

Marks are independent of the rows that a table shows. They stay when the table is paged, sorted,
searched or reloaded. Therefore an action on marked rows must show all of these rows, including
those that are not on the screen.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from lockterm.domain.remotes import Remote, is_still

if TYPE_CHECKING:
    from lockterm.domain.locks import Lock
    from lockterm.domain.plan import Step

Key = tuple[int, int]
"""The lock ID and the ID of a remote."""

Row = tuple[int, Remote]
"""The lock ID, and the remote with the values on the screen."""

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")


class Marks(Generic[K, R]):
    """The marked rows with their last known values, in the order in which they were marked.

    Subclasses define the keys of rows. In this base class, no row has a key or can be marked.
    """

    def __init__(self) -> None:
        self._seen: dict[K, R] = {}
        self._last: K | None = None
        """The key of the row that was marked last, where a range of marks begins."""
        self._dropped: dict[K, R] = {}
        """Maps keys to the rows that :meth:`clear` has unmarked, for :meth:`bring_back`."""
        self._made: dict[K, int] = {}
        """Maps the key of a row to the value of :attr:`count` when the row was marked."""
        self.count = 0
        """Number of rows marked so far, including rows that are not marked any more."""

    def __len__(self) -> int:
        return len(self._seen)

    def has(self, row: R) -> bool:
        """Return whether this row is marked.

        The result is false if another remote or lock with the key of this row is marked.
        """
        return self._marked(row) is not None

    def key_of(self, row: R) -> K | None:
        """Return the key of a row; None if the row cannot be marked."""
        return None

    def is_same(self, marked: R, row: R) -> bool:
        """Return whether a marked row and a row with the same key are the same remote or lock."""
        return True

    def may_have(self, row: R) -> bool:
        """Return whether a row can be marked, because it has a key."""
        return self.key_of(row) is not None

    def _marked(self, row: R) -> K | None:
        key = self.key_of(row)
        if key is None or key not in self._seen:
            return None
        return key if self.is_same(self._seen[key], row) else None

    @property
    def rows(self) -> list[R]:
        """All marked rows, with their last known values."""
        return [*self._seen.values()]

    def still(self, rows: Iterable[R]) -> list[R]:
        """Return the given rows that are marked, each with its last known values."""
        return [self._seen[key] for row in rows if (key := self._marked(row)) is not None]

    def hidden(self, shown: Iterable[R]) -> list[R]:
        """Return the marked rows that are not among the rows on the screen."""
        keys = {*map(self._marked, shown)}
        return [row for key, row in self._seen.items() if key not in keys]

    def describe(self, shown: Iterable[R]) -> str:
        """Return how many rows are marked, and how many of these rows are not on the screen.

        An example is ``5 marked, 2 not shown``. The text is empty if no row is marked.

        Args:
            shown: The rows on the screen.
        """
        if not self._seen:
            return ""
        hidden = len(self.hidden(shown))
        return f"{len(self):,} marked{f', {hidden:,} not shown' if hidden else ''}"

    # --- marking -------------------------------------------------------------------------------

    def toggle(self, row: R) -> None:
        """Mark a row, or unmark it if it is marked. A row without a key stays unmarked."""
        if self.has(row):
            self.drop([row])
        else:
            self._add([row])

    def toggle_all(self, rows: Sequence[R]) -> int:
        """Mark the given rows, or unmark them if all of them are marked.

        Rows without a key are ignored.

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
        """Mark all rows from the row that was marked last to another row, inclusive.

        Args:
            rows: All rows on the screen, from top to bottom.
            to: The index of the other row.

        Returns:
            Whether both rows are on the screen. If not, nothing is marked.
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
        """Unmark all rows. :meth:`bring_back` can mark them again.

        Returns:
            The number of rows that :meth:`bring_back` would mark again.
        """
        if self._seen:
            self._dropped, self._seen, self._last = self._seen, {}, None
        return len(self._dropped)

    @property
    def may_bring_back(self) -> int:
        """The number of rows that :meth:`bring_back` would mark again."""
        return 0 if self._seen else len(self._dropped)

    def bring_back(self) -> None:
        """Mark the rows again that :meth:`clear` has unmarked."""
        self._seen, self._dropped = self._dropped | self._seen, {}

    # --- updating and unmarking ----------------------------------------------------------------

    def see(self, rows: Iterable[R]) -> None:
        """Store the present values of the given rows that are marked, for later actions."""
        for row in rows:
            if (key := self._marked(row)) is not None:
                self._seen[key] = row

    def drop(self, rows: Iterable[R]) -> None:
        """Unmark rows. Rows without a mark are ignored."""
        self.drop_keys(key for row in rows if (key := self.key_of(row)) is not None)

    def drop_keys(self, keys: Iterable[K], until_count: int | None = None) -> None:
        """Unmark rows by their keys.

        Args:
            keys: The keys of the rows.
            until_count: A value of :attr:`count`. Rows that were marked after ``count`` had this
                value stay marked. None to unmark all rows with these keys.
        """
        for key in keys:
            if until_count is not None and self._made.get(key, 0) > until_count:
                continue
            self._seen.pop(key, None)
            self._dropped.pop(key, None)
            if key == self._last:
                self._last = next(reversed(self._seen), None)

    def _add(self, rows: Iterable[R]) -> None:
        for row in rows:
            if (key := self.key_of(row)) is not None:
                if self._marked(row) is None:
                    self.count += 1
                    self._made[key] = self.count
                self._seen[key] = row
                self._last = key
        self._dropped = {}


class RemoteMarks(Marks[Key, Row]):
    """The marked remotes. The keys are pairs of lock ID and remote ID."""

    def key_of(self, row: Row) -> Key | None:
        return None if row[1].id is None else (row[0], row[1].id)

    def is_same(self, marked: Row, row: Row) -> bool:
        return marked[1] is row[1] or is_still(marked[1].raw, row[1])


class LockMarks(Marks[int, "Lock"]):
    """The marked locks. The keys are lock IDs."""

    def key_of(self, row: Lock) -> int:
        return row.lock_id


def key_of_remote(step: Step) -> Key | None:
    """Return the key of the remote that a step changes; None if the step has no remote ID."""
    return None if step.remote_id is None else (step.lock_id, step.remote_id)
