"""The search for time zones by IANA name, by name on Windows, and by fixed offset from UTC.

lockterm saves and shows the IANA name, or an offset such as ``UTC+02:00``.
"""

from __future__ import annotations

import os
import re
import zoneinfo
from dataclasses import dataclass
from datetime import UTC, timedelta, timezone, tzinfo
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
    name = WINDOWS_ZONES.get(name.casefold(), name)
    return name if is_zone(name) else ""


def _offset_zone(match: re.Match[str]) -> timezone | None:
    """Return the zone of a matched offset; None if the offset is beyond 14 hours."""
    size = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
    if size > _MOST:
        return None
    return timezone(-size if match["sign"] == "-" else size) if size else UTC


_TABLE = """\
AUS Central Standard Time=Australia/Darwin
AUS Eastern Standard Time=Australia/Sydney
Afghanistan Standard Time=Asia/Kabul
Alaskan Standard Time=America/Anchorage
Aleutian Standard Time=America/Adak
Altai Standard Time=Asia/Barnaul
Arab Standard Time=Asia/Riyadh
Arabian Standard Time=Asia/Dubai
Arabic Standard Time=Asia/Baghdad
Argentina Standard Time=America/Argentina/Buenos_Aires
Astrakhan Standard Time=Europe/Astrakhan
Atlantic Standard Time=America/Halifax
Aus Central W. Standard Time=Australia/Eucla
Azerbaijan Standard Time=Asia/Baku
Azores Standard Time=Atlantic/Azores
Bahia Standard Time=America/Bahia
Bangladesh Standard Time=Asia/Dhaka
Belarus Standard Time=Europe/Minsk
Bougainville Standard Time=Pacific/Bougainville
Canada Central Standard Time=America/Regina
Cape Verde Standard Time=Atlantic/Cape_Verde
Caucasus Standard Time=Asia/Yerevan
Cen. Australia Standard Time=Australia/Adelaide
Central America Standard Time=America/Guatemala
Central Asia Standard Time=Asia/Bishkek
Central Brazilian Standard Time=America/Cuiaba
Central Europe Standard Time=Europe/Budapest
Central European Standard Time=Europe/Warsaw
Central Pacific Standard Time=Pacific/Guadalcanal
Central Standard Time=America/Chicago
Central Standard Time (Mexico)=America/Mexico_City
Chatham Islands Standard Time=Pacific/Chatham
China Standard Time=Asia/Shanghai
Cuba Standard Time=America/Havana
Dateline Standard Time=Etc/GMT+12
E. Africa Standard Time=Africa/Nairobi
E. Australia Standard Time=Australia/Brisbane
E. Europe Standard Time=Europe/Chisinau
E. South America Standard Time=America/Sao_Paulo
Easter Island Standard Time=Pacific/Easter
Eastern Standard Time=America/New_York
Eastern Standard Time (Mexico)=America/Cancun
Egypt Standard Time=Africa/Cairo
Ekaterinburg Standard Time=Asia/Yekaterinburg
FLE Standard Time=Europe/Kyiv
Fiji Standard Time=Pacific/Fiji
GMT Standard Time=Europe/London
GTB Standard Time=Europe/Bucharest
Georgian Standard Time=Asia/Tbilisi
Greenland Standard Time=America/Nuuk
Greenwich Standard Time=Atlantic/Reykjavik
Haiti Standard Time=America/Port-au-Prince
Hawaiian Standard Time=Pacific/Honolulu
India Standard Time=Asia/Kolkata
Iran Standard Time=Asia/Tehran
Israel Standard Time=Asia/Jerusalem
Jordan Standard Time=Asia/Amman
Kaliningrad Standard Time=Europe/Kaliningrad
Korea Standard Time=Asia/Seoul
Libya Standard Time=Africa/Tripoli
Line Islands Standard Time=Pacific/Kiritimati
Lord Howe Standard Time=Australia/Lord_Howe
Magadan Standard Time=Asia/Magadan
Magallanes Standard Time=America/Punta_Arenas
Marquesas Standard Time=Pacific/Marquesas
Mauritius Standard Time=Indian/Mauritius
Middle East Standard Time=Asia/Beirut
Montevideo Standard Time=America/Montevideo
Morocco Standard Time=Africa/Casablanca
Mountain Standard Time=America/Denver
Mountain Standard Time (Mexico)=America/Mazatlan
Myanmar Standard Time=Asia/Yangon
N. Central Asia Standard Time=Asia/Novosibirsk
Namibia Standard Time=Africa/Windhoek
Nepal Standard Time=Asia/Kathmandu
New Zealand Standard Time=Pacific/Auckland
Newfoundland Standard Time=America/St_Johns
Norfolk Standard Time=Pacific/Norfolk
North Asia East Standard Time=Asia/Irkutsk
North Asia Standard Time=Asia/Krasnoyarsk
North Korea Standard Time=Asia/Pyongyang
Omsk Standard Time=Asia/Omsk
Pacific SA Standard Time=America/Santiago
Pacific Standard Time=America/Los_Angeles
Pacific Standard Time (Mexico)=America/Tijuana
Pakistan Standard Time=Asia/Karachi
Paraguay Standard Time=America/Asuncion
Qyzylorda Standard Time=Asia/Qyzylorda
Romance Standard Time=Europe/Paris
Russia Time Zone 10=Asia/Srednekolymsk
Russia Time Zone 11=Asia/Kamchatka
Russia Time Zone 3=Europe/Samara
Russian Standard Time=Europe/Moscow
SA Eastern Standard Time=America/Cayenne
SA Pacific Standard Time=America/Bogota
SA Western Standard Time=America/La_Paz
SE Asia Standard Time=Asia/Bangkok
Saint Pierre Standard Time=America/Miquelon
Sakhalin Standard Time=Asia/Sakhalin
Samoa Standard Time=Pacific/Apia
Sao Tome Standard Time=Africa/Sao_Tome
Saratov Standard Time=Europe/Saratov
Singapore Standard Time=Asia/Singapore
South Africa Standard Time=Africa/Johannesburg
South Sudan Standard Time=Africa/Juba
Sri Lanka Standard Time=Asia/Colombo
Sudan Standard Time=Africa/Khartoum
Syria Standard Time=Asia/Damascus
Taipei Standard Time=Asia/Taipei
Tasmania Standard Time=Australia/Hobart
Tocantins Standard Time=America/Araguaina
Tokyo Standard Time=Asia/Tokyo
Tomsk Standard Time=Asia/Tomsk
Tonga Standard Time=Pacific/Tongatapu
Transbaikal Standard Time=Asia/Chita
Turkey Standard Time=Europe/Istanbul
Turks And Caicos Standard Time=America/Grand_Turk
US Eastern Standard Time=America/Indiana/Indianapolis
US Mountain Standard Time=America/Phoenix
Ulaanbaatar Standard Time=Asia/Ulaanbaatar
Venezuela Standard Time=America/Caracas
Vladivostok Standard Time=Asia/Vladivostok
Volgograd Standard Time=Europe/Volgograd
W. Australia Standard Time=Australia/Perth
W. Central Africa Standard Time=Africa/Lagos
W. Europe Standard Time=Europe/Berlin
W. Mongolia Standard Time=Asia/Hovd
West Asia Standard Time=Asia/Tashkent
West Bank Standard Time=Asia/Hebron
West Pacific Standard Time=Pacific/Port_Moresby
Yakutsk Standard Time=Asia/Yakutsk
Yukon Standard Time=America/Whitehorse
"""

WINDOWS_ZONES = {
    name.casefold(): zone for name, _, zone in (line.partition("=") for line in _TABLE.splitlines())
}
"""Maps case-folded names on Windows to IANA names. Names such as ``UTC-11`` are missing, because
:func:`normalize_zone` parses them as offsets."""


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
