"""The connection to one service. It opens on the first call, and retries failed reads."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from lockterm.domain.callbacks import ignore
from lockterm.domain.dates import Clock
from lockterm.errors import (
    LocktermError,
    RateLimitedError,
    RefusedError,
    ServiceError,
    UnreachableError,
)

if TYPE_CHECKING:
    from lockterm.api.client import LockService
    from lockterm.config import Profile
    from lockterm.operations.rate_limiter import RateLimiter

_log = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_RETRY_S = 1.0
LAST_RETRY_S = 60.0
"""The first and the longest pause between two retries of a failed read, in seconds.

Each pause is twice as long as the pause before it.
"""

UNSTATED_S = 5.0
"""The pause, in seconds, after an answer HTTP 429 (too many calls) that states no pause."""

CLOCK_TOLERANCE_S = 120.0
"""Maximum difference between this machine's clock and the service's clock, in seconds, at which
lockterm trusts this machine's clock."""


class Connection:
    """The connection to one service. It makes calls, and records whether the service is reachable.

    The client and pydantic are imported in a thread on the first call, because the first frame of
    the app does not need them.

    Args:
        profile: The address and credentials of the service.
        clock: The wall clock and the monotonic clock.
    """

    def __init__(self, profile: Profile, clock: Clock) -> None:
        self.profile = profile
        self.clock = clock
        self.online: bool | None = None
        """Whether the last call reached the service; None before the first call."""
        self.on_reached: Callable[[], None] = ignore
        """The function to call when the service becomes reachable, also for the first time.

        The function is called before ``on_online``.
        """
        self.on_online: Callable[[bool], None] = ignore
        """The function to call whenever ``online`` changes."""
        self.on_wait: Callable[[], None] = ignore
        """The function to call when the service requests a pause; see ``wait_s``."""
        self.on_limited: Callable[[float], None] = ignore
        """The function to call whenever the service answers HTTP 429, even if the client retries.

        Its argument is the requested pause in seconds, or 0 if the service states none.
        """
        self.on_answered: Callable[[], None] = ignore
        """The function to call for each answer that is not HTTP 429."""
        self.on_clock: Callable[[], None] = ignore
        """The function to call whenever ``doubts_clock`` changes."""
        self._doubted_clock = False
        self.runs_under_way = 0
        """Number of runs in progress.

        While there is none, the connection pauses for :data:`UNSTATED_S` after an answer HTTP 429
        that states no pause. During a run, the rate limiter of runs makes that pause instead."""
        self.call_s: float | None = None
        """Weighted average duration of recent calls, in seconds; None before the first call."""
        self._wait_until_ms = 0
        """The end of the requested pause on the monotonic clock, in milliseconds."""
        self._service: LockService | None = None
        self._offset_s: float | None = None
        """Number of seconds by which the service's clock is ahead, from an answer that
        :meth:`note_reached` recorded; None if there was none."""
        self._opening = asyncio.Lock()
        self._recovering: asyncio.Task[None] | None = None
        self._failed: Callable[[LockService], Awaitable[object]] | None = None
        """The read to retry while the service is unreachable."""
        self._next_try_ms = 0
        """The time of the next retry on the monotonic clock, in milliseconds."""
        self._tasks: set[asyncio.Task[object]] = set()
        self.is_closed = False
        """Whether :meth:`close` was called. After that, no connection is opened."""

    @property
    def clock_offset_s(self) -> float | None:
        """Number of seconds by which the service's clock is ahead; None before the first answer."""
        offset_s = self._service.clock_offset_s if self._service is not None else None
        return self._offset_s if offset_s is None else offset_s

    @property
    def wait_s(self) -> float:
        """The rest of the pause that the service requested (HTTP 429), in seconds; 0 if none."""
        return max(self._wait_until_ms - self.clock.steady_ms(), 0) / 1000

    @property
    def next_try_s(self) -> float:
        """Number of seconds until the next automatic retry; 0 while a retry is in progress."""
        return max(self._next_try_ms - self.clock.steady_ms(), 0) / 1000

    @property
    def doubts_clock(self) -> bool:
        """Whether this machine's clock differs too much from the service's to be trusted."""
        offset = self.clock_offset_s
        return offset is not None and abs(offset) > CLOCK_TOLERANCE_S

    async def close(self) -> None:
        """Cancel the background tasks, and close the client."""
        self.is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._service is not None:
            await self._service.__aexit__()
            self._service = None

    def now_ms(self) -> int:
        """Return the current time to compare with dates of remotes, in milliseconds since 1970.

        The result is the service's time if this machine's clock is not trusted.
        """
        offset_s = self.clock_offset_s if self.doubts_clock else None
        return self.clock.now_ms() + round((offset_s or 0) * 1000)

    def note_reached(self, clock_offset_s: float | None) -> None:
        """Record that the service answered the request for the first page.

        lockterm sends this request when it starts, without this connection.

        Args:
            clock_offset_s: Number of seconds by which the service's clock is ahead; None if
                unknown.
        """
        self._offset_s = clock_offset_s
        self._note_online(True)
        self._note_clock()

    async def read(
        self,
        call: Callable[[LockService], Awaitable[T]],
        pace: RateLimiter | None = None,
        retry: Callable[[LockService], Awaitable[object]] | None = None,
    ) -> T:
        """Make a call that only reads, and return its result.

        If the service is unreachable, the call is retried in the background.

        Args:
            call: The call.
            pace: The rate limiter for which the call waits; None to make the call at once, because
                the user waits for it.
            retry: The call to retry in the background; None to retry the same call.

        Raises:
            ServiceError: The call failed. A retry in the background does not prevent this error.
        """
        try:
            if pace is None:
                return await self.call(call)
            async with pace.turn():
                return await self._call(call, 0.0)
        except ServiceError as error:
            if error.out_of_reach:
                self.keep_trying(retry or call)
            raise

    def require_no_pause(self) -> None:
        """Check that no pause that the service requested is in progress.

        Raises:
            RateLimitedError: A requested pause is in progress. Nothing was sent.
        """
        if (left_s := self.wait_s) > 0:
            raise RateLimitedError(
                f"The service asked for a pause of {math.ceil(left_s)} s more.",
                retry_after_s=left_s,
                hint="Nothing was sent. Try again after the pause.",
                asked=False,
            )

    def keep_trying(self, call: Callable[[LockService], Awaitable[object]]) -> None:
        """Retry a read in the background, with growing pauses, until the service is reachable."""
        is_idle = self._recovering is None or self._recovering.done()
        if is_idle and not self.is_closed:
            self._failed = call
            self._recovering = self.background(self._recover(call))

    async def try_now(self) -> bool:
        """If the service was unreachable, retry the last failed read now.

        Returns:
            Whether the service is reachable, as far as lockterm knows.
        """
        if self._failed is not None and not self.online:
            with contextlib.suppress(ServiceError):
                await self.call(self._failed)
        return self.online is not False

    async def call(self, call: Callable[[LockService], Awaitable[T]]) -> T:
        """Make a call, record whether it reached the service, and return its result.

        Raises:
            ServiceError: The call failed. :class:`RateLimitedError` if the service refused it, or
                if nothing was sent because of a requested pause.
        """
        return await self._call(call, 0.0 if self.runs_under_way else UNSTATED_S)

    async def _call(self, call: Callable[[LockService], Awaitable[T]], unstated_s: float) -> T:
        self.require_no_pause()
        try:
            service = await self.open()
            began_ms = self.clock.steady_ms()
            result = await call(service)
        except RateLimitedError as error:
            self._note_online(True)
            stated_s = error.retry_after_s
            if wait_s := unstated_s if stated_s is None else stated_s:
                self._wait_until_ms = self.clock.steady_ms() + int(wait_s * 1000)
                self.on_wait()
            raise
        except ServiceError as error:
            if isinstance(error, RefusedError):
                self.on_answered()
            # A network without answers, or with a captive portal, counts as offline.
            self._note_online(not error.out_of_reach)
            raise
        took_s = (self.clock.steady_ms() - began_ms) / 1000
        self.call_s = took_s if self.call_s is None else (3 * self.call_s + took_s) / 4
        self.on_answered()
        self._note_online(True)
        self._note_clock()
        return result

    def _note_clock(self) -> None:
        if self._doubted_clock != self.doubts_clock and not self.is_closed:
            self._doubted_clock = self.doubts_clock
            self.on_clock()

    async def _recover(self, call: Callable[[LockService], Awaitable[object]]) -> None:
        delay_s = FIRST_RETRY_S
        while not self.online:
            self._next_try_ms = self.clock.steady_ms() + int(delay_s * 1000)
            await asyncio.sleep(delay_s)
            delay_s = min(delay_s * 2, LAST_RETRY_S)
            if not self.online:
                with contextlib.suppress(ServiceError):
                    await self.call(call)

    def _note_online(self, online: bool) -> None:
        if online != self.online and not self.is_closed:
            if online:
                self.on_reached()
            self.online = online
            self.on_online(online)

    async def open(self) -> LockService:
        """Return the client. The first call imports and opens it.

        Raises:
            UnreachableError: This connection is closed.
            UntrustedServerError: The ``ca_file`` of the profile cannot be used.
        """
        async with self._opening:
            if self.is_closed:
                raise UnreachableError("Nothing was sent, because lockterm is closing.")
            if self._service is None:
                service = (await asyncio.to_thread(load_client))(self.profile, clock=self.clock)
                service.tell_limits(lambda seconds: self.on_limited(seconds))
                self._service = await service.__aenter__()
            return self._service

    def preload(self) -> None:
        """Import and open the client in the background, without sending anything."""
        self.background(self.open())

    def background(self, work: Awaitable[T]) -> asyncio.Task[T]:
        """Start a background task, and return it. Only :meth:`close` cancels the task."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_retrieve)
        return task


def _retrieve(task: asyncio.Task[object]) -> None:
    """Log the error of an ended task if the error is unexpected.

    Because the function retrieves the error, asyncio does not report it again.
    """
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, LocktermError):
        _log.error("a task in the background failed", exc_info=error)


def load_client() -> type[LockService]:
    """Import the client, and return its class. Call this function in a thread: it is slow."""
    from lockterm.api.client import LockService

    return LockService
