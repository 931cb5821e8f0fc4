"""One exchange with the service: a request, and its whole answer or the reason of the failure.

After every failure, lockterm must know whether the request may have left this machine. httpcore
reports each step of a request. As long as all reported steps concern the connection, no byte of the
request was written. After any other step, even one with an unknown name, the request may have left.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
)
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, urlencode, urlsplit

import httpcore

from lockterm.api.answer import (
    Answer,
    BodyReader,
    ChunkPacer,
    clock_offset_s,
    header_fields,
    quoting,
    retry_after_s,
)
from lockterm.api.request import checked_base_url, connect_limit_s, sent_headers
from lockterm.api.trust import (
    NO_CERTIFICATE,
    tls_context,
    tls_failure,
    unread_failure,
    wants_certificate,
)
from lockterm.config.values import PORTS
from lockterm.domain.callbacks import ignore
from lockterm.domain.dates import Clock
from lockterm.domain.safe_text import clean
from lockterm.errors import NoAnswerError, StoreError, UnreachableError, UntrustedServerError

if TYPE_CHECKING:
    from lockterm.config import Profile


_log = logging.getLogger(__name__)

_IN_PATHS = "/%:@!$&'()*+,;=~"
"""Characters in the path of the base URL that are sent unescaped."""


KEPT = 10
"""Maximum number of idle connections that stay open: as many as lockterm uses to read all locks.
Opening a new connection takes one to three more round trips."""
KEPT_S = 30
"""Time for which an idle connection stays open, in seconds."""

Connection = httpcore.AsyncHTTPConnection | httpcore.AsyncHTTP11Connection
"""A connection that opens with its first request, or one that is open."""


class ConnectionPool:
    """The connections to one service. If an exchange succeeds, its connection can be used again.

    httpcore's own pool permanently loses a connection slot if an exchange is canceled at certain
    steps, for example by a deadline. With that pool, a few fast key presses on a slow network could
    prevent lockterm from connecting until it is restarted. Therefore each connection here is
    separate, and is closed after any failure.

    Args:
        origin: The scheme, host and port of the service.
        context: The TLS context with the trusted authorities; None for connections without TLS.
    """

    def __init__(self, origin: httpcore.Origin, context: ssl.SSLContext | None) -> None:
        self._origin = origin
        self._context = context
        self._idle: list[Connection] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    @contextlib.asynccontextmanager
    async def connection(self, *, fresh: bool) -> AsyncIterator[Connection]:
        """Return a context manager with a connection.

        A new connection opens with its first request.

        Args:
            fresh: Whether to use a new connection, and close it when the block ends.
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
        """Return the idle connection that was used last; None if there is none.

        Expired connections are closed, and not returned.
        """
        while self._idle:
            connection = self._idle.pop()
            if not connection.has_expired():
                return connection
            self._throw_away(connection)
        return None

    def _throw_away(self, connection: Connection) -> None:
        # Use a separate task, so that a canceled caller does not interrupt the closing.
        task = asyncio.ensure_future(connection.aclose())
        self._closing.add(task)
        task.add_done_callback(self._thrown_away)

    def _thrown_away(self, task: asyncio.Task[None]) -> None:
        self._closing.discard(task)
        if not task.cancelled():
            task.exception()  # an error while closing does not matter


@dataclass(slots=True)
class SendProgress:
    """The progress of one request and its answer."""

    on_leaving: Callable[[], Awaitable[None]] | None = None
    """The function to call before the first byte of the request is written; None if there is none.

    If the function raises an error, nothing is written.
    """
    left: bool = False
    """Whether the request, or a part of it, may have left this machine."""
    status: int = 0
    """The answer's HTTP status; 0 until it arrives."""
    reader: BodyReader = field(default_factory=BodyReader)

    async def note(self, step: str, _info: Mapping[str, Any]) -> None:
        """Set ``left`` if a step may send a part of the request. httpcore calls this at each step.

        Args:
            step: httpcore's name of the step.
        """
        if self.left or step.startswith("connection."):
            return
        if self.on_leaving is not None:
            await self.on_leaving()
        self.left = True


class Transport:
    """The connections to one service, for HTTP exchanges.

    Args:
        profile: The service's profile.
        clock: This machine's clock, which is compared with the service's clock.

    Raises:
        ConfigError: The base URL or a header cannot be used.
    """

    def __init__(self, profile: Profile, clock: Clock) -> None:
        self._clock = clock
        self._base_url = checked_base_url(profile)
        url = urlsplit(self._base_url)
        host, usual = url.hostname or "", PORTS[url.scheme]
        port = url.port or usual
        self._origin = httpcore.Origin(url.scheme.encode(), host.encode(), port)
        self._prefix = quote(url.path, safe=_IN_PATHS).rstrip("/").encode()
        netloc = (f"[{host}]" if ":" in host else host) + (f":{port}" if port != usual else "")
        self.server = clean(netloc)
        """The service's host and port, for messages."""
        self.clock_offset_s: float | None = None
        """The service's clock minus this machine's clock, in seconds, from the last answer with a
        date; None before such an answer."""
        headers = {"Host": netloc} | sent_headers(profile)
        self._headers = {name.encode(): value.encode() for name, value in headers.items()}
        self.quote = quoting(profile.headers.values())
        """The function that returns an excerpt of an answer that is safe to show in an error."""
        self.on_limited: Callable[[float], None] = ignore
        """The function to call after each answer with status 429, even if the call is repeated.

        The function receives the requested wait in seconds, or 0 if the answer requests none.
        """
        self._ca_file, self._ca_only = profile.ca_file, profile.ca_only
        self._pool: ConnectionPool | None = None

    async def open(self) -> None:
        """Prepare the connections, without sending anything yet.

        Raises:
            UntrustedServerError: The ca_file cannot be used.
        """
        context = None  # even an unused context would take more than a MiB
        if self._base_url.startswith("https:"):
            context = await asyncio.to_thread(  # loading certificates takes 40 ms
                tls_context, self._base_url, self._ca_file, ca_only=self._ca_only
            )
        self._pool = ConnectionPool(self._origin, context)

    async def close(self) -> None:
        """Close every connection."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def exchange(
        self,
        method: str,
        path: str,
        *,
        within_s: float,
        query: Mapping[str, int] | None = None,
        content: tuple[str, bytes] | None = None,
        fresh: bool = False,
        on_leaving: Callable[[], Awaitable[None]] | None = None,
    ) -> Answer:
        """Send one request and return its answer. Redirects are returned and not followed.

        Args:
            method: GET or POST.
            path: The path below the base URL.
            within_s: Time limit in seconds for the whole exchange, up to the last byte of the
                answer.
            query: Parameters of the URL.
            content: The content type and the body.
            fresh: Whether to use a new connection and close it afterwards. An old connection may
                turn out to be dead only after the request was written to it.
            on_leaving: A function that is called after the connection is made, before the first
                byte is written.

        Raises:
            UnreachableError: Nothing was sent, or the server provably did not read the request.
            NoAnswerError: The request may have left this machine, and no complete answer arrived.
            StoreError: The function ``on_leaving`` raised this error. Nothing was sent.
        """
        pool = self._pool
        if pool is None:
            raise UnreachableError("Nothing was sent, because the connections are closed.")
        headers, body = dict(self._headers), b""
        if content is not None:
            headers[b"Content-Type"], body = content[0].encode(), content[1]
            headers[b"Content-Length"] = b"%d" % len(body)
        if fresh:
            headers[b"Connection"] = b"close"
        target = self._prefix + path.encode()
        if query:
            target += b"?" + urlencode(query).encode()
        scheme, host, port = self._origin.scheme, self._origin.host, self._origin.port
        progress, began = SendProgress(on_leaving), time.monotonic()
        request = httpcore.Request(
            method,
            httpcore.URL(scheme=scheme, host=host, port=port, target=target),
            headers=[*headers.items()],
            content=body,
            extensions={
                "trace": progress.note,
                "timeout": {"connect": connect_limit_s(within_s)},
            },
        )
        try:
            async with asyncio.timeout(within_s), pool.connection(fresh=fresh) as connection:
                return await self._converse(connection, request, progress)
        except StoreError:  # nothing else here uses the store
            raise
        # All errors of the HTTP stack are faults of the network or the server. With a list of error
        # types, an unexpected error of h11, anyio or ssl would crash lockterm during a write.
        except Exception as error:
            if not progress.left:
                raise not_sent(error, self.server) from error
            if not progress.status and (unread := not_read(error, self.server)):
                raise unread from error
            seen = self.quote(bytes(progress.reader.body))
            raise no_answer(error, within_s, progress.status, seen, self.quote) from error
        finally:  # log neither headers nor bodies, because they contain secrets
            took_ms = (time.monotonic() - began) * 1000
            status = progress.status or "no answer"
            _log.debug("%s %s: %s after %.0f ms", method, path, status, took_ms)

    async def _converse(
        self,
        connection: Connection,
        request: httpcore.Request,
        progress: SendProgress,
    ) -> Answer:
        began = self._clock.wall()
        response = await connection.handle_async_request(request)
        progress.status = response.status
        headers = header_fields(response.headers)
        offset = clock_offset_s(headers, (began + self._clock.wall()) / 2)
        self.clock_offset_s = self.clock_offset_s if offset is None else offset
        reader = progress.reader = BodyReader(headers.get("content-encoding", ""))
        stream = cast("AsyncGenerator[bytes, None]", response.aiter_stream())
        pace = ChunkPacer()
        async with contextlib.aclosing(stream) as chunks:
            try:
                async for chunk in chunks:
                    reader.feed(chunk)
                    if reader.flaw:
                        break
                    await pace.after(chunk)
            finally:
                await response.aclose()
        if response.status == 429:
            self.on_limited(retry_after_s(headers) or 0.0)
        reader.finish()
        body = bytes(reader.body)
        return Answer(response.status, headers, body, reader.flaw, self.quote)


_TIMEOUTS = (TimeoutError, httpcore.TimeoutException)


def not_sent(error: Exception, server: str) -> UnreachableError:
    """Return the error for a request that never left this machine.

    Args:
        error: The cause.
        server: The host and port, for the message.
    """
    reason = f"no connection to {server}"
    if isinstance(error, _TIMEOUTS):
        reason += " was made in time"
    hint = "Check the network, then try again."
    for cause in _causes(error):
        if untrusted := tls_failure(cause, server):
            return untrusted
        if isinstance(cause, socket.gaierror):
            reason = f"the name of {server} cannot be resolved"
            hint = "Check the network, and check base_url in the profile. Then try again."
            break
        if isinstance(cause, ConnectionRefusedError):
            reason = f"{server} refused the connection"
            break
        if isinstance(cause, OSError) and cause.errno and cause.strerror and not cause.filename:
            reason = f"no connection to {server} ({cause.strerror})"
            break
    return UnreachableError(f"Nothing was sent: {reason}.", hint=hint)


def not_read(error: Exception, server: str) -> UntrustedServerError | None:
    """Return the error for a sent request that the server provably did not read.

    The caller must have received no byte of an answer.

    Returns:
        The error; None if ``error`` does not prove this.
    """
    return next(filter(None, (unread_failure(cause, server) for cause in _causes(error))), None)


def no_answer(
    error: Exception, within_s: float, status: int, seen: str, quote: Callable[[str], str]
) -> NoAnswerError:
    """Return the error for a request that may have been sent but got no complete answer.

    Args:
        error: The cause.
        within_s: The time limit in seconds.
        status: The received HTTP status; 0 if none was received.
        seen: The beginning of the received body, already safe to show.
        quote: A function that makes text from the server safe to show.
    """
    if isinstance(error, _TIMEOUTS):
        reason = f"No complete answer came within {within_s:.0f} s"
    elif isinstance(error, httpcore.RemoteProtocolError):
        reason = f"The answer broke off, or was not HTTP ({quote(str(error)).rstrip('.')})"
    elif isinstance(error, (httpcore.NetworkError, OSError)):
        reason = "The connection broke before the complete answer came"
    else:
        reason = (
            f"The exchange with the service failed ({type(error).__name__}: {quote(str(error))})"
        )
    hint = "The connection may be slow or unstable. Try again."
    if any(map(wants_certificate, _causes(error))):
        reason, hint = "The service requires a client certificate", NO_CERTIFICATE
    so_far = (
        f" Before that, the service answered HTTP {status}: {seen or 'nothing more'}."
        if status
        else ""
    )
    return NoAnswerError(f"{reason}.{so_far}", hint=hint)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, then its cause, then the cause of the cause, and so on.

    If several addresses failed, the causes are those of the first address.
    """
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        else:
            error = error.__cause__ or error.__context__
