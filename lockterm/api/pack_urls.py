"""Which addresses a pack may be fetched from, and which of them are the profile's own service.

A pack's URL comes from the service (2.5, 2.6), so it must not send this machine to places that only
this machine can reach: its own services, the metadata service of a cloud, the other machines of its
network. What a name resolves to is decided once, and it is that address which is connected to.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from urllib.parse import urlsplit

import httpx

from lockterm.api.failures import not_sent
from lockterm.config.values import PORTS, origin_of
from lockterm.domain.safe_text import clean, without_secrets
from lockterm.errors import MalformedAnswer

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def not_fetched(message: str, hint: str = "") -> MalformedAnswer:
    """The error for a pack that is not taken."""
    return MalformedAnswer(message, title="Pack not fetched", hint=hint)


def checked_url(text: str, base_url: str) -> httpx.URL:
    """The address of a pack, known to be fit to be fetched from.

    Args:
        text: ``timbrePackUrl``, as it came.
        base_url: The profile's; where that is plain http, the profile was warned of it already.

    Raises:
        MalformedAnswer: It is neither https nor an http address of the profile's own service (or,
            where that is on this machine, of this machine), or it has a user name or a character
            that no URL has.
    """
    try:
        parts = urlsplit(text)
        origin = origin_of(text)
        near = parts.hostname in _LOOPBACK and urlsplit(base_url).hostname in _LOOPBACK
        plain = parts.scheme == "http" and (near or origin == origin_of(base_url))
        fit = (parts.scheme == "https" or plain) and bool(parts.hostname)
        fit = fit and "@" not in parts.netloc and parts.port != 0
        fit = fit and text.isascii() and text.isprintable() and not {" ", "\\"} & set(text)
        url = httpx.URL(text if fit else "")
        # Two readers of one address: they have to agree on where it leads.
        fit = fit and origin_of(str(url)) == origin and url.host == parts.hostname
    except (ValueError, httpx.InvalidURL):
        fit = False
    if not fit:
        raise not_fetched(
            f"{clean(without_secrets(text), 120)} is no address to fetch a pack from.",
            "It has to be an https URL without a user name.",
        )
    return url


def other_server(url: httpx.URL, base_url: str) -> str:
    """The host and port that a pack comes from where that is not the profile's service, else "".

    Args:
        url: From :func:`checked_url`.
        base_url: The profile's.
    """
    same = origin_of(str(url)) == origin_of(base_url)
    return "" if same else clean(url.netloc.decode("ascii"), 253)


async def addresses_of(url: httpx.URL, base_url: str) -> list[str]:
    """What to connect to for a pack: the addresses of its server, each fit to be connected to.

    Raises:
        MalformedAnswer: The server is on this machine or in a network that is not public, and the
            profile's service is elsewhere.
        Unreachable: Its name cannot be resolved.
    """
    if origin_of(str(url)) == origin_of(base_url):
        return [url.host]
    port = url.port or PORTS[url.scheme]
    loop = asyncio.get_running_loop()
    server = clean(url.netloc.decode("ascii"), 80)
    try:
        found = await loop.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise not_sent(error, server) from error
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
    here = urlsplit(base_url).hostname in _LOOPBACK
    if not here and not all(map(_is_public, addresses)):
        raise not_fetched(
            f"{server} is no public address. A service elsewhere has no business sending this"
            " machine there, so nothing was fetched.",
            "If it is right, fetch it by other means.",
        )
    return addresses


def _is_public(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        address = inner or address
    return address.is_global and not address.is_multicast
