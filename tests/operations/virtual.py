"""A clock of one's own: waiting takes no time, and nothing passes but by waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from lockterm.operations import Operations
from lockterm.operations.watching import Timer


def let_pause_pass(operations: Operations) -> None:
    """Have the pause be over that the service asked for (HTTP 429)."""
    left_s, clock = operations.connection.wait_s, operations.clock
    if left_s:
        before = clock.steady
        clock.steady = lambda: before() + left_s


class VirtualTimer(Timer):
    """Time that passes when somebody waits.

    Only one reader may use it: with ``until_proven``, a session needs ``reads_back=False``. The
    waits of a reader in the background would otherwise use up the time of a reading under way.

    Args:
        time_s: What it begins with.
    """

    def __init__(self, time_s: float = 0.0) -> None:
        self.time_s = time_s
        self._due: list[tuple[float, Callable[[], Awaitable[None]]]] = []

    def now_s(self) -> float:
        return self.time_s

    def at(self, time_s: float, do: Callable[[], Awaitable[None]]) -> None:
        """Have something happen once that time has come."""
        self._due.append((time_s, do))
        self._due.sort(key=lambda due: due[0])

    async def pass_s(self, seconds: float) -> None:
        """Let time pass, and happen what is due."""
        end_s = self.time_s + seconds
        while self._due and self._due[0][0] <= end_s:
            self.time_s, do = self._due.pop(0)
            await do()
        self.time_s = end_s

    async def wait(self, asked: asyncio.Event, at_most_s: float) -> None:
        await asyncio.sleep(0)
        if not asked.is_set():
            await self.pass_s(at_most_s)
