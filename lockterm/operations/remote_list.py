"""The model of a lock's list of remotes: its pages, a search of all pages, and its state."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from lockterm.domain.callbacks import ignore
from lockterm.domain.dates import Clock
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import Remote, RemotePage
from lockterm.domain.safe_text import clean
from lockterm.domain.validity import StateCounts
from lockterm.errors import LocktermError, RefusedError, StoreError
from lockterm.operations.cached_reads import Fetched
from lockterm.operations.facade import Operations
from lockterm.operations.list_state import Found, ListState, LoadState, Unlisted, load
from lockterm.operations.remotes import AHEAD_S

MOST_FOUND = 500
"""Maximum number of search results. A search with more results ends."""

HELD_S = 0.15
"""Maximum time between two presses of a key that is held down, in seconds."""

SHOWN_MS = 250
LONG_SHOWN_MS, LONG_MS = 1000, 2000
"""The intervals of screen updates in a short search (``SHOWN_MS``) and in a long search
(``LONG_SHOWN_MS``), and the duration after which a search is long (``LONG_MS``).

All are in milliseconds. A long search updates the screen less often, because each update sends 80
bytes to the terminal, and a list may have 1,000 pages.
"""


class HeldKey:
    """A detector that recognizes when the user holds down a key.

    Args:
        clock: The clock of this machine.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last_s = float("-inf")

    def is_repeated(self) -> bool:
        """Record a press, and return whether the key is held down.

        The key is held down if the previous press was less than :data:`HELD_S` seconds ago.
        """
        now_s, last_s = self._clock.steady(), self._last_s
        self._last_s = now_s
        return now_s - last_s < HELD_S


class RemoteList:
    """The remotes of a lock, read page by page. This model does not depend on Textual.

    Args:
        operations: The operations of the profile.
        lock: The lock.
        changed: A function that is called after each visible change of ``state``. A function is
            needed because a model without Textual cannot post messages.
    """

    def __init__(self, operations: Operations, lock: Lock, changed: Callable[[], None]) -> None:
        self._operations = operations
        self._changed = changed
        self.lock = lock
        """The entry of the lock in the lock book."""
        self.zone = operations.zone(lock)
        """The time zone of the lock."""
        self.state = ListState()
        """The present state of the list."""
        self.page_no = 1
        """The number of the page to load."""
        self.go_to: int | None = None
        """The ID of the remote to select after loading; None to keep the selection."""
        self.missed: int | None = None
        """The value of ``go_to`` if the last load did not find that remote; otherwise None."""
        self.wanted_size = operations.profile.page_size
        """The page size that the user chose: a number, or ``auto`` for as many remotes as fit."""
        self.size = operations.profile.page_rows()
        """The page size that is requested from the service."""
        self.counts = StateCounts()
        """The numbers of remotes by state, on the pages read so far."""
        self._noted: int | None = None
        """The number of remotes that this object last stored in the lock book; None if it has
        stored none."""
        self._refused: set[int] = set()
        """Page sizes that the service has refused."""
        self._listed = set[int]()
        """The IDs of the remotes on all pages read so far."""

    def rename(self, lock: Lock) -> None:
        """Use the name and time zone in ``lock``, the new entry of the lock in the lock book."""
        self.lock, self.zone = lock, self._operations.zone(lock)

    def change(self, **changes: Any) -> None:
        """Replace fields of ``state``, and call the ``changed`` function."""
        before, self.state = self.state, replace(self.state, **changes)
        if (page := self.state.page) is not None and not self.state.has_rows_of(before):
            self.counts.note(page, self._operations.now_ms())
        self._changed()

    # --- pages ---------------------------------------------------------------------------------

    @property
    def base_page_no(self) -> int:
        """The number of the page from which the next and the previous page are counted.

        If the wanted page could not be loaded, this is the page that is still on the screen.
        """
        state = self.state
        return state.page_no if state.load.error is not None and state.page else self.page_no

    @property
    def is_cached(self) -> bool:
        """Whether the wanted page is in memory and recent."""
        return self._operations.remotes.has_page(self.lock.lock_id, self.page_no, self.size)

    def show_first(self) -> Callable[[], None] | None:
        """Show the first page if it is available before the screen opens.

        Returns:
            A function to call after the page is painted; None if the page is not available.
        """
        first = self._operations.remotes.first_page(self.lock.lock_id, 1, self.size)
        if first is None:
            return None
        self.change(load=LoadState(first[0]), wanted=1)
        return first[1]

    async def load(
        self,
        *,
        fresh: bool = False,
        held: bool = False,
        at_most_s: float = AHEAD_S,
        kept_shown: Callable[[], None] = ignore,
    ) -> bool:
        """Load the wanted page. The old page stays on the screen until the new one is available.

        Args:
            fresh: Whether to request the page even if it is in memory.
            held: Whether the user holds down the key for the next or previous page. If so, only the
                page at which the key is released is requested.
            at_most_s: The maximum age, in seconds, of a page from memory.
            kept_shown: A function to call when a cached page is shown before the service answers.

        Returns:
            Whether the page was loaded. If not, ``state`` has the error.
        """
        wanted = self.page_no
        if fresh:
            self._operations.remotes.forget(self.lock.lock_id)
            self.counts.forget()
        waits = held and not self.is_cached
        if waits:
            self.change(wanted=wanted, load=replace(self.state.load, slow=True))

        async def read() -> Fetched[RemotePage]:
            if waits:
                await asyncio.sleep(HELD_S)  # the next press cancels it here
            seen = await self._read_near(wanted, at_most_s)
            if self.go_to is None or self.state.found:
                return seen
            return await self._read_page_with(self.go_to, seen)

        def show(now: LoadState[RemotePage]) -> None:
            if now.busy and not now.slow:  # the screen shows no difference yet
                self.state = replace(self.state, load=now)
                return
            if now.seen is not None and not now.busy and not now.stale:
                self.page_no = now.seen.value.page_no
            self.change(load=now, wanted=wanted)

        self.missed = None
        seen = await load(
            lambda: self.state.load,
            show,
            read,
            partial(self._kept, wanted),
            kept_shown=kept_shown,
            is_other=lambda page: page.page_no != wanted,
        )
        if seen is not None:
            self.go_to = None
        return seen is not None

    def read_ahead(self) -> None:
        """Request the pages before and after the shown page, so that they appear at once later."""
        if (page := self.state.page) is None:
            return
        for page_no in (page.page_no + 1, page.page_no - 1):
            if 1 <= page_no <= page.pages:
                self._operations.remotes.look_ahead(self.lock.lock_id, page_no, self.size)

    async def compare_with_journal(self) -> None:
        """Show recent changes by lockterm that the page lacks, and changes by others."""
        if (page := self.state.page) is None:
            return
        with suppress(StoreError):  # the page can be shown without the journal
            unlisted = await self._unlisted(page)
            if unlisted != self.state.unlisted and self.state.page is page:
                self.change(unlisted=unlisted)
        await self._compare_with_kept()

    async def _compare_with_kept(self) -> None:
        """Show changes by others on this lock, including those that the shown page proves."""
        kept_lists, lock_id = self._operations.kept_lists, self.lock.lock_id
        shown = self.state.load
        if shown.seen is not None and not shown.stale and not shown.busy:
            await kept_lists.compare_page(lock_id, shown.seen.value.remotes, shown.seen.at_ms)
        elsewhere = await kept_lists.unseen(lock_id)
        if elsewhere != self.state.elsewhere:
            self.change(elsewhere=elsewhere)

    async def note_opened(self) -> bool:
        """Store in the lock book that the lock was opened, and its number of remotes.

        Returns:
            Whether the lock book had to be changed.

        Raises:
            StoreError: The lock book cannot be written.
        """
        page = self.state.page
        if page is None or page.total == self._noted:
            return False
        self._noted = page.total
        await self._operations.locks.note_opened(self.lock, page.total)
        return True

    async def has_restorable(self) -> bool:
        """Return whether deleted remotes of this lock can be restored from the history."""
        if self._operations.profile.read_only:
            return False
        from lockterm.domain import operation, undo  # after the first page

        with suppress(StoreError):  # the history screen shows the error
            done = operation.Selection(self.lock.lock_id, operation.RECORDED)
            lines = await self._operations.journal.lines(done)
            return any(not undo.why_not_restorable(line, line.count) for line in lines)
        return False

    async def _kept(self, page_no: int) -> Fetched[RemotePage] | None:
        remotes = self._operations.remotes
        return await remotes.cached_page(self.lock.lock_id, page_no, self.size)

    async def _read(self, page_no: int, at_most_s: float = AHEAD_S) -> Fetched[RemotePage]:
        remotes = self._operations.remotes
        return await remotes.page(self.lock.lock_id, page_no, self.size, at_most_s=at_most_s)

    async def _read_near(self, page_no: int, at_most_s: float) -> Fetched[RemotePage]:
        """Return a page, or the last page if the list ends before the wanted page."""
        seen = await self._read(page_no, at_most_s)
        if not seen.value.remotes and not seen.value.unreadable and page_no > 1:
            # Beyond the end, because a remote was deleted: go back one page, once.
            seen = await self._read(max(min(page_no - 1, seen.value.pages), 1))
        return seen

    async def _read_page_with(
        self, remote_id: int, seen: Fetched[RemotePage]
    ) -> Fetched[RemotePage]:
        """Return the page that contains a remote: ``seen``, the first page, or one of the last two.

        If none of these pages contains the remote, return the last page if lockterm has just added
        the remote. Otherwise return ``seen``, and set :attr:`missed`.
        """
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
            unlisted = await self._unlisted(last.value)
            if unlisted is not None and remote_id in unlisted.words:
                return last
        self.missed = remote_id
        return seen

    async def _unlisted(self, page: RemotePage) -> Unlisted | None:
        self._note(page)
        found = await self._operations.journal.unlisted(self.lock.lock_id, page, self._listed)
        return found if found is not None and found.words else None

    def _note(self, page: RemotePage) -> None:
        for remote in page.remotes:
            if remote.id is not None:
                self._listed.add(remote.id)

    # --- another size --------------------------------------------------------------------------

    def may_have(self, size: int) -> bool:
        """Return whether a page size may be requested.

        A size is not requested again after the service has refused it in this session.
        """
        return size not in self._refused

    def page_with(self, remote: Remote | None, size: int) -> int:
        """Return the number of the page that will contain a remote after the page size changes.

        Args:
            remote: A remote on the shown page; None for the first one on the page.
            size: The new page size. The service may limit a page to fewer remotes.
        """
        page = self.state.page
        assert page is not None
        if page.page_size < min(size, self.size):  # the service returns no more remotes
            size = page.page_size
        ids = [one.id for one in page.remotes]
        row = ids.index(remote.id) if remote is not None and remote.id in ids else 0
        return ((page.page_no - 1) * page.page_size + row) // size + 1

    async def read_sized(self, page_no: int, size: int) -> Fetched[RemotePage]:
        """Return a page with another page size than the present one.

        Raises:
            LocktermError: The service was not reached, or refused the request.
        """
        try:
            return await self._operations.remotes.page(self.lock.lock_id, page_no, size)
        except RefusedError as error:
            if error.status == 200:  # the service understood the request and refused the size
                self._refused.add(size)
            raise

    def show_sized(self, seen: Fetched[RemotePage], size: int) -> None:
        """Show a page that :meth:`read_sized` returned, and use its page size from now on."""
        self.size, self.page_no = size, seen.value.page_no
        self.change(load=LoadState(seen), wanted=self.page_no)

    # --- the search ----------------------------------------------------------------------------

    async def search(self, *, again: bool = False) -> LocktermError | None:
        """Search all pages of the list, and show the results.

        Args:
            again: Whether to show the earlier results until the new search has ended.

        Returns:
            The error that ended the search; None if there was none.
        """
        steady_ms = self._operations.clock.steady_ms
        found = Found(at_ms=self._operations.machine_ms())
        if again and self.state.found is not None:
            self.change(found=replace(self.state.found, running=True))
        due_ms, has_found, long_ms = 0, False, steady_ms() + LONG_MS
        failure = None
        try:
            async with aclosing(self._walk(found)) as steps:
                async for found in steps:
                    is_due = steady_ms() >= due_ms or (bool(found.remotes) and not has_found)
                    if is_due and not again:
                        self.change(found=found)
                        every_ms = LONG_SHOWN_MS if steady_ms() >= long_ms else SHOWN_MS
                        due_ms = steady_ms() + every_ms
                        has_found = bool(found.remotes)
        except LocktermError as error:
            failure = error
            found = replace(found, ended=f"then: {clean(error.title, 60)}")
        self.change(found=replace(found, running=False))
        return failure

    def stop_search(self) -> None:
        """Keep the present results of a search that the caller has canceled."""
        if (found := self.state.found) is not None:
            self.change(found=replace(found, running=False, ended="stopped"))

    async def _walk(self, found: Found) -> AsyncGenerator[Found, None]:
        """Yield the search results so far after each page."""
        state, zone = self.state, self.zone
        walk = self._operations.remotes.walk(self.lock.lock_id, ahead=True)
        async with aclosing(walk) as steps:
            async for step in steps:
                # If the list has changed, reading restarts with the first page.
                before = () if step.is_first else found.remotes
                now_ms = self._operations.now_ms()
                new = [one for one in step.new if state.matches(one, zone, now_ms)]
                found = replace(
                    found, remotes=(*before, *new), searched=step.read, total=step.total
                )
                if len(found.remotes) > MOST_FOUND:
                    most = found.remotes[:MOST_FOUND]
                    yield replace(
                        found, remotes=most, ended="stopped; type more to narrow the search"
                    )
                    return
                yield found
