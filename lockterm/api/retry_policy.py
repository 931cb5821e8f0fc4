"""When a call is tried again, and how many reads run at the same time."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from lockterm.errors import (
    MalformedAnswer,
    NoAnswer,
    RateLimited,
    ServiceError,
    Unreachable,
    Untrusted,
)

T = TypeVar("T")

FOR_READS = (Unreachable, NoAnswer, MalformedAnswer, RateLimited)
"""A read may be repeated after all of these."""
FOR_WRITES = (Unreachable,)
"""A write may be repeated only when it was provably not sent: the service could apply it twice."""

UNSTATED_S = 1.0
"""The wait where calls are too many (429) and the service does not say how long, in seconds: many
count the calls of a second."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The attempts, pauses and time limits of a call."""

    attempts: int = 3
    total_s: float = 30.0
    """Seconds for all attempts of a read and the pauses between them."""
    pause_s: float = 0.3
    """The pause after the first attempt in seconds, before jitter; it doubles."""
    longest_wait_s: float = 5.0
    """A longer wait that the service asks for is left to the person, who can watch it pass."""

    async def read(self, attempt: Callable[[float], Awaitable[T]], timeout_s: float) -> T:
        """Try a read; ``attempt`` receives its time limit in seconds."""
        return await self._try(attempt, timeout_s, FOR_READS, self.total_s)

    async def write(self, attempt: Callable[[float], Awaitable[T]], timeout_s: float) -> T:
        """Try a write. Each attempt may take its full time: a hurried one ends in doubt."""
        return await self._try(attempt, timeout_s, FOR_WRITES, math.inf)

    async def _try(
        self,
        attempt: Callable[[float], Awaitable[T]],
        timeout_s: float,
        retried: tuple[type[ServiceError], ...],
        total_s: float,
    ) -> T:
        clock = asyncio.get_running_loop().time
        end = clock() + total_s
        number = 1
        while True:
            try:
                return await attempt(min(timeout_s, end - clock()))
            except retried as error:
                pause = self._pause_after(error, number)
                if number >= self.attempts or pause is None or clock() + pause >= end:
                    raise
            number += 1
            await asyncio.sleep(pause)

    def _pause_after(self, error: ServiceError, number: int) -> float | None:
        """Return the seconds until the next attempt; None if it would not help."""
        if isinstance(error, Untrusted):
            return None
        pause: float = self.pause_s * 2.0 ** (number - 1) * random.uniform(0.5, 1.5)
        if isinstance(error, RateLimited):
            told_s = error.retry_after_s
            pause = max(pause, UNSTATED_S if told_s is None else told_s)
            return pause if pause <= self.longest_wait_s else None
        return pause


class Places:
    """A limit on calls that run at the same time; their answers are read one after the other.

    Args:
        count: The number of calls.
    """

    def __init__(self, count: int) -> None:
        self.free = asyncio.Semaphore(count)
        self.reading = asyncio.Lock()
        """Held while an answer is read: two at once are no faster, and keep the calls waiting."""


class Place:
    """One of the places; a caller takes it for a call and leaves it while an answer is read.

    Args:
        places: All places.
    """

    def __init__(self, places: Places) -> None:
        self.reading = places.reading
        self._free = places.free
        self._is_taken = False

    async def take(self) -> None:
        """Wait for a place; return at once if this caller has one."""
        if not self._is_taken:
            await self._free.acquire()
            self._is_taken = True

    def leave(self) -> None:
        """Free the place for another caller, if it is taken."""
        if self._is_taken:
            self._is_taken = False
            self._free.release()
