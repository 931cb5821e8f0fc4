"""``lockterm find``: who or what has a word, on all locks of the book."""

from __future__ import annotations

import click

from lockterm.cli import manual
from lockterm.cli.everywhere import (
    counts_json,
    missed_of,
    on_locks,
    put_csv_of,
    read_all,
)
from lockterm.cli.exit_codes import DONE, FAILED, UNREACHABLE, UsageError
from lockterm.cli.options import Form, reads
from lockterm.cli.output import put, put_json, put_table
from lockterm.cli.remotes.reading import TITLES, table_cells
from lockterm.cli.session import Session
from lockterm.cli.which_lock import lock_json
from lockterm.config import Options
from lockterm.domain.searching import is_found
from lockterm.domain.text.amount import format_count


@click.command(epilog=manual.FIND)
@click.argument("text", metavar="TEXT")
@reads
def find(options: Options, text: str, form: Form) -> int:
    """Search all locks of the lock book for remotes."""
    if not text.strip():
        raise UsageError("TEXT is empty; nothing was asked.")
    with Session(options) as session:
        found = read_all(session, lambda remote: is_found(text, remote))
        listed, now_ms = on_locks(session, found), session.operations.now_ms()
    if form is Form.JSON:
        told = [{"lock": lock_json(one.lock), "remote": one.remote.raw} for one in listed]
        put_json({"text": text, **counts_json(found), "found": told})
    elif form is Form.CSV:
        put_csv_of(listed)
    else:
        if listed:
            cells = [(one.lock.title, *table_cells(one.remote, one.zone, now_ms)) for one in listed]
            put_table(("Lock", *TITLES), cells)
        having = sum(bool(one.remotes) for one in found)
        put(f"{format_count(len(listed), 'remote')} on {having:,} of {len(found):,} locks")
    if listed:
        return DONE
    return UNREACHABLE if missed_of(found) else FAILED
