"""Which addresses a pack may be fetched from, and which of them are the profile's own service."""

from __future__ import annotations

from urllib.parse import urlsplit

from lockterm.api.http import httpx
from lockterm.errors import MalformedAnswer
from lockterm.text import clean

_PORTS = {"http": 80, "https": 443}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def checked_url(text: str, base_url: str) -> httpx.URL:
    """The address of a pack, known to be fit to be fetched from.

    Args:
        text: ``timbrePackUrl``, as it came.
        base_url: The profile's; where that is plain http, the profile was warned of it already.

    Raises:
        MalformedAnswer: It is neither https nor an http address on this machine or of the
            profile's own service, or it has a user name or a character that no URL has.
    """
    try:
        parts = urlsplit(text)
        origin = origin_of(text)
        near = parts.hostname in _LOOPBACK or origin == origin_of(base_url)
        fit = parts.scheme == "https" or (parts.scheme == "http" and near)
        fit = fit and bool(parts.hostname) and "@" not in parts.netloc and parts.port != 0
        fit = fit and text.isascii() and text.isprintable() and not {" ", "\\"} & set(text)
        url = httpx.URL(text if fit else "")
        # Two readers of one address: they have to agree on where it leads.
        fit = fit and origin_of(str(url)) == origin and url.host == parts.hostname
    except (ValueError, httpx.InvalidURL):
        fit = False
    if not fit:
        raise MalformedAnswer(
            f"{clean(text, 120)} is no address to fetch a pack from.",
            title="Pack not fetched",
            hint="It has to be an https URL without a user name.",
        )
    return url


def origin_of(url: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port: what decides whether two addresses are one service.

    Raises:
        ValueError: Its host or its port cannot be.
    """
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)
