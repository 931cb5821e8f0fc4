"""The command ``lockterm history``, which shows the changes that this machine sent."""

from __future__ import annotations

from datetime import tzinfo

import click

from lockterm.cli.exit_codes import DONE, UsageError
from lockterm.cli.manual import LOCAL
from lockterm.cli.options import Format, lock_option, reads
from lockterm.cli.output import put, put_csv, put_table
from lockterm.cli.session import Session, find_lock
from lockterm.config import Options
from lockterm.domain import dates
from lockterm.domain.date_input import read_moment
from lockterm.domain.operation import Selection
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.operation import STATE_NAMES, format_operation
from lockterm.operations.export import TOLD, history_as_json, told

_HISTORY_HELP = f"""\
The list has every change that this machine sent with the profile, the oldest first. Times are in
the profile's time zone, and dates of remotes in the lock's time zone. The command does not ask the
service.

\b
Examples:
  lockterm history --today
  lockterm history --day 2026-11-20
  lockterm history --lock "Main gate" --since 2026-11-01 --csv > november.csv
  lockterm history --json | jq '.[] | select(.state == "refused")'

--csv is for people. --json has everything that the journal contains, with the remotes as they were
before the change.

{LOCAL}"""


@click.command(epilog=_HISTORY_HELP)
@lock_option
@click.option(
    "--since", metavar="DAY", help="Start at this day, such as 2026-11-01. [default: the first]"
)
@click.option("--day", metavar="DAY", help="Show only this day. [default: all days]")
@click.option("--today", is_flag=True, help="Show only today.")
@reads
def history(
    options: Options,
    typed_lock: str | None,
    since: str | None,
    day: str | None,
    today: bool,
    form: Format,
) -> int:
    """Show the changes sent from this machine, with results."""
    if (since is not None) + (day is not None) + today > 1:
        raise click.UsageError("--since, --day and --today cannot be used together")
    with Session(options) as session:
        zone, now_ms = session.profile.zone, session.operations.machine_ms()
        since_ms = None if since is None else parse_day("--since", since, zone, now_ms)
        until_ms = None
        if day is not None or today:
            at_ms = now_ms if day is None else parse_day("--day", day, zone, now_ms)
            since_ms, until_ms = dates.day_around(at_ms, zone)
        lock_id = None if typed_lock is None else find_lock(session, typed_lock).lock_id
        selection = Selection(lock_id=lock_id, since_ms=since_ms, until_ms=until_ms)
        found = session.run(session.operations.journal.history(selection))
        book = session.run(session.operations.locks.all())
        zones = {lock.lock_id: session.operations.zone(lock) for lock in book}
    if form is Format.JSON:
        put(history_as_json(found, zone).decode().rstrip("\n"))
    elif form is Format.CSV:
        put_csv(TOLD, (told(one, zone, zones.get(one.lock_id, zone)) for one in found))
    else:
        cells = [
            (
                dates.stamp(one.prepared_ms, zone),
                format_operation(one),
                one.lock_name,
                STATE_NAMES[one.state],
                one.message,
            )
            for one in found
        ]
        if cells:
            put_table(("When", "What", "Lock", "Result", "Note"), cells)
        put(format_count(len(found), "change"))
    return DONE


def parse_day(option: str, typed: str, zone: tzinfo, now_ms: int) -> int:
    """Return the start of the typed day in a time zone, in milliseconds since the epoch.

    Raises:
        UsageError: If the text is not a valid day.
    """
    read = read_moment(typed, zone, now_ms)
    if read.ms is None and not read.choices:
        raise UsageError(f"{option}: {read.error}")
    return min(read.choices, default=0) if read.ms is None else read.ms
