"""Pages of another size: as many remotes as fit the terminal, or as many as were chosen."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from lockterm.config.profile import FIT, page_rows
from lockterm.errors import LocktermError
from lockterm.screens.base import LocktermScreen
from lockterm.screens.remotes.page_reader import PageReader

if TYPE_CHECKING:
    from textual.timer import Timer

    from lockterm.domain.remotes import Remote, RemotePage
    from lockterm.operations import Seen
    from lockterm.screens.remotes.page_view import PageView

PAGE_SIZES = (10, 20, 50, 100, 200)
"""What is offered beside the profile's own."""

RESIZED_S = 0.3
"""Seconds for which the terminal keeps its size before the service is asked for other rows: a
window that is drawn larger has dozens of sizes on the way."""


class PageFit:
    """Has the pages of the size that is wanted; the remote under the cursor stays there.

    Args:
        screen: The screen that shows them.
        pages: Reads them.
        view: Tells what is shown.
        current: Tells the remote under the cursor; None: there is none.
        show: Shows a page of another size in place of the one that is shown.
    """

    def __init__(
        self,
        screen: LocktermScreen[Any],
        pages: PageReader,
        view: Callable[[], PageView],
        current: Callable[[], Remote | None],
        show: Callable[[Seen[RemotePage]], None],
    ) -> None:
        self._screen = screen
        self._pages = pages
        self._view = view
        self._current = current
        self._show = show
        self._resized: Timer | None = None
        """Goes off when the terminal has kept its size for a while."""

    @property
    def rows(self) -> int:
        """How many remotes a page is to have on the terminal as it is now."""
        return page_rows(self._pages.wanted_size, self._screen.app.size.height)

    def ask(self) -> None:
        """Ask how many remotes a page has; the service may give another number."""
        from lockterm.screens.dialogs.choice import ChoiceModal

        def resize(size: int | Literal["auto"] | None) -> None:
            if size is not None:
                self._pages.wanted_size = size
                self.fit(asked=True)

        now = self._pages.wanted_size
        fitting = page_rows(FIT, self._screen.app.size.height)
        sizes = sorted({*PAGE_SIZES} | ({now} if now != FIT else set()))
        choices: list[tuple[int | Literal["auto"], str]]
        choices = [(FIT, f"as many as fit: {fitting} now")]
        choices += [(size, f"{size} remotes a page") for size in sizes]
        at = [size for size, _ in choices].index(now)
        self._screen.app.push_screen(ChoiceModal("How many on a page?", choices, at), resize)

    def fit_soon(self) -> None:
        """Have pages that fit once the terminal stays as it is."""
        if self._resized is not None:
            self._resized.stop()
        self._resized = self._screen.set_timer(RESIZED_S, self.fit)

    def fit(self, *, asked: bool = False) -> None:
        """Have pages of the size that is wanted.

        Nothing waits for it, and every key acts on the rows that are shown. It is given up where
        another page is being read, or a question is about a row of this one: it is tried again
        behind that. A size that the service has refused is asked for again by a person alone.

        Args:
            asked: Whether a person has chosen the size, and is told where it cannot be had.
        """
        self._screen.run_alone(partial(self._fit, asked), "fit")

    async def _fit(self, asked: bool) -> None:
        size, before = self.rows, self._view().state.seen
        tried = 0
        if not (asked or self._pages.may_have(size)):
            return
        while before is not None and size != self._pages.size:
            page_no = self._page_of_cursor(before.value, size)
            if page_no == tried or not self._may_replace(before, size):
                return
            tried, seen = page_no, None
            with self._screen.showing_errors() if asked else suppress(LocktermError):
                seen = await self._pages.read_sized(page_no, size)
            if seen is None or not self._may_replace(before, size):
                return
            was, comes = ({one.id for one in page.value.remotes} for page in (before, seen))
            current = self._current()
            if current is not None and current.id in was - comes:
                continue  # the cursor has gone on meanwhile, to a row of another page
            self._pages.size = size
            self._show(seen)

    def _may_replace(self, before: Seen[RemotePage], size: int) -> bool:
        """Whether a page may still take the place of one, and its size is still wanted."""
        state = self._view().state
        is_shown = self._screen.is_active and state.seen is before and not state.busy
        return is_shown and size == self.rows

    def _page_of_cursor(self, page: RemotePage, size: int) -> int:
        """The number of the page that has the remote under the cursor.

        Args:
            page: The page that is shown.
            size: Remotes on a page; the service may give another number.
        """
        if page.page_size < min(size, self._pages.size):  # it gives no more
            size = page.page_size
        ids, current = [remote.id for remote in page.remotes], self._current()
        row = ids.index(current.id) if current is not None and current.id in ids else 0
        return ((page.page_no - 1) * page.page_size + row) // size + 1
