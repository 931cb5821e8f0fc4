"""A way to the real service on which a test decides what becomes of each add."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx

from lockterm.service.running import RunningService
from tests.api.fault_server import FaultServer
from tests.servers import Line


@dataclass
class Forwarder:
    """Hands requests on to a service, and its answers back.

    Args:
        service: Where to; may be replaced while it runs.
        lose_answer_to: The number of the add whose answer never arrives; 0: none.
        hold_from: The number of the call that waits for ``release``; 0: none.
        hold: Which calls these are: the end of their path.
    """

    service: RunningService
    lose_answer_to: int = 0
    hold_from: int = 0
    hold: str = "/add"
    release: asyncio.Event = field(default_factory=asyncio.Event)
    held: bool = False
    """Whether a call is waiting."""
    base_url: str = ""
    _adds: int = 0
    _holdable: int = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Forwarder]:
        """Open at ``base_url``."""
        server = FaultServer()

        async def forward(line: Line) -> None:
            asked = server.asked[-1]
            method, target, _ = asked.start.split()
            is_add = target.endswith("/add")
            self._adds += is_add
            may_wait = target.partition("?")[0].endswith(self.hold)
            self._holdable += may_wait
            if may_wait and self.hold_from and self._holdable >= self.hold_from:
                self.held = True
                await self.release.wait()
                self.held = False
            headers = {"content-type": asked.headers.get("content-type", "application/json")}
            base_url = self.service.base_url
            try:
                async with httpx.AsyncClient(
                    base_url=base_url, trust_env=False, verify=False
                ) as http:
                    answer = await http.request(method, target, content=asked.body, headers=headers)
            except httpx.HTTPError:  # the service is gone
                line.reset()
                return
            if is_add and self._adds == self.lose_answer_to:
                line.reset()
                return
            await line.send(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(answer.content), answer.content)
            )

        server.play(forward)
        async with server.running():
            self.base_url = server.base_url
            yield self
