"""The two clocks of a machine: one is shown and stored, the other counts waits and ages."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """The wall clock and the monotonic clock.

    A person or NTP may set the first one back by hours; the second one goes on evenly, and means
    nothing outside of this process.

    Args:
        wall: Seconds since the epoch.
        steady: Seconds since some moment.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.wall = wall
        self.steady = steady

    def now_ms(self) -> int:
        """Return the time to show and store, in milliseconds since the epoch."""
        return int(self.wall() * 1000)

    def steady_ms(self) -> int:
        """Return a monotonic time for waits and ages, in milliseconds."""
        return int(self.steady() * 1000)
