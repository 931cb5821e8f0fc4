"""The lock book beside a wide table of remotes: which lock this is, and the way to another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from textual import events

from lockterm.domain.locks import Lock
from lockterm.domain.text import LONGEST_CELL, clean
from lockterm.widgets.row_table import Column, LazyRows, RowTable


def by_name(book: Iterable[Lock], current: Lock) -> list[Lock]:
    """The locks of the book with the one that is open, in an order that opening does not change.

    Args:
        book: The lock book.
        current: The lock that is open, which may not be in the book.
    """
    locks = {current.lock_id: current} | {lock.lock_id: lock for lock in book}
    return sorted(locks.values(), key=lambda lock: (lock.title.casefold(), lock.lock_id))


class BookPane(RowTable, can_focus=False):
    """The locks by name, with their remotes at the last look; the one that is open is marked.

    It never has the focus: every key is for the remotes.

    Args:
        go_to: Called with a lock that was clicked.
    """

    def __init__(self, go_to: Callable[[Lock], None], *, id: str | None = None) -> None:
        super().__init__(Column("Lock", most=LONGEST_CELL), Column("Remotes", right=True), id=id)
        self._go_to = go_to
        self._locks: dict[str, Lock] = {}

    def show_book(self, locks: Sequence[Lock], current: int) -> None:
        """Show locks in this order, and mark the one that is open."""
        self._locks = {str(lock.lock_id): lock for lock in locks}
        self.show(LazyRows(self._locks, self._cells), str(current))

    def widest(self) -> Sequence[int]:
        """The names have what the counts leave, however many locks there are."""
        return LONGEST_CELL, len("1000000")

    def on_click(self, event: events.Click) -> None:
        """Go to the lock; the mark moves only with what is open."""
        event.prevent_default()
        event.stop()
        row = self._row_at(event.y)
        if row is not None and row != self.cursor_row:
            self._go_to(self._locks[self._keys[row]])

    def _cells(self, lock: Lock) -> tuple[str, ...]:
        return clean(lock.title, LONGEST_CELL), "-" if lock.remotes is None else str(lock.remotes)
