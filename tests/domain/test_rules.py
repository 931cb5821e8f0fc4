"""The rules of the contract for the three types, over arbitrary remotes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.domain.names import normalize_name
from lockterm.domain.remotes import Remote
from lockterm.domain.rules import changes, new_remote, violations, warnings
from lockterm.errors import RuleViolationError

NOW = 1_795_220_000_000
names = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1).filter(
    lambda text: "\N{REPLACEMENT CHARACTER}" not in text
)
dates = st.integers(1, 2**63 - 1)
objects = st.dictionaries(st.text(max_size=5), st.integers() | st.booleans() | st.floats(0, 2))


@st.composite
def sound(draw: st.DrawFn) -> Remote:
    """Values that break no rule."""
    start, end = sorted(draw(st.lists(dates, min_size=2, max_size=2, unique=True)))
    return Remote(
        remote_name=draw(names),
        remote_number=draw(names),
        remote_type=draw(st.sampled_from([1, 2, 4])),
        add_type=draw(st.sampled_from([1, 2])),
        start_ms=start,
        end_ms=end,
        week_day=tuple(draw(st.permutations(sorted(draw(st.sets(st.integers(1, 7))))))),
        is_coerced=draw(st.sampled_from([None, 0, 1, 2])),
        extra_data=draw(st.none() | objects),
    )


anything = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers())
wild = st.builds(
    Remote.read,
    st.fixed_dictionaries(
        {},
        optional={
            "id": anything,
            "remoteName": anything,
            "remoteNumber": anything,
            "remoteType": anything | st.sampled_from([1, 2, 4, 8]),
            "startDate": anything,
            "endDate": anything,
            "weekDay": anything | st.lists(st.integers(-2, 10)),
            "isCoerced": anything,
            "extraData": anything | objects,
        },
    ),
)


def as_remote(values: Remote) -> Remote:
    """What a service would return for values that were added."""
    return Remote.read({"id": 1, "status": 1, **new_remote(1001, values).body()})


@given(sound())
def test_a_new_remote_carries_what_its_type_needs_and_no_more(values: Remote) -> None:
    body = new_remote(1001, values).body()
    if values.remote_type == 1:
        assert (body["startDate"], body["endDate"], body["weekDay"]) == (0, 0, [])
    else:
        assert (body["startDate"], body["endDate"]) == (values.start_ms, values.end_ms)
        days = sorted(values.week_day) if values.remote_type == 4 else []
        assert body["weekDay"] == days
    assert None not in body.values()


@given(sound(), sound())
def test_an_update_sends_the_four_together_or_none_of_them(values: Remote, other: Remote) -> None:
    before = as_remote(values)
    body = changes(before, other).body()
    four = {"remoteType", "startDate", "endDate", "weekDay"}
    assert set(body) & four in (set(), four)
    after = {**new_remote(1001, values).body(), **body}
    wanted = new_remote(1001, other).body()
    for field in four | {"remoteName"}:
        assert after[field] == wanted[field]


@given(wild, names)
def test_a_new_name_alone_is_sent_alone(before: Remote, name: str) -> None:
    body = changes(before, replace(before, remote_name=name)).body()
    assert body in ({}, {"remoteName": normalize_name(name)})


@given(wild, sound())
def test_nothing_that_the_contract_does_not_know_is_sent(before: Remote, after: Remote) -> None:
    kind = before.remote_type
    try:
        body = changes(before, replace(after, remote_type=kind)).body()
    except RuleViolationError as error:
        assert error.reasons
        return
    assert body.get("remoteType", 1) in (1, 2, 4)
    assert set(body.get("weekDay", [])) <= set(range(1, 8))


GOOD = Remote(
    remote_name="Anna Weber",
    remote_number="A-2041",
    remote_type=4,
    add_type=1,
    start_ms=NOW,
    end_ms=NOW + 1,
    week_day=(1, 2),
)


@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        ({"remote_name": "  "}, "remoteName", "required"),
        ({"remote_name": "a\x1b[31m"}, "remoteName", "invisible"),
        ({"remote_name": "a\N{REPLACEMENT CHARACTER}"}, "remoteName", "lost character"),
        ({"remote_number": ""}, "remoteNumber", "required"),
        ({"remote_type": None}, "remoteType", "Choose a type"),
        ({"remote_type": 8}, "remoteType", "Choose a type"),
        ({"start_ms": None}, "startDate", "start date is required"),
        ({"end_ms": None}, "endDate", "end date is required"),
        ({"start_ms": 0}, "startDate", "A start date is required"),
        ({"start_ms": -1}, "startDate", "1970"),
        ({"end_ms": 2**63}, "endDate", "64-bit time"),
        ({"end_ms": NOW}, "endDate", "after the start"),
        ({"week_day": (1, 1)}, "weekDay", "each at most once"),
        ({"week_day": (0,)}, "weekDay", "each at most once"),
        ({"add_type": None}, "addType", "how the remote was added"),
        ({"add_type": 3}, "addType", "how the remote was added"),
        ({"business_id": 2**63}, "businessId", "64-bit"),
        ({"is_coerced": 3}, "isCoerced", "one of the three"),
        ({"remote_right": -1}, "remoteRight", "one of the three"),
    ],
)
def test_each_rule_names_its_field(change: dict[str, Any], field: str, says: str) -> None:
    reasons = violations(replace(GOOD, **change))
    assert list(reasons) == [field]
    assert says in reasons[field]
    with pytest.raises(RuleViolationError):
        new_remote(1001, replace(GOOD, **change))


def test_what_is_allowed_but_asked() -> None:
    assert warnings(GOOD, NOW) == {}
    assert "will not open the lock" in warnings(GOOD, NOW + 2)["endDate"]
    assert "does not define" in warnings(replace(GOOD, week_day=()), NOW)["weekDay"]
    fits, large = {"a": "é" * 508}, {"a": "é" * 509}
    assert warnings(replace(GOOD, extra_data=fits), NOW) == {}
    assert "1,026 bytes" in warnings(replace(GOOD, extra_data=large), NOW)["extraData"]
    kept = replace(GOOD, end_ms=NOW + 9, extra_data=large)
    assert warnings(kept, NOW + 2, as_remote(kept)) == {}


def test_json_that_python_calls_equal_is_a_change_and_odd_dates_are_none() -> None:
    before = as_remote(replace(GOOD, extra_data={"a": 1}))
    body = changes(before, replace(before, extra_data={"a": True})).body()
    assert body == {"extraData": {"a": True}}
    odd = {"id": 1, "remoteName": "a", "remoteType": 1, "startDate": 5, "endDate": 2}
    before = Remote.read(odd)
    assert changes(before, replace(before, remote_name="b")).body() == {"remoteName": "b"}
