"""The side panel of the remotes screen that lists the locks of the lock book."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual import events
from textual.message import Message

from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.widgets.row_table import Column, LazyRows, RowTable

BOOK_FROM = 160
"""The minimum terminal width at which the lock book is shown on the left, in columns."""


def by_name(book: Iterable[Lock], current: Lock) -> list[Lock]:
    """Return the locks of the lock book and the open lock, sorted by title and then by ID.

    The order is the same whichever of these locks is open.

    Args:
        book: The locks of the lock book.
        current: The lock that is open, which may not be in the book.
    """
    locks = {current.lock_id: current} | {lock.lock_id: lock for lock in book}
    return sorted(locks.values(), key=lambda lock: (lock.title.casefold(), lock.lock_id))


class BookPane(RowTable, can_focus=False):
    """The side panel that lists the locks of the lock book, with the cursor on the open lock.

    Each row shows a title and the last known number of remotes. The panel never gets the focus,
    because every key is for the table of remotes.
    """

    class LockClicked(Message):
        """Posted when the user clicks a lock other than the open lock.

        Args:
            lock: The clicked lock.
        """

        def __init__(self, lock: Lock) -> None:
            super().__init__()
            self.lock = lock

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(Column("Lock", most=LONGEST_CELL), Column("Remotes", right=True), id=id)
        self._locks: dict[str, Lock] = {}

    def show_book(self, book: Sequence[Lock] | None, current: Lock) -> None:
        """Show the locks of the lock book, with the cursor on the open lock.

        Args:
            book: The locks of the lock book; None if it was not read, to show no rows.
            current: The open lock.
        """
        locks = by_name(book, current) if book is not None else ()
        self._locks = {str(lock.lock_id): lock for lock in locks}
        self.show(LazyRows(self._locks, self._cells), str(current.lock_id))

    def widest(self) -> Sequence[int]:
        """Return the column widths in cells. The titles get the width that the numbers leave."""
        return LONGEST_CELL, len("1000000")

    def on_click(self, event: events.Click) -> None:
        """Post a message with the clicked lock. The cursor moves only when that lock is opened."""
        event.prevent_default()
        event.stop()
        row = self._row_at(event)
        if row is not None and row != self.cursor_row:
            self.post_message(self.LockClicked(self._locks[self._keys[row]]))

    def _cells(self, lock: Lock) -> tuple[str, ...]:
        return clean(lock.title, LONGEST_CELL), "-" if lock.remotes is None else str(lock.remotes)
