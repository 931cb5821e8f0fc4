"""Threads in which lockterm runs functions.

``SingleThreadExecutor`` runs functions one after the other. ``to_its_end`` runs a function to its
end, even if the caller is canceled.
"""

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
    """A thread that runs one task after the other, for tasks that would block each other anyway.

    The thread is separate from asyncio's shared threads, because all of those threads may be
    waiting for the network, for example for a name lookup that hangs.

    Args:
        name: The name of the thread.
    """

    def __init__(self, name: str) -> None:
        self._pool: ThreadPoolExecutor | None = ThreadPoolExecutor(1, name)

    async def run(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a function in this thread and return its result.

        A canceled caller does not wait until the function ends.
        """
        if self._pool is None:  # a late task leaves no thread behind
            return await asyncio.to_thread(work, *args, **options)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, partial(work, *args, **options))

    async def to_its_end(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a function in this thread and return its result.

        A canceled caller first waits until the function ends.
        """
        return await _to_its_end(self.run(work, *args, **options))

    def end(self) -> None:
        """Wait for all tasks in the thread and end it. Later tasks run in another thread."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()


async def to_its_end(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Run a function in a thread and return its result.

    A canceled caller first waits until the function ends, because a thread cannot be stopped. While
    the function runs, its resources must not be closed, and its work must not be repeated.

    Raises:
        asyncio.CancelledError: If the caller was canceled. The function ends before this error is
            raised.
    """
    return await _to_its_end(asyncio.to_thread(work, *args, **options))


async def _to_its_end(work: Awaitable[T]) -> T:
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):  # the end of a dialog cancels twice
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # mark the exception as handled, because the caller no longer waits
        raise
