"""Operations: what one was about, in a column, and what the journal knows of unlisted fields."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from lockterm.domain.dates import DAY_MS
from lockterm.domain.operation import Operation, OperationState, known_fields
from lockterm.domain.text.operation import describe_change_briefly, describe_operation
from tests.conftest import NOW_MS
from tests.samples import an_operation

BERLIN = ZoneInfo("Europe/Berlin")
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
    assert describe_change_briefly(operation("add", body), BERLIN) == words


def test_what_was_there_before_is_not_made_up_and_unchanged_fields_are_left_out() -> None:
    def briefly(call: str, body: Any, *before: Any) -> str:
        return describe_change_briefly(operation(call, body, before), BERLIN)

    assert not briefly("update", {"remoteName": "x"})
    assert not briefly("delete", {})
    number = {"remoteUserNo": 7}
    assert briefly("updateRemoteUserNo", number) == "User number -> 7"
    assert briefly("updateRemoteUserNo", number, {"remoteUserNo": 5}) == "User number 5 -> 7"
    was = {"remoteType": 2, **DATES, "weekDay": []}
    words = briefly("update", {**was, "endDate": NOW_MS + 9 * DAY_MS}, was)
    assert words == "End 21 Nov 2026 -> 29 Nov 2026"


def test_an_operation_that_was_read_back_says_when_it_was_read() -> None:
    lost = replace(operation("delete", {}), state=OperationState.UNKNOWN, sent_ms=NOW_MS)
    assert ", read" not in describe_operation(lost, BERLIN, NOW_MS)
    read = replace(lost, read_ms=NOW_MS + 60_000)
    assert describe_operation(read, BERLIN, NOW_MS).endswith(", verified 09:01 +01:00")


ANNA = {"id": 5, "remoteNumber": "A-1", "createTime": NOW_MS}


def sent(
    call: str,
    before: dict[str, Any] | None = None,
    state: OperationState = OperationState.CONFIRMED,
    settled_ms: int | None = NOW_MS,
    **body: Any,
) -> Operation:
    """A change of remote 5 as the journal has it."""
    found = (before,) if before is not None else ()
    place = ("p", call, "", body, 1001, "", 5, "", found)
    return Operation("x", *place, state, "s", 0, settled_ms=settled_ms)


ADDED = sent("add", remoteNumber="A-1", mac="m")
USER_NO = sent("updateRemoteUserNo", ANNA, remoteUserNo=2)


@pytest.mark.parametrize(
    ("operations", "fields"),
    [
        ([ADDED], {"mac": "m", "remoteUserNo": None}),
        ([ADDED, USER_NO], {"mac": "m", "remoteUserNo": 2}),
        ([USER_NO], {"remoteUserNo": 2}),
        ([sent("add", remoteNumber="B-2", mac="m")], None),
        ([sent("add", mac="m")], {"mac": "m"}),
        ([sent("add", remoteNumber="A-1", mac="m", settled_ms=NOW_MS + DAY_MS)], None),
        ([sent("add", remoteNumber="A-1", mac="m", settled_ms=NOW_MS + DAY_MS - 1)], {"mac": "m"}),
        ([sent("add", remoteNumber="A-1", mac="m", settled_ms=None)], {"mac": "m"}),
        ([sent("updateRemoteUserNo", ANNA | {"remoteNumber": "B-2"}, remoteUserNo=2)], None),
        ([sent("updateRemoteUserNo", ANNA | {"createTime": NOW_MS - 1}, remoteUserNo=2)], None),
        ([sent("updateRemoteUserNo", {"id": 5}, remoteUserNo=2)], {"remoteUserNo": 2}),
        ([sent("updateRemoteUserNo", remoteUserNo=2)], {"remoteUserNo": 2}),
        ([ADDED, sent("delete", ANNA)], None),
        ([ADDED, sent("delete", ANNA, OperationState.REFUSED)], {"mac": "m"}),
        ([ADDED, sent("clear", ANNA)], None),
        ([ADDED, sent("clear", ANNA, OperationState.REFUSED)], {"mac": "m"}),
        ([sent("add", None, OperationState.UNKNOWN, remoteNumber="A-1", mac="m")], None),
    ],
)
def test_known_fields_are_those_of_the_same_remote_when_an_id_is_used_again(
    operations: list[Operation], fields: dict[str, Any] | None
) -> None:
    known = known_fields(operations, [ANNA]).get(5)
    assert (known is None) == (fields is None), known
    assert known is None or fields is None or fields.items() <= known.items()


@pytest.mark.parametrize("backup", [[], [{"id": 5}], [ANNA | {"createTime": "soon"}]])
def test_known_fields_are_those_of_the_id_when_a_backup_has_nothing_to_compare(
    backup: list[dict[str, Any]],
) -> None:
    added = sent("add", remoteNumber="A-1", mac="m", settled_ms=NOW_MS + 9 * DAY_MS)
    fields = known_fields([added], backup).get(5)
    assert (fields is not None) == (backup != [{"id": 5}])
