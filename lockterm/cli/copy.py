"""The commands ``lockterm copy`` for remotes, and ``lockterm replace`` for a remote's key fob."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click

from lockterm.cli import manual
from lockterm.cli.completion import complete_locks
from lockterm.cli.exit_codes import UsageError
from lockterm.cli.options import WriteOptions, changes, lock_argument, remote_argument
from lockterm.cli.plans import report_problems, report_unread
from lockterm.cli.remotes.reading import read_remote
from lockterm.cli.run_plan import offer_plan
from lockterm.cli.session import Session, find_lock, open_writable_lock
from lockterm.config import Options
from lockterm.operations.copying import (
    CannotCopyError,
    Source,
    backup_source,
    export_source,
    plan_copies,
)
from lockterm.operations.planner import PlanDraft
from lockterm.operations.replacing import CannotReplaceError, plan_replacement

_OPERATION = re.compile("[0-9a-f]{32}")
"""Matches the ID of an operation in the journal."""


@click.command(epilog=manual.COPY)
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
    with Session(options, dry_run=how.dry_run) as session:
        session.require_writable()
        draft = _make_plan(
            session,
            source,
            targets,
            renames=taken == "rename",
            skips_expired=expired == "skip",
            keeps_wall_time=times == "wall-clock",
        )
        return offer_plan(session, draft, how)


def _make_plan(
    session: Session,
    source: str,
    targets: tuple[str, ...],
    *,
    renames: bool,
    skips_expired: bool,
    keeps_wall_time: bool,
) -> PlanDraft:
    operations = session.operations
    ids = [find_lock(session, typed).lock_id for typed in targets]
    if source.lower().endswith(".json") or os.sep in source:
        path = Path(source)
        with report_problems(path):
            found = session.run(export_source(operations, path))
    elif _OPERATION.fullmatch(source):
        found = session.run(backup_source(operations, source))
    else:
        found = Source(find_lock(session, source))
    if len({*ids, *[found.lock.lock_id] * found.is_lock}) < len(ids) + found.is_lock:
        raise UsageError("The same lock is given twice. Nothing was sent.")
    try:
        draw = plan_copies(
            operations,
            found,
            ids,
            renames=renames,
            skips_expired=skips_expired,
            keeps_wall_time=keeps_wall_time,
        )
        draft = session.run(draw)
    except CannotCopyError as error:
        raise UsageError(error.meaning) from None
    report_unread(draft)
    return draft


@click.command(epilog=manual.REPLACE)
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
    with open_writable_lock(options, typed_lock, how) as (session, lock):
        before = read_remote(session, lock, remote_id)
        work = plan_replacement(session.operations, lock.lock_id, before, number, mac or "")
        try:
            draft = session.run(work)
        except CannotReplaceError as error:
            raise UsageError(error.meaning) from None
        return offer_plan(session, draft, how)
