"""The command ``lockterm report``, which lists expiring remotes or low batteries of all locks.

It can also write a page about all locks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from itertools import islice
from operator import itemgetter
from pathlib import Path

import click

from lockterm.cli.all_locks import (
    FoundRemote,
    list_found,
    list_unread,
    put_found_csv,
    read_all,
    to_counts_json,
)
from lockterm.cli.exit_codes import DONE, FAILED, UNREACHABLE, UsageError, notify
from lockterm.cli.manual import UNREAD, list_exit_codes
from lockterm.cli.options import FILE_PATH, Format, WholeNumber, reads
from lockterm.cli.output import ProgressLine, put, put_csv, put_json, put_table
from lockterm.cli.remotes import CSV_COLUMNS, TITLES, csv_rows, table_cells
from lockterm.cli.session import Session, format_lock, lock_json
from lockterm.config import Options
from lockterm.domain import dates
from lockterm.domain.date_input import read_moment
from lockterm.domain.glyphs import quoted
from lockterm.domain.locks import Lock
from lockterm.domain.markup import is_page
from lockterm.domain.operation import Selection
from lockterm.domain.remotes import FIELDS, Remote
from lockterm.domain.report_page import LockReport, Report, render_report
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import describe_unreadable_periods, format_count
from lockterm.domain.text.remote import format_remote
from lockterm.domain.validity import ends_by, has_unreadable_period
from lockterm.operations.all_locks import LockRead
from lockterm.operations.batteries import NOT_REPORTED, BatteryReader, battery_of
from lockterm.operations.export import may_replace, write_file

_NAMED = 5
"""The maximum number of remotes with an unreadable period that a message lists by name."""
_TITLES = tuple(title for title in TITLES if title not in ("Type", "State"))
"""The titles of the table after the columns for day and lock.

The type and the state are left out, because the table must fit into 80 cells.
"""
_MONTHS_DIFFER_MS = 4 * dates.DAY_MS
"""The time in milliseconds by which the searched period is longer than the reported period.

The length of a period in months depends on today's date. Until the service answers, lockterm knows
only the date of this machine, which may be wrong.
"""


_MOST_DETAILS = 1000
"""The default maximum number of remotes whose details are read."""
_BATTERY_COLUMNS = ("electricQuantity", "firmwareInfo")
_BATTERY_FIELDS = ("id", "remoteName", "remoteNumber")

_REPORT_CODES = list_exit_codes(
    5,
    _0="nothing expired, and nothing expires within the time;\n"
    "or the page was written; or no battery is low",
    _1="a remote expired or will, or a period cannot be read;\n"
    "or the page cannot be written; or a battery is low",
    _2="an argument or a setting is wrong, or the lock book is empty",
    _3="a lock or a battery level could not be read; the others\nare listed",
)

_REPORT_HELP = f"""\
The list is sorted by day and lock. The dates decide what it contains, not the status. {UNREAD}
\b
Examples:
  lockterm report --within 30d
  lockterm report --within 2w --csv > ends.csv
  lockterm report --html report.html
  lockterm report --battery 20

--html writes one page for a browser or a printer: remotes by state and by lock, the end dates in
the next 90 days, and the changes that this machine sent. With --html, --within sets how far back
these changes go. For a lock that cannot be read, the page counts the remotes of the last reading.
--html replaces an earlier page, and no other file.

--battery reads the details of the remotes, one request for each. If 20 details have no battery
level, the service does not report levels, and the command stops. Ctrl+C stops it too. stderr shows
how many remotes were not read. --json prints battery, locks, read, notRead, remotes, withoutLevel,
remotesNotRead (numbers), and low: a list of level, lock and remote.

Otherwise, --json prints until (ms), locks, read, notRead (lockId, name, why), unreadablePeriods (a
number), and ends: a list of day, ended, end, lock (lockId, name) and remote as the service sent it.

{_REPORT_CODES}"""


@click.command(epilog=_REPORT_HELP)
@click.option(
    "--within",
    metavar="TIME",
    help="Period from now, such as 12h, 30d or 2w. [default: 30d]",
)
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=FILE_PATH,
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
            return _report_batteries(session, battery, max_details or _MOST_DETAILS, form)
        operations, zone = session.operations, session.profile.zone
        now_ms = operations.now_ms()
        period_ms = _parse_until(within, zone, now_ms) - now_ms
        if page is not None:
            return _write_page(session, page, period_ms)
        ahead_ms = period_ms + _MONTHS_DIFFER_MS
        found = read_all(session, lambda remote: ends_by(remote, operations.now_ms() + ahead_ms))
        now_ms = operations.now_ms()  # the answers have shown the clock of the service
        until_ms = _parse_until(within, zone, now_ms)
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
        by = dates.day_time(until_ms, zone, exact=False)
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
    stored = session.run(operations.kept_lists.all()) if list_unread(found) else {}
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
    """Report on stderr which remotes have a period that lockterm cannot read.

    Args:
        found: The results for the locks.
        count: The number of these remotes on all locks.
    """
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


def _report_batteries(session: Session, most_percent: int, most_details: int, form: Format) -> int:
    """Read the details of remotes, and print the remotes at or below a battery level.

    If a signal stops the reading, the function prints the remotes that were read so far.

    Args:
        session: The session that reads the locks.
        most_percent: The maximum battery level of a printed remote, in percent.
        most_details: The maximum number of remotes whose details are read.
        form: The format of the output.

    Returns:
        The exit code.
    """
    found = read_all(session)
    total = sum(one.listing.count for one in found if one.listing is not None)
    reader, signals = BatteryReader(session.operations.connection), list[int]()
    line, due = ProgressLine(), min(total, most_details)

    def show_progress() -> None:
        if line.is_due:
            done = len(reader.details) + reader.left_out
            line.show(f"{done:,} of {due:,} details read (Ctrl+C stops)")

    def interrupt(number: int) -> None:
        signals.append(number)
        reader.stop("Interrupted.")
        line.clear()
        notify("stopping after the requests that are under way ...")

    wanted = [*islice(_list_remotes(found), most_details)]
    try:
        session.run(reader.read((remote for _, remote in wanted), show_progress), stop=interrupt)
    finally:
        line.clear()
    low, without = list[tuple[int, Lock, Remote]](), 0
    for lock, remote in wanted:
        detail = reader.details.get(remote.id or 0)
        level = battery_of(detail) if detail is not None else None
        without += detail is not None and level is None
        if detail is not None and level is not None and level <= most_percent:
            low.append((level, lock, detail))
    low.sort(key=itemgetter(0))  # a stable sort keeps the order of the lock book
    unread = total - len(reader.details)
    if form is Format.JSON:
        put_json(
            {
                "battery": most_percent,
                **to_counts_json(found),
                "remotes": total,
                "withoutLevel": without,
                "remotesNotRead": unread,
                "low": [
                    {"level": level, "lock": lock_json(lock), "remote": remote.raw}
                    for level, lock, remote in low
                ],
            }
        )
    elif form is Format.CSV:
        _put_battery_csv(session, low)
    elif reader.is_reported:
        _put_battery_table(low)
        read = f"{len(reader.details):,} of {format_count(total, 'remote')} read"
        rest = f", {without:,} without a battery level" if without else ""
        put(f"{format_count(len(low), 'remote')} at or below {most_percent} %, {read}{rest}")
    _report_unread_details(reader, unread)
    if signals:
        return 128 + signals[0]
    if list_unread(found) or unread or not reader.is_reported:
        return UNREACHABLE
    return FAILED if low else DONE


def _list_remotes(found: list[LockRead]) -> Iterator[tuple[Lock, Remote]]:
    for one in found:
        for remote in one.listing.remotes() if one.listing is not None else ():
            yield one.lock, remote


def _report_unread_details(reader: BatteryReader, unread: int) -> None:
    """Report on stderr that details of remotes were not read, or contain no battery level.

    Args:
        reader: The reader of the details, after it has ended.
        unread: The number of remotes whose details were not read.
    """
    if not reader.is_reported:
        notify(f"{NOT_REPORTED} {format_count(len(reader.details), 'detail')} read without one.")
    elif unread:
        why = reader.stopped
        if not why and unread > reader.left_out:
            why = "Raise --max-details to read more."
        notify(f"{format_count(unread, 'remote')} not read. {clean(why, 300)}".rstrip())


def _put_battery_table(low: list[tuple[int, Lock, Remote]]) -> None:
    if not low:
        return
    has_firmware = any(remote.firmware_info for _, _, remote in low)
    titles = ["Battery", "Lock", *(FIELDS[name].label for name in _BATTERY_FIELDS)]
    rows = [
        [
            f"{level} %",
            lock.title,
            *(FIELDS[name].of(remote) or "-" for name in _BATTERY_FIELDS),
            *([_format_firmware(remote)] * has_firmware),
        ]
        for level, lock, remote in low
    ]
    put_table([*titles, *["Firmware"] * has_firmware], rows)


def _format_firmware(remote: Remote) -> str:
    """Return the firmware information as the service sent it, or ``-`` if there is none."""
    return json.dumps(remote.firmware_info, ensure_ascii=False) if remote.firmware_info else "-"


def _put_battery_csv(session: Session, low: list[tuple[int, Lock, Remote]]) -> None:
    rows = (
        {**row, "lockName": lock.name, "lockId": lock.lock_id}
        for _, lock, remote in low
        for row in csv_rows([remote], session.operations.zone(lock))
    )
    put_csv(("lockName", *_BATTERY_COLUMNS, *CSV_COLUMNS), rows)
