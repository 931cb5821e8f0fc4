"""The checks before each request is handled: body size, host, origin, token and rate limit.

The whole body is read first, so that a refusal is never sent while the client is still sending.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import re
from collections import deque
from collections.abc import Callable, Iterable
from email.utils import formatdate
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .answers import Code, RequestRefusedError, refusal
from .tokens import Tokens

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
TOKEN_NAME = "lockterm.token"
"""The key of the ASGI scope under which an accepted request has the name of its token."""
HEALTH, READINESS = "/healthz", "/readyz"
"""Paths that need no token. The first shows whether the process answers, and the second shows
whether the database answers."""
MAX_BODY_BYTES = 64 * 1024
_MAX_DISCARDED_BYTES = 16 * 1024 * 1024
"""Number of bytes after which the service stops reading a body that is too large. If the body is
shorter, the refusal reaches the client safely."""
BODY_TIMEOUT_S = 20.0
_NOTED = 200
"""Maximum number of recorded characters of a path; the contract's paths have about 50."""
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:/@?#\s]+)(?::[0-9]{1,5})?")
_PORTS = {"http": ":80", "https": ":443"}
_WILDCARDS = frozenset({"0.0.0.0", "::"})
_NO_SNIFFING = (b"x-content-type-options", b"nosniff")


class RequestFilter:
    """ASGI middleware that answers unacceptable requests itself, before the application.

    Args:
        app: The application that answers accepted requests.
        allowed_hosts: Names and addresses that the Host header may have, without ports. If
            ``0.0.0.0`` or ``::`` is among them, every address is allowed. Other names are still
            refused, because a page that rebinds DNS always sends a name.
        public_url: The address of a proxy before the service; None if there is none. Its host is
            allowed, and its address is the only allowed origin.
        rate: Average number of accepted requests a second for each token, and the size of a burst
            (at least 1); None if there is no limit.
        tokens: The valid bearer tokens; None if no request needs one. The files of packs need no
            token, because the lock itself fetches them.
        clock: A function that returns the time in milliseconds, for the Date header and the rate.
        requests: The list to which the method and path of each request are appended.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        allowed_hosts: Iterable[str],
        public_url: str | None,
        rate: float | None,
        tokens: Tokens | None,
        clock: Callable[[], int],
        requests: deque[tuple[str, str]],
    ) -> None:
        self._app = app
        public = urlsplit((public_url or "").lower())
        self._public_origin = _origin(f"{public.scheme}://{public.netloc}") if public_url else None
        self._hosts = frozenset(host.lower() for host in (*allowed_hosts, public.hostname) if host)
        self._tokens = tokens
        self._clock = clock
        self._rate = rate
        self._paces: dict[str, _Pace] = {}
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it to the application with its whole body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        # The text is cut, because callers without a token could otherwise fill the memory.
        self._requests.append((scope["method"][:_NOTED], path[:_NOTED]))

        async def send_with_date(message: Message) -> None:
            if message["type"] == "http.response.start":
                date = (b"date", _http_date(self._clock() // 1000))
                message["headers"] = [*message["headers"], date, _NO_SNIFFING]
            await send(message)

        try:
            body = await _read(receive)
            scope[TOKEN_NAME] = self._check(scope["scheme"], path, Headers(scope=scope))
        except RequestRefusedError as refused:
            await refusal(path, refused)(scope, receive, send_with_date)
            return
        if body is not None:
            await self._app(scope, _replay(body, receive), send_with_date)

    def _check(self, scheme: str, path: str, headers: Headers) -> str:
        """Return the name of a request's token; empty if the request needs no token.

        Raises:
            RequestRefusedError: If the request is not accepted.
        """
        if "transfer-encoding" in headers and "content-length" in headers:
            # A proxy in front may have read another length, so the next bytes of this connection
            # could be a part of this body or another caller's request.
            said = "The request states its length in two ways."
            raise RequestRefusedError(Code.MALFORMED, said, headers={"Connection": "close"})
        host = headers.get("host", "")
        if not self._serves(host):
            raise RequestRefusedError(Code.MISDIRECTED)
        if "cross-site" in headers.getlist("sec-fetch-site"):  # a browser, for another's page
            raise RequestRefusedError(Code.FORBIDDEN)
        # Behind a proxy, only the public origin is ours, whatever the Host header has.
        ours = self._public_origin or _origin(f"{scheme}://{host}")
        if any(_origin(origin) != ours for origin in headers.getlist("origin")):
            raise RequestRefusedError(Code.FORBIDDEN)
        is_open = path in (HEALTH, READINESS) or path.startswith("/packs/")
        if is_open:
            return ""
        name = ""
        if self._tokens is not None:
            kind, _, credential = headers.get("authorization", "").partition(" ")
            known = self._tokens.name_of(credential.strip().encode("latin-1"))
            if kind.lower() != "bearer" or known is None:
                raise RequestRefusedError(Code.UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})
            name = known
        if self._rate is not None:
            pace = self._paces.setdefault(name, _Pace(self._rate, self._clock))
            if wait_s := pace.wait_s():
                raise RequestRefusedError(Code.TOO_MANY, headers={"Retry-After": str(wait_s)})
        return name

    def _serves(self, host: str) -> bool:
        match = _HOST.fullmatch(host.lower())
        if match is None:
            return False
        name = match[1].removeprefix("[").removesuffix("]")
        if name in self._hosts:
            return True
        return not _WILDCARDS.isdisjoint(self._hosts) and _is_address(name)


@lru_cache(maxsize=1)
def _http_date(time_s: int) -> bytes:
    return formatdate(time_s, usegmt=True).encode()


class _Pace:
    """A token bucket, which gains ``rate`` units a second and loses one with each request."""

    def __init__(self, rate: float, clock: Callable[[], int]) -> None:
        self._rate = rate
        self._room = self._free = max(rate, 1.0)
        self._clock = clock
        self._filled_ms = clock()

    def wait_s(self) -> int:
        """Take a unit and return 0. If there is no unit, return the seconds until the next one.

        The seconds are rounded up to a whole number.
        """
        now_ms = self._clock()
        # A clock that is set back must not empty the bucket.
        came = max(now_ms - self._filled_ms, 0) / 1000 * self._rate
        self._free, self._filled_ms = min(self._free + came, self._room), now_ms
        if self._free < 1:
            return math.ceil((1 - self._free) / self._rate)
        self._free -= 1
        return 0


def _origin(url: str) -> str:
    """Return the origin of a URL as browsers write it, without its scheme's default port."""
    scheme, _, rest = url.lower().partition("://")
    return f"{scheme}://{rest.removesuffix(_PORTS.get(scheme, ''))}"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def _read(receive: Receive) -> bytes | None:
    """Return the body; None if the caller closed the connection before the end of the body.

    Raises:
        RequestRefusedError: If the body is too large or too slow.
    """
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            while size <= _MAX_DISCARDED_BYTES:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                chunk = message.get("body", b"")
                size += len(chunk)
                if size <= MAX_BODY_BYTES:
                    chunks.append(chunk)
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise RequestRefusedError(Code.TIMEOUT, headers={"Connection": "close"}) from None
    if size > MAX_BODY_BYTES:
        raise RequestRefusedError(Code.TOO_LARGE)
    return b"".join(chunks)


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting = [body]

    async def replay() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replay
