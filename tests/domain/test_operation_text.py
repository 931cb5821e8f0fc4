"""What an operation was about, in a column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.text.operation import describe_change_briefly, describe_operation
from tests.conftest import NOW_MS
from tests.samples import an_operation

DAY_MS = 86_400_000
DATES = {"startDate": NOW_MS, "endDate": NOW_MS + DAY_MS}


def operation(call: str, body: Any, before: Any = ()) -> Operation:
    return an_operation(call, lock_id=1, body=body, before=before, remote_id=1, remote_name="")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"remoteType": 1, **DATES}, "valid always"),
        ({"remoteType": 2, **DATES}, "valid 20 Nov 2026 to 21 Nov 2026"),
        (
            {"remoteType": 2, **DATES, "endDate": NOW_MS + 3_600_000},
            "valid 20 Nov 2026 09:00 +01:00 to 20 Nov 2026 10:00 +01:00",
        ),
        ({"remoteType": 4, **DATES}, "valid no weekdays, 20 Nov 2026 to 21 Nov 2026"),
        ({"remoteType": 2, "startDate": NOW_MS}, "valid no start or no end"),
        ({"remoteType": 9, **DATES}, "valid type unknown (9)"),
        ({}, "valid type not stated"),
    ],
)
def test_when_it_opens(body: Any, words: str) -> None:
    assert describe_change_briefly(operation("add", body), ZoneInfo("Europe/Berlin")) == words


def test_what_was_there_before_is_not_made_up() -> None:
    zone = ZoneInfo("Europe/Berlin")
    assert not describe_change_briefly(operation("update", {"remoteName": "x"}), zone)
    assert not describe_change_briefly(operation("delete", {}), zone)
    number = {"remoteUserNo": 7}
    assert (
        describe_change_briefly(operation("updateRemoteUserNo", number), zone) == "User number -> 7"
    )
    words = describe_change_briefly(
        operation("updateRemoteUserNo", number, ({"remoteUserNo": 5},)), zone
    )
    assert words == "User number 5 -> 7"


def test_unchanged_fields_are_left_out_of_the_description() -> None:
    before = {"remoteType": 2, **DATES, "weekDay": []}
    body = {**before, "endDate": NOW_MS + 9 * DAY_MS}
    words = describe_change_briefly(operation("update", body, (before,)), ZoneInfo("Europe/Berlin"))
    assert words == "End 21 Nov 2026 -> 29 Nov 2026"


def test_an_operation_that_was_read_back_says_when_it_was_read() -> None:
    lost = replace(operation("delete", {}), state=OperationState.UNKNOWN, sent_ms=NOW_MS)
    zone = ZoneInfo("Europe/Berlin")
    assert ", read" not in describe_operation(lost, zone, NOW_MS)
    read = replace(lost, read_ms=NOW_MS + 60_000)
    assert describe_operation(read, zone, NOW_MS).endswith(", verified 09:01 +01:00")
