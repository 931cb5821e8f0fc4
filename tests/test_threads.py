"""Work in threads: the store has one of its own."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from lockterm.config import Profile
from lockterm.domain.locks import Lock
from lockterm.operations import Operations

MANY = 40
"""More than asyncio has threads on a small machine."""


async def test_names_that_are_looked_up_for_long_hold_up_no_store(tmp_path: Path) -> None:
    profile = Profile(name="north", base_url="http://127.0.0.1:9")
    operations = Operations(profile, tmp_path / "lockterm.db")
    is_over = threading.Event()
    hanging = [asyncio.ensure_future(asyncio.to_thread(is_over.wait, 60)) for _ in range(MANY)]
    try:
        async with asyncio.timeout(30):
            await operations.locks.save(Lock(1, name="Main gate"))
            assert [lock.name for lock in await operations.locks.all()] == ["Main gate"]
    finally:
        is_over.set()
        await asyncio.gather(*hanging)
        await operations.close()
    names = {thread.name for thread in threading.enumerate()}
    assert not any(name.startswith("store") for name in names), names
