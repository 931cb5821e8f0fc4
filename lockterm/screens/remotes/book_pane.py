"""The lock book beside a wide table of remotes: which lock this is, and the way to another one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual import events
from textual.message import Message

from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.widgets.row_table import Column, LazyRows, RowTable


def by_name(book: Iterable[Lock], current: Lock) -> list[Lock]:
    """Return the locks of the book with the open one, in an order that opening does not change.

    Args:
        book: The lock book.
        current: The lock that is open, which may not be in the book.
    """
    locks = {current.lock_id: current} | {lock.lock_id: lock for lock in book}
    return sorted(locks.values(), key=lambda lock: (lock.title.casefold(), lock.lock_id))


class BookPane(RowTable, can_focus=False):
    """The locks by name, with their remotes at the last look; the open one is marked.

    It never has the focus: every key is for the remotes.
    """

    class LockClicked(Message):
        """A lock was clicked that is not open.

        Args:
            lock: The lock.
        """

        def __init__(self, lock: Lock) -> None:
            super().__init__()
            self.lock = lock

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(Column("Lock", most=LONGEST_CELL), Column("Remotes", right=True), id=id)
        self._locks: dict[str, Lock] = {}

    def show_book(self, book: Sequence[Lock] | None, current: Lock) -> None:
        """Show the locks of the book by name, if it was read, and mark the one that is open."""
        locks = by_name(book, current) if book is not None else ()
        self._locks = {str(lock.lock_id): lock for lock in locks}
        self.show(LazyRows(self._locks, self._cells), str(current.lock_id))

    def widest(self) -> Sequence[int]:
        """Return the widths of the columns: the names have what the counts leave."""
        return LONGEST_CELL, len("1000000")

    def on_click(self, event: events.Click) -> None:
        """Ask for the lock; the cursor moves only with what is open."""
        event.prevent_default()
        event.stop()
        row = self._row_at(event.y)
        if row is not None and row != self.cursor_row:
            self.post_message(self.LockClicked(self._locks[self._keys[row]]))

    def _cells(self, lock: Lock) -> tuple[str, ...]:
        return clean(lock.title, LONGEST_CELL), "-" if lock.remotes is None else str(lock.remotes)
