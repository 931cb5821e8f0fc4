"""The body of the remotes screen: the table, its empty state, and the side panels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import tzinfo
from typing import TYPE_CHECKING

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message

from lockterm import screens
from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.errors import StoreError
from lockterm.operations import Operations
from lockterm.operations.batteries import NOT_REPORTED
from lockterm.screens.remotes.table import RemotesTable
from lockterm.widgets.row_table import Column, LazyRows, RowTable
from lockterm.widgets.state_panel import StatePanel

if TYPE_CHECKING:
    from lockterm.screens.remotes.pane import RemotePane


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
    """The side panel that lists the locks of the lock book; the cursor is on the open lock.

    Each row shows a title and the last known number of remotes. The panel never gets the focus,
    because every key is for the table of remotes.
    """

    class LockClicked(Message):
        """Posted when the user clicks a lock other than the open one.

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
        """Show the locks of the lock book, with the cursor on the open lock; nothing if unread."""
        locks = by_name(book, current) if book is not None else ()
        self._locks = {str(lock.lock_id): lock for lock in locks}
        self.show(LazyRows(self._locks, self._cells), str(current.lock_id))

    def widest(self) -> Sequence[int]:
        """Return the column widths in cells; the titles get the width that the numbers leave."""
        return LONGEST_CELL, len("1000000")

    def on_click(self, event: events.Click) -> None:
        """Post a message with the clicked lock; the cursor moves only when that lock is opened."""
        event.prevent_default()
        event.stop()
        row = self._row_at(event)
        if row is not None and row != self.cursor_row:
            self.post_message(self.LockClicked(self._locks[self._keys[row]]))

    def _cells(self, lock: Lock) -> tuple[str, ...]:
        return clean(lock.title, LONGEST_CELL), "-" if lock.remotes is None else str(lock.remotes)


BOOK_FROM = 160
"""The minimum terminal width at which the lock book is shown on the left, in columns."""


class RemotesBody(Horizontal):
    """The table of remotes and its side panels, which are created on first use.

    Args:
        operations: The operations on the service and the local store.
        lock: The lock whose remotes are shown.
        table: The table of the remotes.
        book: The lock book as last read; None if it was never read.
    """

    def __init__(
        self,
        operations: Operations,
        lock: Lock,
        table: RemotesTable,
        book: Sequence[Lock] | None,
    ) -> None:
        super().__init__(id="remotes")
        self._operations = operations
        self.lock_entry = lock
        """The lock, with its entry in the lock book."""
        self.book = book
        """The lock book as last read; None if it was never read."""
        self.table = table
        self._panel: StatePanel | None = None
        self._pane: RemotePane | None = None
        self._book_pane: BookPane | None = None

    def compose(self) -> ComposeResult:
        yield self.table

    # --- the column of the battery levels --------------------------------------------------------

    class LevelsRead(Message):
        """Posted when lockterm has read battery levels."""

    def on_resize(self) -> None:
        """Read the battery levels if their column fits into the new width."""
        self.call_after_refresh(self.read_batteries)

    def read_batteries(self) -> None:
        """Read the battery levels of the rows, if the table shows them or sorts by them."""
        if self.table.needs_batteries:
            self._read_levels()

    def forget_batteries(self) -> None:
        """Read all battery levels again when rows are shown the next time."""
        self.workers.cancel_group(self, "battery")
        self._operations.batteries.forget()

    @work(exclusive=True, group="battery")
    async def _read_levels(self) -> None:
        reader = self._operations.batteries
        remotes = [row.remote for row in self.table.rows if reader.is_due(row.remote)]
        if not remotes or reader.stopped == NOT_REPORTED:
            return
        await reader.read(remotes)
        if not reader.is_reported:
            reader.stop(NOT_REPORTED)
        if reader.stopped:
            self.notify(clean(reader.stopped, 300), title="Battery levels", severity="warning")
        self.post_message(self.LevelsRead())

    # --- the words in place of the table -------------------------------------------------------

    def show_empty_state(self, words: str, keys: str) -> None:
        """Show a text in place of the table, and the keys that the user can press next."""
        if self._panel is None:
            # The panel has its own layer, so that hiding it lays out and paints nothing else again.
            self._panel = StatePanel(id="state")
            self.mount(self._panel)
        self._panel.say(words, keys)

    def show_table(self) -> None:
        """Show the table again, in place of the empty state."""
        if self._panel is not None:
            self._panel.display = False

    # --- the remote under the cursor -----------------------------------------------------------

    def show_pane(self, zone: tzinfo) -> None:
        """Show the selected remote in the side panel, if the terminal is wide enough."""
        if not self.screen.has_class("-wide"):
            return
        if self._pane is None:
            # Import the panel only now: its import of the history would delay a narrow terminal.

            self._pane = screens.RemotePane(self._operations, self.lock_entry.lock_id, id="pane")
            self.mount(self._pane)
            self._pane.look_at_journal()
        row = self.table.selected_row
        change = self.table.elsewhere_of(row)
        self._pane.show_row(row, zone, self._operations.now_ms(), change)

    def show_changes(self) -> None:
        """Read lockterm's changes from the journal again, and show those of the selected remote."""
        if self._pane is not None:
            self._pane.look_at_journal()

    # --- the lock book -------------------------------------------------------------------------

    def show_book(self) -> None:
        """Show the lock book, if the terminal has room for it."""
        is_wide = self.app.size.width >= BOOK_FROM
        if self._book_pane is None and not is_wide:
            return
        if self._book_pane is None:
            self._book_pane = BookPane(id="book")
            self.mount(self._book_pane, before=0)
            self._paint_book()
        if is_wide != self.has_class("-book"):
            self.set_class(is_wide, "-book")
            self.read_book_if_shown()

    def read_book_if_shown(self) -> None:
        """Read the lock book again if it is shown, because other screens may have changed it."""
        if self.has_class("-book"):
            self.read_book()

    @work(exclusive=True, group="book", description="the lock book")
    async def read_book(self) -> None:
        """Read the lock book, and show it in its side panel."""
        with suppress(StoreError):  # the screen of the locks shows the error
            self.book = await self._operations.locks.all()
        self._paint_book()

    def _paint_book(self) -> None:
        if self._book_pane is not None:
            self._book_pane.show_book(self.book, self.lock_entry)
