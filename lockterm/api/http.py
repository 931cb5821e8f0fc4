"""httpcore, which makes connections and speaks HTTP on them, and what it leaves to who uses it.

httpx, made for it, would take twice its memory, and as long to import as all of httpcore.
"""

from __future__ import annotations

import ipaddress
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any
from urllib.parse import quote, urlsplit

import httpcore

from lockterm.config.values import PORTS
from lockterm.record import record

# httpcore asks for it some five times an exchange, and a module that is not there is looked for on
# the disk each time: a tenth of all that reading a hundred locks takes.
try:
    import_module("sniffio")
except ImportError:
    sys.modules["sniffio"] = None  # type: ignore[assignment]  # so that its import fails at once

__all__ = ["Url", "httpcore", "request_to", "url_of"]

_LONGEST = 64 * 1024
"""Characters of a URL."""
_IN_A_PATH = "!$%&'()*+,-./:;=@[\\]^_|~"
_IN_A_QUERY = _IN_A_PATH + "?`{}"
"""What is sent as it is written, beside letters and digits (RFC 3986, and what browsers do)."""
_LIKE_AN_ADDRESS = re.compile(r"[0-9]+(\.[0-9]+){3}|.*:.*")


@record
class Url:
    """Where a request goes, in ASCII."""

    scheme: str
    host: str
    """In small letters; an address of IPv6 without brackets."""
    port: int | None
    """None: the scheme's usual one."""
    target: str
    """Path and query, as they are sent."""

    @property
    def server(self) -> str:
        """Host and port, as ``Host`` tells them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str | None, int | None]:
        """What decides whether two are one service; see ``values.origin_of``."""
        return self.scheme, self.host, self.port or PORTS.get(self.scheme)


def url_of(text: str) -> Url:
    """Read a URL of http or https that is printable ASCII, has no spaces and no user name.

    Raises:
        ValueError: Its host or its port cannot be, or it is too long.
    """
    if len(text) > _LONGEST:
        raise ValueError("it is too long")
    parts = urlsplit(text)
    host, path = parts.hostname or "", list[str]()
    if _LIKE_AN_ADDRESS.fullmatch(host):
        ipaddress.ip_address(host)
    elif not host or set(host) & set("<>[]^%"):
        raise ValueError("it names no host")
    for part in parts.path.split("/"):
        if part == "..":
            del path[max(len(path) - 1, 1) :]
        elif part != ".":
            path.append(part)
    target = quote("/".join(path), _IN_A_PATH) or "/"
    if parts.query:
        target += f"?{quote(parts.query, _IN_A_QUERY)}"
    port = parts.port if parts.port != PORTS.get(parts.scheme) else None
    return Url(parts.scheme, host, port, target)


def request_to(
    url: Url,
    method: str,
    headers: Mapping[str, str],
    *,
    content: bytes | None = None,
    extensions: dict[str, Any],
    address: str = "",
) -> httpcore.Request:
    """A request.

    Args:
        url: Where it goes.
        method: GET or POST.
        headers: Its header fields but for those that tell of the server and of the body.
        content: Its body; None: it has none.
        extensions: httpcore's.
        address: What to connect to; empty: the host of the URL.
    """
    fields = {"Host": url.server, **headers}
    if content is not None:
        fields["Content-Length"] = str(len(content))
    return httpcore.Request(
        method,
        httpcore.URL(scheme=url.scheme, host=address or url.host, port=url.port, target=url.target),
        headers=[*fields.items()],
        content=content,
        extensions=extensions,
    )
