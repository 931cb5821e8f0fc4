"""What the journal knows of fields that no list returns, and of which remote."""

from __future__ import annotations

from typing import Any

import pytest

from lockterm.domain.dates import DAY_MS
from lockterm.domain.operation import Operation, OperationState, known_fields

NOW = 1_795_161_600_000
ANNA = {"id": 5, "remoteNumber": "A-1", "createTime": NOW}


def sent(
    call: str,
    before: dict[str, Any] | None = None,
    state: OperationState = OperationState.CONFIRMED,
    settled_ms: int | None = NOW,
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
        ([sent("add", remoteNumber="A-1", mac="m", settled_ms=NOW + DAY_MS)], None),
        ([sent("add", remoteNumber="A-1", mac="m", settled_ms=NOW + DAY_MS - 1)], {"mac": "m"}),
        ([sent("add", remoteNumber="A-1", mac="m", settled_ms=None)], {"mac": "m"}),
        ([sent("updateRemoteUserNo", ANNA | {"remoteNumber": "B-2"}, remoteUserNo=2)], None),
        ([sent("updateRemoteUserNo", ANNA | {"createTime": NOW - 1}, remoteUserNo=2)], None),
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
    added = sent("add", remoteNumber="A-1", mac="m", settled_ms=NOW + 9 * DAY_MS)
    fields = known_fields([added], backup).get(5)
    assert (fields is not None) == (backup != [{"id": 5}])
