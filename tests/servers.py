"""What our fake services, proxies and lines stand on: raw sockets, and a thread of their own."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from tests.certs import CERTS


@dataclass
class Line:
    """A server's end of a connection, while it deals with a request."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    keep: bool = False
    """Whether the connection is kept for a next request."""

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """End the connection with RST in place of FIN."""
        linger = struct.pack("ii", 1, 0)
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()

    async def head(self) -> tuple[str, dict[str, str]]:
        """The next request's first line, and its header fields by their names in small letters."""
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.split(": ", 1) for line in lines[1:] if line)
        return lines[0], {name.lower(): value for name, value in pairs}

    async def body_of(self, headers: dict[str, str]) -> bytes:
        """The body behind a head."""
        return await self.reader.readexactly(int(headers.get("content-length", "0")))


@dataclass(kw_only=True)
class RawServer:
    """Listens on a port of its own, and deals with each connection in a task."""

    port: int = 0
    tls: ssl.SSLContext | None = None
    """Speak TLS with this; None for plain HTTP."""
    accepted: int = 0
    """How many connections were accepted."""
    _tls_now: ssl.SSLContext | None = None
    _bound: socket.socket | None = None
    """Keeps the port while connections are refused: else another server may get it."""
    _listening: socket.socket | None = None
    _connections: list[socket.socket] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def open_connections(self) -> int:
        """How many connections are being dealt with."""
        return len(self._tasks)

    async def deal(self, line: Line) -> None:
        """Deal with a connection to its end."""
        raise NotImplementedError

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Listen; at the end all connections are cut."""
        await self.listen(self.tls)
        try:
            yield self
        finally:
            await self.refuse()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.sleep(0)  # transports end one step after they were aborted
            for connection in self._connections:
                connection.close()
            if self._bound is not None:
                self._bound.close()

    async def listen(self, tls: ssl.SSLContext | None) -> None:
        """Accept connections, and meet new ones with this TLS."""
        await self.refuse()
        self._tls_now = tls
        if self._bound is None:
            self._bound = _bound_to(self.port)
            self.port = self._bound.getsockname()[1]
        self._listening = listening(self.port, 64)
        asyncio.get_running_loop().add_reader(self._listening, self._accept)

    async def refuse(self) -> None:
        """Refuse new connections; those there are go on."""
        if self._listening is not None:
            asyncio.get_running_loop().remove_reader(self._listening)
            self._listening.close()
            self._listening = None

    def _accept(self) -> None:
        # By hand: asyncio's own server loses connections that come while it is being closed.
        assert self._listening is not None
        try:
            connection, _ = self._listening.accept()
        except OSError:
            return  # the client has left already
        connection.setblocking(False)
        self.accepted += 1
        self._connections.append(connection)
        task = asyncio.create_task(self._meet(connection, self._tls_now))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _meet(self, connection: socket.socket, tls: ssl.SSLContext | None) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        with connection:
            try:
                transport, _ = await loop.connect_accepted_socket(
                    lambda: protocol,
                    connection,
                    ssl=tls,
                    ssl_shutdown_timeout=0.5 if tls else None,  # else it waits 30 s for a farewell
                )
            except OSError:
                return  # the client has left amid the handshake
            writer = asyncio.StreamWriter(transport, protocol, reader, loop)
            try:
                await self.deal(Line(reader, writer))
            except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, TimeoutError):
                pass  # the client has left
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()


def port_of(service: Any) -> int:
    """Where a service is on this machine, by its base URL."""
    return int(service.base_url.rpartition(":")[2])


def listening(port: int, backlog: int) -> socket.socket:
    """A socket that listens on a port of this machine."""
    found = _bound_to(port)
    found.listen(backlog)
    return found


def _bound_to(port: int) -> socket.socket:
    """A socket with a port of this machine; 0: with a free one. Two may have it, and one listen."""
    found = socket.socket()
    found.setblocking(False)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(("127.0.0.1", port))
    return found


class Beside:
    """An event loop in a thread of its own; a context manager."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def do(self, work: Callable[[], Any]) -> Any:
        """Do something in its thread, and wait for it."""

        async def call() -> Any:
            result = work()
            return await result if isinstance(result, Awaitable) else result

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result(60)

    async def begin(self) -> None:
        """What is done first."""

    async def end(self) -> None:
        """What is done last."""

    def __enter__(self) -> Self:
        self._thread.start()
        self.do(self.begin)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        async def end_all() -> None:
            await self.end()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        self.do(end_all)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Link(Beside):
    """Hands connections on to a port of this machine, both ways, each in its own time.

    Args:
        port: Where to.
        latency_s: The round trip it adds, in seconds; half of it in each direction.
        connects_s: How long it takes to connect through it, in seconds.
        tls: Speak TLS with who connects, and plainly behind; None: hand on what comes.
    """

    def __init__(
        self,
        port: int,
        latency_s: float = 0.0,
        *,
        connects_s: float = 0.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__()
        self._to, self._one_way_s = port, latency_s / 2
        self._connects_s, self._tls = connects_s, tls
        self.port = 0
        """Where it is reached."""
        self.passed = 0
        """Bytes that it has taken so far, in both directions."""
        self.held = 0
        """Bytes that wait in it."""
        self._open: set[asyncio.StreamWriter] = set()
        self._flows = asyncio.Event()
        self._flows.set()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stall(self) -> None:
        """Let nothing through from now on, and lose nothing."""
        self.do(self._flows.clear)

    def flow(self) -> None:
        """Deliver what has waited, in one go, and all that follows."""
        self.do(self._flows.set)

    def cut(self) -> None:
        """Break every connection."""

        def abort() -> None:
            for writer in self._open:
                writer.transport.abort()

        self.do(abort)

    async def begin(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected_s = asyncio.get_running_loop().time() + self._connects_s
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
        self._open |= {writer, far_writer}
        ways = ((reader, far_writer), (far_reader, writer))
        with contextlib.suppress(asyncio.CancelledError):  # asyncio would log it
            await asyncio.gather(*(self._carry(*way, connected_s) for way in ways))

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connected_s: float
    ) -> None:
        loop, waiting, more, is_over = (
            asyncio.get_running_loop(),
            bytearray(),
            asyncio.Event(),
            False,
        )

        def arrive(data: bytes) -> None:
            nonlocal is_over
            waiting.extend(data)
            is_over = is_over or not data
            more.set()

        async def deliver() -> None:
            while not is_over or waiting:
                await more.wait()
                await self._flows.wait()
                data = bytes(waiting)
                waiting.clear()
                more.clear()
                self.held -= len(data)
                writer.write(data)
                await writer.drain()
            writer.close()

        delivering, due_s = asyncio.ensure_future(deliver()), 0.0
        try:
            while True:
                data = await reader.read(65536)
                self.passed += len(data)
                self.held += len(data)
                soonest_s = max(loop.time(), connected_s) + self._one_way_s
                due_s = max(soonest_s, due_s + 1e-6)  # in the order in which they came
                loop.call_at(due_s, arrive, data)
                if not data:
                    break
            await delivering
        except ConnectionError:
            delivering.cancel()
            writer.transport.abort()

    async def end(self) -> None:
        for writer in self._open:
            writer.transport.abort()
        self._server.close()


class CertificateGateway:
    """A server that wants a client certificate, and ends as a gateway does.

    Python's own servers hang up without the alert that says so.
    """

    def __init__(self, version: ssl.TLSVersion) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(CERTS / "server.pem", CERTS / "server.key")
        self._context.load_verify_locations(CERTS / "ca.pem")
        self._context.verify_mode = ssl.CERT_REQUIRED
        self._context.minimum_version = self._context.maximum_version = version
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"https://localhost:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = self._socket.accept()
                with line, contextlib.suppress(OSError):
                    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
                    tls = self._context.wrap_bio(into, out, server_side=True)
                    try:
                        while True:
                            with contextlib.suppress(ssl.SSLWantReadError):
                                tls.do_handshake()
                            line.sendall(out.read())
                            into.write(line.recv(65536))
                    except ssl.SSLError:
                        line.sendall(out.read())
                        line.shutdown(socket.SHUT_WR)
                        while line.recv(65536):
                            pass

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()
