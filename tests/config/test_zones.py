"""Time zones by every name, and the newer of two databases, which decides what a time means."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import tzdata

from lockterm.config import values
from lockterm.config.zones import (
    describe_zone_data,
    find_zone,
    is_zone,
    normalize_zone,
    use_newest,
    windows_zones,
    zone_data,
)


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
    assert str(zone) == "UTC-03:30"
    assert zone == find_zone("UTC-03:30") and hash(zone) == hash(find_zone("UTC-03:30"))
    assert str(find_zone("UTC")) == "UTC"
    for unknown in ("+02:00", "UTC+2", "UTC+14:01", "W. Europe Standard Time"):
        assert not is_zone(unknown), "only the kept form is found"


def test_every_zone_of_windows_is_known() -> None:
    assert len(windows_zones()) > 130
    assert not [name for name, zone in windows_zones().items() if not is_zone(zone)]


def test_machine_zone_ignores_an_offset_when_its_sign_is_reversed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "UTC-02:00")
    assert values.machine_zone() is None
    monkeypatch.setenv("TZ", ":Europe/Berlin")
    assert values.machine_zone() == "Europe/Berlin"


PACKAGE = Path(tzdata.__file__).parent / "zoneinfo"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The database of this machine: it says that Vancouver is where Berlin is."""
    before = zoneinfo.TZPATH
    monkeypatch.delenv("PYTHONTZPATH", raising=False)
    place = tmp_path / "zoneinfo"
    (place / "America").mkdir(parents=True)
    (place / "America/Vancouver").write_bytes((PACKAGE / "Europe/Berlin").read_bytes())
    (place / "Odd").write_bytes((PACKAGE / "Asia/Tokyo").read_bytes())
    zoneinfo.reset_tzpath([str(place)])
    zoneinfo.ZoneInfo.clear_cache()
    yield place
    zoneinfo.reset_tzpath(before)
    zoneinfo.ZoneInfo.clear_cache()


@pytest.mark.parametrize(
    ("files", "is_installed_used", "version"),
    [
        ({"tzdata.zi": "# version 2019c\n# more\n"}, True, "2019c"),
        ({"+VERSION": "2019c\n"}, True, "2019c"),
        ({}, True, ""),
        ({"tzdata.zi": ""}, True, ""),
        ({"tzdata.zi": f"# version {tzdata.IANA_VERSION}\n"}, False, tzdata.IANA_VERSION),
        ({"tzdata.zi": "# version 2999a\n"}, False, "2999a"),
    ],
)
def test_zones_come_from_the_newer_database(
    files: dict[str, str], is_installed_used: bool, version: str, machine: Path
) -> None:
    for name, text in files.items():
        (machine / name).write_text(text)
    use_newest()
    use_newest()
    data = zone_data()
    assert (data.is_installed_used, data.machine) == (is_installed_used, version)
    assert data.used == (tzdata.IANA_VERSION if is_installed_used else version)
    assert data.used in describe_zone_data(data)
    noon = datetime(2026, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("America/Vancouver"))
    assert noon.astimezone(UTC).hour == (19 if is_installed_used else 10)
    assert zoneinfo.ZoneInfo("Odd"), "a zone of one of them alone is found"
    assert "Odd" in zoneinfo.available_timezones()


def test_zones_come_from_where_the_environment_says(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONTZPATH", str(machine))
    use_newest()
    assert (str(machine),) == zoneinfo.TZPATH
    assert not zone_data().is_installed_used
