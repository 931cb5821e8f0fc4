"""Undo and restore: plans that reverse changes, made from the journal and the locks.

The journal alone decides which remotes were already restored, because each add names the remote
that it restores. So no remote is restored twice, even by different plans.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lockterm.domain.copies import BackedUp, read_backup
from lockterm.domain.operation import (
    IN_FLIGHT,
    RECORDED,
    UNSETTLED,
    WITHOUT_EFFECT,
    Operation,
    known_fields,
)
from lockterm.domain.plan import NAME_TAKEN, Action, PlannedSteps, Step, StepState
from lockterm.domain.remotes import RECOGNIZED, Remote, is_still
from lockterm.domain.safe_text import clean
from lockterm.domain.text.difference import find_differences
from lockterm.domain.text.operation import STATE_NAMES, format_operation
from lockterm.domain.text.remote import describe_losses, format_remote
from lockterm.domain.undo import refused, restored, undone, voice_undone
from lockterm.domain.undoable import TAKEN_AWAY, why_not_restorable, why_not_undone
from lockterm.errors import LocktermError, StoreError
from lockterm.keymap.hints import settle_first
from lockterm.operations.planner import PlanDraft, PlanSource, ReadLock, make_plan, read_locks

if TYPE_CHECKING:
    from lockterm.operations.facade import Operations


class CannotUndoError(LocktermError):
    """A change that cannot be undone."""

    title = "Undo"


# --- what is undone ------------------------------------------------------------------------------


async def undo_last(operations: Operations, lock_id: int, *, renames: bool = False) -> PlanDraft:
    """Make a plan that undoes the last change of a lock, or the whole run of that change.

    Raises:
        CannotUndoError: There is no change to undo, or the change has no inverse.
        LocktermError: As for :func:`plan_undo`.
    """
    found = await operations.journal.last_change(lock_id)
    if found is None:
        raise CannotUndoError("lockterm has changed nothing on this lock.")
    run_id = await operations.journal.run_of(found)
    if run_id and len(await operations.journal.of_run(run_id)) > 1:
        draft = await undo_run(operations, run_id, renames=renames)
        name = clean(format_operation(found), 60)
        words = f"The last change, {name}, belongs to this run. The plan undoes the whole run."
        return replace(draft, about=words)
    return await undo_one(operations, found.id, renames=renames)


async def undo_one(
    operations: Operations, operation_id: str, *, renames: bool = False
) -> PlanDraft:
    """Make a plan that undoes an operation; see :func:`plan_undo`.

    Raises:
        CannotUndoError: The operation has no inverse.
        StoreError: The journal does not have the operation.
    """
    change = await operations.journal.find(operation_id)
    if change is None:
        raise StoreError("The history no longer contains this change.")
    if reason := why_not_undone(change, len(change.before)):
        raise CannotUndoError(reason)
    verb = "restore" if change.call in TAKEN_AWAY else "undo"
    title = f"{verb}: {format_operation(change)}"
    return await plan_undo(operations, [change], title, renames=renames)


async def backup_of(operations: Operations, operation_id: str) -> Operation:
    """Return a delete or a clear that has a backup of the deleted remotes.

    Raises:
        CannotUndoError: The operation does not exist or cannot be restored.
        OtherService: The operation was sent to another service than the profile names now.
        StoreError: The journal cannot be read.
    """
    change = await operations.journal.find(operation_id)
    if change is None or (reason := why_not_restorable(change, len(change.before))):
        raise CannotUndoError("There is no such change." if change is None else reason)
    operations.journal.account.require(change)
    return change


async def undo_run(operations: Operations, run_id: str, *, renames: bool = False) -> PlanDraft:
    """Make a plan that undoes all changes of a run; see :func:`plan_undo`.

    Raises:
        CannotUndoError: The run is still running, or has changed nothing.
        NoSuchRun: The history no longer contains the run.
    """
    plan = await operations.runs.find(run_id)
    if plan.is_running:
        raise CannotUndoError("The run is under way. Stop it, or wait until it ends.")
    sent = await operations.journal.of_run(plan.id)
    changes = [one for one in sent if one.state not in WITHOUT_EFFECT]
    if not changes:
        raise CannotUndoError("This run changed nothing.")
    return await plan_undo(operations, changes, f"undo the run: {plan.title}", renames=renames)


# --- the plan ------------------------------------------------------------------------------------


async def plan_undo(
    operations: Operations, changes: Sequence[Operation], title: str, *, renames: bool
) -> PlanDraft:
    """Make a plan that reverses changes.

    The plan leaves out changes without an inverse, and changes of remotes that were changed since.

    Args:
        operations: The operations of the profile.
        changes: The changes, the oldest first.
        title: The title of the plan.
        renames: Whether a remote is restored under another name if its name is taken; otherwise
            the remote is left out.

    Raises:
        CannotUndoError: There is a single change, and it has no inverse.
        OtherService: The changes were sent to another service than the profile names now.
        StoreError: The journal or the lock book cannot be read.
        LocktermError: None of the locks can be read.
    """
    return await make_plan(operations, _Undo(operations, changes, title, renames))


class _Undo(PlanSource):
    """The steps that reverse changes; see :func:`plan_undo`."""

    def __init__(
        self, operations: Operations, changes: Sequence[Operation], title: str, renames: bool
    ) -> None:
        super().__init__(title)
        self._operations = operations
        self._changes = changes
        self._renames = renames
        self._of_lock: dict[int, list[Operation]] = {}
        """Lock ID -> its changes, the newest first."""
        for change in reversed(changes):
            operations.journal.account.require(change)
            self._of_lock.setdefault(change.lock_id, []).append(change)

    async def read(self) -> Sequence[ReadLock]:
        operations = self._operations
        of_remotes = {one.lock_id for one in self._changes if one.call != "updateLockSetting"}
        read = await read_locks(operations, filter(of_remotes.__contains__, self._of_lock))
        for lock_id in self._of_lock:
            if lock_id not in of_remotes:  # no list shows a voice
                lock = await operations.locks.find(lock_id)
                read.append(ReadLock(lock, operations.zone(lock)))
        errors = [one.error for one in read if one.error is not None]
        if len(errors) == len(read):
            raise errors[0]
        return read

    async def plan(self, locks: Sequence[ReadLock], now_ms: int) -> PlannedSteps:
        planned, back = PlannedSteps([], []), list[BackedUp]()
        for lock in locks:
            on_lock = _OnLock(self._operations, lock, now_ms)
            changes = self._of_lock[lock.lock.lock_id]
            found = await on_lock.undo(changes, renames=self._renames)
            planned.steps.extend(found.steps)
            planned.left.extend(found.left)
            back.extend(on_lock.back)
        is_refused = [step.state for step in planned.left] == [StepState.REFUSED]
        if len(self._changes) == 1 and not planned.steps and is_refused:
            reason = planned.left[0].message
            if not reason.startswith(NAME_TAKEN):  # another name would do
                raise CannotUndoError(reason)
        return replace(planned, losses=[*describe_losses(back), *_doubts(self._changes)])

    def steps_on_unread(self, lock: ReadLock) -> Iterable[Step]:
        return map(_step, self._of_lock[lock.lock.lock_id])


def _doubts(changes: Sequence[Operation]) -> list[str]:
    """Return warnings about undone deletes that may not have taken effect."""
    states = {change.state for change in changes if change.call in TAKEN_AWAY} - RECORDED
    return [
        (
            f"Result of a delete: {STATE_NAMES[state]}. Remotes whose name is still on the"
            " lock are not added again."
        )
        for state in sorted(states)
    ]


def _step(change: Operation) -> Step:
    """Return the step for a change that cannot be planned."""
    action = Action.DELETE if change.call == "add" else Action.UPDATE
    action = Action.ADD if change.call in TAKEN_AWAY else action
    action = Action.VOICE if change.call == "updateLockSetting" else action
    name = format_operation(change) if change.call in TAKEN_AWAY else change.remote_name
    shown = name.encode("utf-8", "backslashreplace").decode()  # the disk is UTF-8
    return Step(0, action, change.lock_id, change.remote_id, shown)


class _OnLock:
    """The steps that reverse the changes of one lock.

    Args:
        operations: The operations of the profile.
        read: The lock, read whole.
        now_ms: The current time, in milliseconds since the epoch.
    """

    def __init__(self, operations: Operations, read: ReadLock, now_ms: int) -> None:
        self._operations = operations
        self._read = read
        self._now_ms = now_ms
        self._told: list[Operation] = []
        """The operations that show the values of fields that no list returns; read once."""
        self._places: dict[str, int] = {}
        """Operation ID -> the operation's index in ``_told``."""
        self._about: dict[int | None, list[int]] = {}
        """Remote ID -> the indexes in ``_told`` of its operations; None -> those of clears."""
        self._adds: dict[int | None, list[Operation]] = {}
        """Former ID of a remote -> the adds that restore the remote."""
        self._sources: dict[str, Operation | None] = {}
        """Operation ID -> the delete or clear that an add restores from."""
        self._there: dict[int | None, Remote] = {}
        """Remote ID -> the remote of the lock as it will be after the steps planned so far."""
        self.back: list[BackedUp] = []
        """The remotes that are added again."""

    async def undo(self, changes: Sequence[Operation], *, renames: bool) -> PlannedSteps:
        """Return the steps that undo changes.

        Undone adds come first and restored remotes last, because a restored remote may need a name
        that an undone add frees.

        Args:
            changes: The changes, the newest first.
            renames: See :func:`plan_undo`.
        """
        recorded = await self._operations.journal.recorded(self._read.lock.lock_id)
        self._there = recorded.brought_up(self._read.remotes)
        await self._read_journal(changes)
        made = PlannedSteps([], [])
        backups: list[tuple[str, BackedUp]] = []
        for change in sorted(changes, key=lambda one: one.call != "add"):
            if reason := why_not_undone(change, len(change.before)):
                made.left.append(refused(_step(change), reason))
                continue
            if change.call in TAKEN_AWAY:
                backups += await self._backup(change, made)
                continue
            if change.call == "updateLockSetting":
                sent = await self._operations.journal.voices(change.lock_id)
                bulk = voice_undone(
                    change, sent, {one.id for one in changes if one.state in RECORDED}
                )
                made.steps.extend(bulk.steps)
                made.left.extend(bulk.left)
                continue
            hidden: Mapping[str, Any] = {}
            if change.call == "updateRemoteUserNo":
                hidden = self._known(change).get(change.remote_id or 0, {})
            bulk = undone(change, self._read.zone, self._now_ms, hidden)
            made.left.extend(bulk.left)
            for step in bulk.steps:
                if words := self._changed_since(change, step):
                    made.left.append(replace(step, state=StepState.SKIPPED, message=words))
                else:
                    made.steps.append(step)
                    self._note(step)
        # Only listed names count: a step checks its name with the service before it sends.
        listed = {remote.id for remote in self._read.remotes}
        there = [remote for remote_id, remote in self._there.items() if remote_id in listed]
        lock_id, now_ms = self._read.lock.lock_id, self._now_ms
        bulk = restored(backups, lock_id, there, now_ms, renames=renames)
        made.steps.extend(bulk.steps)
        made.left.extend(bulk.left)
        added = {id(step.before) for step in bulk.steps if step.action is Action.ADD}
        self.back = [backup for _, backup in backups if id(backup.remote.raw) in added]
        return made

    async def _read_journal(self, changes: Sequence[Operation]) -> None:
        if not any(one.call in {*TAKEN_AWAY, "updateRemoteUserNo"} for one in changes):
            return
        journal = self._operations.journal
        self._told = await journal.told_hidden(changes[0])
        for place, one in enumerate(self._told):
            self._places[one.id] = place
            about = None if one.call == "clear" else one.remote_id or 0
            self._about.setdefault(about, []).append(place)
        self._sources = {one.id: one for one in changes}
        for add in await journal.restored(self._read.lock.lock_id):
            self._adds.setdefault(add.restores_remote, []).append(add)

    def _known(
        self, change: Operation, *, till_now: bool = False
    ) -> Mapping[int, Mapping[str, Any]]:
        """Return the known values of fields that no list returns, before a change or now.

        The result maps the ID of a remote to its fields.
        """
        end = len(self._told) if till_now else self._places.get(change.id, 0)
        told = self._told[:end]
        if change.call != "clear":
            places = sorted((*self._about.get(change.remote_id, ()), *self._about.get(None, ())))
            told = [self._told[place] for place in places if place < end]
        return known_fields(told, change.before)

    def _note(self, step: Step) -> None:
        """Note how the lock will be after a step."""
        if step.action is Action.DELETE:
            self._there.pop(step.remote_id, None)
        elif name := step.wanted.get("remoteName"):
            now = self._there[step.remote_id]
            self._there[step.remote_id] = replace(now, remote_name=name)

    def _changed_since(self, change: Operation, step: Step) -> str:
        """Return sentences on how a remote was changed since; empty if it was not changed."""
        now, before = self._there.get(step.remote_id), Remote.read(step.before)
        if now is None:
            return "The remote is already deleted."
        if not is_still(before.raw, now):
            return f"The service gave the ID to another remote: {format_remote(now)}."
        if change.call == "updateRemoteUserNo":
            known = self._known(change, till_now=True).get(step.remote_id or 0, {})
            told = known.get("remoteUserNo")
            if told == before.remote_user_no:
                return ""
            by_now = "is uncertain" if told is None else f"is now {told}"
            return f"The remote was changed since then: the user number {by_now}."
        names = step.before if step.action is Action.DELETE else step.wanted
        fields = [field for field in RECOGNIZED if field.name in names]
        others = find_differences(before, now, self._read.zone, fields)
        return (
            clean(f"The remote was changed since then: {'; '.join(map(str, others))}.", 400)
            if others
            else ""
        )

    async def _backup(self, change: Operation, made: PlannedSteps) -> list[tuple[str, BackedUp]]:
        """Return the remotes of a backup that are not restored yet; add the others to ``made``."""
        remotes = await asyncio.to_thread(read_backup, change, self._known(change), self._now_ms)
        waiting = []
        for one in remotes:
            tried = await self._tries(change, one) if one.old_id is not None else []
            name = (one.remote.remote_name or "").encode("utf-8", "backslashreplace").decode()
            step = Step(0, Action.ADD, change.lock_id, None, name, before=one.remote.raw)
            if done := [add.remote_id for add in tried if add.state in RECORDED]:
                words = "The remote was already restored" + (
                    f", as remote {done[-1]}." if done[-1] else "."
                )
                # The step gets the ID of the add, so it does not count as a taken name.
                step = replace(step, action=Action.KEEP, remote_id=done[-1] or one.old_id)
                made.steps.append(replace(step, message=words))
            elif any(add.state in UNSETTLED | IN_FLIGHT for add in tried):
                words = f"It is not known yet whether the remote was restored. {settle_first()}"
                made.left.append(replace(step, state=StepState.UNKNOWN, message=words))
            else:
                waiting.append((change.id, one))
        return waiting

    async def _tries(self, change: Operation, backup: BackedUp) -> list[Operation]:
        """Return the adds that restore a remote of a backup, the oldest first.

        A remote may be in the backups of two operations. Its ID alone does not identify it,
        because a service may have given the ID to another remote in between.
        """
        found = []
        for add in self._adds.get(backup.old_id, ()):
            source = add.restores or ""
            if source not in self._sources:
                self._sources[source] = await self._operations.journal.find(source)
            other = self._sources[source]
            its = [one for one in other.before if one.get("id") == backup.old_id] if other else []
            if source == change.id or any(_is_same(one, backup.remote.raw) for one in its):
                found.append(add)
        return found


def _is_same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Return whether two records describe the same remote.

    No update changes a remote's number or creation time.
    """
    names = ("id", "remoteNumber", "createTime")
    return all(left.get(name) == right.get(name) for name in names)
