"""The panels beside the table of remotes, and the actions that open other locks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from textual import on, work
from textual.reactive import var

from lockterm import screens
from lockterm.domain.locks import Lock
from lockterm.errors import StoreError
from lockterm.operations.remote_list import RemoteList
from lockterm.screens.base import LocktermScreen
from lockterm.screens.remotes.book_pane import BOOK_FROM, BookPane, by_name
from lockterm.screens.remotes.table import RemotesTable
from lockterm.terminal.key_queue import opens


class SidePanels(LocktermScreen[None]):
    """A screen of remotes with panels for the selected remote and for the lock book.

    The panels are created when the terminal is first wide enough. They are in the container with
    the ID ``remotes``.
    """

    lock_entry: Lock
    table: RemotesTable
    remotes: RemoteList

    open_book: Callable[[], None]
    """A function that opens the lock book when no screen is below this one."""

    book: var[Sequence[Lock] | None] = var(None, init=False)
    """The lock book as last read; None if it was never read."""

    _pane: screens.RemotePane | None = None

    def on_resize(self) -> None:
        self.call_after_refresh(self.show_pane)
        self.call_after_refresh(self.show_book)

    # --- the selected remote -------------------------------------------------------------------

    @property
    def has_pane(self) -> bool:
        """Whether the terminal has room for the side panel of the selected remote."""
        return self.has_class("-wide") or self.has_class("-framed")

    def show_pane(self) -> None:
        """Show the selected remote in the side panel, if the terminal has room for it."""
        if not self.has_pane:
            return
        if self._pane is None:  # created only now, because its imports take time
            self._pane = screens.RemotePane(self.operations, self.lock_entry.lock_id, id="pane")
            self.query_one("#remotes").mount(self._pane)
            self._pane.look_at_journal()
        row = self.table.selected_row
        change = self.table.elsewhere_of(row)
        self._pane.show_row(row, self.remotes.zone, self.operations.now_ms(), change)

    def show_changes(self) -> None:
        """Read lockterm's changes from the journal again, and show those of the selected remote."""
        if self._pane is not None:
            self._pane.look_at_journal()

    # --- the lock book -------------------------------------------------------------------------

    @property
    def known_locks(self) -> Sequence[Lock]:
        return self.book or ()

    def show_book(self) -> None:
        """Show the lock book, if the terminal has room for it."""
        is_wide, body = self.app.size.width >= BOOK_FROM, self.query_one("#remotes")
        if is_wide and not self.query(BookPane):
            body.mount(BookPane(id="book"), before=0)
            self.watch_book()
        if is_wide != body.has_class("-book"):
            body.set_class(is_wide, "-book")
            self.read_book_if_shown()

    def watch_book(self) -> None:
        for pane in self.query(BookPane):
            pane.show_book(self.book, self.lock_entry)

    def read_book_if_shown(self) -> None:
        """Read the lock book again if it is shown, because other screens may have changed it."""
        if self.query_one("#remotes").has_class("-book"):
            self.read_book()

    @work(exclusive=True, group="book", description="the lock book")
    async def read_book(self) -> None:
        """Read the lock book, and show it in its side panel."""
        with suppress(StoreError):  # the screen of the locks shows the error
            self.book = await self.operations.locks.all()

    # --- other locks ---------------------------------------------------------------------------

    def action_next_lock(self) -> None:
        self._show_lock_beside(1)

    def action_previous_lock(self) -> None:
        self._show_lock_beside(-1)

    @work
    @opens("the other lock", must_appear=True)
    async def _show_lock_beside(self, step: int) -> None:
        """Show the lock ``step`` positions further in the sorted lock book.

        After the last lock comes the first.
        """
        with self.refusing_errors():
            self.book = book = await self.operations.locks.all()
            locks = by_name(book, self.lock_entry)
            ids = [lock.lock_id for lock in locks]
            other = locks[(ids.index(self.lock_entry.lock_id) + step) % len(locks)]
            if other.lock_id == self.lock_entry.lock_id:
                self.refuse_to_open("Another lock", "The lock book contains no other lock.")
            else:
                self._show_lock(other)

    @on(BookPane.LockClicked)
    def _lock_clicked(self, event: BookPane.LockClicked) -> None:
        self._show_lock(event.lock)

    def _show_lock(self, lock: Lock) -> None:
        """Replace this screen with the remotes of another lock."""
        if not self.is_current:
            return
        if reason := self.disabled_reason("next_lock"):
            self.notify(reason, title="Another lock")
            return
        other = screens.RemotesScreen(self.operations, lock, self.open_book, self.book)
        other.leads_back = self.leads_back
        self.app.switch_screen(other)
