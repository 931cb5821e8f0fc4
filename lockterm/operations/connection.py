"""The connection to one service: opened on the first call, watched, and found again by itself."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from lockterm.domain.callbacks import ignore
from lockterm.domain.clock import Clock
from lockterm.errors import LocktermError, RateLimited, Refused, ServiceError, Unreachable

if TYPE_CHECKING:
    from lockterm.api.client import LockService
    from lockterm.config import Profile

_log = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_RETRY_S = 1.0
LAST_RETRY_S = 60.0
"""While the service is out of reach, the last failed read is tried again after 1, 2, 4 ... 60 s."""

turn: ContextVar[Callable[[], AbstractAsyncContextManager[None]]] = ContextVar(
    "turn", default=contextlib.nullcontext
)
"""What a call waits for, and goes on in; a key waits for nobody's turn."""

UNSTATED_S = 5.0
"""The usual one of those pauses."""

unstated_s: ContextVar[float] = ContextVar("unstated_s", default=UNSTATED_S)
"""The pause that is kept where calls are too many and the service does not say how long to wait.
What goes by a pace sets it to none: the pace knows."""


def go_by(next_turn: Callable[[], AbstractAsyncContextManager[None]]) -> None:
    """Have all further calls of this task wait for their turns: it reads back, and nobody waits."""
    turn.set(next_turn)
    unstated_s.set(0.0)


@contextlib.contextmanager
def out_of_turn() -> Iterator[None]:
    """Begin what is no part of it where something may be read back: screens wait for no turn."""
    tokens = turn.set(contextlib.nullcontext), unstated_s.set(UNSTATED_S)
    try:
        yield
    finally:
        turn.reset(tokens[0])
        unstated_s.reset(tokens[1])


CLOCK_TOLERANCE_S = 120.0
"""How far this machine's clock may be off the service's before dates are doubted."""


class Connection:
    """Calls to one service, and whether it can be reached.

    The client and pydantic are imported on the first call, in a thread: the first frame does not
    need them.

    Args:
        profile: Where the service is and how to talk to it.
        clock: The time, and how it passes.
    """

    def __init__(self, profile: Profile, clock: Clock) -> None:
        self.profile = profile
        self.clock = clock
        self.online: bool | None = None
        """Whether the last call reached the service; None before the first."""
        self.on_reached: Callable[[], None] = ignore
        """Called when the service was reached, first or again, before ``on_online``."""
        self.on_online: Callable[[bool], None] = ignore
        """Called whenever ``online`` changes."""
        self.on_wait: Callable[[], None] = ignore
        """Called when the service asks for a pause; see ``wait_s``."""
        self.on_limited: Callable[[float], None] = ignore
        """Called with the pause that is asked for whenever a call was one too many (HTTP 429), also
        where it is tried again by itself; 0: at once, or the service does not say how long."""
        self.on_answered: Callable[[], None] = ignore
        """Called whenever a call was answered otherwise."""
        self.on_clock: Callable[[], None] = ignore
        """Called whenever ``doubts_clock`` changes."""
        self._doubted_clock = False
        self.call_s: float | None = None
        """How long a call takes, in seconds, by the last ones; None before the first."""
        self._wait_until_ms = 0
        """On the steady clock."""
        self._service: LockService | None = None
        self._offset_s: float | None = None
        """What an answer told that came before there was a client."""
        self._opening = asyncio.Lock()
        self._recovering: asyncio.Task[None] | None = None
        self._failed: Callable[[LockService], Awaitable[object]] | None = None
        """The read that is tried again while the service is out of reach."""
        self._next_try_ms = 0
        """When that happens next, on the steady clock."""
        self._tasks: set[asyncio.Task[object]] = set()
        self.is_closed = False
        """Whether :meth:`close` was called; no connection is opened any more."""

    @property
    def clock_offset_s(self) -> float | None:
        """How far the service's clock is ahead of this machine's; None before the first answer."""
        told = self._service.clock_offset_s if self._service is not None else None
        return self._offset_s if told is None else told

    @property
    def wait_s(self) -> float:
        """Seconds left of the pause that the service asked for (HTTP 429); 0: none."""
        return max(self._wait_until_ms - self.clock.steady_ms(), 0) / 1000

    @property
    def next_try_s(self) -> float:
        """Seconds until the service is tried again by itself; 0: it is being tried."""
        return max(self._next_try_ms - self.clock.steady_ms(), 0) / 1000

    @property
    def doubts_clock(self) -> bool:
        """Whether the two clocks differ so much that dates cannot be trusted."""
        offset = self.clock_offset_s
        return offset is not None and abs(offset) > CLOCK_TOLERANCE_S

    async def close(self) -> None:
        """Stop what runs in the background and close the connections."""
        self.is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._service is not None:
            await self._service.__aexit__()
            self._service = None

    def now_ms(self) -> int:
        """Return the time by which periods are judged, in milliseconds since the epoch.

        It is the service's if this machine's clock is so far off that it cannot be trusted.
        """
        offset_s = self.clock_offset_s if self.doubts_clock else None
        return self.clock.now_ms() + round((offset_s or 0) * 1000)

    def note_reached(self, clock_offset_s: float | None) -> None:
        """Note that the service has answered before there was a client.

        Args:
            clock_offset_s: How far its clock is ahead of this machine's; None: it has not told.
        """
        self._offset_s = clock_offset_s
        self._note_online(True)
        self._note_clock()

    async def read(self, call: Callable[[LockService], Awaitable[T]]) -> T:
        """Carry out a read; where the service is out of reach, go on trying it in the background.

        Raises:
            ServiceError: Every attempt failed.
        """
        try:
            return await self.call(call)
        except ServiceError as error:
            if error.out_of_reach:
                self.keep_trying(call)
            raise

    def require_no_pause(self) -> None:
        """See that no pause is left that the service asked for.

        Raises:
            RateLimited: It does; nothing was sent.
        """
        if (left_s := self.wait_s) > 0:
            raise RateLimited(
                f"The service asked for a pause: {math.ceil(left_s)} s are left.",
                retry_after_s=left_s,
                hint="Nothing was sent. Try again when it is over.",
                asked=False,
            )

    def keep_trying(self, call: Callable[[LockService], Awaitable[object]]) -> None:
        """Try a read again in the background, less and less often, until the service is reached."""
        is_idle = self._recovering is None or self._recovering.done()
        if is_idle and not self.is_closed:
            self._failed = call
            with out_of_turn():
                self._recovering = self.background(self._recover(call))

    async def try_now(self) -> bool:
        """Try again now what failed last.

        Returns:
            Whether the service can be reached.
        """
        if self._failed is not None and not self.online:
            with contextlib.suppress(ServiceError):
                await self.call(self._failed)
        return self.online is not False

    async def call(self, call: Callable[[LockService], Awaitable[T]]) -> T:
        """Carry out a call, and note whether the service was reached.

        Raises:
            ServiceError: It failed; :class:`RateLimited` also where a pause is not over yet.
        """
        async with turn.get()():
            return await self._call(call)

    async def _call(self, call: Callable[[LockService], Awaitable[T]]) -> T:
        self.require_no_pause()
        try:
            service = await self.open()
            began_ms = self.clock.steady_ms()
            result = await call(service)
        except RateLimited as error:
            self._note_online(True)
            told_s = error.retry_after_s
            if wait_s := unstated_s.get() if told_s is None else told_s:
                self._wait_until_ms = self.clock.steady_ms() + int(wait_s * 1000)
                with out_of_turn():
                    self.on_wait()
            raise
        except ServiceError as error:
            if isinstance(error, Refused):
                self.on_answered()
            # A line that takes requests and returns nothing is as good as none, and so is one
            # whose other end is a portal.
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
            with out_of_turn():
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
            with out_of_turn():
                if online:
                    self.on_reached()
                self.online = online
                self.on_online(online)

    async def open(self) -> LockService:
        """The client, imported and opened on the first call.

        Raises:
            Unreachable: This connection was closed.
            Untrusted: The profile's ca_file cannot be used.
        """
        async with self._opening:
            if self.is_closed:
                raise Unreachable("Nothing was sent: lockterm is being closed.")
            if self._service is None:
                service = (await asyncio.to_thread(load_client))(
                    self.profile, clock=self.clock.wall
                )
                service.tell_limits(lambda seconds: self.on_limited(seconds))
                self._service = await service.__aenter__()
            return self._service

    def get_ready(self) -> None:
        """Import and open the client before it is wanted; nothing is sent."""
        self.background(self.open())

    def background(self, work: Awaitable[T]) -> asyncio.Task[T]:
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


def load_client() -> type[LockService]:
    """Import the client, which takes a while: in a thread."""
    from lockterm.api.client import LockService

    return LockService
