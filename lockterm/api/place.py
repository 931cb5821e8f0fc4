"""Calls that go on side by side: so many are under way, and one answer after the other is read."""

from __future__ import annotations

import asyncio


class Places:
    """The places for such calls.

    Args:
        count: How many there are.
    """

    def __init__(self, count: int) -> None:
        self.free = asyncio.Semaphore(count)
        self.reading = asyncio.Lock()
        """Held while an answer is read: two at once are no faster, and keep the calls waiting."""


class Place:
    """A place that one caller has or has not; it is left while an answer is read.

    Args:
        places: What it is one of.
    """

    def __init__(self, places: Places) -> None:
        self.reading = places.reading
        self._free = places.free
        self._is_taken = False

    async def take(self) -> None:
        """Wait for a place; who has one keeps it."""
        if not self._is_taken:
            await self._free.acquire()
            self._is_taken = True

    def leave(self) -> None:
        """Let somebody else have it, if it was taken."""
        if self._is_taken:
            self._is_taken = False
            self._free.release()
