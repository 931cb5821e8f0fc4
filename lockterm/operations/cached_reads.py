"""The reader of values from the service, with a cache for times without a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

from lockterm.domain.callbacks import ignore
from lockterm.domain.names import is_same_name
from lockterm.domain.remotes import Remote, RemotePage
from lockterm.errors import LocktermError, RefusedError, ServiceError

if TYPE_CHECKING:
    from lockterm.api.client import LockService
    from lockterm.api.retry_policy import CallPermit
    from lockterm.domain.dates import Clock
    from lockterm.operations.connection import Connection
    from lockterm.operations.rate_limiter import RateLimiter
    from lockterm.store.cache import Cache

T = TypeVar("T")


class Fetched(NamedTuple, Generic[T]):
    """A value from the service, with the time when its answer arrived."""

    value: T
    at_ms: int
    """When the answer arrived, by this machine's wall clock, in milliseconds, for display."""
    steady_ms: int | None
    """When the answer arrived, by the monotonic clock, in milliseconds, to compute ages.

    None if the age is unknown, because the wall clock was set back after the arrival.
    """

    @classmethod
    def now(cls, value: T, clock: Clock) -> Self:
        """Return a value with the present time as the time of its answer."""
        return cls(value, clock.now_ms(), clock.steady_ms())


class Source(NamedTuple, Generic[T]):
    """A kind of value that can be read from the service, and its entry in the cache."""

    key: str
    """The key of the value in the cache."""
    ask: Callable[[LockService], Awaitable[T]]
    """The function that reads the value from the service."""
    dump: Callable[[T], Any]
    """The function that converts the value to JSON for the cache."""
    load: Callable[[Any], T]
    """The function that converts the JSON from the cache back to the value."""


class CachedReads:
    """The reader of values from one service, with a cache.

    Args:
        connection: The connection to the service.
        open_cache: A function that opens the cache for the present credentials, or returns None if
            answers must not be cached.
    """

    def __init__(self, connection: Connection, open_cache: Callable[[], Cache | None]) -> None:
        self.connection = connection
        self.on_denial: Callable[[], None] = ignore
        """The function to call when the service refuses the credentials."""
        self._open_cache = open_cache
        self._writing: set[asyncio.Future[Any]] = set()
        """The tasks that are writing to the cache."""
        self._due: dict[str, tuple[Source[Any], Fetched[Any]]] = {}
        """Maps the keys of values that are not cached yet to their sources and values.
        :meth:`close` caches the values that remain."""

    @cached_property
    def _cache(self) -> Cache | None:
        """The cache; None if answers must not be cached.

        It is opened on first use, because the first frame does not need it.
        """
        return self._open_cache()

    def preload(self) -> None:
        """Open the cache before its first use."""
        _ = self._cache

    async def ask(
        self,
        call: Callable[[LockService], Awaitable[T]],
        pace: RateLimiter | None = None,
        retry: Callable[[LockService], Awaitable[T]] | None = None,
    ) -> T:
        """Read a value from the service without caching it.

        Args:
            call: The call that reads the value.
            pace: The rate limiter for which the call waits; None to make the call at once.
            retry: The call to retry in the background if the service is unreachable; None to retry
                the same call.

        Raises:
            ServiceError: Every attempt failed. If the service refused the credentials, all values
                that are cached for them are deleted.
        """
        try:
            return await self.connection.read(call, pace, retry)
        except RefusedError as error:
            if error.is_denial:
                await self.forget("")
                self.on_denial()
            raise

    async def fail(
        self, error: LocktermError, retry: Callable[[LockService], Awaitable[object]]
    ) -> None:
        """Handle an error as :meth:`ask` does, for a request that was sent without this reader.

        If the service was unreachable, retry in the background. If it refused the credentials,
        delete the cached values.

        Args:
            error: The error.
            retry: The call to retry in the background.

        Raises:
            LocktermError: Always. The raised error is ``error``.
        """

        async def fail(_service: LockService) -> object:
            raise error

        await self.ask(fail, retry=retry)

    async def read(self, source: Source[T], pace: RateLimiter | None = None) -> Fetched[T]:
        """Read a value from the service, and cache it. See :meth:`ask` for ``pace`` and errors."""
        seen = Fetched.now(await self.ask(source.ask, pace), self.connection.clock)
        await self.keep(source, seen)
        return seen

    async def keep(self, source: Source[T], seen: Fetched[T]) -> None:
        """Store a value in the cache now."""
        self._due.pop(source.key, None)
        raw = source.dump(seen.value)
        await self.write_cache(lambda cache: cache.put(source.key, raw, seen.at_ms))

    def note_due(self, source: Source[T], seen: Fetched[T]) -> None:
        """Store a value in memory until it is cached. At the latest, :meth:`close` caches it."""
        self._due[source.key] = source, seen

    async def kept(self, source: Source[T]) -> Fetched[T] | None:
        """Return the cached value of a source, which may be outdated; None if there is none."""
        cached = await self.read_cache(lambda cache: cache.get(source.key))
        if cached is None:
            return None
        raw, at_ms = cached
        clock = self.connection.clock
        age_ms = clock.now_ms() - at_ms
        steady_ms = clock.steady_ms() - age_ms if age_ms >= 0 else None
        return Fetched(source.load(raw), at_ms, steady_ms)

    async def forget(self, start: str) -> None:
        """Delete the cached values whose keys begin with ``start``."""
        self._due = {key: due for key, due in self._due.items() if not key.startswith(start)}
        await self.write_cache(lambda cache: cache.forget(start))

    @property
    def has_cache(self) -> bool:
        """Whether answers are cached on this machine."""
        return self._cache is not None

    async def read_cache(self, work: Callable[[Cache], T]) -> T | None:
        """Run a function that reads from the cache.

        If the caller is canceled before the function begins, the function does not run. So a read
        that is no longer needed does not delay the next one.

        Returns:
            The result of the function; None if there is no cache.
        """
        cache = self._cache
        return None if cache is None else await cache.thread.run(work, cache)

    async def write_cache(self, work: Callable[[Cache], T]) -> T | None:
        """Run a function that may write to the cache.

        The function runs to its end even if the caller is canceled.

        Returns:
            The result of the function; None if there is no cache.
        """
        cache = self._cache
        if cache is None:
            return None
        writing = asyncio.ensure_future(cache.thread.run(work, cache))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        return await asyncio.shield(writing)

    async def close(self) -> None:
        """Close the cache after all remaining writes."""
        for due in [*self._due.values()]:
            await self.keep(*due)
        await asyncio.gather(*self._writing)
        if self._cache is not None:
            self._cache.close()


# --- remotes --------------------------------------------------------------------------------------

COUNTS = ("page_no", "page_size", "pages", "total", "unreadable")
"""The attributes of a page that are cached in addition to its remotes."""


def page_call(
    lock_id: int, page_no: int, page_size: int, place: CallPermit | None = None
) -> Callable[[LockService], Awaitable[RemotePage]]:
    """Return a call that reads one page of a lock's list.

    Args:
        lock_id: The ID of the lock.
        page_no: The page number, from 1.
        page_size: The number of remotes on a page.
        place: The permit for the call, if the number of parallel calls is limited; None if not.
    """
    return lambda service: service.list_remotes(lock_id, page_no, page_size, place)


def page_source(lock_id: int, page_no: int, page_size: int) -> Source[RemotePage]:
    """Return the source of one page of a lock's list.

    Args:
        lock_id: The ID of the lock.
        page_no: The page number, from 1.
        page_size: The number of remotes on a page.
    """

    def dump(page: RemotePage) -> Any:
        counts: dict[str, Any] = {name: getattr(page, name) for name in COUNTS}
        return counts | {"remotes": [remote.raw for remote in page.remotes]}

    def load(raw: Any) -> RemotePage:
        remotes = tuple(Remote.read(one) for one in raw.pop("remotes"))
        return RemotePage(remotes=remotes, **raw)

    return Source(
        f"page {lock_id} {page_no} {page_size}",
        ask=page_call(lock_id, page_no, page_size),
        dump=dump,
        load=load,
    )


def detail_source(remote_id: int) -> Source[Remote]:
    """Return the source of the details of a remote."""
    return Source(
        f"remote {remote_id}",
        ask=lambda service: service.remote_detail(remote_id=remote_id),
        dump=attrgetter("raw"),
        load=Remote.read,
    )


async def has_name(listed: Awaitable[Iterable[Remote]], name: str) -> bool:
    """Return whether a list contains a remote with a name; false if the service fails."""
    try:
        return any(is_same_name(remote.remote_name, name) for remote in await listed)
    except ServiceError:
        return False
