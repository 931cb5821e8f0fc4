"""The search for time zones by IANA name, by name on Windows, and by fixed offset from UTC.

lockterm saves and shows the IANA name, or an offset such as ``UTC+02:00``.
"""

from __future__ import annotations

import os
import re
import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo

import tzdata  # type: ignore[import-untyped]

_TYPED_OFFSET = re.compile(
    r"(?:UTC)? ?(?P<sign>[+-]) ?(?P<hours>\d\d?)(?::?(?P<minutes>[0-5]\d))?",
    re.ASCII | re.IGNORECASE,
)
_OFFSET = re.compile(r"UTC(?P<sign>[+-])(?P<hours>\d\d):(?P<minutes>[0-5]\d)", re.ASCII)
_MOST = timedelta(hours=14)
"""The largest offset from UTC of any place on Earth."""


def find_zone(name: str) -> tzinfo:
    """Return the time zone with an IANA name, or with an offset such as ``UTC+02:00``.

    Raises:
        ValueError, KeyError, OSError: This machine knows no such zone.
    """
    match = _OFFSET.fullmatch(name)
    zone = _offset_zone(match) if match else None
    return zone or ZoneInfo(name)


def is_zone(name: str) -> bool:
    """Return whether :func:`find_zone` finds a time zone with this name."""
    try:
        find_zone(name)
    except (OSError, ValueError, KeyError):  # a missing zone is a KeyError, a directory an OSError
        return False
    return bool(name)


def normalize_zone(typed: str) -> str:
    """Return the IANA name or the offset of a typed time zone; empty if the zone is unknown.

    Args:
        typed: An IANA name, a name on Windows such as ``W. Europe Standard Time``, or an offset
            such as ``+02:00``. ``GMT+2`` is refused, because some programs reverse its sign.
    """
    name = typed.strip()
    if match := _TYPED_OFFSET.fullmatch(name):
        zone = _offset_zone(match)
        return str(zone) if zone else ""
    if not is_zone(name):
        name = windows_zones().get(name.casefold(), "")
    return name if is_zone(name) else ""


def _offset_zone(match: re.Match[str]) -> timezone | None:
    """Return the zone of a matched offset; None if the offset is beyond 14 hours."""
    size = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
    if size > _MOST:
        return None
    return timezone(-size if match["sign"] == "-" else size) if size else UTC


_NEWER_NAMES = {
    "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
    "America/Godthab": "America/Nuuk",
    "America/Indianapolis": "America/Indiana/Indianapolis",
    "Asia/Calcutta": "Asia/Kolkata",
    "Asia/Katmandu": "Asia/Kathmandu",
    "Asia/Rangoon": "Asia/Yangon",
    "Europe/Kiev": "Europe/Kyiv",
}
"""Maps IANA names that Babel still uses to the present IANA names of the same zones."""


@cache
def windows_zones() -> Mapping[str, str]:
    """Return the IANA name of each time zone of Windows, by its case-folded name on Windows.

    Names that begin with ``UTC`` are missing, because :func:`normalize_zone` parses them as
    offsets.
    """
    from babel.core import get_global  # takes as long as half of a start, and few people need it

    return {
        name.casefold(): _NEWER_NAMES.get(zone, zone)
        for name, zone in get_global("windows_zone_mapping").items()
        if not name.startswith("UTC")
    }


@dataclass(frozen=True, slots=True)
class ZoneData:
    """The versions of the two time zone databases, such as ``2026f``; empty if unknown."""

    machine: str
    """The version of this machine's database."""
    installed: str
    """The version of the database installed with lockterm, the package tzdata."""
    is_installed_used: bool
    """Whether lockterm uses the installed database rather than this machine's."""

    @property
    def used(self) -> str:
        """The version of the database in use."""
        return self.installed if self.is_installed_used else self.machine


def use_newest() -> None:
    """Make Python read time zones from the newer database.

    Call this function before any time zone is read. If the environment variable PYTHONTZPATH is
    set, the function does nothing.
    """
    if "PYTHONTZPATH" in os.environ:
        return
    package, installed = _installed()
    if package and installed > _version_in(zoneinfo.TZPATH):
        zoneinfo.reset_tzpath((package, *zoneinfo.TZPATH))


def zone_data() -> ZoneData:
    """Return the versions of the time zone databases, and which database is used."""
    package, installed = _installed()
    is_first = bool(package) and zoneinfo.TZPATH[:1] == (package,)
    others = [place for place in zoneinfo.TZPATH if place != package]
    has_others = any(map(os.path.isdir, others))
    return ZoneData(_version_in(others), installed, is_first or not has_others)


def describe_zone_data(data: ZoneData) -> str:
    """Return a text such as ``2026f, installed with lockterm`` about the database in use."""
    if not data.is_installed_used:
        return f"{data.machine or 'version unknown'}, from this machine"
    text = f"{data.installed}, installed with lockterm"
    if not data.machine:
        return text
    return f"{text}; this machine has {data.machine}"


def _version_in(places: tuple[str, ...] | list[str]) -> str:
    """Return the version of the first database in these directories; empty if unknown."""
    for place in filter(os.path.isdir, places):
        for name in ("tzdata.zi", "+VERSION"):
            try:
                with open(os.path.join(place, name), encoding="ascii", errors="replace") as file:
                    words = file.readline(80).removeprefix("# version").split()
            except OSError:
                continue
            if words:
                return words[0]
        return ""
    return ""


def _installed() -> tuple[str, str]:
    """Return the directory of the time zone files of the package tzdata, and their version.

    The directory is empty if the files are missing.
    """
    place = os.path.join(os.path.dirname(tzdata.__file__ or ""), "zoneinfo")
    return (place if os.path.isdir(place) else ""), str(tzdata.IANA_VERSION)
