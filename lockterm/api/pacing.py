"""Rests between the pieces of an answer, where they are so small that they are all there is to do.

A service, or a proxy before it, may send one byte a chunk: each costs as much as one of 64 KiB, and
without a rest they come as fast as they are taken. Keys would wait, and a core would be busy for as
long as the answer may take.
"""

from __future__ import annotations

import asyncio

SMALL = 512
"""Bytes; a piece with fewer is mostly overhead."""

IN_ONE_GO = 32
"""Small pieces that are taken without a rest: 1 to 2 ms of work."""

REST_S = 0.008
"""How long a rest is, in seconds: what arrives meanwhile is taken in one go."""


class ChunkPacer:
    """Decides after each piece of an answer whether to rest."""

    def __init__(self) -> None:
        self._small = 0
        self._taken = 0

    async def after(self, piece: bytes) -> None:
        """Rest, if the last pieces were many and small; this one was just taken."""
        self._taken += len(piece)
        self._small += len(piece) < SMALL
        if self._small >= IN_ONE_GO:
            self._small = self._taken = 0
            await rest(REST_S)
        elif self._taken >= 64 * 1024:
            self._taken = 0
            await rest(0)  # a fast line brings one full piece after the other


rest = asyncio.sleep
"""Replaced in tests."""
