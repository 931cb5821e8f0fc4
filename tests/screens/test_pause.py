"""HTTP 429: the pause is counted down, nothing is sent in it, and then it goes on by itself."""

from __future__ import annotations

import json

from tests.api.fault_server import FaultServer, Line, http
from tests.screens.running_app import Clock, Starter, shown, until

DATA = {"list": [], "pageNo": 1, "pageSize": 20, "pages": 0, "total": 0}
EMPTY = json.dumps({"errcode": 0, "errmsg": "", "description": "", "data": DATA})


async def test_a_pause_is_counted_down_and_kept(lockterm_app: Starter, clock: Clock) -> None:
    server = FaultServer()
    refusals = [http("{}", 429, "Retry-After: 37")]

    async def script(line: Line) -> None:
        answer = refusals.pop() if refusals else http(EMPTY, 200, "Content-Type: application/json")
        await line.send(answer)

    server.play(script)
    async with server.running():
        app = lockterm_app.app(server.base_url, open_lock=1001)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await until(pilot, lambda: "PAUSE  The service asks to wait 37 s" in shown(pilot))
            asked = len(server.asked)
            await pilot.press("r", "r")
            clock.now_s += 30
            await until(pilot, lambda: "asks to wait 7 s" in shown(pilot))
            assert len(server.asked) == asked == 1
            clock.now_s += 8
            await until(pilot, lambda: "No remotes on this lock yet" in shown(pilot))
            assert "PAUSE" not in shown(pilot)
