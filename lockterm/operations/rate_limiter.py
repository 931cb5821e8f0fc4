"""The limiter of a run's rate, which makes runs as fast as the service allows.

The number of parallel steps grows by one with each successful round, and halves after a failure (a
5xx or a timeout). When the service reports too many calls (429), lockterm estimates the limit from
the number of answers in the last second, because the service accepted those calls. The rate then
rises until there are too many calls again, which reveals the limit. The rate continues slightly
below the limit, approaches it slowly, and only then exceeds it. So lockterm finds an undocumented
limit soon, exceeds it seldom, and uses nearly all of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lockterm.domain.clock import Clock

FIRST_AT_ONCE = 2.0
MOST_AT_ONCE = 12.0
"""Maximum number of parallel steps. More would not help, and many connections look like an
attack."""

RISE_S = 8.0
"""Number of seconds in which the rate grows by a factor of e while the limit is the first
estimate."""
MOST_RISE = 9.0
"""Maximum exponent of this growth. A factor of about 8,100 is practically no limit."""
NEXT_GUESS = 0.99
"""The new limit as a share of the rate at which the service refused a call."""
BELOW = 0.94
"""The share of the limit at which a run continues after a pause."""
BACK_S = 20.0
"""Number of seconds after a pause until the rate is at the limit again. It is multiplied by one
plus the requested pause in seconds, so that a run does not spend its time in pauses."""
TOGETHER_S = 1.0
"""Number of seconds within which several failures count as one, and slow the run down once."""
FIRST_PER_S = 2.0
"""Minimum of the first estimate of a service's limit, in calls per second.

With few answers in the last second, the estimate would be too low.
"""
LEAST_PER_S = 0.2
"""Minimum rate in calls per second, however often the service refuses calls."""
READS_AT_ONCE = 4
"""Maximum number of parallel calls that verify changes."""
LEAST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 1.0
"""Minimum and maximum pause, in seconds, after a 429 that states no pause. The pause doubles until
a call succeeds."""


class RateLimiter:
    """The limiter that decides when the next step or the next verification call may start.

    Args:
        clock: The clock, of which the monotonic part is used.
        calls_per_minute: The limit that the user has configured; 0 for none.
    """

    def __init__(self, clock: Clock, calls_per_minute: int = 0) -> None:
        self.at_once = FIRST_AT_ONCE
        """Number of steps allowed in parallel. The fraction is the progress toward one more
        step."""
        self._clock = clock
        self._most_per_s = calls_per_minute / 60 if calls_per_minute else math.inf
        self._limit = math.inf
        """Estimated limit of the service, in calls per second."""
        self._is_guess = True
        """Whether the limit is still the first estimate."""
        self._back_s = BACK_S
        self._limited_s = -math.inf
        """When the last pause ends, after which the rate rises again, in monotonic seconds."""
        self._slowed_s = -math.inf
        self._next_s = -math.inf
        """The earliest time at which the rate allows the next call, in monotonic seconds."""
        self._paused_s = -math.inf
        """When the pause that the service requested ends, in monotonic seconds."""
        self._pauses = 0
        """Number of consecutive pauses."""
        self._answered: deque[float] = deque()
        """The times of all answers in the last second, in monotonic seconds."""
        self._reads = asyncio.Semaphore(READS_AT_ONCE)

    @property
    def per_s(self) -> float:
        """The rate that is allowed now, in calls per second; infinite if there is no limit."""
        rate = self._most_per_s
        if self._limit < math.inf:
            since_s = max(self._clock.steady() - self._limited_s, 0.0)
            if self._is_guess:
                share = math.exp(min(since_s / RISE_S, MOST_RISE))
            else:  # as TCP's CUBIC: steep far below the limit, flat near it, then steep again
                share = 1 + (1 - BELOW) * (since_s / self._back_s - 1) ** 3
            rate = min(rate, self._limit * share)
        return rate

    def wait_s(self, under_way: int) -> float:
        """Return seconds until a step may start; infinite if another step must end first."""
        if under_way >= int(self.at_once):
            return math.inf
        return max(max(self._next_s, self._paused_s) - self._clock.steady(), 0.0)

    def begin(self, calls: int) -> None:
        """Record that a step starts, and how many calls it makes."""
        now_s, per_s = self._clock.steady(), self.per_s
        if per_s < math.inf:
            self._next_s = max(self._next_s, now_s) + calls / per_s

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until the rate allows a verification call, and hold a turn during the call."""
        async with self._reads:
            while (wait_s := self.wait_s(0)) > 0:
                await asyncio.sleep(wait_s)
            self.begin(1)
            yield

    def answer(self) -> None:
        """Record that the service answered a call with another status than 429."""
        now_s = self._clock.steady()
        self._pauses = 0
        self._answered.append(now_s)
        while self._answered[0] < now_s - 1:
            self._answered.popleft()

    def went_well(self) -> None:
        """Record that a step succeeded, which allows more parallel steps."""
        self.at_once = min(self.at_once + 1 / self.at_once, MOST_AT_ONCE)

    def limit(self, pause_s: float) -> None:
        """Record that the service refused a call because there were too many (429).

        Args:
            pause_s: The requested pause in seconds; 0 if the service states none.
        """
        now_s = self._clock.steady()
        if now_s >= self._paused_s:
            self._pauses += 1
        least_s = min(LEAST_PAUSE_S * 2.0 ** (self._pauses - 1), LONGEST_PAUSE_S)
        self._paused_s = max(self._paused_s, now_s + max(pause_s, least_s))
        if not self._slow_down():
            return
        recent = sum(at_s > now_s - 1 for at_s in self._answered)
        found, self._is_guess = self.per_s, self._limit == math.inf
        if self._is_guess:
            found = min(found, max(recent, FIRST_PER_S))
        else:  # what was answered tells less where the calls had to pause: it is not halved twice
            found = min(found * NEXT_GUESS, max(recent, found / 2))
        self._limit, self._limited_s = max(found, LEAST_PER_S), self._paused_s
        self._back_s = BACK_S * (1 + pause_s)

    def fail(self) -> None:
        """Record that a step failed with a 5xx or a timeout, which halves the parallel steps."""
        if self._slow_down():
            self.at_once = max(self.at_once / 2, 1.0)

    def _slow_down(self) -> bool:
        """Record a failure; return whether it is a new one, and not part of the previous one."""
        now_s = self._clock.steady()
        is_new = now_s >= self._slowed_s + TOGETHER_S
        self._slowed_s = now_s if is_new else self._slowed_s
        return is_new
