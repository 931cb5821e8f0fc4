"""The parts of the remotes screen that follow the terminal's size: side panels, page size.

A wide terminal also shows the selected remote and the lock book. A high terminal shows more rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual import events, on, work
from textual.message import Message
from textual.reactive import var
from textual.timer import Timer
from textual.worker import Worker

from lockterm import screens
from lockterm.config.profile import FIT, page_rows
from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import LONGEST_CELL, clean
from lockterm.errors import LocktermError, StoreError
from lockterm.operations import Fetched
from lockterm.operations.remote_list import RemoteList
from lockterm.screens.base import LocktermScreen
from lockterm.screens.remotes.table import RemotesTable
from lockterm.terminal.key_queue import opens
from lockterm.widgets.row_table import Column, LazyRows, RowTable

if TYPE_CHECKING:
    from lockterm.domain.remotes import RemotePage


BOOK_FROM = 160
"""The minimum terminal width at which the lock book is shown on the left, in columns."""


def by_name(book: Iterable[Lock], current: Lock) -> list[Lock]:
    """Return the open lock and all locks of the lock book, sorted by title and then by ID.

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

    @dataclass
    class LockClicked(Message):
        """Posted when the user clicks a lock other than the open lock."""

        lock: Lock

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
        """Show the remotes of the lock ``step`` positions after the open lock.

        The positions are those of the sorted lock book, where the first lock follows the last one.
        If ``step`` is negative, count backward.
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


PAGE_SIZES = (10, 20, 50, 100, 200)
"""The page sizes that the user can choose, besides the current size and "as many as fit"."""


RESIZED_S = 0.3
"""Seconds without a change of the terminal's size before lockterm requests a page of the new size.

The delay is needed because dragging the border of a window resizes the terminal dozens of times.
"""


class PageSize(LocktermScreen[None]):
    """A screen of remotes whose page size the user chooses: a number, or as many remotes as fit."""

    table: RemotesTable
    remotes: RemoteList

    _resized: Timer | None = None

    @abstractmethod
    def compare_with_journal(self) -> Worker[None]:
        """Show which changes by lockterm the page lacks, and which remotes others changed."""

    @property
    def wanted_rows(self) -> int:
        """The number of remotes to request per page at the current terminal size."""
        return page_rows(self.remotes.wanted_size, *self.app.size)

    def on_resize(self) -> None:
        """Adapt the number of rows once the terminal's size is stable."""
        if self._resized is not None:
            self._resized.stop()
        self._resized = self.set_timer(RESIZED_S, self.fit)

    @work(exclusive=True, group="fit")
    async def fit(self, *, asked: bool = False) -> None:
        """Replace the shown page by a page of the wanted size. The same remote stays selected.

        No key waits for this method, because keys act on the rows that are shown. The method stops
        if another page is being read, because :meth:`load` calls the method again after that page.
        A size that the service has refused is requested again only if the user asks for it.

        Args:
            asked: Whether the user has chosen the size. If so, an error is shown.
        """
        listed, size = self.remotes, self.wanted_rows
        before, tried = listed.state.load.seen, 0
        if not (asked or listed.may_have(size)):
            return
        while before is not None and size != listed.size:
            page_no = listed.page_with(self.table.selected, size)
            if page_no == tried or not self._may_replace(before, size):
                return
            tried, seen = page_no, None
            with self.showing_errors() if asked else suppress(LocktermError):
                seen = await listed.read_sized(page_no, size)
            if seen is None or not self._may_replace(before, size):
                return
            was, comes = ({one.id for one in page.value.remotes} for page in (before, seen))
            if self.table.selected is not None and self.table.selected.id in was - comes:
                continue  # the cursor has moved to a row of another page
            listed.show_sized(seen, size)
            self.compare_with_journal()
            self.call_after_refresh(listed.read_ahead)

    def _may_replace(self, before: Fetched[RemotePage], size: int) -> bool:
        """Return whether the page ``before`` may be replaced by a page of ``size`` remotes.

        The replacement is possible while ``before`` is still shown, ``size`` is still wanted, and
        no page is loading.
        """
        now = self.remotes.state.load
        is_shown = self.is_active and now.seen is before and not now.busy
        return is_shown and size == self.wanted_rows

    def action_page_size(self) -> None:
        """Ask for a page size and apply it. The service may return a page of another size."""

        def resize(size: int | Literal["auto"] | None) -> None:
            if size is not None:
                self.remotes.wanted_size = size
                self.fit(asked=True)

        now = self.remotes.wanted_size
        fitting = page_rows(FIT, *self.app.size)
        sizes = sorted({*PAGE_SIZES} | ({now} if now != FIT else set()))
        choices: list[tuple[int | Literal["auto"], str]]
        choices = [(FIT, f"as many as fit (now {fitting})")]
        choices += [(size, f"{size} remotes per page") for size in sizes]
        at = [size for size, _ in choices].index(now)
        self.app.push_screen(screens.ChoiceModal("How many remotes per page?", choices, at), resize)
