"""Pressing keys in a terminal, and timing what they paint."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.faults.proxy import FaultProxy
from tests.servers import Beside
from tests.terminal.pty_session import PtySession

STILL_S = 0.03
"""A screen on which nothing was painted for so long is waited for before a key."""
LOST_S = 60.0
RUN = 6
"""Keys from the first row down; then it begins again there."""


@dataclass(frozen=True)
class Timed:
    """How long keys took, in milliseconds, from the key to the first byte of what it painted."""

    wall_ms: tuple[float, ...]
    own_ms: tuple[float, ...]
    """The same without the time in which lockterm could have run and other programs did."""

    def __str__(self) -> str:
        wall, own = ms_words(self.wall_ms), ms_words(self.own_ms)
        return f"{len(self.wall_ms):3} keys: {wall} | of its own {own}"


def ms_words(ms: Sequence[float]) -> str:
    return f"median {statistics.median(ms):4.0f}  p95 {p95(ms):4.0f}  worst {max(ms):4.0f} ms"


def p95(ms: Sequence[float]) -> float:
    return sorted(ms)[int(len(ms) * 0.95)]


def delays_ms(pid: int) -> dict[str, float]:
    """How long each thread of a process has waited for a processor so far, in milliseconds."""
    waited = {}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # a thread that has just ended
            waited[thread.name] = int((thread / "schedstat").read_text().split()[1]) / 1e6
    return waited


def time_keys(session: PtySession, count: int, meanwhile: Callable[[int], None]) -> Timed:
    """Move the cursor down at moments of chance.

    It never stands on the last row, so that each key has something to paint, also where the rows
    are replaced by others meanwhile, with the cursor on the first.

    Args:
        session: On a table with more than :data:`RUN` rows.
        count: How many keys; before each run of them the cursor goes home, which is not timed.
        meanwhile: Called before each key with its number, to keep the trouble going.
    """
    chance, wall, own = Random(count), [], []
    for number in range(count):
        if number % RUN == 0:
            session.press("home")
        meanwhile(number)
        end_s = time.monotonic() + chance.random() * 0.04
        while time.monotonic() < end_s:
            session.pump(0.005)
        # What comes within this wait is not the key's; a screen that never rests is measured so.
        wait_s = time.monotonic() + 0.3
        while session.pump(STILL_S) and time.monotonic() < wait_s:
            pass
        before, began_s = delays_ms(session.pid), time.perf_counter()
        session.press("down")
        assert session.pump(LOST_S), f"the key was lost:\n{session.text}"
        wall.append((time.perf_counter() - began_s) * 1000)
        after = delays_ms(session.pid).items()
        # One thread works at a time, and the others wait for it: their delays are not added up.
        own.append(wall[-1] - max(ms - before.get(thread, 0.0) for thread, ms in after))
    return Timed(tuple(wall), tuple(own))


class ProxyBeside(Beside):
    """A proxy of faults in a thread of its own."""

    def __init__(self, upstream_port: int) -> None:
        super().__init__()
        self.proxy = FaultProxy(upstream_port)

    async def begin(self) -> None:
        self._running = self.proxy.running()
        await self._running.__aenter__()

    async def end(self) -> None:
        await self._running.__aexit__(None, None, None)
