"""The reader of all locks in the lock book. The locks are read in parallel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lockterm.api.retry_policy import CallPermit, CallPermits
from lockterm.domain.listing import Block, Listing
from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.service import format_titled_meaning
from lockterm.errors import (
    LocktermError,
    NoAnswerError,
    RateLimitedError,
    RefusedError,
    ServiceError,
    StoreError,
    UnreachableError,
)
from lockterm.operations.kept_lists import KeptLists
from lockterm.operations.list_walk import ASKED, WalkBudget

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote
    from lockterm.operations.connection import Connection
    from lockterm.operations.remotes import Remotes
    from lockterm.store.lock_book import Locks

AT_ONCE = 10
"""Maximum number of parallel calls. With 10, a hundred locks take ten round trips."""

BEGUN = 2 * AT_ONCE
"""Maximum number of locks that are read at the same time. The number is greater than
:data:`AT_ONCE`, because lockterm processes some lists while it waits for other answers."""

PAUSES = 3
"""Maximum number of long pauses, requested by the service, that lockterm waits for per lock.

Shorter pauses, up to ``RetryPolicy.longest_wait_s``, do not count, because the client itself waits
for them.
"""

Wanted = Callable[["Remote"], bool]
"""A function that returns whether ``LockRead.remotes`` should contain a remote."""


@dataclass(frozen=True, slots=True)
class LockRead:
    """The result of reading one lock, with the remotes that the caller wants."""

    place: int
    """The index of the lock among the requested locks."""
    lock: Lock
    remotes: Sequence[Remote] = ()
    """The remotes that the caller wants, in the order of the list."""
    listing: Listing | None = None
    """All readable remotes of the lock, as just read or as stored; None if there is no list."""
    problem: str = ""
    """Why lockterm could not read the lock completely, in a few words; empty if it could."""
    error: LocktermError | None = None
    """The error that ended the reading of the lock; None if there was no error."""


class AllLocksReader:
    """The reader of all locks of the lock book.

    Args:
        connection: The connection to the service.
        locks: The lock book.
        remotes: The remotes of the service.
        kept_lists: The lists of locks that are stored on this machine.
    """

    def __init__(
        self, connection: Connection, locks: Locks, remotes: Remotes, kept_lists: KeptLists
    ) -> None:
        self.wait: Callable[[float], Awaitable[None]] = asyncio.sleep
        """The function that waits for a number of seconds; tests replace it."""
        self._connection = connection
        self._locks = locks
        self._remotes = remotes
        self._kept_lists = kept_lists

    async def last(self) -> list[LockRead]:
        """Return all locks of the lock book, each with its last stored list if there is one.

        Raises:
            StoreError: The lock book cannot be read.
        """
        locks, lists = await asyncio.gather(self._locks.all(), self._kept_lists.all())
        return [
            LockRead(place, lock, listing=lists.get(lock.lock_id))
            for place, lock in enumerate(locks)
        ]

    async def read(
        self, wanted: Wanted = lambda _: False, locks: Sequence[Lock] | None = None
    ) -> AsyncGenerator[LockRead, None]:
        """Yield the result for each lock as soon as it is read, and store its list.

        At the end, store the numbers of remotes in the lock book. A lock that cannot be read does
        not delay the others. If the service is out of reach or refuses the credentials, the
        remaining locks are not requested.

        Args:
            wanted: A function that returns whether a remote belongs to ``LockRead.remotes``.
            locks: The locks to read; None for all locks of the lock book.

        Raises:
            StoreError: The lock book cannot be read.
        """
        reading = _Reading(self._connection, self._remotes, self._kept_lists, wanted, self.wait)
        if locks is None:
            locks = await self._locks.all()
        tasks = [asyncio.ensure_future(reading.lock(*one)) for one in enumerate(locks)]
        counts = dict[int, int]()
        try:
            for task in asyncio.as_completed(tasks):
                read = await task
                if read.listing is not None:
                    counts[read.lock.lock_id] = read.listing.count
                yield read
        finally:
            for one in tasks:
                one.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with suppress(StoreError):  # the results are valid without the note
                await self._locks.note_counts(counts)


@dataclass(slots=True)
class _Pages:
    """The pages of a lock that were read so far."""

    at_ms: int
    """When reading began, in milliseconds."""
    blocks: list[Block] = field(default_factory=list)
    """All pages except the last one, in packed form."""
    last: Sequence[Remote] = ()
    """The remotes of the last page, which is packed after the connection is released."""
    found: list[Remote] = field(default_factory=list)
    """The wanted remotes."""
    unreadable: int = 0
    """The number of records that cannot be read."""


@dataclass
class _Reading:
    """The reader of all locks for one call of :meth:`AllLocksReader.read`."""

    connection: Connection
    remotes: Remotes
    kept_lists: KeptLists
    wanted: Wanted
    wait: Callable[[float], Awaitable[None]]

    def __post_init__(self) -> None:
        self._begun = asyncio.Semaphore(BEGUN)
        self._places = CallPermits(AT_ONCE)
        self._ended: ServiceError | None = None
        """An error that concerns all locks; None if there was none. After this error, no further
        lock is requested."""

    async def lock(self, place: int, lock: Lock) -> LockRead:
        """Read one lock as soon as the limits of parallel reading allow this."""
        async with self._begun:
            connection = CallPermit(self._places)
            try:
                await connection.take()
                if self._ended is not None:
                    return LockRead(place, lock, problem=_briefly(self._ended), error=self._ended)
                changes = self.remotes.changes(lock.lock_id)
                pages = await self._through_pauses(lambda: self._read(lock, connection))
            except ServiceError as error:
                is_of_all = isinstance(error, UnreachableError)
                if is_of_all or (isinstance(error, RefusedError) and error.is_denial):
                    self._ended = error
                return LockRead(place, lock, problem=_briefly(error), error=error)
            finally:
                connection.leave()
            async with connection.reading:
                pages.blocks.append(await self._pack(pages.last))
            # The lock may have been changed while a page was on its way.
            is_behind = self.remotes.changes(lock.lock_id) != changes
            listing = Listing(pages.blocks, pages.at_ms, is_behind, max(pages.unreadable, 0))
            await self.kept_lists.keep(lock.lock_id, listing)
        problem = ""
        if pages.unreadable > 0:
            problem = f"{format_count(pages.unreadable, 'record')} cannot be read"
        return LockRead(place, lock, tuple(pages.found), listing, problem)

    async def _pack(self, remotes: Sequence[Remote]) -> Block:
        return await asyncio.to_thread(Block.of, remotes, self.connection.now_ms())

    async def _through_pauses(self, work: Callable[[], Coroutine[Any, Any, _Pages]]) -> _Pages:
        """Run a function, and run it again after each pause that the service requests.

        After :data:`PAUSES` pauses, the next ``RateLimitedError`` is raised.
        """
        for _ in range(PAUSES):
            try:
                return await work()
            except RateLimitedError as error:
                await self.wait(max(self.connection.wait_s, error.retry_after_s or 0.0))
        return await work()

    async def _read(self, lock: Lock, connection: CallPermit) -> _Pages:
        pages = _Pages(self.connection.clock.now_ms())
        budget = WalkBudget(lock.lock_id, ASKED)
        async for step in self.remotes.walk(lock.lock_id, budget, connection):
            if step.is_first:  # also after a restart, because the list has changed
                pages = _Pages(pages.at_ms)
            else:
                pages.blocks.append(await self._pack(pages.last))
            pages.found += filter(self.wanted, step.new)
            pages.last = step.new
            pages.unreadable = step.total - step.read
        return pages


def describe_reads(found: Sequence[LockRead], most: int, longest: int | None = None) -> str:
    """Return a summary such as ``31 of 32 locks read, yard: no answer``.

    Args:
        found: The results for all requested locks.
        most: Maximum number of unread locks to list; with 0, only the numbers of locks are shown.
        longest: Maximum length of each reason, in characters; None for no limit.
    """
    missed = [one for one in found if one.problem]
    named = [f"{clean(one.lock.title, 60)}: {clean(one.problem, longest)}" for one in missed[:most]]
    more = [f"{len(missed) - most:,} more"] if len(missed) > most > 0 else []
    count = f"{len(found) - len(missed):,} of {format_count(len(found), 'lock')} read"
    return ", ".join(filter(None, (count, "; ".join([*named, *more]))))


def _briefly(error: ServiceError) -> str:
    """Return why a lock could not be read, in a few words."""
    if isinstance(error, UnreachableError):
        return "not reached"
    return (
        "no answer"
        if isinstance(error, NoAnswerError)
        else format_titled_meaning(error).rstrip(".")
    )
