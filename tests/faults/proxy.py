"""A proxy of faults before the real service: raw sockets, and a ledger of what was applied.

Whatever goes wrong, the service behind it is the real one, so that what was applied is what it
really applied. A fault is played on one call, at one point of it: before the connection, on it,
before the request is handed on, or after.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from tests.api.fault_server import http
from tests.servers import Line, RawServer, listening

WRITES = ("add", "update", "delete", "clear", "updateRemoteUserNo", "updateLockSetting")
"""The contract's calls that change something; each is the last part of its path."""
READS = ("checkRemoteName", "list", "detail", "voice/list", "voice/packs", "voice/detail")
"""The contract's calls that change nothing."""


@dataclass(frozen=True)
class Answer:
    """What the service answered, read whole."""

    status: int
    head: bytes
    """The status line and the header fields, without the empty line."""
    body: bytes

    @property
    def code(self) -> int | None:
        value = json.loads(self.body)
        return value.get("errcode", value.get("errorCode"))


@dataclass(frozen=True)
class Entry:
    """A write that the service applied."""

    call: str
    body: dict[str, Any]
    data: Any
    """What it answered: the new remote's id, for one."""


@dataclass
class Exchange(Line):
    """One request, and the proxy's end of its connection."""

    proxy: FaultProxy | None = None
    call: str = ""
    method: str = ""
    target: str = ""
    body: bytes = b""
    content_type: str = ""
    authorization: str = ""
    answer: Answer | None = None
    """What the service answered, once the request was handed on."""

    async def apply(self) -> Answer:
        """Hand the request on to the service, and put a write it applied in the ledger."""
        if self.answer is None:
            self.answer = await self.proxy.hand_on(self)
        return self.answer

    def good(self) -> Any:
        """The service's answer as JSON; one like it where the request was not handed on."""
        if self.answer is not None:
            return json.loads(self.answer.body)
        data = {"add": {"remoteId": 1}, "clear": {"deletedCount": 1}}.get(self.call, {})
        return {"errcode": 0, "errmsg": "no error", "description": "", "data": data}

    def good_bytes(self) -> bytes:
        """The whole good answer, as it would go over the line."""
        return http(json.dumps(self.good()), 200, "Content-Type: application/json")


Play = Callable[[Exchange], Awaitable[None]]


@dataclass
class Armed:
    """A fault that waits for its call."""

    play: Play
    times: int
    """How often it is still played; -1 for always."""


@dataclass
class FaultProxy(RawServer):
    """Stands before the service on a port of its own.

    Args:
        upstream_port: Where the service is, on this machine.
        host: The name that the client is told.
        tls: Speak TLS with this; None for plain HTTP.
    """

    upstream_port: int
    host: str = "127.0.0.1"
    tenants: dict[str, int] = field(default_factory=dict)
    """A value of ``Authorization`` -> the port of the service that its requests go to."""
    ledger: list[Entry] = field(default_factory=list)
    """The writes that the service applied, in their order."""
    asked: list[str] = field(default_factory=list)
    """The calls whose requests arrived whole, in their order."""
    held: list[Exchange] = field(default_factory=list)
    """Requests that a fault holds back, to be handed on later."""
    on_asked: Callable[[Exchange], None] = lambda exchange: None
    """Called when a request has arrived whole."""

    def __post_init__(self) -> None:
        self._armed: dict[str, Armed] = {}
        self._after: dict[str, Callable[[], Awaitable[None]]] = {}
        self._at_accept: Armed | None = None
        self._clogging: list[socket.socket] = []

    @property
    def base_url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    def applied(self, call: str | None = None) -> list[Entry]:
        """The ledger's entries, of one call."""
        return [entry for entry in self.ledger if call in (None, entry.call)]

    # --- faults ------------------------------------------------------------------------------

    def arm(self, call: str, play: Play, times: int = -1) -> None:
        """Play a fault on the next requests of a call."""
        self._armed[call] = Armed(play, times)

    def disarm(self, call: str) -> None:
        """Play no fault on a call any more."""
        self._armed.pop(call, None)

    def arm_accept(self, play: Play, times: int = -1) -> None:
        """Play a fault on the next connections, before anything is read from them."""
        self._at_accept = Armed(play, times)

    def after(self, call: str, do: Callable[[], Awaitable[None]]) -> None:
        """Do something once, right before a call's answer is delivered."""
        self._after[call] = do

    async def heal(self) -> None:
        """End all faults, and listen again."""
        self._armed.clear()
        self._after.clear()
        self._at_accept = None
        self._unclog()
        await self.listen(self.tls)

    async def land(self) -> None:
        """Hand on what was held back, as a line does that had stalled."""
        while self.held:
            await self.held.pop(0).apply()

    # --- listening ---------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        async with super().running():
            try:
                yield self
            finally:
                self._unclog()

    async def speak(self, tls: ssl.SSLContext | None, play: Play | None = None) -> None:
        """From now on, meet new connections with this TLS, or none, and with this fault."""
        await self.listen(tls)
        if play is not None:
            self.arm_accept(play)

    async def clog(self) -> None:
        """Leave new connections without an answer, as a firewall does that drops packets."""
        await self.refuse()
        self._clogging.append(listening(self.port, 0))
        for _ in range(3):  # the queue of one is full then
            waiting = socket.socket()
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", self.port))
            self._clogging.append(waiting)

    def _unclog(self) -> None:
        for clogging in self._clogging:
            clogging.close()
        self._clogging.clear()

    # --- serving -----------------------------------------------------------------------------

    async def deal(self, line: Line) -> None:
        ends = (line.reader, line.writer)
        if fault := self._next(self._at_accept):
            await fault(Exchange(*ends, proxy=self))
        else:
            while await self._serve(Exchange(*ends, proxy=self)):
                pass

    @staticmethod
    def _next(armed: Armed | None) -> Play | None:
        if armed is None or armed.times == 0:
            return None
        armed.times -= 1
        return armed.play

    async def _serve(self, exchange: Exchange) -> bool:
        start, headers = await exchange.head()
        exchange.method, exchange.target, _ = start.split(" ", 2)
        exchange.call = call_of(exchange.target)
        exchange.content_type = headers.get("content-type", "")
        exchange.authorization = headers.get("authorization", "")
        fault = self._next(self._armed.get(exchange.call))
        if fault is not None and getattr(fault, "before_body", False):
            await fault(exchange)
            return False
        exchange.body = await exchange.body_of(headers)
        self.asked.append(exchange.call)
        self.on_asked(exchange)
        if after := self._after.pop(exchange.call, None):
            await after()
        if fault is not None:
            await fault(exchange)
            return exchange.keep
        answer = await exchange.apply()
        await exchange.send(answer.head + b"\r\n\r\n" + answer.body)
        return headers.get("connection", "").lower() != "close"

    async def hand_on(self, exchange: Exchange) -> Answer:
        """One exchange with the service."""
        port = self.tenants.get(exchange.authorization, self.upstream_port)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(
                f"{exchange.method} {exchange.target} HTTP/1.1\r\n"
                f"Host: 127.0.0.1:{port}\r\nConnection: close\r\n"
                f"Content-Type: {exchange.content_type or 'application/json'}\r\n"
                f"Content-Length: {len(exchange.body)}\r\n\r\n".encode()
                + exchange.body
            )
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        finally:
            writer.close()
        lines = [line for line in head.split(b"\r\n") if line.lower() != b"connection: close"]
        answer = Answer(int(head.split(b" ", 2)[1]), b"\r\n".join(lines), body)
        if exchange.call in WRITES and answer.status == 200 and answer.code == 0:
            body_sent = decoded(exchange)
            data = json.loads(answer.body).get("data")
            self.ledger.append(Entry(exchange.call, body_sent, data))
        return answer


def call_of(target: str) -> str:
    """The contract's call that a request's target is for."""
    path = urlsplit(target).path
    return (
        path.removeprefix("/api/v1/").removeprefix("bluetooth-remote/").removeprefix("lockSetting/")
    )


def decoded(exchange: Exchange) -> dict[str, Any]:
    """The parameters of a POST."""
    if exchange.content_type.startswith("application/json"):
        return dict(json.loads(exchange.body))
    return dict(parse_qsl(exchange.body.decode()))
