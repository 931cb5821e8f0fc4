"""The connections to one service: each exchange has one of its own while it lasts."""

from __future__ import annotations

import asyncio
import contextlib
import select
import ssl
from collections import deque
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from lockterm.api.http import httpcore

KEPT = 10
"""How many idle connections are kept for the next reads: as many as read all locks side by side. A
new one takes one to three round trips more."""
KEPT_S = 30
"""For how long, in seconds."""

Connection = httpcore.AsyncHTTPConnection | httpcore.AsyncHTTP11Connection
"""One that connects for its first request, or one that is connected."""


class ConnectionPool:
    """Lends a connection for one exchange, and keeps it for the next if that went well.

    A pool of httpcore's forgets the places of exchanges that are cancelled at certain steps, also
    by a deadline: a few keys pressed fast on a slow network, and no place is left until lockterm is
    started again. So each connection stands for itself, closed whatever became of it.

    Args:
        origin: The service.
        context: Whom to trust; None: no connection is one by TLS.
    """

    def __init__(self, origin: httpcore.Origin, context: ssl.SSLContext | None) -> None:
        self._origin = origin
        self._context = context
        self._idle: list[Connection] = []
        self._ahead = deque[asyncio.Task[_Ahead | None]]()
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    def connect_ahead(self, count: int, within_s: float) -> None:
        """Begin to connect for the next reads; where that fails, they connect and say why.

        Args:
            count: So many connections there shall be, with those that are kept.
            within_s: Seconds for connecting, and again for the TLS handshake.
        """
        kept = sum(not one.has_expired() for one in self._idle)
        for _ in range(count - kept - len(self._ahead)):
            task = asyncio.ensure_future(self._connected(within_s))
            self._ahead.append(task)
            asyncio.get_running_loop().call_later(KEPT_S, self._give_up, task)

    @contextlib.asynccontextmanager
    async def connection(self, *, fresh: bool) -> AsyncIterator[Connection]:
        """A connection, or what will be one.

        Args:
            fresh: One that was not there before, and is not kept.
        """
        connection = None if fresh else self._kept() or await self._made_ahead()
        if connection is None:
            connection = httpcore.AsyncHTTPConnection(
                self._origin, self._context, keepalive_expiry=KEPT_S
            )
        try:
            yield connection
        except BaseException:
            self._throw_away(connection)
            raise
        is_over = self._closed or not connection.is_idle()
        if fresh or is_over or len(self._idle) >= KEPT:
            self._throw_away(connection)
        else:
            self._idle.append(connection)

    async def close(self) -> None:
        """Close every connection."""
        self._closed = True
        while self._ahead:
            self._give_up(self._ahead[0])
        while self._idle:
            self._throw_away(self._idle.pop())
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _kept(self) -> Connection | None:
        """The one that was used last; None: none is left."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.has_expired():
                return connection
            self._throw_away(connection)
        return None

    async def _made_ahead(self) -> Connection | None:
        """One that was begun ahead, for the first who asks; None: there is none that works."""
        if not self._ahead:
            return None
        task = self._ahead.popleft()
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            self._ahead.appendleft(task)
            raise
        if (ahead := task.result()) is None:
            return None
        if ahead.is_over:
            self._throw_away(ahead.connection)
            return None
        return ahead.connection

    async def _connected(self, within_s: float) -> _Ahead | None:
        host, port = self._origin.host.decode("ascii"), self._origin.port
        stream: httpcore.AsyncNetworkStream | None = None
        try:
            stream = await httpcore.AnyIOBackend().connect_tcp(host, port, within_s)
            if self._context is None:
                return _Ahead(self._origin, stream)
            self._context.set_alpn_protocols(["http/1.1"])
            return _Ahead(self._origin, await stream.start_tls(self._context, host, within_s))
        # Whatever it is, the next read comes upon it as well, and knows how to say it.
        except BaseException as error:
            if stream is not None:  # a handshake that is cancelled forgets it
                await stream.aclose()
            if isinstance(error, Exception):
                return None
            raise

    def _give_up(self, task: asyncio.Task[_Ahead | None]) -> None:
        """Close one that was begun ahead, if nobody has taken it."""
        if task in self._ahead:
            self._ahead.remove(task)
            task.cancel()
            self._close(_unwanted(task))

    def _throw_away(self, connection: Connection) -> None:
        self._close(connection.aclose())

    def _close(self, closing: Coroutine[Any, Any, None]) -> None:
        # In a task of its own: who is being cancelled must not leave it half closed.
        task = asyncio.ensure_future(closing)
        self._closing.add(task)
        task.add_done_callback(self._thrown_away)

    def _thrown_away(self, task: asyncio.Task[None]) -> None:
        self._closing.discard(task)
        if not task.cancelled():
            task.exception()  # one that cannot even be closed in good order is gone all the same


class _Ahead:
    """A connection that nothing was sent over yet: httpcore does not tell when such a one is over.

    Args:
        origin: The service.
        stream: The line to it.
    """

    def __init__(self, origin: httpcore.Origin, stream: httpcore.AsyncNetworkStream) -> None:
        self.connection = httpcore.AsyncHTTP11Connection(origin, stream, KEPT_S)
        self._line = stream.get_extra_info("socket")

    @property
    def is_over(self) -> bool:
        """Whether the service has ended it.

        That there is something to read says nothing: by TLS, tickets come unasked.
        """
        end = select.poll()
        end.register(self._line, getattr(select, "POLLRDHUP", 0))  # and what is always told
        return bool(end.poll(0))


async def _unwanted(task: asyncio.Task[_Ahead | None]) -> None:
    """Wait for the end of one that was cancelled; what it came to before is closed."""
    (ahead,) = await asyncio.gather(task, return_exceptions=True)
    if isinstance(ahead, _Ahead):
        await ahead.connection.aclose()
