"""HTTP 429: the pause is counted down, nothing is sent in it, and then it goes on by itself."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.api.fault_server import FaultServer, http
from tests.screens.running_app import Clock, Starter, shown, until
from tests.servers import Line

DATA = {"list": [], "pageNo": 1, "pageSize": 20, "pages": 0, "total": 0}
NO = json.dumps({"errcode": 429, "errmsg": "no", "description": "", "data": None})
EMPTY = json.dumps({"errcode": 0, "errmsg": "", "description": "", "data": DATA})


@asynccontextmanager
async def asking_to_wait(seconds: int) -> AsyncIterator[FaultServer]:
    """A service that asks once to wait so long; behind that its locks have no remotes."""
    server = FaultServer()
    refusals = [http(NO, 429, f"Retry-After: {seconds}")]

    async def script(line: Line) -> None:
        answer = refusals.pop() if refusals else http(EMPTY, 200, "Content-Type: application/json")
        await line.send(answer)

    server.play(script)
    async with server.running():
        yield server


async def test_a_pause_is_counted_down_and_kept(lockterm_app: Starter, clock: Clock) -> None:
    async with asking_to_wait(37) as server:
        app = lockterm_app.app(server.base_url, open_lock=1001)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await until(
                pilot, lambda: "PAUSE  The service asked lockterm to wait 37 s" in shown(pilot)
            )
            asked = len(server.asked)
            await pilot.press("r", "r")
            clock.now_s += 30
            await until(pilot, lambda: "asked lockterm to wait 7 s" in shown(pilot))
            assert len(server.asked) == asked == 1
            told = [one for one in app.messages if one.title == "Too many requests"]
            assert [one.text for one in told] == ["no. The service accepts calls again in 37 s."]
            clock.now_s += 8
            await until(pilot, lambda: "No remotes on this lock yet" in shown(pilot))
            await until(pilot, lambda: "PAUSE" not in shown(pilot))
