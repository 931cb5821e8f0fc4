"""The rate limiter of runs, which makes runs as fast as the service allows.

If n steps may run in parallel, this number grows by one after n successful steps, and halves after
a failure (a 5xx or a timeout). When the service reports too many calls (429), lockterm uses the
number of answers in the last second as the rate, because the service accepted those calls. The rate
then grows by a twentieth at regular times until there are too many calls again. While nothing is
sent, the rate does not change.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lockterm.domain.dates import Clock

FIRST_AT_ONCE = 2.0
MOST_AT_ONCE = 12.0
"""Maximum number of parallel steps. More steps would not make a run faster, and many connections
look like an attack."""

GROWTH = 1.05
"""The factor by which the rate grows when a step starts, at most once per period."""
FIRST_PERIOD_S = 1.0
"""The period after which the rate grows, in seconds, while the rate is a first estimate."""
PERIOD_S = 12.0
"""The period after which the rate grows, in seconds, when a second refusal has shown the limit of
the service. The period is multiplied by one plus the requested pause in seconds, so that a run does
not spend its time in pauses."""
KEPT = 0.95
"""The share of the rate that remains after the second and each later refusal."""
TOGETHER_S = 1.0
"""Time in seconds in which several failures count as one, so that they slow the run down once."""
FIRST_PER_S = 2.0
"""Minimum of the first estimate of a service's limit, in calls per second.

Without this minimum, the estimate would be too low if there were few answers in the last second.
"""
LEAST_PER_S = 0.2
"""Minimum rate in calls per second, even if the service refuses calls very often."""
READS_AT_ONCE = 4
"""Maximum number of parallel calls that verify changes."""
UNSTATED_PAUSE_S = 0.25
"""Pause in seconds after an answer 429 (too many calls) that states no pause."""


class RateLimiter:
    """The limiter that decides when the next step or the next verification call may start.

    Args:
        clock: The clock, whose monotonic time is used.
        calls_per_minute: The limit that the user has configured; 0 for none.
    """

    def __init__(self, clock: Clock, calls_per_minute: int = 0) -> None:
        self.at_once = FIRST_AT_ONCE
        """Number of steps allowed in parallel. The digits after the decimal point are the
        progress toward one more step."""
        self._clock = clock
        self._most_per_s = calls_per_minute / 60 if calls_per_minute else math.inf
        self._rate = math.inf
        """The rate that the service allows, in calls per second; infinite before the first 429."""
        self._period_s = FIRST_PERIOD_S
        self._grows_s = -math.inf
        """The earliest time at which the rate grows, in monotonic seconds."""
        self._slowed_s = -math.inf
        self._next_s = -math.inf
        """The earliest time at which the rate allows the next call, in monotonic seconds."""
        self._paused_s = -math.inf
        """When the pause that the service requested ends, in monotonic seconds."""
        self._answered: deque[float] = deque()
        """The times of all answers except 429 in the last second, in monotonic seconds."""
        self._reads = asyncio.Semaphore(READS_AT_ONCE)

    @property
    def per_s(self) -> float:
        """The rate that is allowed now, in calls per second; infinite if there is no limit."""
        return min(self._rate, self._most_per_s)

    def wait_s(self, under_way: int) -> float:
        """Return the time until a step may start, in seconds; infinite if a step must end first.

        Args:
            under_way: The number of steps in progress.
        """
        if under_way >= int(self.at_once):
            return math.inf
        return max(max(self._next_s, self._paused_s) - self._clock.steady(), 0.0)

    def begin(self, calls: int) -> None:
        """Record the start of a step, and increase the rate if an increase is due.

        Args:
            calls: The number of calls that the step makes.
        """
        now_s = self._clock.steady()
        self._next_s = max(self._next_s, now_s) + calls / self.per_s
        if now_s >= self._grows_s:
            self._rate *= GROWTH
            self._grows_s = now_s + self._period_s

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Return a context manager that waits until a verification call is allowed.

        The caller makes the call inside the block. Until the block ends, the call counts toward
        :data:`READS_AT_ONCE`.
        """
        async with self._reads:
            while (wait_s := self.wait_s(0)) > 0:
                await asyncio.sleep(wait_s)
            self.begin(1)
            yield

    def answer(self) -> None:
        """Record that the service answered a call with another status than 429."""
        now_s = self._clock.steady()
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
        now_s, rate = self._clock.steady(), self.per_s
        self._paused_s = max(self._paused_s, now_s + (pause_s or UNSTATED_PAUSE_S))
        if not self._slow_down():
            return
        recent = sum(at_s > now_s - 1 for at_s in self._answered)
        if self._rate == math.inf:
            rate = min(rate, max(recent, FIRST_PER_S))
        else:  # few answers may mean that calls had to pause, so the rate halves at most
            rate = KEPT * min(rate, max(recent, rate / 2))
            self._period_s = PERIOD_S * (1 + pause_s)
        self._rate = max(rate, LEAST_PER_S)
        self._grows_s = self._paused_s + self._period_s

    def fail(self) -> None:
        """Record that a step failed with a 5xx or a timeout, and halve the parallel steps."""
        if self._slow_down():
            self.at_once = max(self.at_once / 2, 1.0)

    def _slow_down(self) -> bool:
        """Record a failure, and return whether it is a new one.

        A failure within :data:`TOGETHER_S` after another failure is not a new one.
        """
        now_s = self._clock.steady()
        is_new = now_s >= self._slowed_s + TOGETHER_S
        self._slowed_s = now_s if is_new else self._slowed_s
        return is_new
