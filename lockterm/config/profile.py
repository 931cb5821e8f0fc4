"""A profile: the settings for one service, such as its address, headers and time zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Literal
from urllib.parse import urlsplit

from lockterm.config.zones import find_zone

BodyEncoding = Literal["json", "form"]

MAX_PAGE_SIZE = 200
"""Maximum number of remotes on a page."""

LEAST_PAGE_SIZE = 16
"""Minimum number of remotes on a page if the size is :data:`FIT`. This number of remotes fits on
the smallest terminal."""

FIT: Literal["auto"] = "auto"
"""The value of ``page_size`` that puts as many remotes on a page as the terminal can show."""

USUAL_SIZE = 80, 24
"""The assumed numbers of columns and lines of a terminal whose size is unknown."""

PRESETS = ("+1d", "+1w", "+30d", "eom")
"""The new end dates that forms offer if the configuration file has none."""

_AROUND = 4
"""Number of lines around the rows of the remotes screen: header, column titles, pager and
footer."""

_FRAME = 2
"""Number of lines of the frame around a table: one at the top, one at the bottom."""


def has_frames(columns: int, lines: int) -> bool:
    """Return whether a terminal of this size has room for frames around tables and panels."""
    return columns >= 100 and lines >= 30


def page_rows(page_size: int | Literal["auto"], columns: int, lines: int) -> int:
    """Return the number of remotes on a page.

    Args:
        page_size: A number, or :data:`FIT` for as many as fit on the terminal.
        columns: Number of columns of the terminal.
        lines: Number of lines of the terminal.
    """
    if page_size != FIT:
        return page_size
    rows = lines - _AROUND - _FRAME * has_frames(columns, lines)
    return max(min(rows, MAX_PAGE_SIZE), LEAST_PAGE_SIZE)


@dataclass(frozen=True, slots=True)
class Profile:
    """The settings for one service, after ``lockterm.config.values`` has checked them."""

    name: str
    """The profile's name in the file, or the URL without its scheme if only a base URL was given.

    The lock book and the journal find their entries by this name, so each name must belong to only
    one service.
    """
    base_url: str
    """The URL to which the contract's paths are relative, without a slash at its end."""
    timezone: str = "UTC"
    """The time zone for locks that have none, in the form that ``normalize_zone`` returns."""
    page_size: int | Literal["auto"] = FIT
    """Number of remotes on a page, from 1 to :data:`MAX_PAGE_SIZE`, or :data:`FIT`."""
    body: BodyEncoding = "json"
    """The encoding of POST parameters. The call that sets the voice always uses JSON (contract
    4)."""
    ca_file: str = ""
    """The path of a file with CA certificates to trust in addition to the usual ones; may be empty.

    Certificates are always verified.
    """
    ca_only: bool = False
    """Whether only the certificates in :attr:`ca_file` are trusted."""
    timeout_s: float = 15.0
    """Maximum duration of one attempt of a call, in seconds."""
    calls_per_minute: int = 0
    """Maximum number of calls per minute in a run; 0 for no limit."""
    read_only: bool = False
    """Whether lockterm refuses to send writes."""
    open_last: bool = False
    """Whether lockterm, if started without ``--lock``, opens the lock that was opened last."""
    cache: bool = True
    """Whether lists are cached on disk, for offline use and for a fast start."""
    color: str = ""
    """The color of the header, one of :data:`lockterm.config.values.COLORS`; may be empty."""
    account: str = ""
    """The name of the account at the service; empty to derive it from the credentials."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers to send with every request. Their values are secrets, which are never shown."""
    presets: tuple[str, ...] = PRESETS
    """The new end dates that forms offer, as users type them, such as ``+30d``."""
    warnings: tuple[str, ...] = ()
    """Warnings about allowed but unwise settings, which lockterm shows when it starts."""

    @property
    def zone(self) -> tzinfo:
        """The time zone with the name :attr:`timezone`."""
        return find_zone(self.timezone)

    def page_rows(self, size: tuple[int, int] = USUAL_SIZE) -> int:
        """Return the number of remotes on a page for a terminal of this size.

        Args:
            size: The numbers of columns and lines of the terminal.
        """
        return page_rows(self.page_size, *size)

    @property
    def host(self) -> str:
        """The host of the service, with the port if the base URL contains a port."""
        return urlsplit(self.base_url).netloc
