"""The lock book beside the remotes of a lock, in wide terminals; the next lock of it in all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lockterm.domain.locks import Lock
from lockterm.errors import StoreError
from lockterm.screens.base import LocktermScreen
from lockterm.terminal.key_queue import opening

if TYPE_CHECKING:
    from lockterm.screens.remotes.book_pane import BookPane

BOOK_FROM = 160
"""Columns of the terminal from which the lock book stands at the left."""


class BookBeside:
    """The lock book, its pane, and the way to another lock.

    Args:
        screen: The screen of the remotes of one lock.
        book: The lock book as it was last read; None: it was not.
        opened: Makes the screen of another lock.
    """

    def __init__(
        self,
        screen: LocktermScreen[Any],
        book: Sequence[Lock] | None,
        opened: Callable[[Lock], LocktermScreen[Any]],
    ) -> None:
        self._screen = screen
        self.locks = book
        """As it was last read; None: it was not."""
        self._opened = opened
        self._pane: BookPane | None = None

    @property
    def is_filled(self) -> bool:
        """Whether the pane shows the book, or there is no pane."""
        return self._pane is None or self.locks is not None

    @property
    def _lock(self) -> Lock:
        assert self._screen.lock_entry is not None
        return self._screen.lock_entry

    async def begin(self) -> None:
        """Show it; in a picture that stands on the terminal it is filled."""
        self.show()
        if self._screen.host.is_replayed:
            await self.read_now()

    def show(self) -> None:
        """Show the pane where the terminal has room for it; it is made for the first."""
        is_wide = self._screen.app.size.width >= BOOK_FROM
        if not self._screen.is_running or (self._pane is None and not is_wide):
            return
        if self._pane is None:
            from lockterm.screens.remotes.book_pane import BookPane

            self._pane = BookPane(self._go_to, id="book")
            self._screen.query_one("#remotes").mount(self._pane, before=0)
            self._paint()
        remotes = self._screen.query_one("#remotes")
        if is_wide != remotes.has_class("-book"):
            remotes.set_class(is_wide, "-book")
            self.read()

    def read(self) -> None:
        """Have the pane tell what the book says now: other screens change it."""
        if self._screen.query("#remotes.-book"):
            self._screen.run_alone(self.read_now, "book")

    async def read_now(self) -> None:
        """Read the book, if there is a pane for it."""
        if self._pane is not None:
            with suppress(StoreError):  # the locks screen says so
                self.locks = await self._screen.operations.locks.all()
            self._paint()

    def _paint(self) -> None:
        if self._pane is not None:
            from lockterm.screens.remotes.book_pane import by_name

            locks = by_name(self.locks, self._lock) if self.locks is not None else ()
            self._pane.show_book(locks, self._lock.lock_id)

    def go_on_by(self, step: int) -> None:
        """Show the remotes of the lock so much further in the book, which has no end."""
        self._screen.run_worker(self._go_on_by(step))

    async def _go_on_by(self, step: int) -> None:
        from lockterm.screens.remotes.book_pane import by_name

        screen = self._screen
        with opening(screen, "the other lock", must_appear=True), screen.refusing_errors():
            self.locks = await screen.operations.locks.all()
            locks = by_name(self.locks, self._lock)
            ids = [lock.lock_id for lock in locks]
            other = locks[(ids.index(self._lock.lock_id) + step) % len(locks)]
            if other.lock_id == self._lock.lock_id:
                screen.refuse_to_open("Another lock", "The lock book has no other lock.")
            else:
                self._go_to(other)

    def _go_to(self, lock: Lock) -> None:
        """Show the remotes of another lock in place of these, on a screen of its own."""
        if not self._screen.is_current:
            return
        if reason := self._screen.why_not("next_lock"):
            self._screen.notify(reason, title="Another lock")
            return
        other = self._opened(lock)
        other.leads_back = self._screen.leads_back
        self._screen.app.switch_screen(other)
