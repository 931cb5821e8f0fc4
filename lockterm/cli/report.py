"""The command ``lockterm report``, which lists expiring remotes or writes a page on all locks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from pathlib import Path

import click

from lockterm.cli import manual
from lockterm.cli.all_locks import (
    FoundRemote,
    list_found,
    list_unread,
    put_found_csv,
    read_all,
    to_counts_json,
)
from lockterm.cli.exit_codes import DONE, FAILED, UNREACHABLE, UsageError, notify
from lockterm.cli.options import Format, WholeNumber, reads
from lockterm.cli.output import put, put_json, put_table
from lockterm.cli.remotes.reading import TITLES, table_cells
from lockterm.cli.report_battery import MOST_DETAILS, report_batteries
from lockterm.cli.session import Session, format_lock, lock_json
from lockterm.config import Options
from lockterm.domain import dates
from lockterm.domain.date_input import read_moment
from lockterm.domain.glyphs import quoted
from lockterm.domain.history import Selection
from lockterm.domain.html_page import is_page
from lockterm.domain.report_page import LockReport, Report, render_report
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import describe_unreadable_periods, format_count
from lockterm.domain.text.remote import format_remote
from lockterm.domain.validity import ends_by, has_unreadable_period
from lockterm.operations.everywhere import LockRead
from lockterm.operations.export import may_replace, write_file

_NAMED = 5
"""The maximum number of remotes with an unreadable period that a message lists by name."""
_TITLES = tuple(title for title in TITLES if title not in ("Type", "State"))
"""The titles of the columns after day and lock. More columns would not fit into 80 cells."""
_MONTHS_DIFFER_MS = 4 * dates.DAY_MS
"""The time in milliseconds by which the searched period is longer than the reported period.

The length of a period in months depends on today's date. Until the service answers, lockterm knows
only the date of this machine, which may be wrong.
"""


@click.command(epilog=manual.REPORT)
@click.option(
    "--within",
    metavar="TIME",
    help="Period from now, such as 12h, 30d or 2w. [default: 30d]",
)
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a page with counts, end dates and changes to FILE. [default: none]",
)
@click.option(
    "--battery",
    metavar="PERCENT",
    type=click.IntRange(0, 100),
    help="List remotes with at most this battery level instead. [default: none]",
)
@click.option(
    "--max-details",
    metavar="N",
    type=WholeNumber(1),
    help="Maximum number of remotes to read for --battery. [default: 1000]",
)
@reads
def report(
    options: Options,
    within: str | None,
    page: Path | None,
    battery: int | None,
    max_details: int | None,
    form: Format,
) -> int:
    """List expired and expiring remotes of all locks."""
    if page is not None and form is not Format.TABLE:
        raise click.UsageError("--html cannot be used with --json or --csv")
    if battery is not None and (page is not None or within is not None):
        raise click.UsageError("--battery cannot be used with --html or --within")
    if battery is None and max_details is not None:
        raise click.UsageError("--max-details needs --battery")
    within = "30d" if within is None else within
    with Session(options) as session:
        if battery is not None:
            return report_batteries(session, battery, max_details or MOST_DETAILS, form)
        operations = session.operations
        now_ms = operations.now_ms()
        if page is not None:
            period_ms = _parse_until(within, session.profile.zone, now_ms) - now_ms
            return _write_page(session, page, period_ms)
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
                "end": dates.to_iso(one.remote.end_ms, one.zone),
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


def _write_page(session: Session, file: Path, period_ms: int) -> int:
    """Read all locks, and write an HTML page about them.

    Args:
        session: The session that reads the locks.
        file: The file to write. An existing file is replaced only if it is a page of this command.
        period_ms: The length of the period until now in which changes are counted, in milliseconds.

    Returns:
        The exit code.

    Raises:
        UsageError: If a file that is not such a page exists at the path; nothing was sent.
    """
    if not may_replace(file, is_page):
        raise UsageError(
            f"{clean(file)} is not a page of lockterm. Nothing was sent or written.",
            hint="Name another file.",
        )
    operations = session.operations
    found = read_all(session)
    stored = session.run(operations.remotes.lists()) if list_unread(found) else {}
    machine_ms = operations.machine_ms()
    since_ms = machine_ms - period_ms
    content = render_report(
        Report(
            profile=session.profile.name,
            zone=session.profile.zone,
            now_ms=operations.now_ms(),
            machine_ms=machine_ms,
            locks=[
                LockReport(
                    one.lock,
                    operations.zone(one.lock),
                    one.listing or stored.get(one.lock.lock_id),
                    one.problem,
                )
                for one in found
            ],
            changes=session.run(operations.journal.lines(Selection(since_ms=since_ms))),
            since_ms=since_ms,
        )
    )
    write_file(file, content, may_replace=is_page)
    notify(f"Report of {format_count(len(found), 'lock')} written to {clean(file)}.")
    return UNREACHABLE if list_unread(found) else DONE


def _report_unreadable(found: Sequence[LockRead], count: int) -> None:
    """Report on stderr which remotes have a period that lockterm cannot read."""
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
    """Return the end of the typed period, which starts now, in milliseconds since the epoch.

    Raises:
        UsageError: If the text is not a valid period.
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
