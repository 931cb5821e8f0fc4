"""Long work on the event loop, in slices between which keys are dealt with."""

from __future__ import annotations

import asyncio

SLICE_S = 0.02
"""How long a slice is, in seconds."""


class Slices:
    """The slices of one piece of work; the first begins now."""

    def __init__(self) -> None:
        self._clock = asyncio.get_running_loop().time
        self._until_s = self._clock() + SLICE_S

    async def pause(self) -> None:
        """Let keys in where a slice is over."""
        if self._clock() > self._until_s:
            await asyncio.sleep(0)
            self._until_s = self._clock() + SLICE_S
