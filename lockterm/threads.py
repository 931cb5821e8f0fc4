"""Work in a thread: one that is not left behind, and one that does its work in turn."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class SingleThreadExecutor:
    """Does one thing after the other, for what would wait for each other in any case.

    Each thread takes its share of memory, and asyncio's own may all be waiting for the network: a
    look-up of a name that hangs holds up nothing here.

    Args:
        name: What the thread is called.
    """

    def __init__(self, name: str) -> None:
        self._pool: ThreadPoolExecutor | None = ThreadPoolExecutor(1, name)

    async def run(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Have something done; who is cancelled meanwhile does not wait for its end."""
        if self._pool is None:  # whoever comes too late leaves no thread behind
            return await asyncio.to_thread(work, *args, **options)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, partial(work, *args, **options))

    async def to_its_end(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """As :func:`to_its_end`, in this thread."""
        return await _to_its_end(self.run(work, *args, **options))

    def end(self) -> None:
        """Wait until all that was begun is done, and end the thread; more is done in another."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()


async def to_its_end(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Run something in a thread; who is cancelled meanwhile waits for its end first.

    A thread cannot be stopped: what it uses must not be closed, nor its work be done a second time,
    while it goes on.

    Raises:
        asyncio.CancelledError: Who waited was cancelled; the work has ended, well or not.
    """
    return await _to_its_end(asyncio.to_thread(work, *args, **options))


async def _to_its_end(work: Awaitable[T]) -> T:
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):  # a dialog's end cancels twice
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # it has nobody to tell any more
        raise
