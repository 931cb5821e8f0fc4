"""Selects the time zone database: this machine's own or the one installed with lockterm.

The rules of time zones change several times a year. With old rules, lockterm would send wrong
times, so it uses the newer database.
"""

from __future__ import annotations

import os
import zoneinfo
from dataclasses import dataclass

import tzdata  # type: ignore[import-untyped]


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
    words = f"{data.installed}, installed with lockterm"
    if not data.machine:
        return words
    return f"{words}; this machine has {data.machine}"


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
