"""The steps that undo a recorded change, and the reasons why a change cannot be undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from datetime import tzinfo
from math import inf
from typing import Any

from lockterm.domain import rules
from lockterm.domain.bulk import Target, change_each, delete_each
from lockterm.domain.copies import BackedUp, copied
from lockterm.domain.names import to_storable
from lockterm.domain.operation import (
    IN_FLIGHT,
    RECORDED,
    UNCONFIRMED,
    WITHOUT_EFFECT,
    HistoryLine,
    Operation,
    OperationState,
    voice_set,
)
from lockterm.domain.plan import Action, PlannedSteps, Step, StepState
from lockterm.domain.remotes import RECOGNIZED, UPDATED, Remote, RemoteType
from lockterm.domain.text.operation import STATE_NAMES
from lockterm.domain.validity import Phase, phase_of
from lockterm.keymap.hints import settle_first

VOICE_UNSEEN = (
    "The voice may have been set elsewhere since then. The service does not report the"
    " current voice."
)
VOICE = (
    "The service does not report the voice of a lock, and lockterm did not set the"
    " previous voice. Choose a voice yourself."
)
USER_NO = (
    "The service does not report user numbers, and lockterm did not set the previous"
    " number. Set the number yourself."
)
NO_USER_NO = "The remote had no user number before, and the service has no call that removes one."


def undone(
    operation: Operation, zone: tzinfo, now_ms: int, known: Mapping[str, Any] | None = None
) -> PlannedSteps:
    """Return the steps that undo a recorded add, update or change of a user number.

    Each step expects the values that the recorded change set. If the remote was changed again since
    then, the step is skipped.

    Args:
        operation: An operation for which ``why_not_undone`` returns an empty string.
        zone: The time zone of the lock.
        now_ms: Now, in milliseconds.
        known: The former values of hidden fields, which lists never contain. They are needed to
            undo a change of a user number.
    """
    body = operation.body
    if operation.call == "add":
        names = {field.name for field in RECOGNIZED}
        added = {name: value for name, value in body.items() if name in names}
        remote = Remote.read({**added, "id": operation.remote_id})
        return delete_each([Target(operation.lock_id, remote, zone)])
    before: Mapping[str, Any] = operation.before[0] if operation.before else {}
    was = Remote.read(before)
    if operation.call == "updateRemoteUserNo":
        return _user_no_undone(operation, was, known or {})
    changed = [field for field in UPDATED if field.name in body]
    # The service may have changed the status with the change.
    others = {name: value for name, value in before.items() if name != "status"}
    after = Remote.read(
        {**others, **{field.name: body[field.name] for field in changed}, "id": operation.remote_id}
    )
    readable = [field for field in changed if field.name in was.raw and field.name not in was.odd]
    wanted = replace(after, **{field.attribute: field.of(was) for field in readable})
    bulk = change_each([Target(operation.lock_id, after, zone)], lambda *_: wanted, now_ms)
    for place, step in enumerate(bulk.steps):
        sent = rules.changes(after, wanted).body() if step.wanted else {}
        again = Remote.read({**after.raw, **sent})
        notes = [note] if (note := gained(after, again, now_ms)) else []
        lost = [
            field.called
            for field in changed
            if field not in readable or not rules.is_same(field, field.of(again), field.of(was))
        ]
        if lost:
            notes.append(f"This cannot be restored and will stay: {', '.join(lost)}.")
        bulk.steps[place] = replace(step, note=" ".join(notes))
    return bulk


def voice_undone(
    operation: Operation, sent: Sequence[Operation], undone_too: Set[str]
) -> PlannedSteps:
    """Return a step that sets the former voice of a lock again.

    The step is left out, with the reason, if lockterm did not set the former voice, or if a later
    operation that is not in ``undone_too`` may have set the voice again.

    Args:
        operation: The operation to undo.
        sent: All operations that set or may have set the voice of the lock, the oldest first.
        undone_too: The IDs of later operations that are undone before this one.
    """
    before = voice_set(operation)
    step = Step(0, Action.VOICE, operation.lock_id, None, "", before=before)
    place = next((n for n, one in enumerate(sent) if one.id == operation.id), 0)
    if any(one.id not in undone_too for one in sent[place + 1 :]):
        reason = "The voice was set again after this change."
        return PlannedSteps([], [replace(step, state=StepState.SKIPPED, message=reason)])
    former = sent[place - 1] if place else None
    wanted = voice_set(former) if former is not None and former.state in RECORDED else {}
    if not wanted:
        return PlannedSteps([], [refused(step, VOICE)])
    if wanted == before:
        return PlannedSteps(
            [], [refused(step, "The voice was the same before, so there is nothing to undo.")]
        )
    return PlannedSteps([replace(step, wanted=wanted, note=VOICE_UNSEEN)], [])


def _user_no_undone(operation: Operation, was: Remote, known: Mapping[str, Any]) -> PlannedSteps:
    """Return a step that sets the former user number of a remote again.

    If the former number is unknown, the step is refused.

    Args:
        operation: The operation to undo, which set the present number.
        was: The remote before the operation.
        known: The former values of hidden fields that are known from earlier operations.
    """
    name = "remoteUserNo"
    now = operation.body.get(name)
    values = {name: was.remote_user_no} if was.remote_user_no is not None else known
    former = values.get(name)
    shown = to_storable(operation.remote_name)
    before = {**was.raw, name: now}
    step = Step(0, Action.UPDATE, operation.lock_id, operation.remote_id, shown, before=before)
    if former is None:
        return PlannedSteps([], [refused(step, NO_USER_NO if name in values else USER_NO)])
    if former == now:
        return PlannedSteps([replace(step, action=Action.KEEP)], [])
    return PlannedSteps([replace(step, wanted={name: former})], [])


def restored(
    backups: Sequence[tuple[str, BackedUp]],
    lock_id: int,
    there: Sequence[Remote],
    now_ms: int,
    *,
    renames: bool,
) -> PlannedSteps:
    """Return steps that add the remotes of backups again.

    A remote counts as already restored if the lock has a remote with the same name and number.

    Args:
        backups: The remotes to restore, each with the ID of the operation that deleted it.
        lock_id: The ID of the lock that the remotes belonged to.
        there: All remotes of the lock.
        now_ms: Now, in milliseconds.
        renames: Whether a remote whose name is taken gets another name. If false, its step is
            refused.
    """
    bulk = PlannedSteps([], [])
    remotes = [remote for _, remote in backups]
    pairs = {(one.remote.remote_name, one.remote.remote_number) for one in remotes}
    numbered = [
        one
        if (one.remote_name, one.remote_number) in pairs
        else replace(one, remote_number=None)  # another remote may have the same number
        for one in there
    ]
    steps = copied(remotes, lock_id, numbered, renames=renames)
    for (operation_id, backup), step in zip(backups, steps, strict=True):
        if step.state is StepState.REFUSED:
            bulk.left.append(step)
        elif step.action is Action.KEEP:
            bulk.steps.append(step)
        else:
            note = gained(None, Remote.read(step.wanted), now_ms)
            before = backup.remote.raw
            bulk.steps.append(replace(step, restores=operation_id, before=before, note=note))
    return bulk


def refused(step: Step, reason: str) -> Step:
    """Return a refused step, with the reason why lockterm cannot plan it."""
    return replace(step, state=StepState.REFUSED, message=reason)


def gained(before: Remote | None, after: Remote, now_ms: int) -> str:
    """Return a note about access that an undo gives back: a later end, or a restored remote.

    The note is empty if the end is not later, or if the remote will be expired. The note does not
    mention an earlier start and more weekdays, because the plan shows these for every step.

    Args:
        before: The remote before the change; None if the remote was deleted.
        after: The remote after the change.
        now_ms: Now, in milliseconds.
    """
    if phase_of(after, now_ms) is Phase.OVER:
        return ""
    if before is None:
        return "The deleted remote gets access again."
    end, new_end = _end_of(before), _end_of(after)
    if end >= new_end:
        return ""
    return f"The remote gets more access: {'no end date' if new_end == inf else 'a later end'}."


def _end_of(remote: Remote) -> float:
    return inf if remote.remote_type == RemoteType.PERMANENT else remote.end_ms or inf


TAKEN_AWAY = frozenset({"delete", "clear"})
"""The calls that are undone by adding the deleted remotes again."""


def why_not_undone(operation: Operation | HistoryLine, count: int) -> str:
    """Return sentences that explain why an operation cannot be undone; empty if it can be undone.

    Args:
        operation: The operation.
        count: Number of remotes in the backup of the operation.
    """
    call, state = operation.call, operation.state
    if call in TAKEN_AWAY:
        return why_not_restorable(operation, count)
    if state in WITHOUT_EFFECT:
        return f"Result of this change: {STATE_NAMES[state]}. Therefore there is nothing to undo."
    if state not in RECORDED:
        result = f"Result of this change: {STATE_NAMES[state]}"
        return f"{result}. You can undo only changes that were certainly recorded."
    if call == "add" and operation.remote_id is None:
        return (
            "The service did not report the ID of the added remote. Find the remote and delete it."
        )
    return ""


def why_not_restorable(operation: Operation | HistoryLine, count: int) -> str:
    """Return why deleted remotes cannot be restored; empty if they can be restored.

    Args:
        operation: The operation that deleted the remotes.
        count: Number of remotes in the backup of the operation.
    """
    if operation.call not in TAKEN_AWAY:
        return "Only remotes that a delete or a clear removed can be restored."
    if operation.state is OperationState.DAMAGED:
        return "This entry of the history is damaged, so its backup cannot be trusted."
    if operation.state in UNCONFIRMED | IN_FLIGHT:
        return f"It is unconfirmed whether this {operation.call} took effect. {settle_first()}"
    is_replaced = operation.call == "clear" and operation.state is OperationState.SENT_AGAIN
    if operation.state not in RECORDED | {OperationState.GIVEN_UP} and not is_replaced:
        return (
            f"Result of this change: {STATE_NAMES[operation.state]}. Therefore there is nothing to"
            " restore."
        )
    if not count:
        return f"There was nothing to {operation.call}."
    return ""
