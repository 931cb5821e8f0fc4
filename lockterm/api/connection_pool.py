"""The connections to one service: each exchange has a connection to itself."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import httpcore

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
    started again. So each connection is separate, and is closed after any failure.

    Args:
        origin: The service.
        context: The trusted authorities; None for connections without TLS.
    """

    def __init__(self, origin: httpcore.Origin, context: ssl.SSLContext | None) -> None:
        self._origin = origin
        self._context = context
        self._idle: list[Connection] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    @contextlib.asynccontextmanager
    async def connection(self, *, fresh: bool) -> AsyncIterator[Connection]:
        """Return a connection, which may not be open yet.

        Args:
            fresh: Whether to open a new connection that is closed after use.
        """
        connection = None if fresh else self._kept()
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
        while self._idle:
            self._throw_away(self._idle.pop())
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _kept(self) -> Connection | None:
        """Return the kept connection that was used last, or None."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.has_expired():
                return connection
            self._throw_away(connection)
        return None

    def _throw_away(self, connection: Connection) -> None:
        self._close(connection.aclose())

    def _close(self, closing: Coroutine[Any, Any, None]) -> None:
        # In a separate task: a canceled caller must not leave it half closed.
        task = asyncio.ensure_future(closing)
        self._closing.add(task)
        task.add_done_callback(self._thrown_away)

    def _thrown_away(self, task: asyncio.Task[None]) -> None:
        self._closing.discard(task)
        if not task.cancelled():
            task.exception()  # one that cannot even be closed in good order is gone all the same
