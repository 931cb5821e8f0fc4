"""The inverse of a change that the service has recorded, as steps of a plan.

What a delete or a clear took away is added again by a restore: see :mod:`lockterm.domain.backup`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import tzinfo
from typing import Any

from lockterm.domain import rules
from lockterm.domain.bulk import Bulk, Target, change_each, delete_each
from lockterm.domain.history import HistoryLine
from lockterm.domain.operation import CALL_WORDS, RECORDED, STATE_WORDS, WITHOUT_EFFECT, Operation
from lockterm.domain.remotes import RECOGNISED, UPDATED, Remote

NOT_TOLD = {
    "updateRemoteUserNo": "The service never tells a user number: which one was before is not known"
    " for certain. Set it anew.",
    "updateLockSetting": "The service never tells the voice of a lock: which one was before is not"
    " known. Choose it anew.",
}
"""The calls that are not undone, and why."""


def why_not_undone(operation: Operation | HistoryLine) -> str:
    """Why an operation has no inverse, as a sentence; empty: it has one."""
    call, state = operation.call, operation.state
    if call in NOT_TOLD:
        return NOT_TOLD[call]
    if state in WITHOUT_EFFECT:
        return f"This {CALL_WORDS.get(call, call)} was {STATE_WORDS[state]}: nothing is to undo."
    if state not in RECORDED:
        words = f"This {CALL_WORDS.get(call, call)} is {STATE_WORDS[state]}"
        return f"{words}: only what was recorded for certain can be undone."
    if call == "add" and operation.remote_id is None:
        return "The service did not tell the id of what was added: look for it, and delete it."
    return ""


def undone(operation: Operation, zone: tzinfo, now_ms: int) -> Bulk:
    """The inverse of an add or an update that was recorded.

    Each step takes the remote as the change has left it: as anything else it is not touched.

    Args:
        operation: :func:`why_not_undone` has nothing against it.
        zone: Of its lock.
        now_ms: Now, in milliseconds.
    """
    body = operation.body
    if operation.call == "add":
        names = {field.name for field in RECOGNISED}
        added = {name: value for name, value in body.items() if name in names}
        remote = Remote.read({**added, "id": operation.remote_id})
        return delete_each([Target(operation.lock_id, remote, zone)])
    before: Mapping[str, Any] = operation.before[0] if operation.before else {}
    was = Remote.read(before)
    changed = [field for field in UPDATED if field.name in body]
    after = Remote.read(
        {**before, **{field.name: body[field.name] for field in changed}, "id": operation.remote_id}
    )
    told = [field for field in changed if field.name in was.raw and field.name not in was.odd]
    wanted = replace(after, **{field.attribute: field.of(was) for field in told})
    bulk = change_each([Target(operation.lock_id, after, zone)], lambda *_: wanted, now_ms)
    for place, step in enumerate(bulk.steps):
        sent = rules.changes(after, wanted).body() if step.wanted else {}
        again = Remote.read({**after.raw, **sent})
        lost = [
            field.called
            for field in changed
            if field not in told or not rules.is_same(field, field.of(again), field.of(was))
        ]
        if lost:
            words = f"This does not come back, and stays as it is: {', '.join(lost)}."
            bulk.steps[place] = replace(step, message=words)
    return bulk
