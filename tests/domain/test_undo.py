"""The inverse of a change: applied to what the change has left, it gives what was before."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lockterm.domain import rules
from lockterm.domain.operation import Operation, State
from lockterm.domain.plan import Action
from lockterm.domain.remotes import UPDATED, Remote
from lockterm.domain.undo import undone, why_not_undone
from lockterm.errors import RuleViolation
from tests.domain.test_rules import NOW, as_remote, sound


def recorded(call: str, body: dict[str, Any], *before: dict[str, Any], **more: Any) -> Operation:
    given = Operation(
        id="one",
        profile="demo",
        call=call,
        path=f"/{call}",
        body={"lockId": 1001, **body},
        lock_id=1001,
        lock_name="Main gate",
        remote_id=7,
        remote_name="Anna",
        before=before,
        state=State.CONFIRMED,
        session="here",
        prepared_ms=NOW,
    )
    return replace(given, **more)


@example(
    Remote(remote_name="Anna", remote_number="1", remote_type=2, start_ms=1, end_ms=2, add_type=1),
    Remote(remote_name="Ben", remote_number="2", remote_type=1, add_type=1),
    {"remoteName", "remoteType"},
)
@given(sound(), sound(), st.sets(st.sampled_from([field.name for field in UPDATED])))
def test_what_was_told_before_comes_back(values: Remote, other: Remote, untold: set[str]) -> None:
    told = {name: value for name, value in as_remote(values).raw.items() if name not in untold}
    before = Remote.read({**told, "id": 7})
    try:
        body = rules.changes(before, other).body()
    except RuleViolation:  # it could not have been sent
        return
    after = Remote.read({**before.raw, **body})
    bulk = undone(recorded("update", {"remoteId": 7, **body}, before.raw), UTC, NOW)
    for step in bulk.steps:
        assert (step.remote_id, step.lock_id) == (7, 1001)
        assert step.before == after.raw, "another state than that of the change is undone"
        if step.action is Action.UPDATE:
            wanted = Remote.read({**after.raw, **step.wanted})
            again = {**after.raw, **rules.changes(after, wanted).body()}
        else:
            assert step.action is Action.KEEP
            again = after.raw
        said = step.message
        for field in UPDATED:
            is_back = rules.is_same(field, field.of(Remote.read(again)), field.of(before))
            assert is_back or field.called in said, (field.name, said)
    if not bulk.steps:
        (left,) = bulk.left
        assert left.message, "nothing says why it is not undone"


def test_an_add_is_undone_by_deleting_what_was_added_and_nothing_else() -> None:
    body = {"remoteName": "Anna", "remoteNumber": "A-1", "remoteType": 1, "mac": "C4:4E"}
    (step,) = undone(recorded("add", body), UTC, NOW).steps
    assert (step.action, step.lock_id, step.remote_id) == (Action.DELETE, 1001, 7)
    assert step.before == {"remoteName": "Anna", "remoteNumber": "A-1", "remoteType": 1, "id": 7}


@pytest.mark.parametrize(
    ("call", "more", "words"),
    [
        ("add", {"remote_id": None}, "did not tell the id"),
        ("add", {"state": State.UNKNOWN}, "is outcome unknown: only what was recorded"),
        ("update", {"state": State.REFUSED}, "was refused: nothing is to undo"),
        ("updateRemoteUserNo", {}, "never tells a user number"),
        ("updateLockSetting", {}, "never tells the voice"),
        ("update", {}, ""),
    ],
)
def test_it_is_said_why_a_change_has_no_inverse(
    call: str, more: dict[str, Any], words: str
) -> None:
    assert words in why_not_undone(recorded(call, {}, **more))
    assert bool(words) == bool(why_not_undone(recorded(call, {}, **more)))
