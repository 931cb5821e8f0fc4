"""One question to all locks of the book: read side by side, told lock by lock as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from lockterm.domain.locks import Lock
from lockterm.domain.wording import named_meaning
from lockterm.errors import LocktermError, NoAnswer, RateLimited, Refused, ServiceError, Unreachable
from lockterm.operations.walk_limits import ASKED, WalkBudget
from lockterm.record import record

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote
    from lockterm.operations.connection import Connection
    from lockterm.operations.locks import Locks
    from lockterm.operations.remotes import Remotes

AT_ONCE = 8
"""So many locks are read at the same time."""

PAUSES = 3
"""So many pauses that the service asks for are waited for, for one lock; the client takes none of
them for longer than a minute."""

Wanted = Callable[["Remote"], bool]
"""Whether a remote is one of those that are asked for."""


@record
class LockRead:
    """What one lock has of what is asked for."""

    place: int
    """Its place in the lock book, from 0."""
    lock: Lock
    remotes: Sequence[Remote] = ()
    """Those that are wanted, in the order of the list."""
    searched: int = 0
    """How many were looked at."""
    at_ms: int = 0
    """When they were read; of several pages, the oldest."""
    problem: str = ""
    """Why the lock was not read, or not whole, in a few clean words; empty: it was."""
    error: LocktermError | None = None
    """The whole of that, where it is an error."""


class Everywhere:
    """Reads all locks of the book.

    Args:
        connection: To the service, which may ask for a pause.
        locks: The lock book.
        remotes: What is read.
    """

    def __init__(self, connection: Connection, locks: Locks, remotes: Remotes) -> None:
        self.wait: Callable[[float], Awaitable[None]] = asyncio.sleep
        """Waits so many seconds; replaced in tests."""
        self._connection = connection
        self._locks = locks
        self._remotes = remotes

    async def last(self, wanted: Wanted) -> AsyncGenerator[LockRead, None]:
        """What the locks had when :meth:`read` last read them; one that it never read is left out.

        Raises:
            StoreError: The lock book cannot be read.
        """
        for place, lock in enumerate(await self._locks.all()):
            seen = await self._remotes.cached_list(lock.lock_id)
            if seen is not None:
                found = tuple(filter(wanted, seen.value))
                yield LockRead(place, lock, found, len(seen.value), seen.at_ms)

    async def read(self, wanted: Wanted) -> AsyncGenerator[LockRead, None]:
        """What the locks have now, each as soon as it is read; what is read is kept.

        A lock that cannot be read holds no other up. Where the service itself is out of reach, or
        takes the credentials no longer, the locks that were not begun are not asked for.

        Raises:
            StoreError: The lock book cannot be read.
        """
        reading = _Reading(self._connection, self._remotes, wanted, self.wait)
        locks = await self._locks.all()
        tasks = [asyncio.ensure_future(reading.lock(*one)) for one in enumerate(locks)]
        try:
            for task in asyncio.as_completed(tasks):
                yield await task
        finally:
            for one in tasks:
                one.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class _Reading:
    """One reading of all locks."""

    def __init__(
        self,
        connection: Connection,
        remotes: Remotes,
        wanted: Wanted,
        wait: Callable[[float], Awaitable[None]],
    ) -> None:
        self._connection = connection
        self._remotes = remotes
        self._wanted = wanted
        self._wait = wait
        self._places = asyncio.Semaphore(AT_ONCE)
        self._ended: ServiceError | None = None
        """Why nothing more is asked for: it is so for every lock."""

    async def lock(self, place: int, lock: Lock) -> LockRead:
        """Read one lock, once it is its turn."""
        async with self._places:
            if self._ended is not None:
                return LockRead(place, lock, problem=_briefly(self._ended), error=self._ended)
            try:
                return await self._through_pauses(lambda: self._read(place, lock))
            except ServiceError as error:
                is_of_all = isinstance(error, Unreachable)
                if is_of_all or (isinstance(error, Refused) and error.is_denial):
                    self._ended = error
                return LockRead(place, lock, problem=_briefly(error), error=error)

    async def _through_pauses(self, work: Callable[[], Coroutine[Any, Any, LockRead]]) -> LockRead:
        """Wait where the service asks for that, which it asks of all who read."""
        for _ in range(PAUSES):
            try:
                return await work()
            except RateLimited as error:
                await self._wait(max(self._connection.wait_s, error.retry_after_s))
        return await work()

    async def _read(self, place: int, lock: Lock) -> LockRead:
        found, searched, unreadable = list[Any](), 0, 0
        at_ms = self._connection.clock.now_ms()
        budget = WalkBudget(lock.lock_id, ASKED)
        async for step in self._remotes.walk(lock.lock_id, budget, keeps=True):
            if step.is_first:  # it may begin again: the list has moved
                found.clear()
            found += filter(self._wanted, step.new)
            searched, unreadable = step.read, step.total - step.read
        problem = ""
        if unreadable > 0:
            records = "1 record" if unreadable == 1 else f"{unreadable:,} records"
            problem = f"{records} cannot be read"
        return LockRead(place, lock, tuple(found), searched, at_ms, problem)


def _briefly(error: ServiceError) -> str:
    """What kept a lock from being read, in a few words."""
    if isinstance(error, Unreachable):
        return "not reached"
    return "no answer" if isinstance(error, NoAnswer) else named_meaning(error).rstrip(".")
