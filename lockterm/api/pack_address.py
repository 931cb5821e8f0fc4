"""The check of a voice pack's address, which comes from the service.

The address must not lead to servers that only this machine can reach: its own services, the
metadata service of a cloud, or other machines of its network.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from urllib.parse import urlsplit

import httpx

from lockterm.api.transport import not_sent
from lockterm.config.values import PORTS, origin_of
from lockterm.domain.safe_text import clean, without_secrets
from lockterm.errors import MalformedAnswerError

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def not_fetched(message: str, hint: str = "") -> MalformedAnswerError:
    """Return the error to raise if lockterm does not download a voice pack."""
    return MalformedAnswerError(message, title="Pack not fetched", hint=hint)


def checked_url(text: str, base_url: str) -> httpx.URL:
    """Check that lockterm may fetch a pack from a URL, and return the parsed URL.

    Args:
        text: ``timbrePackUrl`` as the service sent it.
        base_url: The profile's base URL.

    Raises:
        MalformedAnswerError: The URL has a user name, an invalid character, or a scheme that is not
            allowed. https is always allowed. http is allowed for the profile's own service and, if
            that service is on this machine, for every server on this machine.
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
        # urllib and httpx must find the same server in the URL.
        fit = fit and origin_of(str(url)) == origin and url.host == parts.hostname
    except (ValueError, httpx.InvalidURL):
        fit = False
    if not fit:
        raise not_fetched(
            f"{clean(without_secrets(text), 120)} is not an address for fetching a pack.",
            "The address must be an https URL without a user name.",
        )
    return url


def other_server(url: httpx.URL, base_url: str) -> str:
    """Return the host and port of a pack's server; empty if it is the profile's own service.

    Args:
        url: The URL of the pack, from :func:`checked_url`.
        base_url: The base URL of the profile.
    """
    same = origin_of(str(url)) == origin_of(base_url)
    return "" if same else clean(url.netloc.decode("ascii"), 253)


async def addresses_of(url: httpx.URL, base_url: str) -> list[str]:
    """Return the addresses of a pack's server, after checking that lockterm may connect to them.

    lockterm may connect to the profile's service and to public addresses. If the profile's service
    is on this machine, lockterm may connect to any address.

    Returns:
        The IP addresses, or only the host in the URL if it is the profile's own service.

    Raises:
        MalformedAnswerError: lockterm may not connect to one of the addresses.
        UnreachableError: The server's name cannot be resolved.
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
            (
                f"{server} is not a public address, but the service is not on that network."
                " Nothing was fetched."
            ),
            "If the address is right, fetch the pack with another program.",
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
