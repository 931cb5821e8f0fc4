"""What the commands over all locks of the book have in common: reading them, and what was not."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from lockterm.cli.exit_codes import UsageError, tell
from lockterm.cli.output import put_csv
from lockterm.cli.remotes.reading import CSV_COLUMNS, csv_rows
from lockterm.cli.session import Session
from lockterm.cli.which_lock import lock_json
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import Remote
from lockterm.operations.everywhere import LockRead, Wanted, describe_reads

MOST_NAMED = 20
"""So many locks that were not read are named in the sentence for people; ``--json`` has all."""


@dataclass(frozen=True, slots=True)
class OnLock:
    """A remote that was found, and where."""

    lock: Lock
    remote: Remote
    zone: tzinfo
    """The lock's."""


def read_all(session: Session, wanted: Wanted) -> list[LockRead]:
    """Read every lock of the book, in its order; those that were not read are told on stderr.

    Raises:
        UsageError: The lock book is empty.
        StoreError: It cannot be read.
    """

    async def read() -> list[LockRead]:
        async with aclosing(session.operations.everywhere.read(wanted)) as reading:
            return [one async for one in reading]

    found = sorted(session.run(read()), key=lambda one: one.place)
    if not found:
        raise UsageError(
            "The lock book of this profile is empty: nothing was asked.",
            hint="Add locks with lockterm locks add or import, or in the UI.",
        )
    if missed_of(found):
        tell(describe_reads(found, MOST_NAMED))
    return found


def on_locks(session: Session, found: Sequence[LockRead]) -> list[OnLock]:
    """All remotes that were found, lock by lock."""
    zone = session.operations.zone
    return [OnLock(one.lock, remote, zone(one.lock)) for one in found for remote in one.remotes]


def put_csv_of(listed: Sequence[OnLock]) -> None:
    """Print remotes as CSV, with the lock book's name of their lock."""
    rows = (
        {"lockName": one.lock.name, **row, "lockId": one.lock.lock_id}
        for one in listed
        for row in csv_rows([one.remote], one.zone)
    )
    put_csv(("lockName", *CSV_COLUMNS), rows)


def missed_of(found: Sequence[LockRead]) -> list[LockRead]:
    """The locks that were not read, or not whole."""
    return [one for one in found if one.problem]


def counts_json(found: Sequence[LockRead]) -> dict[str, Any]:
    """What programs are told of the reading: how many locks, how many read, and which were not."""
    missed = missed_of(found)
    return {
        "locks": len(found),
        "read": len(found) - len(missed),
        "notRead": [{**lock_json(one.lock), "why": one.problem} for one in missed],
    }
