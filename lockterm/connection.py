"""The connection to one service: opened on the first call, watched, and found again by itself."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from lockterm.errors import (
    LocktermError,
    NoAnswer,
    RateLimited,
    ServiceError,
    Unreachable,
    Untrusted,
)

if TYPE_CHECKING:
    from lockterm.api import LockService
    from lockterm.config import Profile

_log = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_RETRY_S = 1.0
LAST_RETRY_S = 60.0
"""While the service is out of reach, the last failed read is tried again after 1, 2, 4 ... 60 s."""

CLOCK_TOLERANCE_S = 120.0
"""How far this machine's clock may be off the service's before dates are doubted."""


class Connection:
    """Calls to one service, and whether it can be reached.

    The client and pydantic are imported on the first call, in a thread: the first frame does not
    need them.

    Args:
        profile: Where the service is and how to talk to it.
        clock: Seconds since the epoch; replaced in tests.
    """

    def __init__(self, profile: Profile, *, clock: Callable[[], float] = time.time) -> None:
        self.profile = profile
        self.online: bool | None = None
        """Whether the last call reached the service; None before the first."""
        self.watch_online: Callable[[bool], None] = lambda online: None
        """Called whenever ``online`` changes."""
        self.watch_wait: Callable[[], None] = lambda: None
        """Called when the service asks for a pause; see ``wait_s``."""
        self._wait_until_ms = 0
        self._clock = clock
        self._service: LockService | None = None
        self._opening = asyncio.Lock()
        self._recovering: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[object]] = set()
        self._closed = False

    def now_ms(self) -> int:
        """The time of this machine, in milliseconds since the epoch."""
        return int(self._clock() * 1000)

    @property
    def clock_offset_s(self) -> float | None:
        """How far the service's clock is ahead of this machine's; None before the first answer."""
        return self._service.clock_offset_s if self._service is not None else None

    @property
    def wait_s(self) -> float:
        """Seconds left of the pause that the service asked for (HTTP 429); 0: none."""
        return max(self._wait_until_ms - self.now_ms(), 0) / 1000

    @property
    def doubts_clock(self) -> bool:
        """Whether the two clocks differ so much that dates cannot be trusted."""
        offset = self.clock_offset_s
        return offset is not None and abs(offset) > CLOCK_TOLERANCE_S

    async def close(self) -> None:
        """Stop what runs in the background and close the connections."""
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._service is not None:
            await self._service.__aexit__(None, None, None)
            self._service = None

    async def _read(self, call: Callable[[LockService], Awaitable[T]]) -> T:
        """Carry out a read; where the service is out of reach, go on trying it in the background.

        Raises:
            ServiceError: Every attempt failed.
        """
        try:
            return await self._call(call)
        except (Unreachable, NoAnswer) as error:
            self._keep_trying(call, error)
            raise

    def _keep_pause(self) -> None:
        """Send nothing while the pause lasts that the service asked for.

        Raises:
            RateLimited: It does; nothing was sent.
        """
        if (left_s := self.wait_s) > 0:
            raise RateLimited(
                f"The service asked for a pause: {math.ceil(left_s)} s are left.",
                retry_after_s=left_s,
                hint="Nothing was sent. Try again when it is over.",
            )

    def _keep_trying(
        self, call: Callable[[LockService], Awaitable[object]], error: ServiceError
    ) -> None:
        is_idle = self._recovering is None or self._recovering.done()
        # What TLS does not trust now, it does not trust in a minute either.
        if is_idle and not self._closed and not isinstance(error, Untrusted):
            self._recovering = self._background(self._recover(call))

    async def _call(self, call: Callable[[LockService], Awaitable[T]]) -> T:
        self._keep_pause()
        service = await self._open()
        try:
            result = await call(service)
        except RateLimited as error:
            self._wait_until_ms = self.now_ms() + int(error.retry_after_s * 1000)
            self._note_online(True)
            self.watch_wait()
            raise
        except ServiceError as error:
            # A line that takes requests and returns nothing is as good as none.
            self._note_online(not isinstance(error, (Unreachable, NoAnswer)))
            raise
        self._note_online(True)
        return result

    async def _recover(self, call: Callable[[LockService], Awaitable[object]]) -> None:
        delay_s = FIRST_RETRY_S
        while not self.online:
            await asyncio.sleep(delay_s)
            delay_s = min(delay_s * 2, LAST_RETRY_S)
            if not self.online:
                with contextlib.suppress(ServiceError):
                    await self._call(call)

    def _note_online(self, online: bool) -> None:
        if online != self.online:
            self.online = online
            self.watch_online(online)

    async def _open(self) -> LockService:
        async with self._opening:
            if self._closed:
                raise Unreachable("Nothing was sent: lockterm is being closed.")
            if self._service is None:
                service = (await asyncio.to_thread(_load_client))(self.profile, clock=self._clock)
                self._service = await service.__aenter__()
            return self._service

    def _background(self, work: Awaitable[T]) -> asyncio.Task[T]:
        """Run something to its end whoever stops waiting for it, except at the end of the app."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_retrieve)
        return task


def _retrieve(task: asyncio.Task[object]) -> None:
    """Who waited may have gone: asyncio would then report an error for people as one of ours."""
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, LocktermError):
        _log.error("a task in the background failed", exc_info=error)


def _load_client() -> type[LockService]:
    from lockterm.api import LockService

    return LockService
