"""Validity and differences in words."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm import json_text, moments
from lockterm.comparison import differences
from lockterm.models.remote_values import RemoteValues
from lockterm.models.remotes import Remote
from lockterm.validity import Phase, validity
from tests.rules.test_rules import wild

BERLIN = ZoneInfo("Europe/Berlin")
NOW = 1_795_248_000_000
DAY = moments.DAY_MS


def remote(kind: int, start: int, end: int, status: int = 1, days: tuple[int, ...] = ()) -> Remote:
    return Remote.read(
        {
            "id": 1,
            "remoteType": kind,
            "startDate": start,
            "endDate": end,
            "weekDay": list(days),
            "status": status,
        }
    )


@pytest.mark.parametrize(
    ("shown", "short", "state"),
    [
        (remote(1, 0, 0), "always", "normal"),
        (remote(1, 0, 0, 2), "always", "invalid"),
        (remote(2, NOW - DAY, NOW + 41 * DAY), "until 1 Jan 2027", "normal"),
        (remote(2, NOW - DAY, NOW + 41 * DAY, 2), "until 1 Jan 2027", "says invalid"),
        (remote(2, NOW - DAY, NOW + 9 * moments.HOUR_MS), "until 18:00 today", "normal"),
        (remote(2, NOW + 2 * DAY, NOW + 3 * DAY), "starts in 2 days", "not yet"),
        (remote(2, NOW + 2 * DAY, NOW + 3 * DAY, 2), "starts in 2 days", "not yet"),
        (remote(2, NOW - 9 * DAY, NOW - 3 * DAY, 2), "ended 3 days ago", "expired"),
        (remote(2, NOW - 9 * DAY, NOW - 3 * DAY), "ended 3 days ago", "says normal"),
        (
            remote(4, NOW - DAY, NOW + 40 * DAY, days=(1, 2, 3, 4, 5)),
            "Mon-Fri, until 31 Dec 2026",
            "normal",
        ),
        (
            remote(4, NOW - DAY, NOW + 40 * DAY, days=(1, 2, 3, 5)),
            "Mo-We Fr, until 31 Dec 2026",
            "normal",
        ),
        (remote(4, NOW - DAY, NOW + 40 * DAY), "no days, until 31 Dec 2026", "normal"),
        (remote(8, NOW - DAY, NOW + 40 * DAY, 7), "unknown type 8", "status 7"),
    ],
)
def test_validity_in_a_table(shown: Remote, short: str, state: str) -> None:
    found = validity(shown, NOW, BERLIN)
    assert (found.short, found.state) == (short, state)
    assert bool(found.disagreement) == state.startswith("says")


def test_validity_in_words() -> None:
    shown = remote(4, NOW - DAY, NOW + 40 * DAY, days=(1, 2, 3, 4, 5))
    assert validity(shown, NOW, BERLIN).words == (
        "Mon-Fri, until 31 Dec 2026 09:00 +01:00, in 40 days"
    )


def test_the_end_is_no_longer_part_of_the_period() -> None:
    shown = remote(2, NOW, NOW + 1)
    assert validity(shown, NOW - 1, BERLIN).phase is Phase.AHEAD
    assert validity(shown, NOW, BERLIN).phase is Phase.NOW
    assert validity(shown, NOW + 1, BERLIN).phase is Phase.OVER


@given(wild, st.integers(0, 2**62))
def test_every_remote_has_words_that_fit(shown: Remote, now_ms: int) -> None:
    found = validity(shown, now_ms, BERLIN)
    assert len(found.short) <= 27
    assert len(found.state) <= 12
    assert found.words.isprintable()


def test_differences_are_named_and_safe_to_show() -> None:
    before = RemoteValues(remote_name="A", remote_type=1, extra_data={"a": 1})
    after = RemoteValues(
        remote_name="\x1b[31m",
        remote_type=2,
        start_ms=NOW,
        end_ms=NOW + DAY,
        extra_data={"a": True},
    )
    assert [str(item) for item in differences(before, after, BERLIN)] == [
        "Name: A -> �[31m",
        "Type: permanent -> time-limited",
        "Start: none -> 2026-11-21 09:00 +01:00",
        "End: none -> 2026-11-22 09:00 +01:00",
        'Extra data: {"a": 1} -> {"a": true}',
    ]
    assert differences(before, before, BERLIN) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1, column 1"),
        ("{\n  'a': 1}", "line 2, column 3"),
        ("[1]", "an object"),
        ('{"a": NaN}', "NaN"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"a":' * 20_000 + "1" + "}" * 20_000, "deep"),
        ('{"a": ' + "9" * 5000 + "}", "too long"),
        ('{"a": 1e999}', "too large"),
    ],
)
def test_json_is_read_strictly(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says) as raised:
        json_text.read_object(text)
    assert "\n" not in str(raised.value)


def test_json_survives_being_shown() -> None:
    value = {"名": ["é", "\x1b[2J"], "n": 1.5}
    shown = json_text.write_object(value)
    assert "\x1b" not in shown
    assert json_text.read_object(shown) == value
    assert json_text.size({"é": 1}) == len('{"é":1}'.encode())
