"""The commands ``lockterm copy``, ``replace`` and ``clean``, which make a plan and run it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click

from lockterm.cli.exit_codes import UsageError
from lockterm.cli.manual import LINES, LOCK_AND_REMOTE, RUN_CODES
from lockterm.cli.options import (
    WriteOptions,
    changes,
    complete_locks,
    lock_argument,
    max_deletes_option,
    remote_argument,
)
from lockterm.cli.run_plan import offer_plan, report_problems, report_unread
from lockterm.cli.session import Session, find_lock, open_lock, read_remote
from lockterm.config import Options
from lockterm.domain.date_input import parse_age
from lockterm.operations.copying import (
    CannotCopyError,
    CopySource,
    backup_source,
    export_source,
    plan_copies,
)
from lockterm.operations.planner import plan_cleaning
from lockterm.operations.replacing import CannotReplaceError, plan_replacements

_OPERATION = re.compile("[0-9a-f]{32}")
"""Matches the ID of an operation in the journal."""

_COPY_HELP = f"""\
FROM and TO are the ID of a lock, or its name in the lock book. FROM may also be a JSON export of
one lock. To copy the backup of a delete or a clear, give its ID from history --json as FROM. You
can copy an export or a backup back to its own lock. The command reads all remotes of each lock. The
plan names the fields that cannot be copied, because the service does not return them. If a lock is
in another time zone, dates keep their moment, or with --times wall-clock their local time.

\b
Examples:
  lockterm copy "Main gate" "Loading dock" 1005 --dry-run
  lockterm copy 1001 1002 --taken rename --yes --json
  lockterm copy 1001 1002 --expired copy
  lockterm copy main-gate.json 1001 --dry-run

{LINES}
{RUN_CODES}"""


@click.command(epilog=_COPY_HELP)
@click.argument("source", metavar="FROM", shell_complete=complete_locks)
@click.argument("targets", metavar="TO...", nargs=-1, required=True, shell_complete=complete_locks)
@click.option(
    "--taken",
    type=click.Choice(("skip", "rename")),
    default="skip",
    help="What to do if a name is taken. [default: skip]",
)
@click.option(
    "--expired",
    type=click.Choice(("skip", "copy")),
    default="skip",
    help="What to do with expired remotes. [default: skip]",
)
@click.option(
    "--times",
    type=click.Choice(("moment", "wall-clock")),
    default="moment",
    help="How to convert dates to another time zone. [default: moment]",
)
@changes
def copy(
    options: Options,
    source: str,
    targets: tuple[str, ...],
    taken: str,
    expired: str,
    times: str,
    how: WriteOptions,
) -> int:
    """Copy remotes of a lock, export or backup to locks.

    If a lock has a remote with the same number, the command does not change it.
    """
    with Session(options, writes=True, dry_run=how.dry_run) as session:
        operations = session.operations
        ids = [find_lock(session, typed).lock_id for typed in targets]
        if source.lower().endswith(".json") or os.sep in source:
            path = Path(source)
            with report_problems(path):
                found = session.run(export_source(operations, path))
        elif _OPERATION.fullmatch(source):
            found = session.run(backup_source(operations, source))
        else:
            found = CopySource(find_lock(session, source))
        if len({*ids, *[found.lock.lock_id] * found.is_lock}) < len(ids) + found.is_lock:
            raise UsageError("The same lock is given twice. Nothing was sent.")
        planning = plan_copies(
            operations,
            found,
            ids,
            renames=taken == "rename",
            skips_expired=expired == "skip",
            keeps_wall_time=times == "wall-clock",
        )
        try:
            draft = session.run(planning)
        except CannotCopyError as error:
            raise UsageError(error.meaning) from None
        report_unread(draft)
        return offer_plan(session, draft, how)


_REPLACE_HELP = f"""\
{LOCK_AND_REMOTE}
The new fob gets the name, type, dates, weekdays, flags and extra data of REMOTE. The plan has two
steps. lockterm sends the second one only if the first one is done. If the service refuses two
remotes with the same name on a lock, lockterm first deletes the old remote. If adding the new
remote then fails, "lockterm runs retry" repeats it. The plan names the fields that the new fob does
not get.

\b
Examples:
  lockterm replace "Main gate" 48213 --number B-2050 --dry-run
  lockterm replace 1001 48213 --number B-2050 --mac C4:4E:AC:01:02:03
  lockterm replace 1001 48213 --number B-2050 --yes --json

{LINES}
{RUN_CODES}"""


@click.command(epilog=_REPLACE_HELP)
@lock_argument
@remote_argument
@click.option("--number", metavar="TEXT", required=True, help="Number of the new fob.")
@click.option("--mac", metavar="TEXT", help="MAC address of the new fob. [default: none]")
@changes
def replace(
    options: Options,
    typed_lock: str,
    remote_id: int,
    number: str,
    mac: str | None,
    how: WriteOptions,
) -> int:
    """Replace the key fob of a remote.

    The command shows the plan and asks once.
    """
    with open_lock(options, typed_lock, how) as (session, lock):
        before = read_remote(session, lock, remote_id)
        work = plan_replacements(session.operations, [(lock.lock_id, before)], number, mac or "")
        try:
            draft = session.run(work)
        except CannotReplaceError as error:
            raise UsageError(error.meaning) from None
        return offer_plan(session, draft, how)


def _read_age(context: click.Context, parameter: click.Parameter, value: str) -> int:
    """Return the value of ``--expired``, such as ``30d`` or ``4w``, as a number of days."""
    try:
        return parse_age(value)
    except ValueError:
        raise click.BadParameter("Type an age such as 30d or 4w") from None


_CLEAN_HELP = f"""\
The command reads all remotes of each lock. It deletes a remote only if its status and its end date
both show that it has expired. It keeps the others and counts them as unclear. If it cannot read a
lock, it deletes nothing. To delete more than 10 remotes, type their number. The history keeps the
deleted remotes. To restore them, give the ID of the delete to lockterm copy.

\b
Examples:
  lockterm clean --expired 30d --dry-run
  lockterm clean --expired 30d --lock "Main gate"
  lockterm clean --expired 12w --max-deletes 50 --yes

{LINES}
{RUN_CODES}"""


@click.command(epilog=_CLEAN_HELP)
@click.option(
    "--expired",
    "days",
    metavar="AGE",
    callback=_read_age,
    required=True,
    help="Minimum time since the end date, such as 30d or 4w.",
)
@click.option(
    "--lock",
    "typed_locks",
    metavar="LOCK",
    multiple=True,
    shell_complete=complete_locks,
    help="Clean only this lock; repeatable. [default: all locks]",
)
@max_deletes_option
@changes
def clean(
    options: Options,
    days: int,
    typed_locks: tuple[str, ...],
    max_deletes: int | None,
    how: WriteOptions,
) -> int:
    """Delete remotes that expired some time ago.

    The command shows the plan and asks once. At the end it lists the deleted remotes of each lock.
    """
    with Session(options, writes=True, dry_run=how.dry_run) as session:
        if typed_locks:
            locks = [find_lock(session, typed) for typed in typed_locks]
        else:
            locks = [*session.run(session.operations.locks.all())]
        if not locks:
            raise UsageError(
                "The lock book of this profile is empty. Nothing was sent.",
                hint="Add locks with lockterm locks add or import, or choose a lock with --lock.",
            )
        ids = [lock.lock_id for lock in locks]
        draft = session.run(plan_cleaning(session.operations, ids, days))
        report_unread(draft)
        return offer_plan(session, draft, how, max_deletes=max_deletes, lists_deleted=True)
