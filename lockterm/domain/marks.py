"""What is marked: remotes by lock and id, locks by their id, each as it was seen last.

A table shows rows, and marks are no rows: they stay while it pages, sorts, searches, reads again.
Whoever acts on them names them all, also those that are not on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from lockterm.domain.remotes import is_still

if TYPE_CHECKING:
    from lockterm.domain.locks import Lock
    from lockterm.domain.plan import Step
    from lockterm.domain.remotes import Remote

Key = tuple[int, int]
"""The lock and the remote's id."""

Row = tuple[int, "Remote"]
"""The lock, and the remote as it is shown."""

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")


class Marks(Generic[K, R]):
    """The marked rows, in the order in which they were marked.

    Args:
        key: What a row is known by; None: it can not be marked.
        is_same: Whether a row of the same key is what was seen, and no other.
    """

    def __init__(
        self, key: Callable[[R], K | None], is_same: Callable[[R, R], bool] = lambda *_: True
    ) -> None:
        self._key = key
        self._is_same = is_same
        self._seen: dict[K, R] = {}
        self._last: K | None = None
        """The one that was marked last: where a range begins."""
        self._dropped: dict[K, R] = {}
        """Those of which all were unmarked at once."""
        self._made: dict[K, int] = {}
        """Which mark of all it is, by its number."""
        self.count = 0
        """How many marks were made so far, also of what is not marked any more."""

    def __len__(self) -> int:
        return len(self._seen)

    def has(self, row: R) -> bool:
        """Whether a row is marked, and not another one that has the same key."""
        return self._marked(row) is not None

    def may_have(self, row: R) -> bool:
        """Whether a row can be marked."""
        return self._key(row) is not None

    def _marked(self, row: R) -> K | None:
        key = self._key(row)
        if key is None or key not in self._seen:
            return None
        return key if self._is_same(self._seen[key], row) else None

    @property
    def rows(self) -> list[R]:
        """All of them, as they were seen last."""
        return [*self._seen.values()]

    def still(self, rows: Iterable[R]) -> list[R]:
        """Those of some that are marked now, as they were seen last."""
        return [self._seen[key] for row in rows if (key := self._marked(row)) is not None]

    def hidden(self, shown: Iterable[R]) -> list[R]:
        """Those that are none of the rows that are shown."""
        keys = {*map(self._marked, shown)}
        return [row for key, row in self._seen.items() if key not in keys]

    def words(self, shown: Iterable[R]) -> str:
        """``5 marked, 2 not shown``; empty: none is marked."""
        if not self._seen:
            return ""
        hidden = len(self.hidden(shown))
        return f"{len(self):,} marked{f', {hidden:,} not shown' if hidden else ''}"

    # --- marking -------------------------------------------------------------------------------

    def toggle(self, row: R) -> None:
        """Mark a row, or unmark it; one without an id can be neither."""
        if self.has(row):
            self.drop([row])
        else:
            self._add([row])

    def toggle_all(self, rows: Sequence[R]) -> int:
        """Mark all rows; unmark them where all are marked already.

        Returns:
            How many more are marked than before.
        """
        before, usable = len(self), [row for row in rows if self.may_have(row)]
        if usable and all(map(self.has, usable)):
            self.drop(usable)
        else:
            self._add(usable)
        return len(self) - before

    def mark_range(self, rows: Sequence[R], to: int) -> bool:
        """Mark the rows from the one that was marked last to another, both of them too.

        Args:
            rows: Those that are shown, from top to bottom.
            to: The place of the other among them.

        Returns:
            Whether both are among the rows: else nothing is done.
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

    def see(self, rows: Iterable[R]) -> None:
        """Take over how marked remotes are shown now: what is changed is what was seen of them."""
        for row in rows:
            if (key := self._marked(row)) is not None:
                self._seen[key] = row

    def drop(self, rows: Iterable[R]) -> None:
        """Unmark some."""
        self.drop_keys(key for row in rows if (key := self._key(row)) is not None)

    def drop_keys(self, keys: Iterable[K], made: int | None = None) -> None:
        """Unmark some by what they are known by.

        Args:
            keys: What they are known by.
            made: Only those that were marked when so many marks were made, and not anew since.
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
    """Marks of remotes, by lock and id."""
    return Marks(_key, lambda seen, row: seen[1] is row[1] or is_still(seen[1].raw, row[1]))


def lock_marks() -> Marks[int, Lock]:
    """Marks of locks."""
    return Marks(lambda lock: lock.lock_id)


def _key(row: Row) -> Key | None:
    return None if row[1].id is None else (row[0], row[1].id)


def key_of_remote(step: Step) -> Key | None:
    """Return the key of the remote that a step is about; None if it is about none."""
    return None if step.remote_id is None else (step.lock_id, step.remote_id)
