"""Finds time zones by IANA names, by names on Windows, and by fixed offsets from UTC.

lockterm saves and shows the IANA name, or an offset such as ``UTC+02:00``.
"""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from lockterm.config.windows_zones import WINDOWS_ZONES

_TYPED_OFFSET = re.compile(
    r"(?:UTC)? ?(?P<sign>[+-]) ?(?P<hours>\d\d?)(?::?(?P<minutes>[0-5]\d))?",
    re.ASCII | re.IGNORECASE,
)
_OFFSET = re.compile(r"UTC(?P<sign>[+-])(?P<hours>\d\d):(?P<minutes>[0-5]\d)", re.ASCII)
_MOST = timedelta(hours=14)
"""The largest offset of any place on Earth."""


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
    """Return the IANA name or the offset of a typed time zone; empty if there is no such zone.

    Args:
        typed: An IANA name, a name on Windows such as ``W. Europe Standard Time``, or an offset
            such as ``+02:00``. ``GMT+2`` is refused, because some programs reverse its sign.
    """
    name = typed.strip()
    if match := _TYPED_OFFSET.fullmatch(name):
        zone = _offset_zone(match)
        return str(zone) if zone else ""
    name = WINDOWS_ZONES.get(name.casefold(), name)
    return name if is_zone(name) else ""


def _offset_zone(match: re.Match[str]) -> timezone | None:
    """Return the zone of an offset; None if no place on Earth has it."""
    size = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
    if size > _MOST:
        return None
    return timezone(-size if match["sign"] == "-" else size) if size else UTC
