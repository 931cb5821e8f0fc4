"""Work in a thread that is not left behind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def to_its_end(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Run something in a thread; who is cancelled meanwhile waits for its end first.

    A thread cannot be stopped: what it uses must not be closed, nor its work be done a second time,
    while it goes on.

    Raises:
        asyncio.CancelledError: Who waited was cancelled; the work has ended, well or not.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work, *args, **options))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):  # a dialog's end cancels twice
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # it has nobody to tell any more
        raise
