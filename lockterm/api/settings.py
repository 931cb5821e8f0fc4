"""What the client needs to know of a profile, and the checks before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, Protocol
from urllib.parse import urlsplit

from lockterm.errors import ConfigError

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PRINTABLE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?|")
_OURS = frozenset(
    {"accept", "accept-encoding", "connection", "content-encoding", "content-length"}
    | {"content-type", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer"}
    | {"transfer-encoding", "upgrade", "user-agent"}
)
"""Headers that decide how a request is framed or its answer read: a profile cannot set them."""


class ServiceSettings(Protocol):
    """The part of a profile that the client uses."""

    @property
    def base_url(self) -> str:
        """Where the service is; the contract's paths are relative to it."""

    @property
    def body(self) -> Literal["json", "form"]:
        """How POST parameters are encoded; the voice setting is always JSON."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers sent with every request, with their values already resolved."""

    @property
    def ca_file(self) -> str:
        """A PEM file of additional certificate authorities; empty for none."""

    @property
    def timeout_s(self) -> float:
        """Seconds that one attempt may take in all, from the connection to the last byte."""


def checked_base_url(text: str) -> str:
    """The base URL without a closing slash.

    Raises:
        ConfigError: It is not an http or https URL with a host, or it has parts (user info, query,
            fragment) that have no place in it. The message never repeats user info.
    """
    hint = "Write it as https://host, https://host:port or https://host/prefix."
    if not _PRINTABLE.fullmatch(text) or " " in text or "\t" in text or "\\" in text:
        raise ConfigError("base_url has a character that no URL has.", hint=hint)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ConfigError("base_url has a host or a port that cannot be.", hint=hint) from None
    if parts.scheme not in ("http", "https"):
        raise ConfigError("base_url starts with neither https:// nor http://.", hint=hint)
    if "@" in parts.netloc:
        raise ConfigError(
            "base_url has a user name or a password in it.",
            hint="Put credentials under the profile's headers, as env:NAME.",
        )
    if not parts.hostname or port == 0:
        raise ConfigError("base_url has no host, or port 0.", hint=hint)
    if "?" in text or "#" in text:
        raise ConfigError("base_url has a query or a fragment.", hint=hint)
    return text.rstrip("/")


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The profile's headers, known to be sendable.

    Raises:
        ConfigError: A name or a value cannot be sent, or the header is lockterm's own to set. The
            message names the header and never its value.
    """
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise ConfigError(f"The header name {name!r} has a character that no header name has.")
        if name.lower() in _OURS:
            raise ConfigError(f"The header {name} is set by lockterm itself; remove it.")
        if not _PRINTABLE.fullmatch(value):
            raise ConfigError(
                f"The value of the header {name} has a character that cannot be sent.",
                hint="It takes printable ASCII, without spaces or line ends around it.",
            )
    return dict(headers)
