"""Loading of the remotes screen: pages, their neighbours, what was just written, a search."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from textual import work
from textual.reactive import var

from lockterm.errors import LocktermError, StoreError
from lockterm.models.locks import Lock
from lockterm.operations import Operations, Seen
from lockterm.screens.base import SOON_S
from lockterm.screens.remote_actions import RemoteActions
from lockterm.widgets.find_line import matches
from lockterm.widgets.page_view import MOST_FOUND, MOST_SHOWN, Found, PageView
from lockterm.widgets.remote_line import Row, matching_text

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote, RemotePage
    from lockterm.screens.remote_form import RemoteSaved


class RemotesLoading(RemoteActions):
    """What is read from the service, and kept in ``view``; nothing is painted here.

    Args:
        operations: The one door to service and store.
        lock_entry: The lock, in the book or not.
    """

    page_no: var[int] = var(1, init=False, always_update=True)
    """The page that is wanted; setting it loads it."""

    view: var[PageView] = var(PageView(), init=False)
    """What is shown."""

    def __init__(self, operations: Operations, lock_entry: Lock) -> None:
        super().__init__(operations, lock_entry)
        self._page_size = operations.profile.page_size
        self._zone = operations.zone(lock_entry)
        self._go_to: int | None = None
        """The remote to stand on once the page is there."""
        self._loading: int | None = None
        """The page that is being loaded."""

    @abstractmethod
    def paint_rows(self, *, top: bool = False) -> None:
        """Show the rows anew.

        Args:
            top: Whether to stand on the first row where the old one is gone.
        """

    def watch_page_no(self) -> None:
        """Load what is wanted."""
        self.load_page()

    @work(exclusive=True, group="entry")
    async def read_entry(self) -> None:
        """Take over what the lock book says of the lock now: its name, its zone."""
        try:
            entry = await self.operations.find_lock(self.lock_entry.lock_id)
        except StoreError:  # the locks screen says so; the remotes do not need the book
            return
        if entry not in (Lock(entry.lock_id), self.lock_entry):
            self.lock_entry = entry
            self._zone = self.operations.zone(entry)
            self.show_crumbs()
            self.paint_rows()  # with the times of its zone

    @work(exclusive=True, group="page")
    async def load_page(self, *, fresh: bool = False) -> None:
        """Load the wanted page; the old one stays until it is there.

        Args:
            fresh: Ask the service even where the page was fetched ahead.
        """
        wanted = self.page_no
        if fresh:
            self.operations.forget_pages(self.lock_entry.lock_id)
        self._loading = wanted
        slow = self.set_timer(SOON_S, partial(self._say_loading, wanted))
        try:
            seen = await self._read_page(wanted)
            if not seen.value.remotes and not seen.value.unreadable and wanted > 1:
                # Beyond the end, because something was deleted: one step back, once.
                seen = await self._read_page(max(min(wanted - 1, seen.value.pages), 1))
            if self._go_to is not None:
                seen = await self._page_with(self._go_to, seen)
        except LocktermError as error:
            await self._miss(wanted, error)
            return
        finally:
            slow.stop()
            self._loading = None
        before = self.view.page.total if self.view.page and not self.view.kept else None
        self.set_reactive(RemotesLoading.page_no, seen.value.page_no)
        self.view = replace(self.view, seen=seen, kept=False, loading=None, trouble=None)
        self._go_to = None
        self.call_after_refresh(self._look_ahead, seen.value)
        if seen.value.total != before:
            await self._note_opened(seen.value.total)

    async def _read_page(self, page_no: int) -> Seen[RemotePage]:
        return await self.operations.page(self.lock_entry.lock_id, page_no, self._page_size)

    async def _page_with(self, remote_id: int, seen: Seen[RemotePage]) -> Seen[RemotePage]:
        """The page that has a remote: this one, or one near an end, where new ones usually are."""
        pages = seen.value.pages
        tried = [seen]
        for page_no in dict.fromkeys((pages, pages - 1, 1)):
            if any(remote.id == remote_id for remote in tried[-1].value.remotes):
                return tried[-1]
            if 1 <= page_no <= pages and page_no != seen.value.page_no:
                tried.append(await self._read_page(page_no))
        if any(remote.id == remote_id for remote in tried[-1].value.remotes):
            return tried[-1]
        self.notify(f"Remote {remote_id} is on none of the pages looked at. Press / to find it.")
        return seen

    async def _miss(self, wanted: int, error: LocktermError) -> None:
        """Say why a page is not there; show it as it once was, where that is known."""
        seen = self.view.seen
        if seen is None or seen.value.page_no != wanted:
            size = self._page_size
            kept = await self.operations.cached_page(self.lock_entry.lock_id, wanted, size)
            seen = kept or seen
        self.view = replace(self.view, seen=seen, loading=None, trouble=error, missed=wanted)

    def _look_ahead(self, page: RemotePage) -> None:
        for page_no in (page.page_no + 1, page.page_no - 1):
            if 1 <= page_no <= page.pages:
                self.operations.look_ahead(self.lock_entry.lock_id, page_no, self._page_size)

    async def _note_opened(self, total: int) -> None:
        with self.showing_errors():
            await self.operations.open_lock(self.lock_entry, total)

    async def _say_loading(self, page_no: int) -> None:
        """The service takes its time: say so, and show the page as it once was meanwhile."""
        kept = None
        if self.view.seen is None:
            size = self._page_size
            kept = await self.operations.cached_page(self.lock_entry.lock_id, page_no, size)
        if self._loading == page_no:
            if kept is not None:
                self.view = replace(self.view, seen=kept, kept=True, loading=page_no)
            else:
                self.view = replace(self.view, loading=page_no)

    @work(exclusive=True, group="search")
    async def search_all(self) -> None:
        """Look through the whole list for what was typed."""
        needle, begun_ms = self.view.needle, self.operations.now_ms()
        found, first = Found(at_ms=begun_ms), None
        try:
            async for remotes, total in self.operations.walk(self.lock_entry.lock_id):
                start, before = found.searched, found.remotes
                head = remotes[0] if remotes else None
                if head is not first:  # it begins, or begins again because the list has moved
                    first, start, before = head, 0, ()
                new = [remote for remote in remotes[start:] if self.matches(needle, remote)]
                found = Found((*before, *new), len(remotes), total, at_ms=begun_ms)
                if len(found.remotes) > MOST_FOUND:
                    most = found.remotes[:MOST_FOUND]
                    found = replace(found, remotes=most, ended="stopped: type more to narrow it")
                    break
                self.view = replace(self.view, found=found)
        except LocktermError as error:
            found = replace(found, ended=f"then: {error.title}")
        self.view = replace(self.view, found=replace(found, running=False))

    def rows(self) -> Sequence[Remote]:
        """The remotes to show: those of the page or those found, as far as they match.

        No more than the first :data:`MOST_SHOWN` of a page: a service may send any number, and a
        table of thousands keeps the keys waiting. What is sorted is what was loaded.
        """
        view = self.view
        if view.found is not None:
            return self.ordered(view.found.remotes)
        remotes = view.page.remotes if view.page else ()
        if not view.needle:
            return self.ordered(remotes)[:MOST_SHOWN]
        matching = (remote for remote in remotes if self.matches(view.needle, remote))
        return self.ordered(list(islice(matching, MOST_FOUND)))

    def ordered(self, remotes: Sequence[Remote]) -> Sequence[Remote]:
        """Remotes in the order in which they are shown: by itself, the service's."""
        return remotes

    def matches(self, needle: str, remote: Remote) -> bool:
        """Whether a remote has every word that was typed, in its strings or in its columns."""
        row = Row.of(remote, self._zone, self.operations.now_ms())
        return matches(needle, *matching_text(row))

    def after_write(self, remote_id: int | None) -> None:
        """Read the page again: what is shown may have changed."""
        self.load_page(fresh=True)
        if self.view.found is not None:
            self.search_all()

    def _form_closed(self, saved: RemoteSaved | None) -> None:
        """Stand on what was saved, on whichever page it is."""
        if saved is not None:
            self._go_to = saved.remote_id
        super()._form_closed(saved)
