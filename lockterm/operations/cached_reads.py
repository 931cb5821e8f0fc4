"""Reads whose answers are cached on this machine, to show them without the service."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

from lockterm.domain.callbacks import ignore
from lockterm.domain.names import is_same_name
from lockterm.domain.remotes import Remote, RemotePage
from lockterm.errors import LocktermError, Refused, ServiceError

if TYPE_CHECKING:
    from lockterm.api.client import LockService
    from lockterm.api.retry_policy import Place
    from lockterm.domain.clock import Clock
    from lockterm.domain.listing import Ends, Listing
    from lockterm.operations.connection import Connection
    from lockterm.store.cache import Cache

T = TypeVar("T")

_BLOCKS = 50
"""Number of blocks of a long list that are counted at a time; between them, keys are handled."""


class Fetched(NamedTuple, Generic[T]):
    """A value that was read from the service, and the time when the answer arrived."""

    value: T
    at_ms: int
    """The time by this machine's wall clock, in milliseconds; for display."""
    steady_ms: int | None
    """The time by the steady clock, in milliseconds, to compute ages.

    None if the age is unknown, because the wall clock was set back since then.
    """

    @classmethod
    def now(cls, value: T, clock: Clock) -> Self:
        """Create the result of a read that was answered at this moment."""
        return cls(value, clock.now_ms(), clock.steady_ms())


class Source(NamedTuple, Generic[T]):
    """A kind of read from the service, and its entry in the cache."""

    key: str
    """The key in the cache."""
    ask: Callable[[LockService], Awaitable[T]]
    """The function that reads the value from the service."""
    dump: Callable[[T], Any]
    """The function that converts the value to JSON for the cache."""
    load: Callable[[Any], T]
    """The function that converts the JSON from the cache back to the value."""


class CachedReads:
    """Reads from one service, with a cache.

    Args:
        connection: The connection to the service.
        open_cache: A function that opens the cache for these credentials. It returns None if
            answers must not be cached.
    """

    def __init__(self, connection: Connection, open_cache: Callable[[], Cache | None]) -> None:
        self.connection = connection
        self.on_denial: Callable[[], None] = ignore
        """The function to call when the service no longer accepts the credentials."""
        self._open_cache = open_cache
        self._writing: set[asyncio.Future[Any]] = set()
        """The writes to the cache that are running."""
        self._due: dict[str, tuple[Source[Any], Fetched[Any]]] = {}
        """Key -> a source and its value, to be cached when the reads are closed at the latest."""

    @cached_property
    def _cache(self) -> Cache | None:
        """The cache, opened on first use because the first frame does not need it."""
        return self._open_cache()

    def get_ready(self) -> None:
        """Open the cache before it is needed."""
        _ = self._cache

    async def ask(self, call: Callable[[LockService], Awaitable[T]]) -> T:
        """Read a value without caching it.

        Raises:
            ServiceError: Every attempt failed. If the credentials were refused, all values
                cached for them are deleted.
        """
        try:
            return await self.connection.read(call)
        except Refused as error:
            if error.is_denial:
                await self.forget("")
                self.on_denial()
            raise

    async def read(self, source: Source[T]) -> Fetched[T]:
        """Read a value now and cache it; errors as for :meth:`ask`."""
        seen = Fetched.now(await self.ask(source.ask), self.connection.clock)
        await self.keep(source, seen)
        return seen

    async def keep(self, source: Source[T], seen: Fetched[T]) -> None:
        """Store a value in the cache."""
        self._due.pop(source.key, None)
        if self._cache is not None:
            kept = source.dump(seen.value)
            await self._finish(self._cache, self._cache.put, source.key, kept, seen.at_ms)

    def note_due(self, source: Source[T], seen: Fetched[T]) -> None:
        """Note a value to be cached later, by :meth:`keep` or :meth:`close`."""
        self._due[source.key] = source, seen

    async def kept(self, source: Source[T]) -> Fetched[T] | None:
        """Return the cached value, which may be old; None if none is cached."""
        if self._cache is None:
            return None
        kept = await self._cache.thread.run(self._cache.get, source.key)
        if kept is None:
            return None
        raw, at_ms = kept
        clock = self.connection.clock
        age_ms = clock.now_ms() - at_ms
        steady_ms = clock.steady_ms() - age_ms if age_ms >= 0 else None
        return Fetched(source.load(raw), at_ms, steady_ms)

    async def forget(self, start: str) -> None:
        """Delete the cached values whose keys have a prefix."""
        self._due = {key: due for key, due in self._due.items() if not key.startswith(start)}
        if self._cache is not None:
            await self._finish(self._cache, self._cache.forget, start)

    # --- whole lists -----------------------------------------------------------------------

    @property
    def has_cache(self) -> bool:
        """Whether answers are cached on this machine."""
        return self._cache is not None

    async def use_cache(self, work: Callable[[Cache], T]) -> T | None:
        """Run work with the cache, to its end even if the caller is canceled; None without one."""
        if self._cache is None:
            return None
        working = asyncio.ensure_future(self._cache.thread.run(work, self._cache))
        self._writing.add(working)
        working.add_done_callback(self._writing.discard)
        return await asyncio.shield(working)

    async def lists(self, lock_id: int | None = None) -> Mapping[int, Listing]:
        """Return the cached lists by lock ID, of all locks or of one lock."""
        if self._cache is None:
            return {}
        return await self._cache.thread.run(self._cache.lists, lock_id)

    async def ends(self, lock_id: int) -> Ends | None:
        """Return the numbers of expired and expiring remotes in a lock's cached list.

        Returns:
            None if no list is cached, or if the list cannot be read completely.
        """
        found: Ends | None = None
        now_ms, blocks = self.connection.now_ms(), 0
        while self._cache is not None:
            count = self._cache.count_ends
            found, read = await self._cache.thread.run(
                count, lock_id, found, blocks, _BLOCKS, now_ms
            )
            blocks = 0 if found is None else blocks + read
            if read < _BLOCKS:
                break
        return found

    async def is_behind(self, lock_id: int) -> bool:
        """Return whether a lock's list is not cached, or is outdated."""
        if self._cache is None:
            return True
        return await self._cache.thread.run(self._cache.is_behind, lock_id)

    async def note_changed(self, lock_id: int) -> None:
        """Note that lockterm has changed a lock, so that its cached list is outdated."""
        if self._cache is not None:
            await self._finish(self._cache, self._cache.note_changed, lock_id)

    async def _finish(self, cache: Cache, work: Callable[..., None], *args: object) -> None:
        """Write to the cache to the end, even if the caller is canceled."""
        writing = asyncio.ensure_future(cache.thread.run(work, *args))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        await asyncio.shield(writing)

    async def close(self) -> None:
        """Close the cache after all due and running writes."""
        for due in [*self._due.values()]:
            await self.keep(*due)
        await asyncio.gather(*self._writing)
        if self._cache is not None:
            self._cache.close()


# --- remotes --------------------------------------------------------------------------------------

COUNTS = ("page_no", "page_size", "pages", "total", "unreadable")
"""The attributes of a page that are cached in addition to its remotes."""


def page_source(
    lock_id: int,
    page_no: int,
    page_size: int,
    before: LocktermError | None = None,
    place: Place | None = None,
) -> Source[RemotePage]:
    """Return the source of a page of a lock's list.

    Args:
        lock_id: The lock.
        page_no: The page number, from 1.
        page_size: Remotes on a page.
        before: The error of the same request, which has just failed; raised instead of a request.
        place: See :meth:`LockService.list_remotes`.
    """
    # A retry after that failure asks the service, and holds no place.
    once = iter([(before, place)])

    async def ask(service: LockService) -> RemotePage:
        first, at = next(once, (None, None))
        if first is not None:
            raise first
        return await service.list_remotes(lock_id, page_no, page_size, at)

    def dump(page: RemotePage) -> Any:
        counts: dict[str, Any] = {name: getattr(page, name) for name in COUNTS}
        return counts | {"remotes": [remote.raw for remote in page.remotes]}

    def load(raw: Any) -> RemotePage:
        remotes = tuple(Remote.read(one) for one in raw.pop("remotes"))
        return RemotePage(remotes=remotes, **raw)

    return Source(
        f"page {lock_id} {page_no} {page_size}",
        ask=ask,
        dump=dump,
        load=load,
    )


def detail_source(remote_id: int) -> Source[Remote]:
    """Return the source of a remote's details."""

    def load(raw: Any) -> Remote:
        return Remote.read(raw)

    return Source(
        f"remote {remote_id}",
        ask=lambda service: service.remote_detail(remote_id=remote_id),
        dump=attrgetter("raw"),
        load=load,
    )


async def has_name(listed: Awaitable[Iterable[Remote]], name: str) -> bool:
    """Return whether a list contains a remote with a name; False if the list cannot be read."""
    try:
        return any(is_same_name(remote.remote_name, name) for remote in await listed)
    except ServiceError:
        return False
