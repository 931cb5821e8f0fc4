"""The command ``lockterm changes``, which shows what others changed on the locks."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any

import click

from lockterm.cli.all_locks import list_unread, read_all
from lockterm.cli.exit_codes import DONE, UNREACHABLE, notify
from lockterm.cli.history import parse_day
from lockterm.cli.manual import READING
from lockterm.cli.options import Format, lock_option, reads
from lockterm.cli.output import put, put_csv, put_json, put_table
from lockterm.cli.session import Session, find_lock, lock_json
from lockterm.config import Options
from lockterm.domain import dates
from lockterm.domain.changes_elsewhere import (
    NOT_KEPT,
    ChangeElsewhere,
    describe_kind,
    describe_values,
)
from lockterm.domain.date_input import parse_age
from lockterm.domain.locks import Lock
from lockterm.domain.text.amount import format_count

_CHANGES_COLUMNS = (
    "since",
    "until",
    "what",
    "lockId",
    "lockName",
    "remoteId",
    "remoteName",
    "changed",
)


_CHANGES_HELP = f"""\
Each time lockterm reads the whole list of a lock, it compares the list with the previous one. It
leaves out what this machine sent. A change happened at some time between the two readings.

The command does not ask the service. --read reads all locks first, so that the list is current.

\b
Examples:
  lockterm changes --since 7d
  lockterm changes --read --lock "Main gate" --csv > changes.csv

\b
--json prints changes: a list of
  lock           lockId, name
  remoteId, name
  what           new, changed or gone
  fields         the names of the changed fields
  before, after  their values; for new and gone also the main fields
  since, until   the times of the two readings, in ms
  seen           whether you looked at the change in the UI

{READING}"""


@click.command(epilog=_CHANGES_HELP)
@click.option(
    "--since",
    metavar="TIME",
    help="Start at this age or day, such as 7d or 2026-11-01. [default: the first]",
)
@lock_option
@click.option("--read", "reads_first", is_flag=True, help="Read all locks first.")
@reads
def changes(
    options: Options, since: str | None, typed_lock: str | None, reads_first: bool, form: Format
) -> int:
    """Show what others changed on the locks."""
    with Session(options) as session:
        zone, now_ms = session.profile.zone, session.operations.machine_ms()
        since_ms = 0 if since is None else _parse_age_or_day(since, zone, now_ms)
        lock_id = None if typed_lock is None else find_lock(session, typed_lock).lock_id
        kept_lists = session.operations.kept_lists
        if not kept_lists.is_kept:
            notify(NOT_KEPT)
        read = read_all(session) if reads_first else []
        found = session.run(kept_lists.changes(lock_id, since_ms))
        book = {lock.lock_id: lock for lock in session.run(session.operations.locks.all())}
        rows = [(one, book.get(one.lock_id, Lock(one.lock_id))) for one in found]
        zones = {lock: session.operations.zone(lock) for lock in {lock for _, lock in rows}}
    if form is Format.JSON:
        put_json({"changes": [_change_to_json(one, lock) for one, lock in rows]})
    elif form is Format.CSV:
        put_csv(_CHANGES_COLUMNS, [_change_to_csv(one, lock, zones[lock]) for one, lock in rows])
    else:
        cells = [
            (
                dates.stamp(one.since_ms, zone),
                dates.stamp(one.until_ms, zone),
                one.what.value,
                lock.title,
                one.name,
                describe_values(one, zones[lock]),
            )
            for one, lock in rows
        ]
        if cells:
            put_table(("After", "Before", "What", "Lock", "Remote", "Changed"), cells)
        put(f"{format_count(len(rows), 'change')} by others")
    return UNREACHABLE if list_unread(read) else DONE


def _parse_age_or_day(typed: str, zone: tzinfo, now_ms: int) -> int:
    """Return the start of the period that ``--since`` gives, in milliseconds since the epoch.

    Raises:
        UsageError: If the text is neither an age nor a day.
    """
    try:
        return now_ms - parse_age(typed) * dates.DAY_MS
    except ValueError:
        return parse_day("--since", typed, zone, now_ms)


def _change_to_json(one: ChangeElsewhere, lock: Lock) -> dict[str, Any]:
    return {
        "lock": lock_json(lock),
        "remoteId": one.remote_id,
        "name": one.name,
        "what": one.what.value,
        "fields": one.names,
        "before": one.before,
        "after": one.after,
        "since": one.since_ms,
        "until": one.until_ms,
        "seen": one.is_seen,
    }


def _change_to_csv(one: ChangeElsewhere, lock: Lock, zone: tzinfo) -> dict[str, Any]:
    return {
        "since": dates.to_iso(one.since_ms, zone),
        "until": dates.to_iso(one.until_ms, zone),
        "what": describe_kind(one),
        "lockId": lock.lock_id,
        "lockName": lock.name,
        "remoteId": one.remote_id,
        "remoteName": one.name,
        "changed": describe_values(one, zone),
    }
