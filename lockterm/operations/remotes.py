"""The reader of remotes: pages, which it can request in advance, complete lists, and details.

To detect incomplete lists, the reader remembers some remotes of each lock, as the service last
listed them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial
from typing import TYPE_CHECKING, Any

from lockterm.domain.callbacks import ignore
from lockterm.domain.names import normalize_name
from lockterm.domain.remotes import Remote, RemotePage, is_still
from lockterm.domain.text.remote import format_remote
from lockterm.errors import (
    NAME_EXISTS,
    MalformedAnswerError,
    RefusedError,
    RuleViolationError,
    StoreError,
)
from lockterm.operations.cached_reads import (
    CachedReads,
    Fetched,
    detail_source,
    has_name,
    page_call,
    page_source,
)
from lockterm.operations.list_walk import ASKED, WALK_PAGE_SIZE, WALKS, WalkBudget, moving, walk

if TYPE_CHECKING:
    from lockterm.api.client import FirstPage, FirstRead
    from lockterm.api.retry_policy import CallPermit
    from lockterm.domain.operation import Operation
    from lockterm.operations.cached_reads import Source
    from lockterm.operations.journal_store import JournalStore
    from lockterm.operations.list_walk import Step, WalkLimits
    from lockterm.operations.rate_limiter import RateLimiter
    from lockterm.operations.recorded import Recorded


AHEAD_S = 60.0
"""Maximum age, in seconds, of a page in memory that screens show. Screens also show the age of the
page."""

JUST_READ_S = 2.0
"""Maximum age, in seconds, of a page in memory that a newly opened screen shows."""

MOST_PAGES = 16
"""Maximum number of pages in memory."""

PageKey = tuple[int, int, int]
"""The lock ID, the page number and the page size."""


class Remotes:
    """The remotes of locks, as the service lists them.

    Methods that read raise ``ServiceError`` if all attempts failed; see ``lockterm.errors``.

    Args:
        reads: The reader of the service, with its cache.
        journal: A function that returns the journal, which has changes that a list may not show
            yet.
        first: The page that was requested at the start; None if there was no such request.
    """

    def __init__(
        self,
        reads: CachedReads,
        journal: Callable[[], JournalStore],
        first: FirstPage | None = None,
    ) -> None:
        self.reads_ahead = True
        """Whether pages may be requested before the user opens them."""
        self._reads = reads
        self._connection = reads.connection
        self._journal = journal
        self._first = first
        self._pages: dict[PageKey, asyncio.Future[Fetched[RemotePage]]] = {}
        self._waiting: Counter[asyncio.Future[Fetched[RemotePage]]] = Counter()
        self._changes: Counter[int] = Counter()
        self.known = KnownRemotes()
        """Some remotes of each lock, as the service last listed them."""
        reads.on_denial = self._forget_pages

    # --- pages -----------------------------------------------------------------------------

    @property
    def is_reading(self) -> bool:
        """Whether any page is being read, for a screen or in advance."""
        return not all(task.done() for task in self._pages.values())

    async def page(
        self,
        lock_id: int,
        page_no: int,
        page_size: int,
        *,
        fresh: bool = False,
        at_most_s: float = AHEAD_S,
    ) -> Fetched[RemotePage]:
        """Return a page of a lock's remotes (contract 4.3), from memory or from the service.

        Args:
            lock_id: The lock.
            page_no: The page number, from 1.
            page_size: The number of remotes on a page.
            fresh: Whether to request the page even if it is in memory.
            at_most_s: The maximum age, in seconds, of a page from memory.
        """
        key = (lock_id, page_no, page_size)
        task = self._pages.pop(key, None)
        if task is None or fresh or self._too_old(task, at_most_s):
            old, task = task, self._connection.background(self._load_page(*key))
            if old is not None:
                self._drop_unwanted(key, old)
        self._keep_page(key, task)
        self._waiting[task] += 1
        try:
            # Shielded: if the screen's worker is replaced, the answer can still be used later.
            return await asyncio.shield(task)
        finally:
            self._waiting[task] -= 1
            self._drop_unwanted(key, task)

    def first_page(
        self, lock_id: int, page_no: int, page_size: int
    ) -> tuple[Fetched[RemotePage], Callable[[], None]] | None:
        """Return a page without waiting, from memory or from the request at the start.

        Returns:
            The page, and a function to call when it is shown. None if no such page is available
            now, for example because the request at the start is unfinished or failed; the caller
            then uses :meth:`page`.
        """
        first, key = self._first, (lock_id, page_no, page_size)
        if self.has_page(*key):
            return self._pages[key].result(), ignore
        if first is None or first.key != key or not first.outcome.done():
            return None
        outcome = first.outcome.result()
        if outcome.page is None:
            return None
        self._first = None
        seen = Fetched.now(outcome.page, self._connection.clock)
        read = asyncio.get_running_loop().create_future()
        read.set_result(seen)
        self._keep_page(key, read)
        # Note the page now, so that it is cached even if the app closes at once.
        self._reads.note_due(page_source(*key), seen)
        return seen, partial(self._note_first, key, outcome, seen)

    def _note_first(self, key: PageKey, outcome: FirstRead, seen: Fetched[RemotePage]) -> None:
        """Record the page that was requested at the start, as :meth:`page` records every page."""
        source = page_source(*key)
        self.known.note_page(key[0], seen.value)
        self._connection.note_reached(outcome.clock_offset_s)
        self._reads.note_due(source, seen)
        self._connection.background(self._reads.keep(source, seen))

    def at_hand(self, lock_id: int) -> Iterator[Remote]:
        """Yield the remotes on recent pages of a lock that are in memory."""
        for key, task in self._pages.items():
            if key[0] == lock_id and task.done() and not self._too_old(task):
                yield from task.result().value.remotes

    def look_ahead(self, lock_id: int, page_no: int, page_size: int) -> None:
        """Request a page in the background, so that a later :meth:`page` need not wait."""
        if not self.reads_ahead:
            return
        key = (lock_id, page_no, page_size)
        task = self._pages.get(key)
        if task is None or self._too_old(task):
            self._keep_page(key, self._connection.background(self._load_page(*key)))

    def _keep_page(self, key: PageKey, task: asyncio.Future[Fetched[RemotePage]]) -> None:
        """Keep a page in memory, and remove the oldest pages beyond :data:`MOST_PAGES`."""
        self._pages[key] = task
        while len(self._pages) > MOST_PAGES:
            oldest = next(iter(self._pages))
            self._drop_unwanted(oldest, self._pages.pop(oldest))

    def has_page(self, lock_id: int, page_no: int, page_size: int) -> bool:
        """Return whether :meth:`page` can return a page from memory."""
        task = self._pages.get((lock_id, page_no, page_size))
        return task is not None and task.done() and not self._too_old(task)

    def forget(self, lock_id: int, *, changed: bool = False) -> None:
        """Remove the pages of a lock from memory and from the cache.

        Args:
            lock_id: The lock.
            changed: Whether lockterm has changed the lock. If so, the complete list in the cache is
                marked as outdated, but can still be searched.
        """
        self._forget_pages(lock_id)
        self._connection.background(self._reads.forget(f"page {lock_id} "))
        if changed:
            self._changes[lock_id] += 1
            work = self._reads.write_cache(lambda cache: cache.note_changed(lock_id))
            self._connection.background(work)

    def changes(self, lock_id: int) -> int:
        """Return how many times this session has changed a lock.

        A list is up to date if this number is the same before and after the list is read.
        """
        return self._changes[lock_id]

    def _forget_pages(self, lock_id: int | None = None) -> None:
        """Remove the pages of a lock from memory; without a lock ID, all pages."""
        for key in [key for key in self._pages if lock_id in (None, key[0])]:
            self._drop_unwanted(key, self._pages.pop(key))

    def _drop_unwanted(self, key: PageKey, task: asyncio.Future[Any]) -> None:
        """Cancel the reading of a page if no caller waits for it, to free the connection."""
        if not self._waiting[task]:
            del self._waiting[task]
            if self._pages.get(key) is not task:
                task.cancel()

    def _too_old(
        self, task: asyncio.Future[Fetched[RemotePage]], at_most_s: float = AHEAD_S
    ) -> bool:
        if not task.done():
            return False
        if task.cancelled() or task.exception() is not None:
            return True
        read_ms = task.result().steady_ms
        return read_ms is None or self._connection.clock.steady_ms() - read_ms > at_most_s * 1000

    async def _load_page(self, lock_id: int, page_no: int, page_size: int) -> Fetched[RemotePage]:
        first, key = self._first, (lock_id, page_no, page_size)
        self._first = None  # it is too old for any later request
        if first is None or first.key != key:
            return await self._read_page(page_source(*key), lock_id)
        try:  # the name check has no separate limit
            outcome = await asyncio.wait_for(
                asyncio.wrap_future(first.outcome), first.profile.timeout_s
            )
        except TimeoutError:
            return await self._read_page(page_source(*key), lock_id)
        if outcome.error is not None:  # treat it as the error of this call
            await self._reads.fail(outcome.error, retry=page_call(*key))
        if outcome.page is None:
            return await self._read_page(page_source(*key), lock_id)
        seen = Fetched.now(outcome.page, self._connection.clock)
        self._note_first(key, outcome, seen)
        return seen

    async def _read_page(self, source: Source[RemotePage], lock_id: int) -> Fetched[RemotePage]:
        seen = await self._reads.read(source)
        self.known.note_page(lock_id, seen.value)
        return seen

    async def cached_page(
        self, lock_id: int, page_no: int, page_size: int
    ) -> Fetched[RemotePage] | None:
        """Return a page from the cache, which may be outdated; None if it is not cached."""
        return await self._reads.kept(page_source(lock_id, page_no, page_size))

    # --- whole lists -----------------------------------------------------------------------

    def walk(
        self,
        lock_id: int,
        budget: WalkBudget | None = None,
        place: CallPermit | None = None,
        *,
        pace: RateLimiter | None = None,
        ahead: bool = False,
    ) -> AsyncGenerator[Step, None]:
        """Yield the pages of a lock's complete list.

        Without a budget, the limits are those for a list that the user is waiting for. For the
        other arguments and the errors, see :func:`lockterm.operations.list_walk.walk`.
        """
        return walk(self._reads, lock_id, budget or WalkBudget(lock_id), place, pace, ahead=ahead)

    async def all(
        self, lock_id: int, limits: WalkLimits | None = None, *, pace: RateLimiter | None = None
    ) -> list[Remote]:
        """Return the complete list of a lock, read once and not verified.

        An entry that cannot be read is returned as a remote without fields. For the arguments and
        errors, see :meth:`whole`.
        """
        budget = WalkBudget(lock_id, limits or ASKED)
        found: dict[object, Remote] = {}
        total = 0
        async for step in self.walk(lock_id, budget, pace=pace):
            # Use a thread, because a page may have 100,000 values.
            await asyncio.to_thread(budget.keep, [remote.raw for remote in step.remotes])
            if step.is_first:
                found.clear()
            for remote in step.remotes:
                found[remote.id if remote.id is not None else id(remote)] = remote
            total = step.total
        remotes = [*found.values()]
        self.known.note(lock_id, remotes, is_whole=total <= len(remotes))
        if total > len(remotes):
            remotes += [Remote.read({})] * (total - len(remotes))
        return remotes

    async def whole(
        self,
        lock_id: int,
        limits: WalkLimits | None = None,
        *,
        recorded: Recorded | None = None,
        pace: RateLimiter | None = None,
    ) -> list[Remote]:
        """Return the complete list of a lock, verified so that a backup of it lacks no remote.

        The list is read until two consecutive readings have the same remotes. Equal totals prove
        nothing: if others delete a remote from an earlier page and add one, the walk misses a
        remote although the total stays the same. A list of one page is read once, unless
        ``recorded`` is given.

        Args:
            lock_id: The lock.
            limits: The limits of each reading; None for those of a list that the user is waiting
                for.
            recorded: The recorded changes. A list that contradicts them is read again.
            pace: The rate limiter for which each call waits; None to make calls at once.

        Raises:
            ServiceError: A page could not be read.
            MalformedAnswerError: No two readings agree, or the list lacks recorded changes.
        """
        ids_before, behind = None, ""
        for _ in range(WALKS):
            remotes = await self.all(lock_id, limits, pace=pace)
            behind = recorded.contradiction(remotes) if recorded else ""
            if recorded is None and len(remotes) <= WALK_PAGE_SIZE:
                return remotes
            ids = sorted(remote.id if remote.id is not None else -1 for remote in remotes)
            if ids == ids_before and not behind:
                return remotes
            ids_before = ids
        if behind:
            raise MalformedAnswerError(
                f"{behind} lockterm changed nothing.",
                title="The list is not up to date",
                hint="The service may take a minute to update the list. Then try again.",
            )
        raise moving(
            f"The list of lock {lock_id} changed during each read. lockterm changed nothing."
        )

    # --- one remote ------------------------------------------------------------------------

    async def detail(self, remote_id: int) -> Remote:
        """Return the present details of a remote (contract 4.5), with all recorded changes.

        lockterm adds these changes, because the service may answer from a copy of the data that
        lacks them.
        """
        remote = await self.detail_as_shown(remote_id)
        if remote.lock_id is None:
            return remote
        try:
            recorded = await self._journal().recorded(remote.lock_id)
        except StoreError:  # a detail can be shown without the journal
            return remote
        return recorded.newest(remote)

    async def still(self, before: Remote, lock_id: int) -> Remote:
        """Return the details of a remote, after checking that its ID still belongs to it.

        Raises:
            RuleViolationError: The ID belongs to another remote or lock. The caller must not send a
                write.
        """
        now = await self.detail(before.id or 0)
        reason = ""
        if (other := now.other_lock(lock_id)) is not None:
            reason = f"The service reports that remote {before.id} now belongs to lock {other}."
        elif not is_still(before.raw, now):
            reason = f"The service gave the ID {before.id} to another remote: {format_remote(now)}."
        if reason:
            hint = "Refresh the list of the lock."
            raise RuleViolationError({"remoteId": f"{reason} Nothing was sent."}, hint=hint)
        return now

    async def detail_as_shown(self, remote_id: int, pace: RateLimiter | None = None) -> Remote:
        """Return the details of a remote, read once and without recorded changes added.

        The details may be outdated, because the service can answer from an old copy.
        """
        return (await self._reads.read(detail_source(remote_id), pace)).value

    async def detail_or_gone(
        self, remote_id: int | None, pace: RateLimiter | None = None
    ) -> Remote | None:
        """Return the details like :meth:`detail_as_shown`; None if the remote does not exist."""
        try:
            return await self.detail_as_shown(remote_id or 0, pace)
        except RefusedError as error:
            if not error.is_gone:
                raise
            return None

    async def cached_detail(self, remote_id: int) -> Fetched[Remote] | None:
        """Return the cached details of a remote, which may be outdated; None if there are none."""
        return await self._reads.kept(detail_source(remote_id))

    async def is_name_free(self, lock_id: int, name: str) -> bool:
        """Return whether a name is free on a lock (contract 4.2).

        A name that lockterm added lately is taken, even if the service does not show it yet. If the
        service refuses with the code of a taken name but an unexpected text, the function searches
        the list of the lock.
        """
        name = normalize_name(name)
        with contextlib.suppress(StoreError):  # a name can be checked without the journal
            if await self._journal().lately_added(lock_id, name) is not None:
                return False
        try:
            return await self._reads.ask(
                lambda service: service.check_remote_name(lock_id=lock_id, remote_name=name)
            )
        except RefusedError as refusal:
            if refusal.code == NAME_EXISTS and await has_name(self.all(lock_id), name):
                return False
            raise


# --- remembered remotes ---------------------------------------------------------------------------

MOST_KNOWN = 20
"""Maximum number of remotes that are remembered for one lock."""

MOST_LOCKS = 500
"""Maximum number of locks for which remotes are remembered. The oldest locks are dropped first."""

_NAMES = ("id", "remoteNumber", "createTime")


class KnownRemotes:
    """Shortened records of some remotes that the service listed for each lock in this session."""

    def __init__(self) -> None:
        self._locks: dict[int, dict[int, Mapping[str, Any]]] = {}
        self._whole: set[int] = set()
        """The IDs of the locks for which all remotes are remembered."""

    def note_page(self, lock_id: int, page: RemotePage) -> None:
        """Remember the remotes on a page, instead of the remotes remembered before."""
        is_whole = page.page_no == 1 and page.least == len(page.remotes)
        self.note(lock_id, page.remotes, is_whole=is_whole)

    def note(self, lock_id: int, remotes: Sequence[Remote], *, is_whole: bool) -> None:
        """Remember remotes of a lock, instead of the remotes remembered before.

        Args:
            lock_id: The lock.
            remotes: The remotes, as the service listed them.
            is_whole: Whether the lock has no other remotes.
        """
        self.restore(lock_id, [remote.raw for remote in remotes[:MOST_KNOWN]])
        if is_whole and len(self._locks[lock_id]) == len(remotes):
            self._whole.add(lock_id)

    def add(self, lock_id: int, record: Mapping[str, Any]) -> None:
        """Remember one more remote of a lock, unless :data:`MOST_KNOWN` are remembered already."""
        known = self._locks.setdefault(lock_id, {})
        if isinstance(record.get("id"), int) and len(known) < MOST_KNOWN:
            known[record["id"]] = _brief(record)
        while len(self._locks) > MOST_LOCKS:
            oldest = next(iter(self._locks))
            del self._locks[oldest]
            self._whole.discard(oldest)

    def restore(self, lock_id: int, records: Iterable[Mapping[str, Any]]) -> None:
        """Remember the remotes of some records, instead of the remotes remembered before.

        The records need not include all remotes of the lock.

        Args:
            lock_id: The lock.
            records: The records of remotes, for example those that were remembered before an
                untrusted list was read.
        """
        self._locks.pop(lock_id, None)
        self._locks[lock_id] = {}  # the newest lock is last
        self._whole.discard(lock_id)
        for record in records:
            self.add(lock_id, record)

    def note_recorded(self, operation: Operation, remote_id: int | None) -> None:
        """Update the remembered remotes after a recorded change.

        Args:
            operation: The change.
            remote_id: The ID of the remote if the change added one.
        """
        known = self._locks.get(operation.lock_id)
        if known is None:
            return
        if operation.call == "clear":
            known.clear()
        elif operation.call == "delete":
            known.pop(operation.remote_id or 0, None)
        elif operation.call == "add":
            self._whole.discard(operation.lock_id)
            self.add(operation.lock_id, {**operation.body, "id": remote_id})

    def others(
        self, lock_id: int, ids: Collection[int | None]
    ) -> tuple[Mapping[str, Any], ...] | None:
        """Return the remembered remotes of a lock, except those with the given IDs.

        The result is empty if the lock has no other remotes. It is None if the lock may have other
        remotes, but none of them are remembered.
        """
        known = self._locks.get(lock_id, {})
        others = tuple(record for remote_id, record in known.items() if remote_id not in ids)
        return others if others or lock_id in self._whole else None


def _brief(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: record[name] for name in _NAMES if name in record}
