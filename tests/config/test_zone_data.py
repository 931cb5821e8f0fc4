"""The newer of the two time zone databases decides which instant a typed time is."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import tzdata

from lockterm.config.zones import describe_zone_data, use_newest, zone_data

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
