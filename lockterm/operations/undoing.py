"""Undo: the inverse of a change as a plan, drawn from the journal and from what is there now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lockterm.domain.differences import differences
from lockterm.domain.operation import Operation, title_of
from lockterm.domain.plan import Action, Step, StepState
from lockterm.domain.remotes import RECOGNISED, Remote
from lockterm.domain.text import clean
from lockterm.domain.undo import undone, why_not_undone
from lockterm.errors import LocktermError, RateLimited, Refused, RuleViolation
from lockterm.operations.plan_files import Drawn

if TYPE_CHECKING:
    from lockterm.domain.locks import Lock
    from lockterm.operations.facade import Operations


class CannotUndoError(LocktermError):
    """There is nothing that could be undone."""

    title = "Undo"


async def last_change(operations: Operations, lock_id: int) -> Operation:
    """The last change of a lock that was sent from here, whatever was refused since.

    Raises:
        CannotUndoError: There is none.
        StoreError: The journal cannot be read.
    """
    if (found := await operations.journal.last_change(lock_id)) is not None:
        return found
    raise CannotUndoError("Nothing was changed on this lock from here.")


async def draw_undo(operations: Operations, operation: Operation) -> Drawn:
    """Make a plan of the inverse of an add or an update.

    What is no longer as the change has left it is in no run, and said.

    Raises:
        CannotUndoError: It has no inverse.
        OtherService: It was sent to another service than the profile names now.
        StoreError: The lock book cannot be read.
        ServiceError: The remote cannot be read.
    """
    if reason := why_not_undone(operation):
        raise CannotUndoError(reason)
    operations.journal.require_sent_here(operation)
    lock = await operations.locks.find(operation.lock_id)
    bulk = undone(operation, operations.zone(lock), operations.now_ms())
    steps, left = [], bulk.left
    for step in bulk.steps:
        if words := await _changed_since(operations, lock, step):
            left.append(replace(step, state=StepState.SKIPPED, message=words))
        else:
            steps.append(step)
    return Drawn(operations.runs.make(f"undo: {title_of(operation)}", steps, left))


async def _changed_since(operations: Operations, lock: Lock, step: Step) -> str:
    """Why a remote is not as the change has left it, in sentences; empty: it is."""
    before = Remote.read(step.before)
    try:
        now = await operations.remotes.still(before, lock.lock_id)
    except RuleViolation as error:
        return error.message
    except Refused as error:
        if error.is_denial or isinstance(error, RateLimited) or not error.is_gone:
            raise
        return "It is gone already."
    names = step.before if step.action is Action.DELETE else step.wanted
    fields = [field for field in RECOGNISED if field.name in names]
    others = differences(before, now, operations.zone(lock), fields)
    return clean(f"It was changed since: {'; '.join(map(str, others))}.", 400) if others else ""
