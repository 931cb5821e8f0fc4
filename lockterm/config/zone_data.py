"""The time zone database: the newer of this machine's and the one installed with lockterm.

The rules change several times a year, and a machine with old rules would send wrong times.
"""

from __future__ import annotations

import os
import zoneinfo
from dataclasses import dataclass

import tzdata  # type: ignore[import-untyped]


@dataclass(frozen=True, slots=True)
class ZoneData:
    """The versions of the two databases, such as ``2026f``; empty if unknown."""

    machine: str
    """The version of this machine's database."""
    installed: str
    """The version of the database installed with lockterm, the package tzdata."""
    is_installed_used: bool
    """Whether the installed database is searched first."""

    @property
    def used(self) -> str:
        """The version of the database in use."""
        return self.installed if self.is_installed_used else self.machine


def use_newest() -> None:
    """Read zones from the newer database; call it before any zone is read.

    PYTHONTZPATH overrides this choice.
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
    """Return a description of the database in use: ``2026f, installed with lockterm``."""
    if not data.is_installed_used:
        return f"{data.machine or 'version unknown'}, from this machine"
    words = f"{data.installed}, installed with lockterm"
    if not data.machine:
        return words
    return f"{words}; this machine has {data.machine}"


def _version_in(places: tuple[str, ...] | list[str]) -> str:
    """Return the version of the first database in these places, or an empty string."""
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
    """Return the directory of the package tzdata's files, empty if missing, and their version."""
    place = os.path.join(os.path.dirname(tzdata.__file__ or ""), "zoneinfo")
    return (place if os.path.isdir(place) else ""), str(tzdata.IANA_VERSION)
