"""The ``lockterm remotes`` commands, and the tables of remotes that other commands print too.

This module defines ``list``, ``show`` and ``check-name``. The commands that change remotes are in
``change_remotes``.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import tzinfo
from operator import attrgetter
from typing import Any

import click

from lockterm.cli.change_remotes import add, clear, delete, update, user_number
from lockterm.cli.exit_codes import DONE, FAILED, UsageError, notify
from lockterm.cli.manual import CHANGING, LOCK_AND_REMOTE, READING, list_examples, list_exit_codes
from lockterm.cli.options import (
    Format,
    WholeNumber,
    asks_service,
    json_option,
    lock_argument,
    reads,
    remote_argument,
)
from lockterm.cli.output import put, put_csv, put_fields, put_json, put_table
from lockterm.cli.session import Session, format_lock, lock_json, open_lock, read_remote
from lockterm.config import Options
from lockterm.config.profile import MAX_PAGE_SIZE
from lockterm.domain import dates
from lockterm.domain.locks import Lock
from lockterm.domain.operation import Operation
from lockterm.domain.remotes import FIELDS, Remote, RemotePage, RemoteType, word
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.operation import format_operation
from lockterm.domain.text.remote import describe_remote, format_remote
from lockterm.domain.text.validity import describe_validity
from lockterm.errors import StoreError

TITLES = (
    *(FIELDS[name].label for name in ("id", "remoteName", "remoteNumber", "remoteType")),
    "Valid",
    "State",
)
"""The column titles of a table of remotes, whose cells :func:`table_cells` returns."""
_RECORD = sorted((field for field in FIELDS.values() if field.row), key=attrgetter("row"))
CSV_COLUMNS = (*(field.name for field in _RECORD), "start", "end")
"""The columns of the CSV output: the fields in contract 2.3, then the start and the end in a
readable format."""

_LIST_HELP = f"""\
\b
Examples:
  lockterm remotes list "Main gate" --page 2
  lockterm remotes list 1001 --all --json | jq '.remotes[].remoteName'

--json prints lock (lockId, name), pageNo, pageSize, pages (null with --all), total, unreadable, and
remotes as the service sent them. --csv prints the same fields, and start and end with their offset.

{READING}"""


@click.command("list", epilog=_LIST_HELP)
@lock_argument
@click.option("--page", type=WholeNumber(1), metavar="N", help="Number of the page. [default: 1]")
@click.option(
    "--page-size",
    type=click.IntRange(1, MAX_PAGE_SIZE),
    metavar="N",
    help="Remotes on a page. [default: from the profile]",
)
@click.option("--all", "everything", is_flag=True, help="List all pages.")
@reads
def list_remotes(
    options: Options,
    typed_lock: str,
    form: Format,
    page: int | None,
    page_size: int | None,
    everything: bool,
) -> int:
    """List the remotes of a lock."""
    if everything and (page or page_size):
        raise click.UsageError("--all cannot be used with --page or --page-size")
    with open_lock(options, typed_lock) as (session, lock):
        operations = session.operations
        if everything:
            # People use the whole list as a backup, so two readings of it must agree.
            remotes = session.run(operations.remotes.whole(lock.lock_id))
            counts: dict[str, Any] = dict.fromkeys(("pageNo", "pageSize", "pages"))
            counts |= {"total": len(remotes), "unreadable": 0}
            number = len(remotes)
            page_read = RemotePage(
                remotes=tuple(remotes), page_no=1, page_size=number, pages=1, total=number
            )
        else:
            size = page_size or session.profile.page_rows()
            found = session.run(
                operations.remotes.page(lock.lock_id, page or 1, size, fresh=True)
            ).value
            remotes = list(found.remotes)
            counts = {
                "pageNo": found.page_no,
                "pageSize": found.page_size,
                "pages": found.pages,
                "total": found.total,
                "unreadable": found.unreadable,
            }
            page_read = found
        _report_differences(session, lock, page_read)
        zone, now_ms = operations.zone(lock), operations.now_ms()
    if form is Format.JSON:
        put_json({"lock": lock_json(lock), **counts, "remotes": [one.raw for one in remotes]})
    elif form is Format.CSV:
        put_csv(CSV_COLUMNS, csv_rows(remotes, zone))
    else:
        put_table(TITLES, [table_cells(remote, zone, now_ms) for remote in remotes])
        put(_summary(lock, counts, len(remotes)))
    return DONE


@click.command(
    epilog=list_examples(
        READING,
        'lockterm remotes show "Main gate" 48213',
        "lockterm remotes show 1001 48213 --json | jq .remote.endDate",
    )
)
@lock_argument
@remote_argument
@reads
def show(options: Options, typed_lock: str, remote_id: int, form: Format) -> int:
    """Show every field of a remote."""
    with open_lock(options, typed_lock) as (session, lock):
        remote = read_remote(session, lock, remote_id)
        zone, now_ms = session.operations.zone(lock), session.operations.now_ms()
    if form is Format.JSON:
        put_json({"lock": lock_json(lock), "remote": remote.raw})
    elif form is Format.CSV:
        put_csv(CSV_COLUMNS, csv_rows([remote], zone))
    else:
        fields = describe_remote(remote, describe_validity(remote, now_ms, zone), zone, now_ms)
        put_fields((field.label, field.shown) for field in fields)
    return DONE


_CHECK_NAME_CODES = list_exit_codes(
    3,
    5,
    _0="the name is free",
    _1="the name is taken, or the service refused to answer",
)


@click.command(
    epilog=list_examples(
        _CHECK_NAME_CODES, 'lockterm remotes check-name "Main gate" "Anna Weber" && echo free'
    )
)
@lock_argument
@click.argument("name", metavar="NAME")
@json_option
@asks_service
def check_name(options: Options, typed_lock: str, name: str, as_json: bool) -> int:
    """Check whether a name is free on a lock."""
    name = name.strip()
    with open_lock(options, typed_lock) as (session, lock):
        if not name:
            raise UsageError("NAME is empty. Nothing was sent.")
        free = session.run(session.operations.remotes.is_name_free(lock.lock_id, name))
    if as_json:
        put_json({"lock": lock_json(lock), "remoteName": name, "free": free})
    else:
        put(f"{clean(name, 60)} is {'free' if free else 'taken'} on {format_lock(lock)}.")
    return DONE if free else FAILED


def _report_differences(session: Session, lock: Lock, page: RemotePage) -> None:
    """Report on stderr which recent changes are missing from the service's list or differ in it.

    The recent changes come from the journal. If the journal cannot be read, the function reports
    nothing.
    """
    journal = session.operations.journal

    def notify_kept(operation: Operation) -> None:
        notify(f"note: {clean(format_operation(operation), 80)}: {clean(operation.message, 300)}")

    journal.on_kept = notify_kept
    with suppress(StoreError):
        listed = {one.id for one in page.remotes if one.id is not None}
        unlisted = session.run(journal.unlisted(lock.lock_id, page, listed))
        if unlisted is None or not unlisted.words:
            return
        shown = {one.id: one for one in (*page.remotes, *unlisted.added)}
        named = (f"{format_remote(shown[one])} was {word}" for one, word in unlisted.words.items())
        notify(f"note: the list is out of date: {clean('; '.join(named), 600)}.")


def table_cells(remote: Remote, zone: tzinfo, now_ms: int) -> tuple[object, ...]:
    """Return the cells of a remote, in the order of :data:`TITLES`."""
    valid = describe_validity(remote, now_ms, zone)

    def format_value(name: str, missing: str) -> object:
        value = FIELDS[name].of(remote)
        return remote.odd.get(name, missing) if value is None else value

    return (
        format_value("id", "-"),
        format_value("remoteName", "(no name)"),
        format_value("remoteNumber", "-"),
        remote.odd.get("remoteType", word(RemoteType, remote.remote_type)),
        valid.short,
        valid.word,
    )


def _summary(lock: Lock, counts: dict[str, Any], shown: int) -> str:
    total = counts["total"]
    words = f"{format_lock(lock)}: {format_count(total, 'remote')}"
    if counts["pageNo"] is not None:
        words += f", page {counts['pageNo']} of {counts['pages']}"
    if counts["unreadable"]:
        words += f", {counts['unreadable']} that cannot be read"
    return words if total or shown else f"{format_lock(lock)} has no remotes."


def csv_rows(remotes: Iterable[Remote], zone: tzinfo) -> Iterable[dict[str, Any]]:
    """Yield a row for each remote, with the cells by column of :data:`CSV_COLUMNS`."""
    for remote in remotes:
        start = remote.odd.get("startDate", dates.to_iso(remote.start_ms, zone))
        end = remote.odd.get("endDate", dates.to_iso(remote.end_ms, zone))
        yield {**remote.raw, "start": start, "end": end}


_CERTAINTY = """\
lockterm writes every change to the journal, then sends it, and never repeats it without your
consent. If no answer comes, lockterm verifies the change for up to 90 s. "Recorded by the service"
does not mean that the change has reached the lock. The service does not report that.
"""


_REMOTES_HELP = f"""\
{LOCK_AND_REMOTE}
\b
Examples:
  lockterm remotes list "Main gate"
  lockterm remotes add 1001 --name "Anna Weber" --number A-2041 \\
      --type recurring --start now --end +30d --days mon-fri
  lockterm remotes update 1001 48213 --end +1y --dry-run
  lockterm remotes delete 1001 48213 --yes --json

{_CERTAINTY}
{CHANGING}"""


@click.group(
    commands=[list_remotes, show, add, update, delete, clear, user_number, check_name],
    no_args_is_help=False,
    epilog=_REMOTES_HELP,
)
def remotes() -> None:
    """List, add, change and delete the remotes of a lock."""
