"""Copies: what a lock has, an export tells or a backup keeps, to be added to locks as a plan."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockterm.domain.locks import Lock
from lockterm.domain.operation import Operation, title_of
from lockterm.domain.remotes import Remote, is_still
from lockterm.errors import LocktermError
from lockterm.operations.plan_files import Drawn, ReadLock, draw_copies, read_export, read_locks
from lockterm.operations.undoing import backup_of, undo_one
from lockterm.record import record

if TYPE_CHECKING:
    from lockterm.operations.facade import Operations


class CannotCopyError(LocktermError):
    """The source and the locks do not go together."""

    title = "Copy"


@record
class Source:
    """Where copies come from: a lock as it is when they are planned, an export, or a backup."""

    lock: Lock
    """Whose remotes they are, or were."""
    marked: Sequence[Remote] | None = None
    """Of a lock: those that are copied, as they were seen. None: all."""
    export: ReadLock | None = None
    """Of an export: what it tells."""
    name: str = ""
    """Of an export: the name of its file."""
    backup: Operation | None = None
    """Of a backup: the delete or clear that took them away."""

    @property
    def is_lock(self) -> bool:
        return self.export is None and self.backup is None

    @property
    def title(self) -> str:
        """What it is called; may have strings of the service in it."""
        if self.backup is not None:
            return f"the backup of {title_of(self.backup)}, lock {self.lock.lock_id}"
        if self.export is not None:
            return f"the export {self.name} of lock {self.lock.lock_id}"
        return self.lock.title

    @property
    def count(self) -> int | None:
        """How many remotes it has; None: all that the lock will have."""
        if self.backup is not None:
            return len(self.backup.before)
        remotes = self.export.remotes if self.export is not None else self.marked
        return None if remotes is None else len(remotes)


async def export_source(operations: Operations, path: Path) -> Source:
    """What an export tells; see :func:`read_export`."""
    read = await read_export(operations, path)
    return Source(read.lock, export=read, name=path.name)


async def backup_source(operations: Operations, operation_id: str) -> Source:
    """What the backup of a delete or clear keeps; see :func:`backup_of`."""
    change = await backup_of(operations, operation_id)
    return Source(await operations.locks.find(change.lock_id), backup=change)


async def draw_copies_of(
    operations: Operations,
    source: Source,
    lock_ids: Iterable[int],
    *,
    renames: bool,
    skips_expired: bool = False,
    keeps_wall_time: bool = False,
) -> Drawn:
    """Make a plan that adds what a source has to locks; a backup comes back to its own as an undo.

    Args:
        operations: What reads the locks.
        source: Where they come from.
        lock_ids: The locks, none of them twice.
        renames: Whether what has a name that is taken gets another one; else it is left out.
        skips_expired: Whether expired remotes are left out; an undo brings all of them back.
        keeps_wall_time: See :func:`draw_copies`.

    Raises:
        CannotCopyError: A backup is to go to its own lock and to others at once.
        LocktermError: The lock that has the remotes cannot be read, or the store.
    """
    ids = [*lock_ids]
    known: Mapping[int, Mapping[str, Any]] = {}
    gone: list[str] = []
    if (change := source.backup) is not None:
        if ids == [change.lock_id]:
            return await undo_one(operations, change.id, renames=renames)
        if change.lock_id in ids:
            words = "A backup goes to its own lock, or to others: not to both at once."
            raise CannotCopyError(f"{words} Nothing was sent.")
        known = await operations.journal.known_hidden(change)
        remotes = [*map(Remote.read, change.before)]
        first = ReadLock(source.lock, operations.zone(source.lock), remotes)
        others = await read_locks(operations, ids)
    elif source.export is not None:
        first, others = source.export, await read_locks(operations, ids)
    else:
        first, *others = await read_locks(operations, (source.lock.lock_id, *ids))
        if first.error is not None:
            raise first.error
        first, gone = _only(first, source.marked)
    return await asyncio.to_thread(
        draw_copies,
        operations,
        first,
        others,
        renames=renames,
        skips_expired=skips_expired,
        keeps_wall_time=keeps_wall_time,
        known=known,
        gone=gone,
    )


def _only(read: ReadLock, marked: Sequence[Remote] | None) -> tuple[ReadLock, list[str]]:
    """Those of a lock that were marked and are still what they were; how many are not."""
    if marked is None:
        return read, []
    seen = {remote.id: remote.raw for remote in marked}
    left = [now for now in read.remotes if now.id in seen and is_still(seen[now.id], now)]
    gone = len(seen) - len(left)
    words = f"Gone from the lock, and not copied: {gone:,} of {len(seen):,}."
    return replace(read, remotes=left), [words] * bool(gone)
