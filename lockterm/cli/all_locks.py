"""The command ``lockterm find``, and functions that search all locks for several commands."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import tzinfo
from operator import attrgetter
from typing import Any

import click

from lockterm.cli.exit_codes import DONE, FAILED, UNREACHABLE, UsageError, notify
from lockterm.cli.manual import UNREAD, list_exit_codes
from lockterm.cli.options import Format, reads
from lockterm.cli.output import put, put_csv, put_json, put_table
from lockterm.cli.remotes import CSV_COLUMNS, TITLES, csv_rows, table_cells
from lockterm.cli.session import Session, lock_json
from lockterm.config import Options
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import Remote
from lockterm.domain.searching import is_found
from lockterm.domain.text.amount import format_count
from lockterm.operations.all_locks import LockRead, Wanted, describe_reads

MOST_NAMED = 20
"""The maximum number of unread locks that a message on stderr names. ``--json`` lists all unread
locks."""


@dataclass(frozen=True, slots=True)
class FoundRemote:
    """A remote that a search found, with its lock and the lock's time zone."""

    lock: Lock
    remote: Remote
    zone: tzinfo


def want_none(_: Remote) -> bool:
    """Return False for every remote, for commands that need whole lists and no search results."""
    return False


def read_all(session: Session, wanted: Wanted = want_none) -> list[LockRead]:
    """Search every lock of the lock book, and report on stderr which locks could not be read.

    Args:
        session: The session that reads the locks.
        wanted: A function that gets a remote and returns whether it is a search result.

    Returns:
        A result for each lock, in the order of the lock book.

    Raises:
        UsageError: If the lock book is empty.
        StoreError: If the lock book cannot be read.
    """

    async def read() -> list[LockRead]:
        async with aclosing(session.operations.all_locks.read(wanted)) as reading:
            return [one async for one in reading]

    found = sorted(session.run(read()), key=attrgetter("place"))
    if not found:
        raise UsageError(
            "The lock book of this profile is empty. Nothing was sent.",
            hint="Add locks with lockterm locks add or import, or in the UI.",
        )
    if list_unread(found):
        notify(describe_reads(found, MOST_NAMED))
    return found


def list_found(session: Session, found: Sequence[LockRead]) -> list[FoundRemote]:
    """Return all remotes that a search has found, lock by lock."""
    zone = session.operations.zone
    return [
        FoundRemote(one.lock, remote, zone(one.lock)) for one in found for remote in one.remotes
    ]


def put_found_csv(listed: Sequence[FoundRemote]) -> None:
    """Print found remotes as CSV, with the names of their locks."""
    rows = (
        {"lockName": one.lock.name, **row, "lockId": one.lock.lock_id}
        for one in listed
        for row in csv_rows([one.remote], one.zone)
    )
    put_csv(("lockName", *CSV_COLUMNS), rows)


def list_unread(found: Sequence[LockRead]) -> list[LockRead]:
    """Return the results of those locks that could not be read completely."""
    return [one for one in found if one.problem]


def to_counts_json(found: Sequence[LockRead]) -> dict[str, Any]:
    """Return a part of the JSON output: the locks that were not fully read, and the totals.

    ``locks`` is the number of all locks, and ``read`` the number of fully read locks. ``notRead``
    lists the other locks, each with the reason.
    """
    missed = list_unread(found)
    return {
        "locks": len(found),
        "read": len(found) - len(missed),
        "notRead": [{**lock_json(one.lock), "why": one.problem} for one in missed],
    }


_FIND_CODES = list_exit_codes(
    5,
    _0="found",
    _1="not found on any lock",
    _2="an argument or a setting is wrong, or the lock book is empty",
    _3="not found, and a lock could not be read",
)

_FIND_HELP = f"""\
The command lists the remotes that contain every word of TEXT in their name, number, ID or extra
data. Case and accents do not matter.
{UNREAD}
\b
Examples:
  lockterm find weber
  lockterm find A-2041 --json | jq '.found[].lock.lockId'

--json prints text, locks, read, notRead (lockId, name, why), and found: a list of lock (lockId,
name) and remote as the service sent it.

{_FIND_CODES}"""


@click.command(epilog=_FIND_HELP)
@click.argument("text", metavar="TEXT")
@reads
def find(options: Options, text: str, form: Format) -> int:
    """Search all locks of the lock book for remotes."""
    if not text.strip():
        raise UsageError("TEXT is empty. Nothing was sent.")
    with Session(options) as session:
        found = read_all(session, lambda remote: is_found(text, remote))
        listed, now_ms = list_found(session, found), session.operations.now_ms()
    if form is Format.JSON:
        records = [{"lock": lock_json(one.lock), "remote": one.remote.raw} for one in listed]
        put_json({"text": text, **to_counts_json(found), "found": records})
    elif form is Format.CSV:
        put_found_csv(listed)
    else:
        if listed:
            cells = [(one.lock.title, *table_cells(one.remote, one.zone, now_ms)) for one in listed]
            put_table(("Lock", *TITLES), cells)
        having = sum(bool(one.remotes) for one in found)
        put(f"{format_count(len(listed), 'remote')} on {having:,} of {len(found):,} locks")
    if listed:
        return DONE
    return UNREACHABLE if list_unread(found) else FAILED
