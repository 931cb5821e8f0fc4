"""Plans from files: tables that people wrote or edited, and exports."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from lockterm.domain.foreign_table import TableHeader, ids_by_name, read_foreign, read_header
from lockterm.domain.plan import Action, PlannedSteps, Step
from lockterm.domain.remotes import Remote
from lockterm.domain.safe_text import clean, without_secrets
from lockterm.domain.table_columns import ACTION, LOCK, REMOTE
from lockterm.domain.table_file import (
    TOO_MANY_BYTES,
    Problem,
    Row,
    Table,
    TableFileError,
    read_table,
)
from lockterm.domain.table_map import MOST_BYTES, TableMap, parse_map
from lockterm.domain.table_plan import LockPlan, check_rows
from lockterm.domain.text.plan import WITHOUT_ACCESS, describe_ignored
from lockterm.operations.planner import PlanDraft, PlanSource, ReadLock, make_plan, read_locks
from lockterm.operations.proof import same
from lockterm.operations.recorded import (
    describe_discrepancy,
    find_differing_names,
    find_last_changes,
)
from lockterm.paths import read_named

if TYPE_CHECKING:
    from lockterm.operations.facade import Operations


def read_file(path: Path, lock_id: int | None = None) -> Table:
    """Read and parse a table file.

    Args:
        path: The path of the file.
        lock_id: The ID of the lock for CSV rows without a lock; None if each row must have one.

    Raises:
        TableFileError: The file is not a table of remotes.
    """
    return read_table(_content(path), lock_id)


def _content(path: Path, most: int = TOO_MANY_BYTES, what: str = "table of remotes") -> bytes:
    try:
        return read_named(path, most, what)
    except ValueError as error:
        raise TableFileError([Problem(0, "", "", str(error))]) from None


def read_map_file(path: Path) -> TableMap:
    """Read and parse a mapping file for tables of other systems.

    Raises:
        TableFileError: The file is not a valid mapping.
    """
    return parse_map(_content(path, MOST_BYTES, "mapping"))


def read_header_of(path: Path) -> TableHeader | None:
    """Return the columns of a CSV file; None if the file is empty, JSON, or not valid CSV.

    Raises:
        TableFileError: The file cannot be opened, or is too large.
    """
    return read_header(_content(path))


async def _read_mapped(
    operations: Operations, path: Path, table_map: TableMap, lock_id: int | None
) -> Table:
    """Read the table of another system.

    Instead of the ID of a lock, a row may contain the name of a lock in the lock book.
    """
    named = ids_by_name(await operations.locks.all())
    content = await asyncio.to_thread(_content, path)
    return await asyncio.to_thread(read_foreign, content, table_map, named, lock_id)


async def read_export(operations: Operations, path: Path) -> ReadLock:
    """Return the lock and the remotes in a JSON export of one lock.

    Raises:
        TableFileError: The file is not a JSON export, or has more than one lock.
        StoreError: The lock book cannot be read.
    """
    table = await asyncio.to_thread(read_file, path)
    if len(table.locks) != 1:
        reason = (
            f"The file is an export of {len(table.locks):,} locks. Use an export of one lock."
            if table.locks
            else "The file is a CSV table. Use a JSON export."
        )
        raise TableFileError([Problem(0, "", "", reason)])
    lock = await operations.locks.find(table.locks[0])
    remotes = [Remote.read(row.raw or {}) for row in table.rows]
    return ReadLock(lock, operations.zone(lock), remotes)


async def plan_file(
    operations: Operations,
    path: Path,
    title: str,
    *,
    prune: bool,
    seen: Sequence[ReadLock] | None = None,
    lock_id: int | None = None,
    table_map: TableMap | None = None,
) -> PlanDraft:
    """Return a plan for all rows of a file. A problem in any row prevents the plan.

    Args:
        operations: The operations of the profile.
        path: The path of the file.
        title: The title of the plan.
        prune: Whether to delete remotes that are not in the file, on the locks in the file.
        seen: The locks as they were when the file was written; None if unknown. If given, the plan
            does not undo later changes by others, and the file must not contain other locks.
        lock_id: The ID of the lock for rows without a lock; None if each row must have a lock. If
            there are such rows, the title and the notes of the plan contain this ID.
        table_map: The mapping, if the file is the table of another system.

    Raises:
        TableFileError: Some rows cannot be planned; the error contains all problems.
        StoreError: The lock book cannot be read.
    """
    if table_map is None:
        table = await asyncio.to_thread(read_file, path, lock_id)
    else:
        table = await _read_mapped(operations, path, table_map, lock_id)
    if table.without_lock:
        title += f" for lock {lock_id}"
    return await make_plan(operations, _TableSource(title, operations, table, prune, seen, lock_id))


@dataclass
class _TableSource(PlanSource):
    """The source of a plan for the rows of a table.

    Args:
        title: The title of the plan.
        operations: The operations of the profile.
        table: The parsed table.
        prune: See :func:`plan_file`.
        seen: See :func:`plan_file`.
        lock_id: See :func:`plan_file`.
    """

    operations: Operations
    table: Table
    prune: bool
    seen: Sequence[ReadLock] | None
    lock_id: int | None
    rows: dict[int, list[Row]] = field(init=False, default_factory=dict)
    """Maps lock IDs to the valid rows of each lock."""
    problems: list[Problem] = field(init=False, default_factory=list)

    async def read(self) -> Sequence[ReadLock]:
        table = self.table
        self._refuse_other_service()
        # A file may have hundreds of thousands of rows, so the work is done in threads.
        self.problems = [*table.problems, *await asyncio.to_thread(check_rows, table.rows)]
        wrong = {problem.line for problem in self.problems}
        self.rows = await asyncio.to_thread(_by_lock, table, wrong)
        if self.seen is None:
            self.seen = await read_locks(self.operations, self.rows)
        known = {one.lock.lock_id for one in self.seen}
        if other := self.rows.keys() - known:
            first = self.rows[min(other)][0]
            raise TableFileError([first.problem(LOCK, "The export is from another lock.")])
        return self.seen

    async def plan(self, locks: Sequence[ReadLock], now_ms: int) -> PlannedSteps:
        steps: list[Step] = []
        for one in locks:
            on_lock = LockPlan(one.lock.lock_id, one.remotes, one.zone, now_ms)
            rows = self.rows.get(one.lock.lock_id, [])
            planned = await asyncio.to_thread(on_lock.take, rows, prune=self.prune)
            steps += await _with_what_was_kept(self.operations, one, planned)
            self.problems += on_lock.problems
        if self.problems:
            problems = [*self.problems, *self._problems_of_unread()]
            raise TableFileError(sorted(problems, key=attrgetter("line")))
        ignored = describe_ignored(self.table.ignored)
        losses = [ignored] if ignored and steps else []
        steps = [self._with_lock_note(step) for step in steps]
        without = self.table.without_access
        return PlannedSteps(steps, [], losses, {WITHOUT_ACCESS: without} if without else {})

    def steps_on_unread(self, lock: ReadLock) -> Iterable[Step]:
        lock_id = lock.lock.lock_id
        return [_step_of(row, lock_id) for row in self.rows.get(lock_id, ())]

    def _refuse_other_service(self) -> None:
        profile, service = self.operations.profile, self.table.service
        here = without_secrets(profile.base_url)
        if service and service != here:
            reason = (
                f"The file was exported from {clean(service, 80)}, but the profile"
                f" {clean(profile.name, 40)} uses {clean(here, 80)}, where the same IDs"
                " belong to other remotes."
            )
            raise TableFileError([Problem(0, "", "", reason)])

    def _problems_of_unread(self) -> list[Problem]:
        return [
            row.problem(LOCK, f"Lock {one.lock.lock_id} was not read: {one.error.meaning}")
            for one in self.seen or ()
            if one.error is not None
            for row in self.rows.get(one.lock.lock_id, ())
        ]

    def _with_lock_note(self, step: Step) -> Step:
        if step.line not in self.table.without_lock:
            return step
        note = f"The row has no lockId, so lockterm uses lock {self.lock_id}."
        return replace(step, note=f"{step.note} {note}".strip())


async def _with_what_was_kept(
    operations: Operations, read: ReadLock, steps: Iterable[Step]
) -> list[Step]:
    """Return the steps on a lock, with a note on each update that may again have no full effect.

    An update gets the note if the last change of its remote sent the same values, and the service
    stored other values.
    """
    recorded = await operations.journal.recorded(read.lock.lock_id)
    rows = await operations.journal.latest_recorded(read.lock.lock_id)
    last, remotes = find_last_changes(rows), {one.id: one for one in read.remotes}

    def with_note(step: Step) -> Step:
        sent, remote = last.get(step.remote_id or 0), remotes.get(step.remote_id)
        if step.action is not Action.UPDATE or sent is None or remote is None:
            return step
        names = [
            name
            for name in find_differing_names(sent, remote, recorded)
            if name in step.wanted and same(step.wanted[name], sent.body[name])
        ]
        if not names:
            return step
        difference = describe_discrepancy(sent, remote, names, read.zone)
        note = f"lockterm sent the same values earlier. {difference}"
        return replace(step, note=f"{step.note} {note}".strip())

    return [with_note(step) for step in steps]


def _by_lock(table: Table, wrong: Container[int]) -> dict[int, list[Row]]:
    """Return the rows of each lock in a file, by lock ID; empty if a lock has no valid rows.

    Args:
        table: The parsed file.
        wrong: The line numbers of the rows to leave out.
    """
    rows: dict[int, list[Row]] = {lock_id: [] for lock_id in table.locks}
    for row in table.rows:
        if row.line in wrong:
            continue
        rows.setdefault(int(row.text(LOCK)), []).append(row)
    return rows


def _step_of(row: Row, lock_id: int) -> Step:
    """Return the step for a row of a lock that could not be read."""
    action = row.text(ACTION).casefold()
    return Step(
        number=0,
        action=Action(action) if action else Action.UPDATE if row.text(REMOTE) else Action.ADD,
        lock_id=lock_id,
        remote_id=int(row.text(REMOTE) or 0) or None,
        remote_name=row.text("remoteName"),
        before={"remoteNumber": row.text("remoteNumber")},
        line=row.line,
    )
