"""Pressing keys in a terminal, and timing what they paint."""

from __future__ import annotations

import asyncio
import statistics
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.faults.proxy import FaultProxy
from tests.terminal.pty_session import PtySession

STILL_S = 0.03
"""A screen on which nothing was painted for so long is waited for before a key."""
LOST_S = 10.0


@dataclass(frozen=True)
class Timed:
    """How long keys took, in milliseconds, from the key to the first byte of what it painted."""

    ms: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.ms)

    @property
    def p95(self) -> float:
        return sorted(self.ms)[int(len(self.ms) * 0.95)]

    def __str__(self) -> str:
        return (
            f"{len(self.ms):4} keys  median {self.median:5.0f} ms"
            f"  p95 {self.p95:5.0f} ms  worst {max(self.ms):5.0f} ms"
        )


def time_keys(session: PtySession, count: int, meanwhile: Callable[[int], None]) -> Timed:
    """Move the cursor up and down at moments of chance.

    Args:
        session: On a table with rows.
        count: How many keys; an even number ends where it began.
        meanwhile: Called before each key with its number, to keep the trouble going.
    """
    chance, ms = Random(count), []
    for number in range(count):
        meanwhile(number)
        end_s = time.monotonic() + chance.random() * 0.04
        while time.monotonic() < end_s:
            session.pump(0.005)
        # What comes within this wait is not the key's; a screen that never rests is measured so.
        wait_s = time.monotonic() + 0.3
        while session.pump(STILL_S) and time.monotonic() < wait_s:
            pass
        began_s = time.perf_counter()
        session.press("down" if number % 2 == 0 else "up")
        assert session.pump(LOST_S), f"the key was lost:\n{session.text}"
        ms.append((time.perf_counter() - began_s) * 1000)
    return Timed(tuple(ms))


class Beside:
    """A proxy of faults in a thread of its own."""

    def __init__(self, upstream_port: int) -> None:
        self.proxy = FaultProxy(upstream_port)
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()

    def do(self, work: Callable[[], Any]) -> Any:
        """Do something in the proxy's thread, and wait for it."""

        async def call() -> Any:
            result = work()
            return await result if isinstance(result, Awaitable) else result

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result(20)

    @contextmanager
    def running(self) -> Iterator[FaultProxy]:
        async def serve() -> None:
            async with self.proxy.running():
                self._ready.set()
                await self._stop.wait()

        thread = threading.Thread(target=lambda: self._loop.run_until_complete(serve()))
        thread.start()
        self._ready.wait()
        try:
            yield self.proxy
        finally:
            self._loop.call_soon_threadsafe(self._stop.set)
            thread.join()
            self._loop.close()
