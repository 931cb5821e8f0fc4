"""Plans that copy the remotes of a lock, an export or a backup to locks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockterm.domain.bulk import with_near_notes
from lockterm.domain.copies import (
    BackedUp,
    at_wall_time,
    backed_up,
    copied,
    describe_zones,
    without_unknown_zones,
)
from lockterm.domain.locks import Lock
from lockterm.domain.operation import Operation
from lockterm.domain.plan import Action, PlannedSteps, Step, StepState
from lockterm.domain.remotes import Remote, is_still, needs_dates
from lockterm.domain.text.operation import format_operation
from lockterm.domain.text.remote import describe_losses
from lockterm.domain.validity import Phase, phase_of
from lockterm.errors import LocktermError
from lockterm.operations.plan_files import read_export
from lockterm.operations.planner import PlanDraft, PlanSource, ReadLock, make_plan, read_locks
from lockterm.operations.undoing import backup_of, undo_one

if TYPE_CHECKING:
    from lockterm.operations.facade import Operations


class CannotCopyError(LocktermError):
    """An error for a source that cannot be copied to the chosen locks."""

    title = "Copy"


@dataclass(frozen=True, slots=True)
class CopySource:
    """The source of a copy: a lock, an export or a backup."""

    lock: Lock
    """The lock that the remotes belong to, or belonged to."""
    marked: Sequence[Remote] | None = None
    """If the source is a lock: the remotes that the user has marked, with the values on the screen;
    None to copy all remotes."""
    export: ReadLock | None = None
    """If the source is an export: its content."""
    name: str = ""
    """If the source is an export: the name of its file."""
    backup: Operation | None = None
    """If the source is a backup: the delete or clear that made it."""

    @property
    def is_lock(self) -> bool:
        return self.export is None and self.backup is None

    @property
    def title(self) -> str:
        """The title of the source; may contain control characters."""
        if self.backup is not None:
            return f"the backup of {format_operation(self.backup)}, lock {self.lock.lock_id}"
        if self.export is not None:
            return f"the export {self.name} of lock {self.lock.lock_id}"
        return self.lock.title

    @property
    def count(self) -> int | None:
        """The number of remotes in the source; None for a whole lock that is not read yet."""
        if self.backup is not None:
            return len(self.backup.before)
        remotes = self.export.remotes if self.export is not None else self.marked
        return None if remotes is None else len(remotes)


async def export_source(operations: Operations, path: Path) -> CopySource:
    """Return the source for a JSON export of one lock.

    Raises:
        TableFileError: The file is not a JSON export of one lock.
        StoreError: The lock book cannot be read.
    """
    read = await read_export(operations, path)
    return CopySource(read.lock, export=read, name=path.name)


async def backup_source(operations: Operations, operation_id: str) -> CopySource:
    """Return the backup of a delete or clear as a source to copy from.

    Args:
        operations: The operations on the service and the local store.
        operation_id: The ID of the delete or clear.

    Raises:
        LocktermError: The backup cannot be restored; see ``undoing.backup_of``.
    """
    change = await backup_of(operations, operation_id)
    return CopySource(await operations.locks.find(change.lock_id), backup=change)


async def plan_copies(
    operations: Operations,
    source: CopySource,
    lock_ids: Iterable[int],
    *,
    renames: bool,
    skips_expired: bool = False,
    keeps_wall_time: bool = False,
) -> PlanDraft:
    """Return a plan that copies the remotes of a source to locks.

    If the source is a backup, and its own lock is the only target, the plan is an undo.

    Args:
        operations: The operations of the profile.
        source: The source of the remotes.
        lock_ids: The IDs of the locks, without duplicates.
        renames: Whether a remote whose name is taken gets another name; otherwise it is left out.
        skips_expired: Whether expired remotes are left out; ignored if the plan is an undo.
        keeps_wall_time: Whether dates keep their local time on locks in other time zones. If not,
            each date stays the same moment, and its local time changes.

    Raises:
        CannotCopyError: The source is a backup, and the locks include both its own lock and others.
        LocktermError: The source lock or the store cannot be read.
    """
    ids = [*lock_ids]
    if (change := source.backup) is not None:
        if ids == [change.lock_id]:
            return await undo_one(operations, change.id, renames=renames)
        if change.lock_id in ids:
            raise CannotCopyError(
                "A backup cannot be copied to its own lock and to other locks together. Choose one"
                " or the others. Nothing was sent."
            )
    names = ", ".join(map(str, ids[:5]))
    more = f" and {len(ids) - 5:,} more" if len(ids) > 5 else ""
    title = f"copy {source.lock.lock_id} to {names}{more}"
    copies = _Copies(title, operations, source, ids, renames, skips_expired, keeps_wall_time)
    return await make_plan(operations, copies)


@dataclass
class _Copies(PlanSource):
    """The source of a plan that copies remotes; see :func:`plan_copies`."""

    operations: Operations
    source: CopySource
    lock_ids: Sequence[int]
    renames: bool
    skips_expired: bool
    keeps_wall_time: bool

    def __post_init__(self) -> None:
        lock = self.source.lock
        self._from = ReadLock(lock, self.operations.zone(lock))
        self._known: Mapping[int, Mapping[str, Any]] = {}
        """Maps IDs of remotes to the known values of hidden fields."""
        self._gone: list[str] = []
        """At most one sentence, about marked remotes that the source lock no longer has."""

    async def read(self) -> Sequence[ReadLock]:
        operations, source = self.operations, self.source
        if source.is_lock:
            read = await read_locks(operations, (source.lock.lock_id, *self.lock_ids))
            if read[0].error is not None:
                raise read[0].error
            self._from, self._gone = _only(read[0], source.marked)
            return read[1:]
        if source.export is not None:
            self._from = source.export
        elif source.backup is not None:
            self._known = await operations.journal.known_hidden(source.backup)
            remotes = [*map(Remote.read, source.backup.before)]
            self._from = replace(self._from, remotes=remotes)
        return await read_locks(operations, self.lock_ids)

    async def plan(self, locks: Sequence[ReadLock], now_ms: int) -> PlannedSteps:
        return await asyncio.to_thread(self._plan, locks, now_ms)

    def _plan(self, locks: Sequence[ReadLock], now_ms: int) -> PlannedSteps:
        remotes = self._remotes(now_ms)
        planned = PlannedSteps([], [])
        zones: dict[str, None] = {}
        added: dict[int, BackedUp] = {}
        for lock in locks:
            zones[self._zone_note(remotes, lock.zone)] = None
            copies = self._copies(remotes, lock.zone, now_ms)
            for place, step in enumerate(self._steps(copies, lock)):
                is_due = step.state is StepState.TO_DO
                (planned.steps if is_due else planned.left).append(step)
                if step.action is Action.ADD:
                    added[place] = copies[place]
        hidden = {field.called: None for one in added.values() for field in one.unknown}
        lost = describe_losses([replace(one, unknown=()) for one in added.values()])
        if hidden:
            lost.append(
                "Not copied, because the service does not return these values:"
                f" {', '.join(hidden)}."
            )
        expired = (len(self._from.remotes) - len(remotes)) * len(self.lock_ids)
        return replace(
            planned,
            losses=[*self._gone, *filter(None, zones), *lost],
            skipped={"expired": expired},
        )

    def steps_on_unread(self, lock: ReadLock) -> Iterable[Step]:
        now_ms = self.operations.now_ms()
        return self._steps(self._copies(self._remotes(now_ms), lock.zone, now_ms), lock)

    def _remotes(self, now_ms: int) -> Sequence[Remote]:
        """Return the remotes to copy: all of the source, or those that have not expired."""
        if not self.skips_expired:
            return self._from.remotes
        return [one for one in self._from.remotes if phase_of(one, now_ms) is not Phase.OVER]

    def _copies(self, remotes: Sequence[Remote], zone: tzinfo, now_ms: int) -> list[BackedUp]:
        """Return the copies of remotes, with the dates for target locks in a time zone."""
        if self.keeps_wall_time and zone != self._from.zone:
            remotes = [at_wall_time(remote, self._from.zone, zone) for remote in remotes]
        lock_id = self._from.lock.lock_id
        return [
            backed_up(one, lock_id, self._known.get(one.id or 0, {}), now_ms) for one in remotes
        ]

    def _steps(self, copies: Sequence[BackedUp], lock: ReadLock) -> list[Step]:
        """Return a step for each copy on a target lock, in the order of the copies."""
        steps = copied(copies, lock.lock.lock_id, lock.remotes, renames=self.renames)
        steps = with_near_notes(steps, lock.remotes)
        if self.keeps_wall_time:
            steps = without_unknown_zones(steps, self._from.zone, lock.zone)
        return steps

    def _zone_note(self, remotes: Sequence[Remote], zone: tzinfo) -> str:
        """Return an example of how dates change on a target lock in another zone; empty if none."""
        dated = (one for one in remotes if needs_dates(one.remote_type) and one.end_ms)
        example = next(dated, None)
        if example is None or zone == self._from.zone:
            return ""
        keeps = self.keeps_wall_time
        return describe_zones(example, self._from.zone, zone, keeps_wall_time=keeps)


def _only(read: ReadLock, marked: Sequence[Remote] | None) -> tuple[ReadLock, list[str]]:
    """Return a lock with only the marked remotes, and a sentence if some of them are missing."""
    if marked is None:
        return read, []
    seen = {remote.id: remote.raw for remote in marked}
    left = [now for now in read.remotes if now.id in seen and is_still(seen[now.id], now)]
    gone = len(seen) - len(left)
    sentence = f"Not copied, because no longer on the lock: {gone:,} of {len(seen):,} remotes."
    return replace(read, remotes=left), [sentence] * bool(gone)
