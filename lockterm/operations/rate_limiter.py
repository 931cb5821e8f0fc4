"""How fast a run goes: as fast as the service takes it, and no faster.

How many steps go on at once grows by one with each round that went well, and is halved by each that
did not: a 5xx, a timeout. Where the service says that there are too many calls (429), its limit is
guessed by what it answered in the second before: that was enough for it, however the service
counts. From there the calls become more until there are too many again; then the limit is known.
The calls go on a little below it, come close to it slowly, and only then try for more. So a limit
that nobody told is found soon, met seldom, and nearly reached.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from collections.abc import AsyncIterator, Callable

FIRST_AT_ONCE = 2.0
MOST_AT_ONCE = 12.0
"""More are no help to a service, and many connections from one address look like an attack."""

RISE_S = 8.0
"""So many seconds after the first guess of the limit it is e times as high."""
MOST_RISE = 9.0
"""The rise goes no further: by then no limit is left."""
NEXT_GUESS = 0.99
"""The limit, in what was too much when it was met again."""
BELOW = 0.94
"""After that the calls go on at this share of the limit."""
BACK_S = 20.0
"""So many seconds later they are at the limit again; so many more for each second of a pause that
the service asks for, so that it does not spend its time in pauses."""
TOGETHER_S = 1.0
"""What goes wrong within so many seconds has one cause, and slows down once."""
FIRST_PER_S = 2.0
"""The first guess where hardly anything was answered."""
LEAST_PER_S = 0.2
"""However often it says so, this many calls a second are tried."""
READS_AT_ONCE = 4
"""So many calls go on at once that read back what had no answer."""
LEAST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 1.0
"""The pause after a 429 that asks for less: twice as long each time, until something went well."""


class RateLimiter:
    """Decides when the next step of a run may begin, or the next call that reads back.

    Args:
        now_s: The steady clock, in seconds.
        calls_per_minute: A limit that was set; 0: none.
    """

    def __init__(self, now_s: Callable[[], float], calls_per_minute: int = 0) -> None:
        self.at_once = FIRST_AT_ONCE
        """How many steps may go on at once; the part behind the point is on the way to one more."""
        self._now_s = now_s
        self._most_per_s = calls_per_minute / 60 if calls_per_minute else math.inf
        self._limit = math.inf
        """Calls a second that the service takes, as far as it is known."""
        self._is_guess = True
        """Whether it was found by the first 429 alone."""
        self._back_s = BACK_S
        self._limited_s = -math.inf
        """When it was found out."""
        self._slowed_s = -math.inf
        self._next_s = -math.inf
        """When the next call may leave, by the rate."""
        self._paused_s = -math.inf
        """Until when the service wants no call."""
        self._pauses = 0
        """How many it has asked for in turn."""
        self._answered: deque[float] = deque()
        """When calls were answered, in the last second."""
        self._reads = asyncio.Semaphore(READS_AT_ONCE)

    @property
    def per_s(self) -> float:
        """How many calls a second leave now; infinite: as many as are answered."""
        rate = self._most_per_s
        if self._limit < math.inf:
            since_s = max(self._now_s() - self._limited_s, 0.0)
            if self._is_guess:
                share = math.exp(min(since_s / RISE_S, MOST_RISE))
            else:  # as TCP's CUBIC: steep far below the limit, flat near it, then steep again
                share = 1 + (1 - BELOW) * (since_s / self._back_s - 1) ** 3
            rate = min(rate, self._limit * share)
        return rate

    def wait_s(self, under_way: int) -> float:
        """Seconds until a step may begin; infinite: not before one of those under way has ended."""
        if under_way >= int(self.at_once):
            return math.inf
        return max(max(self._next_s, self._paused_s) - self._now_s(), 0.0)

    def begin(self, calls: int) -> None:
        """Note that a step begins which makes so many calls."""
        now_s, per_s = self._now_s(), self.per_s
        if per_s < math.inf:
            self._next_s = max(self._next_s, now_s) + calls / per_s

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """The turn of a call that reads back: as soon as there is room for it."""
        async with self._reads:
            while (wait_s := self.wait_s(0)) > 0:
                await asyncio.sleep(wait_s)
            self.begin(1)
            yield

    def answer(self) -> None:
        """Note that a call was answered, and was not one too many."""
        now_s = self._now_s()
        self._pauses = 0
        self._answered.append(now_s)
        while self._answered[0] < now_s - 1:
            self._answered.popleft()

    def went_well(self) -> None:
        """Note that a step went well."""
        self.at_once = min(self.at_once + 1 / self.at_once, MOST_AT_ONCE)

    def limit(self, pause_s: float) -> None:
        """Note that a call was one too many (429).

        Args:
            pause_s: So long the service wants no call, in seconds; 0: it does not say.
        """
        now_s = self._now_s()
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
        """Note that a step met a 5xx or a timeout."""
        if self._slow_down():
            self.at_once = max(self.at_once / 2, 1.0)

    def _slow_down(self) -> bool:
        """Whether this is something new, and not one more of what went wrong just now."""
        now_s = self._now_s()
        is_new = now_s >= self._slowed_s + TOGETHER_S
        self._slowed_s = now_s if is_new else self._slowed_s
        return is_new
