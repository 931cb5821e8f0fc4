"""Time zones by IANA name, by their names on Windows, and by offset."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from lockterm.config import values
from lockterm.config.zones import WINDOWS_ZONES, find_zone, is_zone, normalize_zone
from lockterm.domain import dates


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("W. Europe Standard Time", "Europe/Berlin"),
        ("w. europe standard time ", "Europe/Berlin"),
        ("Pacific Standard Time (Mexico)", "America/Tijuana"),
        ("UTC", "UTC"),
        ("UTC-11", "UTC-11:00"),
        ("UTC+13", "UTC+13:00"),
        ("+02:00", "UTC+02:00"),
        ("-0330", "UTC-03:30"),
        ("utc +5:45", "UTC+05:45"),
        ("+2", "UTC+02:00"),
        ("-14:00", "UTC-14:00"),
        ("+00:00", "UTC"),
        ("Etc/GMT+2", "Etc/GMT+2"),
        *((wrong, "") for wrong in ("", "+14:01", "+2:60", "2", "+", "GMT+2", "UTC2", "+٢", "..")),
    ],
)
def test_normalize_zone_returns_the_kept_name(typed: str, kept: str) -> None:
    assert normalize_zone(typed) == kept
    assert not kept or (is_zone(kept) and normalize_zone(kept) == kept)


def test_find_zone_has_the_offset_and_the_shown_name() -> None:
    zone = find_zone("UTC-03:30")
    assert zone.utcoffset(datetime(2026, 7, 1)) == timedelta(hours=-3, minutes=-30)
    assert dates.zone_name(zone) == "UTC-03:30"
    assert zone == find_zone("UTC-03:30") and hash(zone) == hash(find_zone("UTC-03:30"))
    assert dates.zone_name(find_zone("UTC")) == "UTC"
    for unknown in ("+02:00", "UTC+2", "UTC+14:01", "W. Europe Standard Time"):
        assert not is_zone(unknown), "only the kept form is found"


def test_every_zone_of_windows_is_known() -> None:
    assert len(WINDOWS_ZONES) > 130
    assert not [name for name, zone in WINDOWS_ZONES.items() if not is_zone(zone)]
    assert all(name == name.casefold() for name in WINDOWS_ZONES)


def test_machine_zone_ignores_an_offset_when_its_sign_is_reversed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "UTC-02:00")
    assert values.machine_zone() is None
    monkeypatch.setenv("TZ", ":Europe/Berlin")
    assert values.machine_zone() == "Europe/Berlin"
