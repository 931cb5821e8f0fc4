"""``lockterm history``: what was sent from this machine, and what became of it."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any

import click

from lockterm.cli import manual
from lockterm.cli.completion import complete_locks
from lockterm.cli.ending import DONE, Misused
from lockterm.cli.options import Form, reads
from lockterm.cli.output import count_words, put, put_csv, put_table
from lockterm.cli.session import Session
from lockterm.cli.which_lock import find_lock
from lockterm.config import Options
from lockterm.domain import dates
from lockterm.domain.date_input import read_moment
from lockterm.domain.history import Selection
from lockterm.domain.operation import CALL_WORDS, STATE_WORDS, Operation, title_of
from lockterm.domain.operation_details import operation_details

_COLUMNS = ("When", "What", "Lock", "Remote", "Details", "Outcome", "Note")
"""The CSV's: for people."""


@click.command(epilog=manual.HISTORY)
@click.option(
    "--lock", "typed_lock", metavar="LOCK", help="Only this lock's.", shell_complete=complete_locks
)
@click.option("--since", metavar="DAY", help="Only from this day on: 2026-11-01.")
@click.option("--today", is_flag=True, help="Only today's.")
@reads
def history(
    options: Options, typed_lock: str | None, since: str | None, today: bool, form: Form
) -> int:
    """Show what was sent from here, and what became of it."""
    if since is not None and today:
        raise click.UsageError("--since and --today exclude each other")
    with Session(options) as session:
        zone, now_ms = session.profile.zone, session.operations.now_ms()
        since = "today" if today else since
        since_ms = None if since is None else _day(since, zone, now_ms)
        lock_id = None if typed_lock is None else find_lock(session, typed_lock).lock_id
        selection = Selection(lock_id=lock_id, since_ms=since_ms)
        found = session.run(session.operations.journal.history(selection))
        book = session.run(session.operations.locks.all())
        zones = {lock.lock_id: session.operations.zone(lock) for lock in book}
    if form is Form.JSON:
        from lockterm.operations.export import as_json

        put(as_json(found, zone).decode().rstrip("\n"))
    elif form is Form.CSV:
        put_csv(_COLUMNS, (_row(one, zone, zones.get(one.lock_id, zone)) for one in found))
    else:
        cells = [
            (
                dates.stamp(one.prepared_ms, zone),
                title_of(one),
                one.lock_name,
                STATE_WORDS[one.state],
                one.message,
            )
            for one in found
        ]
        if cells:
            put_table(("When", "What", "Lock", "Outcome", "Note"), cells)
        put(count_words(len(found), "change"))
    return DONE


def _day(typed: str, zone: tzinfo, now_ms: int) -> int:
    """The beginning of a day, in milliseconds.

    Raises:
        Misused: What was typed is no day.
    """
    read = read_moment(typed, zone, now_ms)
    if read.ms is None and not read.choices:
        raise Misused(f"--since: {read.error}")
    return min(read.choices, default=0) if read.ms is None else read.ms


def _row(operation: Operation, zone: tzinfo, lock_zone: tzinfo) -> dict[str, Any]:
    is_restored = operation.restores is not None
    what = CALL_WORDS.get(operation.call, operation.call)
    remote = operation.remote_name
    if operation.call == "clear":
        remote = count_words(len(operation.before), "remote")
    elif not remote and operation.remote_id is not None:
        remote = f"remote {operation.remote_id}"
    return {
        "When": dates.stamp(operation.prepared_ms, zone),
        "What": "restore" if is_restored else what,
        "Lock": operation.lock_name or f"lock {operation.lock_id}",
        "Remote": remote,
        "Details": operation_details(operation, lock_zone),
        "Outcome": STATE_WORDS[operation.state],
        "Note": operation.message,
    }
