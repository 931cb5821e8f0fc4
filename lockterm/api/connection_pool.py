"""The connections to one service; each exchange has its own connection."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import httpcore

KEPT = 10
"""Maximum number of idle connections kept for the next reads, as many as a read of all locks uses.
A new connection takes one to three more round trips."""
KEPT_S = 30
"""Seconds for which an idle connection is kept."""

Connection = httpcore.AsyncHTTPConnection | httpcore.AsyncHTTP11Connection
"""A connection that opens with its first request, or one that is open."""


class ConnectionPool:
    """A lender of connections: each serves one exchange, and is kept for the next if it succeeds.

    httpcore's own pool loses a place if an exchange is canceled at certain steps, for example by a
    deadline. After a few fast key presses on a slow network, no place would be left until lockterm
    restarts. Therefore each connection here is separate, and is closed after any failure.

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
        """Lend a connection, which may not be open yet, for the length of the block.

        Args:
            fresh: Whether to lend a new connection and close it after the block.
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
        """Return the most recently used idle connection, or None; close expired ones."""
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
