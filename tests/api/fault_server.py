"""A raw-socket server that answers as badly as it is told to, and remembers what it was sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.servers import Line, RawServer

Script = Callable[["Line"], Awaitable[None]]
"""What to do about one request; the connection ends with it, unless the script keeps it."""


@dataclass
class Asked:
    """A request that arrived whole."""

    start: str
    """The request line."""
    headers: dict[str, str]
    body: bytes
    connection: int
    """Counts from 1."""


def says(*parts: bytes, keep: bool = False) -> Script:
    """Send these bytes, and end the connection unless told to keep it."""

    async def script(line: Line) -> None:
        line.keep = keep
        for part in parts:
            await line.send(part)

    return script


def http(body: bytes | str, status: int = 200, *headers: str, length: int | None = None) -> bytes:
    """An HTTP answer; ``length`` lies about its length."""
    body = body.encode() if isinstance(body, str) else body
    size = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status} Said", *headers, f"Content-Length: {size}", "", ""]
    return "\r\n".join(lines).encode() + body


def answers(
    body: bytes | str, status: int = 200, *headers: str, length: int | None = None
) -> Script:
    """Send an HTTP answer and end the connection."""
    return says(http(body, status, *headers, length=length))


@dataclass
class FaultServer(RawServer):
    """Plays one script for each request; the last one again and again."""

    scripts: list[Script] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    at_once: Script | None = None
    """Played on every new connection before anything is read, where there is one."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}" if not self.tls else f"https://localhost:{self.port}"

    def play(self, *scripts: Script) -> None:
        self.scripts = list(scripts)

    async def deal(self, line: Line) -> None:
        connection = self.accepted
        if self.at_once is not None:
            await self.at_once(line)
            return
        while True:
            start, headers = await line.head()
            self.asked.append(Asked(start, headers, await line.body_of(headers), connection))
            script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
            line.keep = False
            await script(line)
            if not line.keep:
                return
