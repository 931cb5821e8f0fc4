"""How fast a run goes: as fast as the service takes it, and no faster.

How many steps go on at once grows by one with each round that went well, and is halved by each that
did not: a 5xx, a timeout. Where the service says that there are too many calls (429), its limit is
taken to be a little above what it answered in the second before, and later, a little below what was
too much. The calls go on below it, come close to it slowly, and only then try for more. So a limit
that nobody told is met seldom, and nearly reached.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

FIRST_AT_ONCE = 2.0
MOST_AT_ONCE = 12.0
"""More are no help to a service, and many connections from one address look like an attack."""

FIRST_GUESS = 1.2
"""The limit, in what was answered when it was first met: one too low would be believed for long."""
NEXT_GUESS = 0.97
"""The limit, in what was too much when it was met again."""
BELOW = 0.93
"""After a 429 the calls go on at this share of the limit."""
BACK_S = 100.0
"""So many seconds later they are at the limit again. It may take its time: little is lost below."""
TOGETHER_S = 1.0
"""What goes wrong within so many seconds has one cause, and slows down once."""
FIRST_PER_S = 2.0
"""The first guess where one step at a time is too many already, and nothing was answered."""
LEAST_PER_S = 0.2
"""However often it says so, this many calls a second are tried."""
LEAST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 1.0
"""The pause after a 429 that asks for less: twice as long each time, until something went well."""


class Pace:
    """Decides when the next step may begin.

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
        self._limited_s = -math.inf
        """When it was found out."""
        self._slowed_s = -math.inf
        self._next_s = -math.inf
        """When the next call may leave, by the rate."""
        self._paused_s = -math.inf
        """Until when the service wants no call."""
        self._pauses = 0
        """How many it has asked for in turn."""
        self._begun_s = math.inf
        """When the first call left."""
        self._answered: deque[tuple[float, int]] = deque()
        """When calls were answered, and how many, in the last second."""

    @property
    def per_s(self) -> float:
        """How many calls a second leave now; infinite: as many as are answered."""
        rate = self._most_per_s
        if self._limit < math.inf:
            # As TCP's CUBIC: steep far below the limit, flat near it, steep again far beyond.
            way = (self._now_s() - self._limited_s) / BACK_S - 1
            rate = min(rate, self._limit * (1 + (1 - BELOW) * way**3))
        return rate

    def wait_s(self, under_way: int) -> float:
        """Seconds until a step may begin; infinite: not before one of those under way has ended."""
        if under_way >= int(self.at_once):
            return math.inf
        return max(max(self._next_s, self._paused_s) - self._now_s(), 0.0)

    def begin(self, calls: int) -> None:
        """Note that a step begins which makes so many calls."""
        now_s, per_s = self._now_s(), self.per_s
        self._begun_s = min(self._begun_s, now_s)
        if per_s < math.inf:
            self._next_s = max(self._next_s, now_s) + calls / per_s

    def went_well(self, calls: int) -> None:
        """Note that so many calls of a step were answered."""
        now_s = self._now_s()
        self._pauses = 0
        self._answered.append((now_s, calls))
        while self._answered[0][0] < now_s - 1:
            self._answered.popleft()
        self.at_once = min(self.at_once + 1 / self.at_once, MOST_AT_ONCE)

    def limit(self, pause_s: float) -> None:
        """Note that the service asked for a pause (429) of so many seconds, with all its calls."""
        now_s = self._now_s()
        if now_s >= self._paused_s:
            self._pauses += 1
        least_s = min(LEAST_PAUSE_S * 2.0 ** (self._pauses - 1), LONGEST_PAUSE_S)
        self._paused_s = max(self._paused_s, now_s + max(pause_s, least_s))
        if not self._slow_down():
            return
        recent = sum(calls for at_s, calls in self._answered if at_s > now_s - 1)
        found = self.per_s
        if found < math.inf:  # where hardly anything is answered, it was not only just too much
            found *= NEXT_GUESS if recent > found / 2 - 2 else 0.5
        elif recent:
            since_s = max(now_s - self._begun_s, LEAST_PAUSE_S)  # it may be less than a second
            found = recent / min(since_s, 1.0) * FIRST_GUESS + 1
        elif self.at_once <= 1:
            found = FIRST_PER_S
        if found < math.inf:
            self._limit, self._limited_s = max(found, LEAST_PER_S), self._paused_s
        else:
            self.at_once = max(self.at_once / 2, 1.0)

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
