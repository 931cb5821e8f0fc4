"""What an update changes, in words."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from lockterm.domain import dates
from lockterm.domain.remotes import Remote
from lockterm.domain.text.difference import find_differences

BERLIN = ZoneInfo("Europe/Berlin")
NOW = 1_795_248_000_000


def test_differences_are_named_and_safe_to_show() -> None:
    before = Remote(remote_name="A", remote_type=1, extra_data={"a": 1})
    after = Remote(
        remote_name="\x1b[31m",
        remote_type=2,
        start_ms=NOW,
        end_ms=NOW + dates.DAY_MS,
        extra_data={"a": True},
    )
    assert [str(item) for item in find_differences(before, after, BERLIN)] == [
        "Name: A -> �[31m",
        "Type: permanent -> time-limited",
        "Start: none -> 21 Nov 2026 09:00 +01:00",
        "End: none -> 22 Nov 2026 09:00 +01:00",
        'Extra data: {"a": 1} -> {"a": true}',
    ]
    assert find_differences(before, before, BERLIN) == []


def test_long_extra_data_names_only_the_part_that_differs() -> None:
    rooms = {"note": "Snow clearing and gritting, all car parks", "rooms": [101, 102, 103]}
    before = Remote(extra_data={**rooms, "badge": {"code": 7009, "color": "red"}})
    after = Remote(extra_data={**rooms, "badge": {"code": 7010, "color": "red"}})
    assert [str(item) for item in find_differences(before, after, BERLIN)] == [
        "Extra data badge.code: 7009 -> 7010"
    ]
