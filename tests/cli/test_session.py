"""A session leaves nothing open when its command ends."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lockterm.cli.session import Session
from lockterm.config import Options


def test_session_cancels_remaining_tasks_when_it_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Leave a task, as an HTTP stack does after an answer that is too long."""
    monkeypatch.setenv("HOME", str(tmp_path))
    ended = []

    async def chunks() -> AsyncIterator[bytes]:
        try:
            yield b""
        finally:
            ended.append("chunks")

    async def close_slowly() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append("task")

    async def fetch() -> AsyncIterator[bytes]:
        asyncio.get_running_loop().create_task(close_slowly())
        answer = chunks()
        await anext(answer)
        await asyncio.sleep(0)
        return answer

    with Session(Options(base_url="http://127.0.0.1:9")) as session:
        answer = session.run(fetch())
    assert sorted(ended) == ["chunks", "task"]
    del answer
    gc.collect()
    assert "destroyed" not in caplog.text
    late = fetch()
    with pytest.raises(RuntimeError, match="loop is closed"):
        session.run(late)
    late.close()
