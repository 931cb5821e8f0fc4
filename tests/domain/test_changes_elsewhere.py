"""Comparing two lists of a lock: what others changed, and what this machine did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.domain import changes_elsewhere
from lockterm.domain.changes_elsewhere import (
    ChangeElsewhere,
    ChangeKind,
    Comparison,
    describe_change,
    describe_kind,
    describe_values,
    read_differing,
)
from lockterm.domain.dates import DAY_MS
from lockterm.domain.listing import Block
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.remotes import Remote
from lockterm.operations.kept_lists import without_own
from tests.conftest import NOW_MS
from tests.samples import an_operation

LOCK = 7
BERLIN = ZoneInfo("Europe/Berlin")

records = st.fixed_dictionaries(
    {
        "remoteName": st.sampled_from(["Anna", "Omar", "Zoë"]),
        "endDate": st.sampled_from([0, NOW_MS, NOW_MS + DAY_MS]),
        "status": st.sampled_from([1, 2]),
    }
)
lists = st.dictionaries(st.integers(1, 12), records, max_size=12)


def pack(listed: dict[int, dict[str, Any]], size: int) -> Sequence[bytes]:
    """Return the packed records of a list, in blocks of a size."""
    remotes = [Remote.read({"id": remote_id, **one}) for remote_id, one in listed.items()]
    blocks = (remotes[at : at + size] for at in range(0, max(len(remotes), 1), size))
    return [Block.of(block).records for block in blocks]


def compare(
    old: dict[int, dict[str, Any]],
    new: dict[int, dict[str, Any]],
    *,
    sizes: tuple[int, int] = (5, 5),
    is_old_whole: bool = True,
    is_new_whole: bool = True,
) -> list[ChangeElsewhere]:
    two = read_differing(pack(old, sizes[0]), pack(new, sizes[1]))
    readings = Comparison(LOCK, NOW_MS, NOW_MS + DAY_MS, is_old_whole, is_new_whole)
    return [*readings.find_changes(*two)]


def told(found: Sequence[ChangeElsewhere]) -> set[tuple[int, str, tuple[str, ...]]]:
    return {(one.remote_id, one.what.value, tuple(one.names)) for one in found}


@given(lists, lists, st.integers(1, 6), st.integers(1, 6), st.booleans(), st.booleans())
def test_comparison_finds_exactly_the_differences_whatever_the_pages(
    old: dict[int, dict[str, Any]],
    new: dict[int, dict[str, Any]],
    one: int,
    other: int,
    is_old_whole: bool,
    is_new_whole: bool,
) -> None:
    expected = set()
    for remote_id in {*old, *new}:
        if remote_id not in old:
            expected |= {(remote_id, "new", ())} if is_old_whole else set()
        elif remote_id not in new:
            expected |= {(remote_id, "gone", ())} if is_new_whole else set()
        else:
            two = old[remote_id], new[remote_id]
            names = tuple(
                name for name in ("remoteName", "endDate") if two[0][name] != two[1][name]
            )
            expected |= {(remote_id, "changed", names)} if names else set()
    sizes = (one, other)
    found = compare(old, new, sizes=sizes, is_old_whole=is_old_whole, is_new_whole=is_new_whole)
    assert told(found) == expected
    for change in found:
        assert [change.before[name] for name in change.names] == [
            old[change.remote_id][name] for name in change.names
        ]


def operation(call: str, remote_id: int | None, state: OperationState, **body: Any) -> Operation:
    about = {"id": f"{call} {remote_id}", "lock_id": LOCK, "remote_id": remote_id, "body": body}
    return an_operation(call, **about, state=state, settled_ms=NOW_MS)


@given(
    lists,
    lists,
    st.lists(
        st.sampled_from([OperationState.CONFIRMED, OperationState.UNKNOWN, OperationState.REFUSED]),
        min_size=12,
    ),
)
def test_own_changes_are_left_out_and_those_of_others_stay(
    old: dict[int, dict[str, Any]], new: dict[int, dict[str, Any]], states: list[OperationState]
) -> None:
    """Each remote with an even ID was changed here; a refused change has no effect."""
    found = compare(old, new)
    own, explained = [], set()
    for change in found:
        if change.remote_id % 2:
            continue
        state, body = states[change.remote_id - 1], new.get(change.remote_id, {})
        call = {ChangeKind.NEW: "add", ChangeKind.CHANGED: "update", ChangeKind.GONE: "delete"}[
            change.what
        ]
        own.append(operation(call, change.remote_id, state, **body))
        if state is not OperationState.REFUSED:
            explained.add(change.remote_id)
    left = [*without_own(found, own, NOW_MS + DAY_MS, 0.0)]
    assert told(left) == {one for one in told(found) if one[0] not in explained}


def only(found: Sequence[ChangeElsewhere]) -> ChangeElsewhere:
    (one,) = found
    return one


ANNA = {"remoteName": "Anna", "remoteNumber": "A-1", "endDate": NOW_MS, "updateTime": NOW_MS}


@pytest.mark.parametrize("seconds", [1, 60])
def test_override_of_an_own_change_counts_if_the_service_noted_it_later(seconds: int) -> None:
    """The service may keep another form of a sent value, so a difference alone proves nothing."""
    updated = NOW_MS + seconds * 1000
    found = compare({1: ANNA}, {1: ANNA | {"endDate": NOW_MS + 3 * DAY_MS, "updateTime": updated}})
    own = [operation("update", 1, OperationState.CONFIRMED, remoteId=1, endDate=NOW_MS + DAY_MS)]
    left = [*without_own(found, own, NOW_MS + DAY_MS, 0.0)]
    if seconds == 1:
        assert left == []
    else:
        assert only(left).before["endDate"] == NOW_MS + DAY_MS, "compared with the own change"
        assert [*without_own(found, own, NOW_MS + DAY_MS, None)] == [], "the clock is unknown"


def test_add_without_an_answer_explains_a_new_remote_with_its_name_and_number() -> None:
    found = compare({}, {1: ANNA, 2: ANNA | {"remoteNumber": "B-2"}})
    add = operation("add", None, OperationState.UNKNOWN, remoteName="Anna", remoteNumber="A-1")
    assert told([*without_own(found, [add], NOW_MS, 0.0)]) == {(2, "new", ())}


def test_old_copies_unclear_values_and_too_many_differences_are_no_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    older = ANNA | {"endDate": NOW_MS - DAY_MS, "updateTime": NOW_MS - DAY_MS}
    assert compare({1: ANNA}, {1: older}) == []
    known = {name: value for name, value in ANNA.items() if name != "endDate"}
    for unclear in (known | {"endDate": "soon"}, known):
        assert compare({1: ANNA}, {1: unclear}) == []
    assert [*only(compare({1: ANNA}, {1: known | {"endDate": None}})).names] == ["endDate"]
    monkeypatch.setattr(changes_elsewhere, "MOST_DIFFERING", 2)
    old = {number: ANNA for number in range(1, 4)}
    assert compare(old, {number: one | {"remoteName": "?"} for number, one in old.items()}) == []


def test_change_is_described_with_values_and_readings_and_without_control_characters() -> None:
    named = ANNA | {"remoteName": "\x1b]0;owned\x07[b]Evil"}
    one = only(compare({1: ANNA}, {1: named | {"endDate": NOW_MS + DAY_MS}}))
    assert describe_kind(one) == "changed: name, end"
    words = describe_change(one, BERLIN, NOW_MS)
    assert "\x1b" not in words and "\x07" not in words
    assert words.startswith("Changed elsewhere: Name: Anna -> ")
    assert " +01:00 -> " in words and " (between " in words
    new = only(compare({}, {1: ANNA}))
    assert describe_values(new, BERLIN).startswith("Number A-1, End ")
    data = {"extraData": {"note": "x" * 5000}}  # too long to keep
    one = only(compare({1: ANNA | {"extraData": {}}}, {1: ANNA | data}))
    assert "extraData" not in one.after
    assert describe_values(one, BERLIN) == "Extra data"
