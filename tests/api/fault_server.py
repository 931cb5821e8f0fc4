"""A raw-socket server that answers as badly as it is told to, and remembers what it was sent."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

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


@dataclass
class Line:
    """The server's end of a connection, while it deals with a request."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    keep: bool = False

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """End the connection with RST in place of FIN."""
        linger = struct.pack("ii", 1, 0)
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()


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
class FaultServer:
    """Plays one script for each request; the last one again and again."""

    scripts: list[Script] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    tls: ssl.SSLContext | None = None
    at_once: Script | None = None
    """Played on every new connection before anything is read, where there is one."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}" if not self.tls else f"https://localhost:{self.port}"

    def play(self, *scripts: Script) -> None:
        self.scripts = list(scripts)

    @contextlib.asynccontextmanager
    async def running(self):
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self.tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        line = Line(reader, writer)
        try:
            await self._serve(line, self.connections)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass  # the client has left
        except asyncio.CancelledError:
            return  # the test is over; asyncio would log a task that ends as cancelled
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, line: Line, connection: int) -> None:
        if self.at_once is not None:
            await self.at_once(line)
            return
        while True:
            head = (await line.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            pairs = (text.split(": ", 1) for text in head[1:] if text)
            headers = {name.lower(): value for name, value in pairs}
            body = await line.reader.readexactly(int(headers.get("content-length", "0")))
            self.asked.append(Asked(head[0], headers, body, connection))
            script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
            line.keep = False
            await script(line)
            if not line.keep:
                return
