"""Where a service is, as its base URL tells. A start waits for this module: it imports nothing."""

from __future__ import annotations

PORTS = {"http": 80, "https": 443}
"""Scheme -> the port that is meant where none is written."""

_OF_HOSTS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-")
_OF_PATHS = _OF_HOSTS | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ_~")
_DIGITS = frozenset("0123456789")


def plain_address(base_url: str) -> tuple[str, str, int, str] | None:
    """Scheme, host, port and prefix of a base URL.

    Returns:
        None where httpx would not send it as it is written: then only the client knows them.
    """
    scheme, _, rest = base_url.partition("://")
    place, slash, path = rest.partition("/")
    host, colon, port = place.partition(":")
    segments = path.split("/") if slash else []
    is_host = bool(host) and _OF_HOSTS.issuperset(host) and not host.startswith("xn--")
    is_port = not colon or (bool(port) and _DIGITS.issuperset(port))
    is_prefix = all(
        one and _OF_PATHS.issuperset(one) and not one.startswith(".") for one in segments
    )
    if scheme not in PORTS or not (is_host and is_port and is_prefix):
        return None
    return scheme, host, int(port or PORTS[scheme]), slash + path
