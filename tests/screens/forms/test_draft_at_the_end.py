"""A draft that is being written while its session ends is offered to the next one."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

from lockterm.config import Profile
from lockterm.domain.clock import Clock
from lockterm.operations import Operations
from lockterm.store.drafts import Drafts

KEY = ("remote", 1001, None)


async def test_a_write_under_way_does_not_show_an_ended_session_as_living(
    tmp_path: Path, monkeypatch: Any
) -> None:
    """As where a profile is switched: the process goes on, and its session has ended."""
    profile = Profile("site", "http://127.0.0.1:9")
    held, begun, saved = threading.Event(), threading.Event(), threading.Semaphore(0)

    def slow() -> float:
        if not begun.is_set():
            begun.set()
            held.wait(30)  # as where all threads are busy
        return time.time()

    save = Drafts.save

    def counted(*draft: Any, **options: Any) -> None:
        save(*draft, **options)
        saved.release()

    monkeypatch.setattr(Drafts, "save", counted)
    first = Operations(profile, tmp_path / "lockterm.db", clock=Clock(wall=slow))
    first.drafts.keep(KEY, {"remoteName": "Anna"}, print)
    await asyncio.to_thread(begun.wait, 30)
    threading.Timer(0.2, held.set).start()
    await first.close()
    for _ in range(2):  # what was under way, and what the end of the session wrote
        assert await asyncio.to_thread(saved.acquire, timeout=30)
    second = Operations(profile, tmp_path / "lockterm.db")
    offered = await second.drafts.abandoned()
    assert [draft.typed for draft in offered] == [{"remoteName": "Anna"}]
    await second.close()
