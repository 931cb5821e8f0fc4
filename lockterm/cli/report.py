"""``lockterm report``: what has ended and what ends soon, on all locks of the book."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

import click

from lockterm.cli import manual
from lockterm.cli.everywhere import (
    OnLock,
    counts_json,
    missed_of,
    on_locks,
    put_csv_of,
    read_all,
)
from lockterm.cli.exit_codes import DONE, FAILED, UNREACHABLE, UsageError, tell
from lockterm.cli.options import Form, reads
from lockterm.cli.output import put, put_json, put_table, with_offset
from lockterm.cli.remotes.reading import TITLES, table_cells
from lockterm.cli.session import Session
from lockterm.cli.which_lock import format_lock, lock_json
from lockterm.config import Options
from lockterm.domain import dates
from lockterm.domain.date_input import read_moment
from lockterm.domain.glyphs import quoted
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import describe_unreadable_periods, format_count
from lockterm.domain.text.remote import format_remote
from lockterm.domain.validity import ends_by, has_unreadable_period
from lockterm.operations.everywhere import LockRead

_NAMED = 5
"""So many remotes are named in a sentence."""

_TITLES = tuple(title for title in TITLES if title not in ("Type", "State"))
"""What a line of 80 columns has room for beside day and lock."""


_MONTHS_DIFFER_MS = 4 * dates.DAY_MS
"""A month from this machine's wrong date is so much longer or shorter at the most."""


@click.command(epilog=manual.REPORT)
@click.option("--within", metavar="TIME", default="30d", help="Time ahead: 30d, 2w. [30d]")
@reads
def report(options: Options, within: str, form: Form) -> int:
    """List expired and expiring remotes of all locks.

    The exit code is 1 where something is listed, or a period cannot be read.
    """
    with Session(options) as session:
        operations = session.operations
        now_ms = operations.now_ms()
        ahead_ms = _until(within, session.profile.zone, now_ms) - now_ms + _MONTHS_DIFFER_MS
        found = read_all(session, lambda remote: ends_by(remote, operations.now_ms() + ahead_ms))
        now_ms = operations.now_ms()  # the service's clock is known by now
        until_ms = _until(within, session.profile.zone, now_ms)
        ends = [one for one in on_locks(session, found) if ends_by(one.remote, until_ms)]
    unreadable = sum(one.listing.unreadable_periods for one in found if one.listing is not None)
    ends.sort(key=_day)  # those of a day stay in the order of the book
    if form is Form.JSON:
        told = [
            {
                "day": _day(one),
                "ended": ends_by(one.remote, now_ms),
                "end": with_offset(one.remote.end_ms, one.zone),
                "lock": lock_json(one.lock),
                "remote": one.remote.raw,
            }
            for one in ends
        ]
        counts = counts_json(found)
        put_json({"until": until_ms, **counts, "unreadablePeriods": unreadable, "ends": told})
    elif form is Form.CSV:
        put_csv_of(ends)
    else:
        if ends:
            put_table(("Day", "Lock", *_TITLES), [_cells(one, now_ms) for one in ends])
        ended = sum(ends_by(one.remote, now_ms) for one in ends)
        by = dates.day_time(until_ms, session.profile.zone, exact=False)
        soon = f"{len(ends) - ended:,} more end by {by}"
        put(f"{format_count(ended, 'remote')} ended, {soon}")
    if unreadable:
        _tell_unreadable(found, unreadable)
    if missed_of(found):
        return UNREACHABLE
    return FAILED if ends or unreadable else DONE


def _tell_unreadable(found: Sequence[LockRead], count: int) -> None:
    """Print how many remotes have a period that cannot be read, and the first of them."""
    named = [
        f"{format_remote(remote)} on {format_lock(one.lock)}"
        for one in found
        if one.listing is not None and one.listing.unreadable_periods
        for remote in one.listing.remotes()
        if has_unreadable_period(remote)
    ]
    more = f" and {count - _NAMED:,} more" if count > _NAMED else ""
    tell(f"{describe_unreadable_periods(count)}: {', '.join(named[:_NAMED])}{more}.")


def _until(within: str, zone: tzinfo, now_ms: int) -> int:
    """The moment until which is looked, in milliseconds.

    Raises:
        UsageError: What was typed is no time from now.
    """
    typed = within.strip().removeprefix("+")
    read = read_moment(f"+{typed}", zone, now_ms)
    until_ms = max(read.choices, default=None) if read.ms is None else read.ms
    if until_ms is None:
        raise UsageError(
            f"--within: {quoted(clean(within, 40))} is no time from now.",
            hint="Type it as 30d, 2w, 6mo or 12h.",
        )
    return until_ms


def _cells(one: OnLock, now_ms: int) -> list[object]:
    cells = dict(zip(TITLES, table_cells(one.remote, one.zone, now_ms), strict=True))
    return [_day(one), one.lock.title, *(cells[title] for title in _TITLES)]


def _day(one: OnLock) -> str:
    """The last day on which a remote opens, in the lock's zone: ``2026-12-31``."""
    at = dates.local((one.remote.end_ms or 0) - 1, one.zone)
    return at.date().isoformat() if at else "beyond the calendar"
