"""The two clocks of a machine: one for times to show and store, one to measure durations."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """The wall clock and the monotonic clock.

    The user or NTP may set the wall clock back by hours. The monotonic clock never goes back, but
    its value has no meaning outside of this process.

    Args:
        wall: A function that returns the wall clock's time, in seconds since the epoch.
        steady: A function that returns the monotonic time, in seconds since an arbitrary moment.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.wall = wall
        self.steady = steady

    def now_ms(self) -> int:
        """Return the wall clock's time, to show and store, in milliseconds since the epoch."""
        return int(self.wall() * 1000)

    def steady_ms(self) -> int:
        """Return the monotonic time, for measuring durations, in milliseconds."""
        return int(self.steady() * 1000)
