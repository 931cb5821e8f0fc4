"""The connections to one service: each exchange has one of its own while it lasts."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from typing import cast

from lockterm.api.http import httpx

KEPT = 10
"""How many idle connections are kept for the next reads: as many as read all locks side by side. A
new one takes one to three round trips more."""
KEPT_S = 30
"""For how long, in seconds."""


class ConnectionPool:
    """Lends a connection for one exchange, and keeps it for the next if that went well.

    A common pool of httpcore's forgets the places of exchanges that are cancelled at certain
    steps, also by a deadline: a few keys pressed fast on a slow network, and no place is left until
    lockterm is started again. So each connection is a pool of its own, closed whatever it forgot.

    Args:
        context: Whom to trust; None: no connection is one by TLS.
    """

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self._context = context
        self._idle: list[httpx.AsyncHTTPTransport] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    @contextlib.asynccontextmanager
    async def connection(self, *, fresh: bool) -> AsyncIterator[httpx.AsyncHTTPTransport]:
        """A connection, or what will be one.

        Args:
            fresh: One that nothing was sent on, and nothing will be afterwards.
        """
        may_be_old = self._idle and not fresh
        connection = self._idle.pop() if may_be_old else self._new(kept=not fresh)
        try:
            yield connection
        except BaseException:
            self._throw_away(connection)
            raise
        if fresh or self._closed or len(self._idle) >= KEPT:
            self._throw_away(connection)
        else:
            self._idle.append(connection)

    async def close(self) -> None:
        """Close every connection."""
        self._closed = True
        while self._idle:
            self._throw_away(self._idle.pop())
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _new(self, *, kept: bool) -> httpx.AsyncHTTPTransport:
        limits = httpx.Limits(max_keepalive_connections=int(kept), keepalive_expiry=KEPT_S)
        # None goes through to httpcore, which makes a strict one should it ever need one.
        context = cast("ssl.SSLContext", self._context)
        return httpx.AsyncHTTPTransport(verify=context, trust_env=False, limits=limits)

    def _throw_away(self, connection: httpx.AsyncHTTPTransport) -> None:
        # In a task of its own: who is being cancelled must not leave it half closed.
        task = asyncio.ensure_future(connection.aclose())
        self._closing.add(task)
        task.add_done_callback(self._thrown_away)

    def _thrown_away(self, task: asyncio.Task[None]) -> None:
        self._closing.discard(task)
        if not task.cancelled():
            task.exception()  # one that cannot even be closed in good order is gone all the same
