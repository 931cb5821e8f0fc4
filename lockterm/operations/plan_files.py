"""Files that plans come from: what a lock has, written down whole, and plans made of tables."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockterm.domain import dates
from lockterm.domain.backup import BackedUp, backed_up, losses
from lockterm.domain.constants import needs_dates
from lockterm.domain.copies import at_wall_time, copied, describe_zones, without_unknown_zones
from lockterm.domain.listing import Block, Listing
from lockterm.domain.locks import Lock
from lockterm.domain.new_names import with_near_notes
from lockterm.domain.plan import Action, Plan, Step, StepState
from lockterm.domain.plan_words import is_name_taken
from lockterm.domain.remotes import UNLISTED, Remote
from lockterm.domain.table_columns import ACTION, LOCK, NAMES, REMOTE, SETTABLE, cell_of, guarded
from lockterm.domain.table_file import (
    FORMAT,
    TOO_MANY_BYTES,
    VERSION,
    BadTable,
    Problem,
    Row,
    Table,
    read_table,
)
from lockterm.domain.table_plan import LockPlan, check_rows
from lockterm.domain.text import clean, without_secrets
from lockterm.domain.validity import Phase, phase_of
from lockterm.errors import LocktermError, MalformedAnswer, Refused, ServiceError
from lockterm.operations.everywhere import AT_ONCE
from lockterm.operations.kept_notes import read_recorded
from lockterm.operations.kept_otherwise import describe_kept, kept_names, last_of
from lockterm.operations.list_walk import WALK_PAGE_SIZE
from lockterm.operations.readback import same
from lockterm.paths import read_named
from lockterm.record import record

if TYPE_CHECKING:
    from lockterm.operations.facade import Operations


@record
class ReadLock:
    """A lock that was read whole, or why it was not."""

    lock: Lock
    zone: tzinfo
    """In which its times are written and read."""
    remotes: Sequence[Remote] = ()
    error: LocktermError | None = None


@record
class Drawn:
    """A plan that nobody has agreed to yet, whatever it was made of."""

    plan: Plan
    unread: Sequence[ReadLock] = ()
    """The locks that could not be read whole."""
    about: str = ""
    """What is said of all of it beside its title, as a sentence."""

    @property
    def left(self) -> Sequence[Step]:
        """What could not be planned, each with why."""
        return [step for step in self.plan.steps if not step.is_planned]

    @property
    def unplanned(self) -> int:
        """How many steps could not be planned, beside those that are counted as skipped."""
        return sum(not is_name_taken(step) for step in self.left)


# --- reading -------------------------------------------------------------------------------------


async def read_locks(operations: Operations, lock_ids: Iterable[int]) -> list[ReadLock]:
    """Read locks whole, side by side; nothing is raised for one that cannot be.

    Raises:
        StoreError: The lock book cannot be read.
    """
    places = asyncio.Semaphore(AT_ONCE)

    async def read(lock_id: int) -> ReadLock:
        lock = await operations.locks.find(lock_id)
        zone = operations.zone(lock)
        async with places:
            begun_ms, changes = operations.machine_ms(), operations.remotes.changes(lock_id)
            try:
                remotes = await operations.remotes.whole(lock_id)
            except ServiceError as error:
                return ReadLock(lock, zone, error=error)
        if unreadable := sum(remote.id is None for remote in remotes):
            words = f"{unreadable:,} of the remotes of lock {lock_id} cannot be read."
            return ReadLock(lock, zone, error=MalformedAnswer(words))
        # A remote that is added later is known as new by this list, also after a kill.
        blocks = await asyncio.to_thread(lambda: _blocks(remotes))
        is_behind = operations.remotes.changes(lock_id) != changes
        await operations.remotes.keep_list(lock_id, Listing(blocks, begun_ms, is_behind))
        return ReadLock(lock, zone, remotes)

    return [*await asyncio.gather(*map(read, dict.fromkeys(lock_ids)))]


def _blocks(remotes: Sequence[Remote]) -> list[Block]:
    pages = range(0, len(remotes), WALK_PAGE_SIZE)
    return [Block.of(remotes[start : start + WALK_PAGE_SIZE]) for start in pages]


def read_file(path: Path, lock_id: int | None = None) -> Table:
    """Read a table file as a whole.

    Args:
        path: The file.
        lock_id: See ``table_file.read_table``.

    Raises:
        BadTable: It is none.
    """
    try:
        content = read_named(path, TOO_MANY_BYTES, "table of remotes")
    except ValueError as error:
        raise BadTable([Problem(0, "", "", str(error))]) from None
    return read_table(content, lock_id)


async def read_export(operations: Operations, path: Path) -> ReadLock:
    """The lock of a JSON export, as it was then.

    Raises:
        BadTable: It is none, or has more than one lock.
        StoreError: The lock book cannot be read.
    """
    table = await asyncio.to_thread(read_file, path)
    if len(table.locks) != 1:
        reason = (
            f"It is an export of {len(table.locks):,} locks: one of a single lock is needed."
            if table.locks
            else "It is a table for people: a JSON export is needed."
        )
        raise BadTable([Problem(0, "", "", reason)])
    lock = await operations.locks.find(table.locks[0])
    remotes = [Remote.read(row.raw or {}) for row in table.rows]
    return ReadLock(lock, operations.zone(lock), remotes)


async def draw_plan(
    operations: Operations,
    path: Path,
    title: str,
    *,
    prune: bool,
    seen: Sequence[ReadLock] | None = None,
    lock_id: int | None = None,
) -> Drawn:
    """Make a plan of a file: it is checked as a whole, and its locks are read whole.

    Args:
        operations: What reads the locks.
        path: The file.
        title: What the plan is called.
        prune: Whether what the file does not have is deleted from the locks that it names.
        seen: The locks as they were when the file was written, where it is known: what somebody
            else has changed since is then not changed back. The file may name no others.
        lock_id: The lock of those rows that do not say which; None: each has to. The plan
            says it.

    Raises:
        BadTable: Something in the file cannot be carried out; all of it is told.
        StoreError: The lock book cannot be read.
    """
    table = await asyncio.to_thread(read_file, path, lock_id)
    here = without_secrets(operations.profile.base_url)
    if table.service and table.service != here:
        reason = (
            f"It was exported from {clean(table.service, 80)}, and the profile"
            f" {clean(operations.profile.name, 40)} is of {clean(here, 80)}: there the same ids are"
            " other remotes."
        )
        raise BadTable([Problem(0, "", "", reason)])
    # Beside the event loop, as below: a file may have hundreds of thousands of rows.
    problems = [*table.problems, *await asyncio.to_thread(check_rows, table.rows)]
    rows = await asyncio.to_thread(_by_lock, table, {problem.line for problem in problems})
    for one in seen or ():
        rows.setdefault(one.lock.lock_id, [])
    read = seen if seen is not None else await read_locks(operations, rows)
    if other := rows.keys() - {one.lock.lock_id for one in read}:
        first = rows[min(other)][0]
        reason = "It is another lock."
        raise BadTable([Problem(first.line, LOCK, first.text(LOCK), reason)])
    now_ms = operations.now_ms()
    steps: list[Step] = []
    left: list[Step] = []
    of_unread: list[Problem] = []
    for one in read:
        here_id = one.lock.lock_id
        if one.error is not None:
            left += [_unplanned(row, here_id, one.error) for row in rows[here_id]]
            words = f"Lock {here_id} was not read: {one.error.meaning}"
            of_unread += [Problem(row.line, LOCK, row.text(LOCK), words) for row in rows[here_id]]
            continue
        on_lock = LockPlan(here_id, one.remotes, one.zone, now_ms)
        taken_here = await asyncio.to_thread(on_lock.take, rows[here_id], prune=prune)
        steps += await _with_what_was_kept(operations, one, taken_here)
        problems += on_lock.problems
    if problems:
        raise BadTable(sorted([*problems, *of_unread], key=lambda problem: problem.line))
    unread = [one for one in read if one.error is not None]
    steps, held = without_deletes(steps, unread) if unread else (steps, [])
    if table.without_lock:
        title += f" for lock {lock_id}"
        taken = f"Its row has no lockId: it is taken for lock {lock_id}."
        steps = [
            replace(step, note=f"{step.note} {taken}".strip())
            if step.line in table.without_lock
            else step
            for step in steps
        ]
    return Drawn(operations.runs.make(title, steps, [*left, *held]), unread)


async def _with_what_was_kept(
    operations: Operations, read: ReadLock, steps: Iterable[Step]
) -> list[Step]:
    """Add a note to each step that was sent before, and that the service keeps otherwise."""
    rows, recorded = await read_recorded(operations.journal, read.lock.lock_id)
    last, remotes = last_of(rows), {one.id: one for one in read.remotes}

    def with_note(step: Step) -> Step:
        sent, remote = last.get(step.remote_id or 0), remotes.get(step.remote_id)
        if step.action is not Action.UPDATE or sent is None or remote is None:
            return step
        names = [
            name
            for name in kept_names(sent, remote, recorded)
            if name in step.wanted and same(step.wanted[name], sent.body[name])
        ]
        if not names:
            return step
        words = f"It was sent before. {describe_kept(sent, remote, names, read.zone)}"
        return replace(step, note=f"{step.note} {words}".strip())

    return [with_note(step) for step in steps]


def without_deletes(
    steps: Iterable[Step], unread: Sequence[ReadLock]
) -> tuple[list[Step], list[Step]]:
    """Where a lock could not be read whole, nothing is deleted anywhere.

    Returns:
        What is left of the steps, and the deletes, with why they are not sent.
    """
    words = f"Nothing is deleted: lock {unread[0].lock.lock_id} could not be read whole."
    kept, held = list[Step](), list[Step]()
    for step in steps:
        if step.action is Action.DELETE:
            held.append(replace(step, state=StepState.NOT_SENT, message=words))
        else:
            kept.append(step)
    return kept, held


def draw_copies(
    operations: Operations,
    source: ReadLock,
    targets: Sequence[ReadLock],
    *,
    renames: bool,
    skips_expired: bool = False,
    keeps_wall_time: bool = False,
    known: Mapping[int, Mapping[str, Any]] | None = None,
    gone: Sequence[str] = (),
) -> Drawn:
    """Make a plan that adds the remotes of a lock to others.

    Args:
        operations: What makes plans.
        source: The lock, read whole.
        targets: The other locks; those that were not read get nothing.
        renames: See :func:`copied`.
        skips_expired: Whether expired remotes are left out.
        keeps_wall_time: Whether times stay what the clock shows, and not the same moment, where
            the zones of the locks differ.
        known: Id -> what is known of fields that no list returns.
        gone: What of it is left out already, in sentences.
    """
    now_ms, lock_id = operations.now_ms(), source.lock.lock_id
    known = known or {}
    remotes = [
        remote
        for remote in source.remotes
        if not skips_expired or phase_of(remote, now_ms) is not Phase.OVER
    ]
    dated = [remote for remote in remotes if needs_dates(remote.remote_type) and remote.end_ms]
    zones: dict[str, None] = {}
    expired = (len(source.remotes) - len(remotes)) * len(targets)
    steps: list[Step] = []
    left: list[Step] = []
    added: dict[int, BackedUp] = {}
    for one in targets:
        here, there = remotes, one.zone
        if there != source.zone and dated:
            words = describe_zones(dated[0], source.zone, there, keeps_wall_time=keeps_wall_time)
            zones[words] = None
            if keeps_wall_time:
                here = [at_wall_time(remote, source.zone, there) for remote in remotes]
        found = [backed_up(each, lock_id, known.get(each.id or 0, {}), now_ms) for each in here]
        made = copied(found, one.lock.lock_id, one.remotes, renames=renames)
        made = with_near_notes(made, one.remotes)
        if keeps_wall_time:
            made = without_unknown_zones(made, source.zone, there)
        is_added = [one.error is None and step.action is Action.ADD for step in made]
        added.update((place, found[place]) for place, is_so in enumerate(is_added) if is_so)
        if one.error is not None:
            state = StepState.REFUSED if isinstance(one.error, Refused) else StepState.NOT_SENT
            left += [replace(step, state=state, message=one.error.meaning) for step in made]
        else:
            left += [step for step in made if step.state is not StepState.TO_DO]
            steps += [step for step in made if step.state is StepState.TO_DO]
    hidden = {field.called: None for one in added.values() for field in one.unknown}
    said = losses([replace(one, unknown=()) for one in added.values()])
    if hidden:
        said.append(f"The service does not tell, and so it is not copied: {', '.join(hidden)}.")
    names = ", ".join(str(one.lock.lock_id) for one in targets[:5])
    more = f" and {len(targets) - 5:,} more" if len(targets) > 5 else ""
    title = f"copy {lock_id} to {names}{more}"
    plan = operations.runs.make(title, steps, left, [*gone, *filter(None, zones), *said])
    plan = replace(plan, skipped={"expired": expired})
    return Drawn(plan, [one for one in targets if one.error is not None])


def _by_lock(table: Table, wrong: Container[int]) -> dict[int, list[Row]]:
    """The rows of each lock of a file, but for wrong ones; also of locks of which it has none."""
    rows: dict[int, list[Row]] = {lock_id: [] for lock_id in table.locks}
    for row in table.rows:
        if row.line in wrong:
            continue
        rows.setdefault(int(row.text(LOCK)), []).append(row)
    return rows


def _unplanned(row: Row, lock_id: int, error: LocktermError) -> Step:
    """What a row of a lock that could not be read is told as."""
    action = row.text(ACTION).casefold()
    is_no = isinstance(error, Refused)
    return Step(
        number=0,
        action=Action(action) if action else Action.UPDATE if row.text(REMOTE) else Action.ADD,
        lock_id=lock_id,
        remote_id=int(row.text(REMOTE) or 0) or None,
        remote_name=row.text("remoteName"),
        before={"remoteNumber": row.text("remoteNumber")},
        line=row.line,
        state=StepState.REFUSED if is_no else StepState.NOT_SENT,
        message=error.meaning,
    )


# --- writing -------------------------------------------------------------------------------------


def as_json(read: Sequence[ReadLock], base_url: str, now_ms: int) -> bytes:
    """All that the service tells of locks, a remote on each line; escaped down to ASCII.

    Args:
        read: Locks that were read whole.
        base_url: The service's.
        now_ms: Now, in milliseconds.
    """
    at = dates.local(now_ms, UTC)
    head = {
        "format": FORMAT,
        "version": VERSION,
        "exported": at.isoformat(timespec="seconds") if at else "",
        "service": without_secrets(base_url),
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
    locks = []
    for one in read:
        lock = {
            "lockId": one.lock.lock_id,
            "name": one.lock.name,
            "timezone": one.lock.zone or dates.zone_name(one.zone),
        }
        named = json.dumps(lock).removesuffix("}")
        remotes = ",\n".join(json.dumps(remote.raw) for remote in one.remotes)
        locks.append(f'{named}, "remotes": [\n{remotes}\n]}}')
    parts = ["{", *lines, '"locks": [', ",\n".join(locks), "]", "}"]
    return ("\n".join(parts) + "\n").encode()


def as_csv(read: Sequence[ReadLock]) -> bytes:
    """A table of the remotes of locks, for people; no cell is a formula.

    Fields that no list returns have a column where a remote has one all the same.
    """
    hidden = {
        field.name
        for field in UNLISTED
        if all(
            field.of(remote) is None and field.name not in remote.odd
            for one in read
            for remote in one.remotes
        )
    }
    columns = [name for name in NAMES if name != ACTION and name not in hidden]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    for one in read:
        for remote in one.remotes:
            cells: dict[str, object] = {LOCK: one.lock.lock_id, REMOTE: remote.id}
            for name in columns[2:]:
                field = SETTABLE[name]
                cells[name] = guarded(cell_of(field, remote, one.zone))
            writer.writerow([cells[name] for name in columns])
    return text.getvalue().encode()
