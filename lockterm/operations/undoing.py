"""Plans that undo changes or restore deleted remotes, from the journal and the present lists.

The journal alone decides which remotes are restored already, because the journal entry of an add
has the ID of the remote that the add restores. So no remote is restored twice, even by different
plans.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lockterm.domain.copies import BackedUp, read_backup
from lockterm.domain.names import to_storable
from lockterm.domain.operation import (
    IN_FLIGHT,
    RECORDED,
    UNCONFIRMED,
    WITHOUT_EFFECT,
    Operation,
    known_fields,
)
from lockterm.domain.plan import NAME_TAKEN, Action, PlannedSteps, Step, StepState
from lockterm.domain.remotes import RECOGNIZED, Remote, is_still
from lockterm.domain.safe_text import clean
from lockterm.domain.text.operation import STATE_NAMES, format_operation
from lockterm.domain.text.remote import describe_losses, find_differences, format_remote
from lockterm.domain.undo import (
    TAKEN_AWAY,
    refused,
    restored,
    undone,
    voice_undone,
    why_not_restorable,
    why_not_undone,
)
from lockterm.errors import LocktermError, NoSuchRunError, StoreError
from lockterm.keymap.hints import settle_first, with_keys
from lockterm.operations.planner import PlanDraft, PlanSource, ReadLock, make_plan, read_locks

if TYPE_CHECKING:
    from lockterm.operations.facade import Operations


_UNDO, _REDO = "undo the run: ", "redo the run: "
"""The beginnings of plan titles: for a plan that undoes a run, and for one that undoes an undo."""


class CannotUndoError(LocktermError):
    """An error for a change that cannot be undone."""

    title = "Undo"


# --- what is undone ------------------------------------------------------------------------------


async def undo_last(operations: Operations, lock_id: int, *, renames: bool = False) -> PlanDraft:
    """Return a plan that undoes the last change on a lock, or the run that the change belongs to.

    See :func:`plan_undo` for ``renames``.

    Raises:
        CannotUndoError: There is no change, or it cannot be undone.
        LocktermError: See :func:`plan_undo`.
    """
    last = await operations.journal.last_change(lock_id)
    if last is None:
        raise CannotUndoError("lockterm has changed nothing on this lock.")
    run_id = await operations.journal.run_of(last)
    if run_id and len(await operations.journal.of_run(run_id)) > 1:
        draft = await undo_run(operations, run_id, renames=renames)
        name = clean(format_operation(last), 60)
        about = f"The last change, {name}, belongs to this run. The plan undoes the whole run."
        return replace(draft, about=about)
    return await undo_one(operations, last.id, renames=renames)


async def undo_one(
    operations: Operations, operation_id: str, *, renames: bool = False
) -> PlanDraft:
    """Return a plan that undoes one operation; see :func:`plan_undo` for ``renames``.

    The replacement of a fob is two operations, which are undone together. Otherwise, the person
    would have no fob or two fobs.

    Raises:
        CannotUndoError: The operation cannot be undone.
        StoreError: The journal does not have the operation.
    """
    change = await operations.journal.find(operation_id)
    if change is None:
        raise StoreError("The history no longer contains this change.")
    if reason := why_not_undone(change, len(change.before)):
        raise CannotUndoError(reason)
    verb, about = "restore" if change.call in TAKEN_AWAY else "undo", ""
    run_id = await operations.journal.run_of(change)
    sent = await operations.journal.of_run(run_id) if run_id else []
    changes = await _with_other_half(operations, run_id, change, sent)
    if len(changes) > 1:
        verb = "undo the replacement"
    elif len(sent) > 1:
        verb = f"{verb} one step"
    if len(sent) > len(changes):
        these = "this change" if len(changes) == 1 else "the two changes of this replacement"
        about = f"Only {these}, not the whole run of {len(sent):,} changes. To undo the run,"
        about = with_keys(f"{about} press {{history.undo}} on the run in the history.")
    title = f"{verb}: {format_operation(change)}"
    draft = await plan_undo(operations, changes, title, renames=renames)
    return replace(draft, about=about or draft.about)


async def _with_other_half(
    operations: Operations, run_id: str, change: Operation, sent: Sequence[Operation]
) -> Sequence[Operation]:
    """Return a change and, if it is part of a replacement, the other change of the replacement.

    The other change is left out if it had no effect.

    Args:
        operations: The operations of the profile.
        run_id: The ID of the run that the change belongs to; empty if there is none.
        change: The change.
        sent: All operations of the run, the oldest first.
    """
    if len(sent) < 2 or change.call not in ("add", "delete"):
        return [change]
    try:
        steps = (await operations.runs.find(run_id)).steps
    except NoSuchRunError:
        return [change]
    mine = [step for step in steps if step.operation_id == change.id]
    ids = {
        step.operation_id
        for step in steps
        if any(step.requires(one) or one.requires(step) for one in mine)
    }
    both = [one for one in sent if one.id == change.id or one.id in ids]
    return [one for one in both if one.id == change.id or one.state not in WITHOUT_EFFECT] or [
        change
    ]


async def backup_of(operations: Operations, operation_id: str) -> Operation:
    """Return a delete or clear operation, after checking that its backup can be restored.

    Raises:
        CannotUndoError: There is no such operation, or it cannot be restored.
        OtherServiceError: The operation was sent to another service than the profile's service.
        OtherAccountError: The operation may have been sent to another account.
        StoreError: The journal cannot be read.
    """
    change = await operations.journal.find(operation_id)
    if change is None or (reason := why_not_restorable(change, len(change.before))):
        raise CannotUndoError("There is no such change." if change is None else reason)
    operations.journal.require_same_account(change)
    return change


async def undo_run(operations: Operations, run_id: str, *, renames: bool = False) -> PlanDraft:
    """Return a plan that undoes all changes of a run; see :func:`plan_undo` for ``renames``.

    Raises:
        CannotUndoError: The run is active, or it has changed nothing.
        NoSuchRunError: The history no longer contains the run.
    """
    plan = await operations.runs.find(run_id)
    if plan.is_running:
        raise CannotUndoError("The run is under way. Stop it, or wait until it ends.")
    sent = await operations.journal.of_run(plan.id)
    changes = [one for one in sent if one.state not in WITHOUT_EFFECT]
    if not changes:
        raise CannotUndoError("This run changed nothing.")
    return await plan_undo(operations, changes, _format_undo(plan.title), renames=renames)


def _format_undo(title: str) -> str:
    """Return the title of the plan that undoes the run with this title.

    A plan that undoes an undo is titled a redo.
    """
    if title.startswith(_UNDO):
        return f"{_REDO}{title.removeprefix(_UNDO)}"
    return f"{_UNDO}{title.removeprefix(_REDO)}"


# --- the plan ------------------------------------------------------------------------------------


async def plan_undo(
    operations: Operations, changes: Sequence[Operation], title: str, *, renames: bool
) -> PlanDraft:
    """Return a plan that undoes changes.

    The plan leaves out changes that cannot be undone, and remotes that were changed again later.

    Args:
        operations: The operations of the profile.
        changes: The operations to undo, the oldest first.
        title: The title of the plan.
        renames: Whether a restored remote gets another name if its name is taken; otherwise it is
            left out.

    Raises:
        CannotUndoError: There is only one change, and it cannot be undone.
        OtherServiceError: The changes were sent to another service than the profile's service.
        OtherAccountError: The changes may have been sent to another account.
        StoreError: The journal or the lock book cannot be read.
        LocktermError: None of the locks can be read.
    """
    return await make_plan(operations, _Undo(title, operations, changes, renames))


@dataclass
class _Undo(PlanSource):
    """The source of a plan that undoes changes; see :func:`plan_undo`."""

    operations: Operations
    changes: Sequence[Operation]
    renames: bool

    def __post_init__(self) -> None:
        self._of_lock: dict[int, list[Operation]] = {}
        """Maps lock IDs to the changes on each lock, the newest first."""
        for change in reversed(self.changes):
            self.operations.journal.require_same_account(change)
            self._of_lock.setdefault(change.lock_id, []).append(change)

    async def read(self) -> Sequence[ReadLock]:
        operations = self.operations
        of_remotes = {one.lock_id for one in self.changes if one.call != "updateLockSetting"}
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
            on_lock = _OnLock(self.operations, lock, now_ms)
            changes = self._of_lock[lock.lock.lock_id]
            found = await on_lock.undo(changes, renames=self.renames)
            _extend(planned, found)
            back.extend(on_lock.back)
        is_refused = [step.state for step in planned.left] == [StepState.REFUSED]
        if len(self.changes) == 1 and not planned.steps and is_refused:
            reason = planned.left[0].message
            if not reason.startswith(NAME_TAKEN):  # the user may choose another name
                raise CannotUndoError(reason)
        return replace(planned, losses=[*describe_losses(back), *_doubts(self.changes)])

    def steps_on_unread(self, lock: ReadLock) -> Iterable[Step]:
        return map(_step, self._of_lock[lock.lock.lock_id])


def _extend(planned: PlannedSteps, more: PlannedSteps) -> None:
    planned.steps.extend(more.steps)
    planned.left.extend(more.left)


def _doubts(changes: Sequence[Operation]) -> list[str]:
    """Return warnings about deletes that the plan undoes, but that may not have taken effect."""
    states = {change.state for change in changes if change.call in TAKEN_AWAY} - RECORDED
    return [
        (
            f"Result of a delete: {STATE_NAMES[state]}. Remotes whose name is still on the"
            " lock are not added again."
        )
        for state in sorted(states)
    ]


def _step(change: Operation) -> Step:
    """Return a step that shows a change which cannot be undone.

    The caller adds the state of the step and the reason.
    """
    action = Action.DELETE if change.call == "add" else Action.UPDATE
    action = Action.ADD if change.call in TAKEN_AWAY else action
    action = Action.VOICE if change.call == "updateLockSetting" else action
    name = format_operation(change) if change.call in TAKEN_AWAY else change.remote_name
    return Step(0, action, change.lock_id, change.remote_id, to_storable(name))


@dataclass
class _OnLock:
    """The planner of the steps that undo the changes on one lock.

    Args:
        operations: The operations of the profile.
        read: The lock, which was read completely.
        now_ms: The present time, in milliseconds since the epoch.
    """

    operations: Operations
    read: ReadLock
    now_ms: int

    def __post_init__(self) -> None:
        self._earlier: list[Operation] = []
        """The operations that contain values of hidden fields. They are read from the journal
        once."""
        self._places: dict[str, int] = {}
        """Maps operation IDs to the index of the operation in ``_earlier``."""
        self._about: dict[int | None, list[int]] = {}
        """Maps remote IDs to the indexes of their operations in ``_earlier``. The key None has the
        indexes of clears."""
        self._adds: dict[int | None, list[Operation]] = {}
        """Maps IDs of deleted remotes to the adds that restore the remote."""
        self._sources: dict[str, Operation | None] = {}
        """Maps the IDs of deletes and clears to these operations; None if the journal lacks one."""
        self._there: dict[int | None, Remote] = {}
        """Maps remote IDs to the remotes of the lock, as they will be after the steps planned so
        far."""
        self.back: list[BackedUp] = []
        """The backups of the remotes that the plan adds again."""

    async def undo(self, changes: Sequence[Operation], *, renames: bool) -> PlannedSteps:
        """Return the steps that undo changes on this lock.

        Deletions of added remotes come first. Remotes that are added again come last, because a
        deletion may free their name.

        Args:
            changes: The operations to undo, the newest first.
            renames: Whether a restored remote gets another name if its name is taken.
        """
        recorded = await self.operations.journal.recorded(self.read.lock.lock_id)
        self._there = recorded.brought_up(self.read.remotes)
        await self._read_journal(changes)
        planned = PlannedSteps([], [])
        backups: list[tuple[str, BackedUp]] = []
        for change in sorted(changes, key=lambda one: one.call != "add"):
            if reason := why_not_undone(change, len(change.before)):
                planned.left.append(refused(_step(change), reason))
                continue
            if change.call in TAKEN_AWAY:
                backups += await self._backup(change, planned)
                continue
            if change.call == "updateLockSetting":
                sent = await self.operations.journal.voices(change.lock_id)
                undone_here = {one.id for one in changes if one.state in RECORDED}
                _extend(planned, voice_undone(change, sent, undone_here))
                continue
            hidden: Mapping[str, Any] = {}
            if change.call == "updateRemoteUserNo":
                hidden = self._known(change).get(change.remote_id or 0, {})
            bulk = undone(change, self.read.zone, self.now_ms, hidden)
            planned.left.extend(bulk.left)
            for step in bulk.steps:
                if reason := self._changed_since(change, step):
                    planned.left.append(replace(step, state=StepState.SKIPPED, message=reason))
                else:
                    planned.steps.append(step)
                    self._note(step)
        # Only listed names count, because each step checks its name with the service.
        listed = {remote.id for remote in self.read.remotes}
        there = [remote for remote_id, remote in self._there.items() if remote_id in listed]
        lock_id, now_ms = self.read.lock.lock_id, self.now_ms
        bulk = restored(backups, lock_id, there, now_ms, renames=renames)
        _extend(planned, bulk)
        added = {id(step.before) for step in bulk.steps if step.action is Action.ADD}
        self.back = [backup for _, backup in backups if id(backup.remote.raw) in added]
        return planned

    async def _read_journal(self, changes: Sequence[Operation]) -> None:
        if not any(one.call in {*TAKEN_AWAY, "updateRemoteUserNo"} for one in changes):
            return
        journal = self.operations.journal
        self._earlier = await journal.told_hidden(changes[0])
        for place, one in enumerate(self._earlier):
            self._places[one.id] = place
            about = None if one.call == "clear" else one.remote_id or 0
            self._about.setdefault(about, []).append(place)
        self._sources = {one.id: one for one in changes}
        for add in await journal.restored(self.read.lock.lock_id):
            self._adds.setdefault(add.restores_remote, []).append(add)

    def _known(
        self, change: Operation, *, till_now: bool = False
    ) -> Mapping[int, Mapping[str, Any]]:
        """Return the known values of hidden fields by remote ID.

        Args:
            change: The change whose remotes are wanted.
            till_now: Whether to return the present values; if not, the values before the change are
                returned.
        """
        end = len(self._earlier) if till_now else self._places.get(change.id, 0)
        operations = self._earlier[:end]
        if change.call != "clear":
            places = sorted((*self._about.get(change.remote_id, ()), *self._about.get(None, ())))
            operations = [self._earlier[place] for place in places if place < end]
        return known_fields(operations, change.before)

    def _note(self, step: Step) -> None:
        """Update ``_there`` to the state of the lock after a step."""
        if step.action is Action.DELETE:
            self._there.pop(step.remote_id, None)
        elif name := step.wanted.get("remoteName"):
            now = self._there[step.remote_id]
            self._there[step.remote_id] = replace(now, remote_name=name)

    def _changed_since(self, change: Operation, step: Step) -> str:
        """Return a sentence if a remote was changed after a change to undo; otherwise empty.

        Args:
            change: The change to undo.
            step: The step that undoes it.
        """
        now, before = self._there.get(step.remote_id), Remote.read(step.before)
        if now is None:
            return "The remote is already deleted."
        if not is_still(before.raw, now):
            return f"The service gave the ID to another remote: {format_remote(now)}."
        if change.call == "updateRemoteUserNo":
            known = self._known(change, till_now=True).get(step.remote_id or 0, {})
            number = known.get("remoteUserNo")
            if number == before.remote_user_no:
                return ""
            by_now = "is uncertain" if number is None else f"is now {number}"
            return f"The remote was changed since then: the user number {by_now}."
        names = step.before if step.action is Action.DELETE else step.wanted
        fields = [field for field in RECOGNIZED if field.name in names]
        others = find_differences(before, now, self.read.zone, fields)
        return (
            clean(f"The remote was changed since then: {'; '.join(map(str, others))}.", 400)
            if others
            else ""
        )

    async def _backup(self, change: Operation, planned: PlannedSteps) -> list[tuple[str, BackedUp]]:
        """Return a pair for each remote that must still be restored from a backup.

        A pair contains the ID of ``change`` and the remote.

        Args:
            change: The delete or clear that made the backup.
            planned: The steps of the plan. This method adds a step for each remote that was already
                restored, or may have been restored.
        """
        remotes = await asyncio.to_thread(read_backup, change, self._known(change), self.now_ms)
        waiting = []
        for one in remotes:
            tried = await self._tries(change, one) if one.old_id is not None else []
            name = to_storable(one.remote.remote_name or "")
            step = Step(0, Action.ADD, change.lock_id, None, name, before=one.remote.raw)
            if done := [add.remote_id for add in tried if add.state in RECORDED]:
                message = "The remote was already restored" + (
                    f", as remote {done[-1]}." if done[-1] else "."
                )
                # The step gets the ID of the added remote, so its name does not count as taken.
                step = replace(step, action=Action.KEEP, remote_id=done[-1] or one.old_id)
                planned.steps.append(replace(step, message=message))
            elif any(add.state in UNCONFIRMED | IN_FLIGHT for add in tried):
                message = f"It is not known yet whether the remote was restored. {settle_first()}"
                planned.left.append(replace(step, state=StepState.UNKNOWN, message=message))
            else:
                waiting.append((change.id, one))
        return waiting

    async def _tries(self, change: Operation, backup: BackedUp) -> list[Operation]:
        """Return the adds that restore one remote of a backup, the oldest first.

        A remote may be in the backups of two operations. Its ID alone does not identify it, because
        the service may have given the ID to another remote in between.
        """
        adds = []
        for add in self._adds.get(backup.old_id, ()):
            source = add.restores or ""
            if source not in self._sources:
                self._sources[source] = await self.operations.journal.find(source)
            other = self._sources[source]
            its = [one for one in other.before if one.get("id") == backup.old_id] if other else []
            if source == change.id or any(_is_same(one, backup.remote.raw) for one in its):
                adds.append(add)
        return adds


def _is_same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Return whether two records belong to the same remote.

    The function compares the ID, the number and the creation time, because no update changes them.
    """
    names = ("id", "remoteNumber", "createTime")
    return all(left.get(name) == right.get(name) for name in names)
