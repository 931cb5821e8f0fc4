"""``lockterm find`` and ``report``: the commands that read all locks of the lock book."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

import click

from lockterm.cli import manual
from lockterm.cli.exit_codes import DONE, FAILED, UNREACHABLE, UsageError, notify
from lockterm.cli.options import Format, reads
from lockterm.cli.output import format_time, put, put_csv, put_json, put_table
from lockterm.cli.remotes.reading import CSV_COLUMNS, TITLES, csv_rows, table_cells
from lockterm.cli.session import Session, format_lock, lock_json
from lockterm.config import Options
from lockterm.domain import dates
from lockterm.domain.date_input import read_moment
from lockterm.domain.glyphs import quoted
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.searching import is_found
from lockterm.domain.text.amount import describe_unreadable_periods, format_count
from lockterm.domain.text.remote import format_remote
from lockterm.domain.validity import ends_by, has_unreadable_period
from lockterm.operations.everywhere import LockRead, Wanted, describe_reads

MOST_NAMED = 20
"""Maximum number of unread locks that a message on stderr names; ``--json`` lists all of them."""
_NAMED = 5
"""Maximum number of remotes with an unreadable period that a message names."""
_TITLES = tuple(title for title in TITLES if title not in ("Type", "State"))
"""Columns of the report after day and lock; more columns would not fit in 80 cells."""
_MONTHS_DIFFER_MS = 4 * dates.DAY_MS
"""Time by which the search exceeds the reported period, in milliseconds.

The length of a period in months depends on today's date. Until the service answers, lockterm knows
only the date of this machine, which may be wrong.
"""


@dataclass(frozen=True, slots=True)
class FoundRemote:
    """A remote that a search found, with its lock and the lock's time zone."""

    lock: Lock
    remote: Remote
    zone: tzinfo


def read_all(session: Session, wanted: Wanted) -> list[LockRead]:
    """Search every lock of the lock book, and report on stderr which locks could not be read.

    Args:
        session: The session that reads the locks.
        wanted: A function that returns whether a remote belongs to the result.

    Returns:
        A result for each lock, in the order of the lock book.

    Raises:
        UsageError: The lock book is empty.
        StoreError: The lock book cannot be read.
    """

    async def read() -> list[LockRead]:
        async with aclosing(session.operations.everywhere.read(wanted)) as reading:
            return [one async for one in reading]

    found = sorted(session.run(read()), key=lambda one: one.place)
    if not found:
        raise UsageError(
            "The lock book of this profile is empty. Nothing was sent.",
            hint="Add locks with lockterm locks add or import, or in the UI.",
        )
    if list_unread(found):
        notify(describe_reads(found, MOST_NAMED))
    return found


def list_found(session: Session, found: Sequence[LockRead]) -> list[FoundRemote]:
    """Return all remotes that a search found, lock by lock."""
    zone = session.operations.zone
    return [
        FoundRemote(one.lock, remote, zone(one.lock)) for one in found for remote in one.remotes
    ]


def put_found_csv(listed: Sequence[FoundRemote]) -> None:
    """Print remotes as CSV, with the names of their locks."""
    rows = (
        {"lockName": one.lock.name, **row, "lockId": one.lock.lock_id}
        for one in listed
        for row in csv_rows([one.remote], one.zone)
    )
    put_csv(("lockName", *CSV_COLUMNS), rows)


def list_unread(found: Sequence[LockRead]) -> list[LockRead]:
    """Return the results of locks that could not be read completely."""
    return [one for one in found if one.problem]


def to_counts_json(found: Sequence[LockRead]) -> dict[str, Any]:
    """Return the part of the JSON output that counts the locks and lists the unread ones."""
    missed = list_unread(found)
    return {
        "locks": len(found),
        "read": len(found) - len(missed),
        "notRead": [{**lock_json(one.lock), "why": one.problem} for one in missed],
    }


@click.command(epilog=manual.FIND)
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


@click.command(epilog=manual.REPORT)
@click.option(
    "--within",
    metavar="TIME",
    default="30d",
    help="Period from now, such as 12h, 30d or 2w. [default: 30d]",
)
@reads
def report(options: Options, within: str, form: Format) -> int:
    """List expired and expiring remotes of all locks."""
    with Session(options) as session:
        operations = session.operations
        now_ms = operations.now_ms()
        ahead_ms = _parse_until(within, session.profile.zone, now_ms) - now_ms + _MONTHS_DIFFER_MS
        found = read_all(session, lambda remote: ends_by(remote, operations.now_ms() + ahead_ms))
        now_ms = operations.now_ms()  # the answers have shown the clock of the service
        until_ms = _parse_until(within, session.profile.zone, now_ms)
        ends = [one for one in list_found(session, found) if ends_by(one.remote, until_ms)]
    unreadable = sum(one.listing.unreadable_periods for one in found if one.listing is not None)
    ends.sort(key=_format_day)  # a stable sort keeps the order of the lock book within a day
    if form is Format.JSON:
        records = [
            {
                "day": _format_day(one),
                "ended": ends_by(one.remote, now_ms),
                "end": format_time(one.remote.end_ms, one.zone),
                "lock": lock_json(one.lock),
                "remote": one.remote.raw,
            }
            for one in ends
        ]
        counts = to_counts_json(found)
        put_json({"until": until_ms, **counts, "unreadablePeriods": unreadable, "ends": records})
    elif form is Format.CSV:
        put_found_csv(ends)
    else:
        if ends:
            put_table(("Day", "Lock", *_TITLES), [_list_cells(one, now_ms) for one in ends])
        ended = sum(ends_by(one.remote, now_ms) for one in ends)
        by = dates.day_time(until_ms, session.profile.zone, exact=False)
        soon = f"{len(ends) - ended:,} more will expire by {by}"
        put(f"{format_count(ended, 'remote')} expired, {soon}")
    if unreadable:
        _report_unreadable(found, unreadable)
    if list_unread(found):
        return UNREACHABLE
    return FAILED if ends or unreadable else DONE


def _report_unreadable(found: Sequence[LockRead], count: int) -> None:
    """Report remotes with an unreadable period on stderr."""
    named = [
        f"{format_remote(remote)} on {format_lock(one.lock)}"
        for one in found
        if one.listing is not None and one.listing.unreadable_periods
        for remote in one.listing.remotes()
        if has_unreadable_period(remote)
    ]
    more = f" and {count - _NAMED:,} more" if count > _NAMED else ""
    notify(f"{describe_unreadable_periods(count)}: {', '.join(named[:_NAMED])}{more}.")


def _parse_until(within: str, zone: tzinfo, now_ms: int) -> int:
    """Return the end of the period that starts now, in milliseconds since the epoch.

    Raises:
        UsageError: The text is not a period.
    """
    typed = within.strip().removeprefix("+")
    read = read_moment(f"+{typed}", zone, now_ms)
    until_ms = max(read.choices, default=None) if read.ms is None else read.ms
    if until_ms is None:
        raise UsageError(
            f"--within: {quoted(clean(within, 40))} is not a period.",
            hint="Type a period such as 30d, 2w, 6mo or 12h.",
        )
    return until_ms


def _list_cells(one: FoundRemote, now_ms: int) -> list[object]:
    cells = dict(zip(TITLES, table_cells(one.remote, one.zone, now_ms), strict=True))
    return [_format_day(one), one.lock.title, *(cells[title] for title in _TITLES)]


def _format_day(one: FoundRemote) -> str:
    """Return the last day on which a remote opens its lock, such as ``2026-12-31``."""
    at = dates.local((one.remote.end_ms or 0) - 1, one.zone)
    return at.date().isoformat() if at else "beyond the calendar"
