"""A profile: which service, and how to talk to it and show its times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from lockterm.record import record

BodyEncoding = Literal["json", "form"]

MAX_PAGE_SIZE = 200
"""The most remotes that a page is asked to have."""


@record
class Profile:
    """Everything about one service. Checked: see ``lockterm.config.values``."""

    name: str
    """The profile's name in the file, or the service's host where only a base URL was given.

    The lock book and the journal are kept by this name, so it never stands for two services.
    """
    base_url: str
    """What the contract's paths are relative to; no slash at its end."""
    timezone: str = "UTC"
    """IANA name of the zone in which times are shown where the lock has none of its own."""
    page_size: int = 20
    """Remotes on a page, 1 to :data:`MAX_PAGE_SIZE`."""
    body: BodyEncoding = "json"
    """How the parameters of a POST are encoded; the voice setting is always JSON (4)."""
    ca_file: str = ""
    """A CA file to trust besides the usual ones, or empty; verification cannot be switched off."""
    ca_only: bool = False
    """Whether :attr:`ca_file` is trusted instead of the usual ones."""
    timeout_s: float = 15.0
    """How long one attempt may take, in seconds."""
    calls_per_minute: int = 0
    """How many calls a minute a plan may make; 0: as many as the service takes."""
    read_only: bool = False
    """No call that writes leaves this machine."""
    open_last: bool = False
    """Whether a start without ``--lock`` opens the lock that was opened last, not the book."""
    cache: bool = True
    """Whether what was read is kept on the disk, for a time without the service and for a start."""
    colour: str = ""
    """One of :data:`lockterm.config.values.COLOURS` for the title line, or empty."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every request; the values are secrets and never shown."""
    warnings: tuple[str, ...] = ()
    """What is allowed but unwise, as sentences to show at the start."""

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def host(self) -> str:
        """The service's host, with the port where one is given, for the title line."""
        return urlsplit(self.base_url).netloc
