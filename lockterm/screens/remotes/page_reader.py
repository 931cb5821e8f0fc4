"""Reads the pages of a lock's list: the wanted one, those beside it, what they do not show yet."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from lockterm.errors import Refused, StoreError
from lockterm.keymap.hints import with_keys
from lockterm.operations import Operations, Seen
from lockterm.operations.remotes import AHEAD_S

if TYPE_CHECKING:
    from lockterm.domain.remotes import RemotePage
    from lockterm.operations.recorded import Unlisted
    from lockterm.operations.walk_limits import SeenIds


class PageReader:
    """What is asked of the service for one lock's list, and what is known of it without asking.

    Args:
        operations: The one door to service and store.
        lock_id: The lock.
        notify: Tells a person something.
    """

    def __init__(self, operations: Operations, lock_id: int, notify: Callable[[str], None]) -> None:
        self._operations = operations
        self._lock_id = lock_id
        self._notify = notify
        self.wanted_size = operations.profile.page_size
        """What was chosen: so many remotes on a page, or as many as fit."""
        self.size = operations.profile.page_rows()
        """Remotes on a page, as many as are asked for."""
        self._refused: set[int] = set()
        """So many on a page are more, or fewer, than the service gives."""

    @cached_property
    def _listed(self) -> SeenIds:
        """The ids of all pages seen so far."""
        from lockterm.operations.walk_limits import SeenIds

        return SeenIds()

    def is_at_hand(self, page_no: int) -> bool:
        """Whether a page was fetched ahead, so that the service need not be asked."""
        return self._operations.remotes.has_page(self._lock_id, page_no, self.size)

    def first(self) -> tuple[Seen[RemotePage], Callable[[], None]] | None:
        """The first page, where it is there before its screen; and what is due once it is shown."""
        return self._operations.remotes.first_page(self._lock_id, 1, self.size)

    def forget(self) -> None:
        """Ask the service anew for every page."""
        self._operations.remotes.forget(self._lock_id)

    async def read(
        self, page_no: int, remote_id: int | None = None, *, at_most_s: float = AHEAD_S
    ) -> Seen[RemotePage]:
        """A page.

        Args:
            page_no: Which one; beyond the end of the list, the last one is read.
            remote_id: Read the page that has this remote instead, if it can be found; None: any.
            at_most_s: How old, in seconds, a page may be that serves without asking.

        Raises:
            LocktermError: The service was not reached, or refused.
        """
        seen = await self._read(page_no, at_most_s)
        if not seen.value.remotes and not seen.value.unreadable and page_no > 1:
            # Beyond the end, because something was deleted: one step back, once.
            seen = await self._read(max(min(page_no - 1, seen.value.pages), 1))
        return seen if remote_id is None else await self._page_with(remote_id, seen)

    def may_have(self, size: int) -> bool:
        """Whether the service has not yet refused pages of a size."""
        return size not in self._refused

    async def read_sized(self, page_no: int, size: int) -> Seen[RemotePage]:
        """A page of another size; errors as for :meth:`read`."""
        try:
            return await self._operations.remotes.page(self._lock_id, page_no, size)
        except Refused as error:
            if error.status == 200:  # it understood what was asked for, and does not give it
                self._refused.add(size)
            raise

    async def kept(self, page_no: int) -> Seen[RemotePage] | None:
        """A page as it once was; None where it was never read."""
        return await self._operations.remotes.cached_page(self._lock_id, page_no, self.size)

    def look_ahead(self, page: RemotePage) -> None:
        """Fetch the pages beside one, so that the next key needs no round trip."""
        for page_no in (page.page_no + 1, page.page_no - 1):
            if 1 <= page_no <= page.pages:
                self._operations.remotes.look_ahead(self._lock_id, page_no, self.size)

    async def unlisted(self, page: RemotePage) -> Unlisted | None:
        """What was added or deleted just now and the list does not show yet; None: nothing.

        Raises:
            StoreError: The journal cannot be read.
        """
        self._note(page)
        found = await self._operations.journal.unlisted(self._lock_id, page, self._listed)
        return found if found is not None and found.words else None

    def _note(self, page: RemotePage) -> None:
        for remote in page.remotes:
            if remote.id is not None:
                self._listed.add(remote.id)

    async def may_restore(self) -> bool:
        """Whether the history has remotes of this lock that were deleted from here.

        Raises:
            StoreError: The journal cannot be read.
        """
        if self._operations.profile.read_only:
            return False
        from lockterm.domain.history import Selection
        from lockterm.domain.operation import RECORDED
        from lockterm.domain.undo import why_not_restorable

        done = Selection(self._lock_id, RECORDED)
        lines = await self._operations.journal.lines(done)
        return any(not why_not_restorable(line, line.count) for line in lines)

    async def _read(self, page_no: int, at_most_s: float = AHEAD_S) -> Seen[RemotePage]:
        remotes = self._operations.remotes
        return await remotes.page(self._lock_id, page_no, self.size, at_most_s=at_most_s)

    async def _page_with(self, remote_id: int, seen: Seen[RemotePage]) -> Seen[RemotePage]:
        """The page that has a remote: this one, or one near an end, where new ones usually are."""
        shown, pages = seen.value.page_no, seen.value.pages
        near_an_end = [page_no for page_no in (pages, pages - 1, 1) if 1 <= page_no <= pages]
        tried = []
        for page_no in dict.fromkeys((shown, *near_an_end)):
            tried.append(seen if page_no == shown else await self._read(page_no))
            if any(remote.id == remote_id for remote in tried[-1].value.remotes):
                return tried[-1]
        for one in tried:
            self._note(one.value)
        last = next((one for one in tried if one.value.page_no >= pages), seen)
        with suppress(StoreError):
            unlisted = await self.unlisted(last.value)
            if unlisted is not None and remote_id in unlisted.words:
                return last
        find = with_keys("Press {remotes.find} to find it.")
        self._notify(f"Remote {remote_id} is on none of the pages looked at. {find}")
        return seen
