"""One exchange with the service: a request out, the whole answer in, or why not.

The question behind every failure is whether the request may have left this machine. httpcore
reports each step of a request; as long as all steps seen were about connecting, no byte of the
request was written. Any other step, also one that a later httpcore may name differently, counts as
"may have left".
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import ssl
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from lockterm import __version__
from lockterm.api.failures import no_answer, not_sent
from lockterm.api.headers import clock_offset_s
from lockterm.api.http import httpx
from lockterm.api.lines import Lines
from lockterm.api.settings import ServiceSettings, checked_base_url, checked_headers
from lockterm.api.trust import tls_context
from lockterm.api.unpacking import Unpacker
from lockterm.errors import ConfigError, Unreachable
from lockterm.text import clean, masked, spellings

CONNECT_S = 5.0
"""The most seconds for a connection, and again for its TLS handshake."""
CONNECT_SHARE = 0.45
"""The most of an attempt's time for each of the two, so that they fail by themselves: httpcore
forgets the socket of a handshake that is cancelled."""
QUOTED = 200
"""Characters of an answer that an error shows."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    """The header fields, by lower-case name."""
    body: bytes
    """The body, unpacked; only its beginning where there is a flaw."""
    flaw: str
    """Why the body cannot be trusted, in a few words; empty if it can."""
    quote: Callable[[str | bytes], str]
    """Some of the answer's text, fit to be shown: short, one line, and without our secrets."""


@dataclass(slots=True)
class _Progress:
    """How far one exchange got."""

    left: bool = False
    """Whether the request, or some of it, may have left this machine."""
    status: int = 0
    """The answer's HTTP status; 0 before it came."""
    unpacker: Unpacker = field(default_factory=Unpacker)

    async def note(self, step: str, _info: Mapping[str, Any]) -> None:
        """Called by httpcore at every step of the request."""
        self.left = self.left or not step.startswith("connection.")


class Transport:
    """Connections to one service; httpx is known here and nowhere above.

    Args:
        settings: Where the service is and how to talk to it.
        clock: Seconds since the epoch, to compare with the service's; replaced in tests.

    Raises:
        ConfigError: The base URL or a header cannot be used.
    """

    def __init__(self, settings: ServiceSettings, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._base_url = checked_base_url(settings.base_url)
        try:
            url = httpx.URL(self._base_url)
        except httpx.InvalidURL:
            raise ConfigError("base_url has a host or a port that cannot be.") from None
        self.server = clean(url.netloc.decode("ascii"))
        """The service's host and port, for messages."""
        self.last_contact: float | None = None
        """When the service last answered, on the monotonic clock."""
        self.clock_offset_s: float | None = None
        """The service's clock minus this machine's in seconds, by the last answer with a date."""
        headers = checked_headers(settings.headers)
        self._secrets = spellings(headers.values())
        self._headers = {
            **headers,
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": f"lockterm/{__version__}",
        }
        self._ca_file = settings.ca_file
        self._lines: Lines | None = None

    async def open(self) -> None:
        """Get ready to connect; nothing is sent yet.

        Raises:
            ConfigError: The ca_file cannot be used.
        """
        self._lines = Lines(await asyncio.to_thread(self._prepare))  # certificates take 40 ms

    def _prepare(self) -> ssl.SSLContext:
        with contextlib.suppress(ImportError):  # what the first request would import meanwhile
            importlib.import_module("anyio._backends._asyncio")
        return tls_context(self._base_url, self._ca_file)

    async def close(self) -> None:
        """Close every connection."""
        lines, self._lines = self._lines, None
        if lines is not None:
            await lines.close()

    async def exchange(
        self,
        method: str,
        path: str,
        *,
        within_s: float,
        query: Mapping[str, int] | None = None,
        content: tuple[str, bytes] | None = None,
        fresh: bool = False,
    ) -> Answer:
        """Send one request and read its answer. Redirects are answers like any other.

        Args:
            method: GET or POST.
            path: The path below the base URL.
            within_s: Seconds for all of it: connecting, sending, and the last byte of the answer.
            query: Parameters of the URL.
            content: The content type and the body.
            fresh: Use a connection that nothing was sent on before, and close it afterwards: an old
                one may turn out to be dead only after the request was written to it.

        Raises:
            Unreachable: Nothing was sent.
            NoAnswer: The request may have left, and no whole answer came.
        """
        lines = self._lines
        if lines is None:
            raise Unreachable("Nothing was sent: the connections are closed.")
        headers = dict(self._headers)
        if content is not None:
            headers["Content-Type"] = content[0]
        if fresh:
            headers["Connection"] = "close"
        progress, began = _Progress(), time.monotonic()
        request = httpx.Request(
            method,
            httpx.URL(self._base_url + path, params=query),
            headers=headers,
            content=None if content is None else content[1],
            extensions={
                "trace": progress.note,
                "timeout": {"connect": min(CONNECT_S, CONNECT_SHARE * within_s)},
            },
        )
        try:
            async with lines.line(fresh=fresh) as line, asyncio.timeout(within_s):
                return await self._converse(line, request, progress)
        # Whatever the HTTP stack raises is a fault of the line or of the other side. A list of
        # types would let the next leak of h11, anyio or ssl through as a crash amid a write.
        except Exception as error:
            if not progress.left:
                raise not_sent(error, self.server) from error
            seen = self._quote(bytes(progress.unpacker.body))
            raise no_answer(error, within_s, progress.status, seen, self._quote) from error
        finally:  # neither headers nor bodies: they hold secrets
            took_ms = (time.monotonic() - began) * 1000
            status = progress.status or "no answer"
            _log.debug("%s %s: %s after %.0f ms", method, path, status, took_ms)

    async def _converse(
        self,
        line: httpx.AsyncHTTPTransport,
        request: httpx.Request,
        progress: _Progress,
    ) -> Answer:
        began = self._clock()
        response = await line.handle_async_request(request)
        progress.status = response.status_code
        headers = {name.lower(): value for name, value in response.headers.items()}
        self.last_contact = time.monotonic()
        offset = clock_offset_s(headers, (began + self._clock()) / 2)
        self.clock_offset_s = self.clock_offset_s if offset is None else offset
        unpacker = progress.unpacker = Unpacker(headers.get("content-encoding", ""))
        stream = cast("AsyncGenerator[bytes, None]", response.aiter_raw())
        async with contextlib.aclosing(stream) as chunks:
            try:
                async for chunk in chunks:
                    unpacker.feed(chunk)
                    if unpacker.flaw:
                        break
                    # Thousands of tiny chunks arrive without one pause for keys and deadlines.
                    await asyncio.sleep(0)
            finally:
                await response.aclose()
        unpacker.finish()
        body = bytes(unpacker.body)
        return Answer(response.status_code, headers, body, unpacker.flaw, self._quote)

    def _quote(self, text: str | bytes) -> str:
        # Splitting all of 8 MiB would keep the keys waiting; a secret must not be cut in two.
        text = text[: 16 * QUOTED + max(map(len, self._secrets), default=0)]
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        text = masked(text, self._secrets)[: 16 * QUOTED]
        return clean(" ".join(text.split()), QUOTED)
