"""The page size of the remotes screen, which may follow the size of the terminal."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from textual import work
from textual.timer import Timer
from textual.worker import Worker

from lockterm import screens
from lockterm.config.profile import FIT, page_rows
from lockterm.errors import LocktermError
from lockterm.operations import Fetched
from lockterm.operations.remote_list import RemoteList
from lockterm.screens.base import LocktermScreen
from lockterm.screens.remotes.table import RemotesTable

if TYPE_CHECKING:
    from lockterm.domain.remotes import RemotePage

PAGE_SIZES = (10, 20, 50, 100, 200)
"""The page sizes that the user can choose, besides the current size."""

RESIZED_S = 0.3
"""Seconds without a change of the terminal's size before lockterm requests a page of the new size.

The delay is needed because dragging the border of a window resizes the terminal dozens of times.
"""


class PageSize(LocktermScreen[None]):
    """A screen of remotes whose page size the user chooses: a number, or as many as fit."""

    table: RemotesTable
    remotes: RemoteList

    _resized: Timer | None = None

    @abstractmethod
    def compare_with_journal(self) -> Worker[None]:
        """Show recent changes that the page lacks, and changes by others since the last reading."""

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
        """Ask for a page size and apply it. The service may still return fewer or more remotes."""

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
