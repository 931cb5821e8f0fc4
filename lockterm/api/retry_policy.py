"""The policy for repeating failed calls, and the limit on calls that run at the same time."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from lockterm.errors import (
    MalformedAnswerError,
    NoAnswerError,
    RateLimitedError,
    ServiceError,
    UnreachableError,
    UntrustedServerError,
)

T = TypeVar("T")

FOR_READS = (UnreachableError, NoAnswerError, MalformedAnswerError, RateLimitedError)
"""The errors after which a reading call may be repeated."""
FOR_WRITES = (UnreachableError,)
"""The error after which a write may be repeated, because it proves that the service has not applied
the write."""

UNSTATED_S = 1.0
"""Wait in seconds after an answer with status 429 (too many requests) that states no wait. Many
services limit the number of calls per second."""


class RetryPolicy(NamedTuple):
    """The number of attempts, the pauses and the time limits of a call."""

    attempts: int = 3
    """Maximum number of attempts."""
    total_s: float = 30.0
    """Maximum duration of all attempts of a reading call and the pauses between them, in
    seconds."""
    pause_s: float = 0.3
    """Average pause after the first attempt, in seconds. The pause doubles after each further
    attempt."""
    longest_wait_s: float = 5.0
    """Maximum wait, in seconds, after the service has refused a call with status 429. If the
    service requests a longer wait, the call fails, and the user decides when to repeat the call."""

    async def read(self, attempt: Callable[[float], Awaitable[T]], timeout_s: float) -> T:
        """Run a reading call, repeat it if that may help, and return its result.

        Args:
            attempt: A function that sends the call once, within a time limit in seconds.
            timeout_s: The time limit of one attempt in seconds.
        """
        return await self._try(attempt, timeout_s, FOR_READS, self.total_s)

    async def write(self, attempt: Callable[[float], Awaitable[T]], timeout_s: float) -> T:
        """Run a write, and return its result.

        The write is repeated if nothing was sent or the service provably did not read the request.
        Each attempt gets the full time limit, because the result of an attempt that is cut short is
        unknown.

        Args:
            attempt: A function that sends the write once, within a time limit in seconds.
            timeout_s: The time limit of one attempt in seconds.
        """
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
        """Return the seconds until the next attempt; None if no attempt should follow.

        Args:
            error: The error of the last attempt.
            number: The number of the last attempt, counted from 1.
        """
        if isinstance(error, UntrustedServerError):
            return None
        pause: float = self.pause_s * 2.0 ** (number - 1) * random.uniform(0.5, 1.5)
        if isinstance(error, RateLimitedError):
            stated_s = error.retry_after_s
            pause = max(pause, UNSTATED_S if stated_s is None else stated_s)
            return pause if pause <= self.longest_wait_s else None
        return pause


class CallPermits:
    """A limit on calls that run at the same time. Their answers are decoded one after the other.

    Args:
        count: The maximum number of calls.
    """

    def __init__(self, count: int) -> None:
        self.free = asyncio.Semaphore(count)
        self.reading = asyncio.Lock()
        """The mutex that a caller holds while it decodes an answer. Decoding two answers at the
        same time would not be faster, and would delay the calls."""


class CallPermit:
    """The permit of one caller to send calls. Only a limited number of callers has one at a time.

    The caller takes the permit before a call, and releases it while the answer is decoded.

    Args:
        places: The limit, which all callers share.
    """

    def __init__(self, places: CallPermits) -> None:
        self.reading = places.reading
        self._free = places.free
        self._is_taken = False

    async def take(self) -> None:
        """Wait until a permit is free, and take it. If the caller has one, return at once."""
        if not self._is_taken:
            await self._free.acquire()
            self._is_taken = True

    def leave(self) -> None:
        """Release the permit for other callers. If this caller has no permit, do nothing."""
        if self._is_taken:
            self._is_taken = False
            self._free.release()
