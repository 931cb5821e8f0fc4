"""The inverse of a change: applied to what the change has left, it gives what was before."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lockterm.domain import rules
from lockterm.domain.dates import DAY_MS
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.plan import Action
from lockterm.domain.remotes import UPDATED, Remote
from lockterm.domain.text.plan import describe_step, step_states
from lockterm.domain.undo import gained, undone, voice_undone, why_not_undone
from lockterm.domain.validity import RemoteState as ShownState
from lockterm.errors import RuleViolationError
from tests.domain.test_rules import NOW, as_remote, sound
from tests.samples import an_operation


def recorded(call: str, body: dict[str, Any], *before: dict[str, Any], **more: Any) -> Operation:
    about = {"body": {"lockId": 1001, **body}, "before": before, "prepared_ms": NOW}
    return an_operation(call, **about, **more)


@example(
    Remote(remote_name="Anna", remote_number="1", remote_type=2, start_ms=1, end_ms=2, add_type=1),
    Remote(remote_name="Ben", remote_number="2", remote_type=1, add_type=1),
    {"remoteName", "remoteType"},
)
@given(sound(), sound(), st.sets(st.sampled_from([field.name for field in UPDATED])))
def test_undo_restores_the_former_values(values: Remote, other: Remote, untold: set[str]) -> None:
    told = {name: value for name, value in as_remote(values).raw.items() if name not in untold}
    before = Remote.read({**told, "id": 7})
    try:
        body = rules.changes(before, other).body()
    except RuleViolationError:  # it could not have been sent
        return
    after = Remote.read({**before.raw, **body})
    bulk = undone(recorded("update", {"remoteId": 7, **body}, before.raw), UTC, NOW)
    for step in bulk.steps:
        assert (step.remote_id, step.lock_id) == (7, 1001)
        seen = {name: value for name, value in after.raw.items() if name != "status"}
        assert step.before == seen, "another state than that of the change is undone"
        if step.action is Action.UPDATE:
            wanted = Remote.read({**after.raw, **step.wanted})
            again = {**after.raw, **rules.changes(after, wanted).body()}
        else:
            assert step.action is Action.KEEP
            again = after.raw
        said = step.note
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
    # The status from before a renewal does not count.
    was = {"id": 7, "remoteType": 2, "startDate": 1, "endDate": NOW - 9 * DAY_MS, "status": 2}
    body = {"remoteId": 7, "remoteType": 2, "startDate": 1, "endDate": NOW + 90 * DAY_MS}
    (step,) = undone(recorded("update", body, was), UTC, NOW).steps
    assert step_states(step, NOW) == (ShownState.OPEN, ShownState.ENDED)


UNCERTAIN = "unconfirmed. You can undo only changes that were certainly recorded"


@pytest.mark.parametrize(
    ("call", "more", "words"),
    [
        ("add", {"remote_id": None}, "did not report the ID"),
        ("add", {"state": OperationState.UNKNOWN}, UNCERTAIN),
        ("update", {"state": OperationState.REFUSED}, "refused. Therefore there is nothing to"),
        ("updateLockSetting", {"state": OperationState.UNKNOWN}, UNCERTAIN),
        ("delete", {"state": OperationState.UNKNOWN}, "unconfirmed whether this delete took"),
        ("update", {}, ""),
    ],
)
def test_it_is_said_why_a_change_has_no_inverse(
    call: str, more: dict[str, Any], words: str
) -> None:
    reason = why_not_undone(recorded(call, {}, **more), 1)
    assert words in reason and bool(words) == bool(reason)


@pytest.mark.parametrize(
    ("told", "known", "former"),
    [
        ({}, {"remoteUserNo": 3}, 3),
        ({"remoteUserNo": 4}, {"remoteUserNo": 3}, 4),
        ({}, {}, "did not set the previous"),
        ({}, {"remoteUserNo": None}, "had no user number before"),
    ],
)
def test_undo_restores_a_user_number_when_it_is_known(
    told: dict[str, Any], known: dict[str, Any], former: int | str
) -> None:
    body = {"remoteId": 7, "remoteUserNo": 9}
    bulk = undone(recorded("updateRemoteUserNo", body, {"id": 7, **told}), UTC, NOW, known)
    if isinstance(former, str):
        (left,) = bulk.left
        assert not bulk.steps and former in left.message
        return
    (step,) = bulk.steps
    assert step.wanted == {"remoteUserNo": former}
    assert describe_step(step, UTC, NOW) == [f"User number: 9 -> {former}"]


@pytest.mark.parametrize(
    ("sent", "undone_too", "words"),
    [
        ("de-DE fr-FR*", "", "Voice: fr-FR anna -> de-DE anna"),
        ("fr-FR*", "", "did not set the previous"),
        ("de-DE unknown fr-FR*", "", "did not set the previous"),
        ("fr-FR fr-FR*", "", "The voice was the same before"),
        ("de-DE fr-FR* it-IT", "", "The voice was set again"),
        ("de-DE fr-FR* it-IT", "2", "Voice: fr-FR anna -> de-DE anna"),
    ],
)
def test_a_voice_comes_back_where_the_one_before_was_set_from_here(
    sent: str, undone_too: str, words: str
) -> None:
    all_sent = []
    for place, lang in enumerate(sent.replace("*", "").split()):
        state = OperationState.UNKNOWN if lang == "unknown" else OperationState.CONFIRMED
        body = {"currentVoiceTimbre": {"lang": lang, "timbre": "anna"}}
        all_sent.append(recorded("updateLockSetting", body, id=str(place), state=state))
    place = next(place for place, one in enumerate(sent.split()) if one.endswith("*"))
    bulk = voice_undone(all_sent[place], all_sent, {*undone_too})
    said = [*(" ".join(describe_step(step, UTC, NOW)) for step in bulk.steps)]
    said += [step.message for step in bulk.left]
    assert len(said) == 1 and words in said[0]


LIMITED = Remote(remote_type=2, start_ms=NOW - DAY_MS, end_ms=NOW + DAY_MS)
RECURRING = replace(LIMITED, remote_type=4, week_day=(1, 2))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (LIMITED, replace(LIMITED, end_ms=NOW + 2 * DAY_MS), "a later end"),
        (LIMITED, replace(LIMITED, end_ms=NOW + 1), ""),
        (LIMITED, Remote(remote_type=1), "no end date"),
        (Remote(remote_type=1), LIMITED, ""),
        (RECURRING, replace(RECURRING, week_day=(1, 3)), ""),
        (RECURRING, replace(RECURRING, week_day=(2,)), ""),
        (RECURRING, LIMITED, ""),
        (replace(LIMITED, start_ms=NOW + 1), LIMITED, ""),
        (LIMITED, replace(LIMITED, start_ms=NOW - 2 * DAY_MS), ""),
        (None, LIMITED, "gets access again"),
        (None, replace(LIMITED, end_ms=NOW), ""),
    ],
)
def test_more_access_is_said(before: Remote | None, after: Remote, words: str) -> None:
    said = gained(before, after, NOW)
    assert words in said and bool(words) == bool(said)
