"""The command ``lockterm clean``, which deletes remotes that expired some time ago."""

from __future__ import annotations

import click

from lockterm.cli import manual
from lockterm.cli.completion import complete_locks
from lockterm.cli.exit_codes import UsageError
from lockterm.cli.options import WholeNumber, WriteOptions, changes
from lockterm.cli.plans import report_unread
from lockterm.cli.run_plan import offer_plan
from lockterm.cli.session import Session, find_lock
from lockterm.config import Options
from lockterm.domain.date_input import parse_age
from lockterm.operations.planner import plan_cleaning


def _read_age(context: click.Context, parameter: click.Parameter, value: str) -> int:
    """Return the value of ``--expired``, such as ``30d`` or ``4w``, as a number of days."""
    try:
        return parse_age(value)
    except ValueError:
        raise click.BadParameter("Type an age such as 30d or 4w") from None


@click.command(epilog=manual.CLEAN)
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
@click.option(
    "--max-deletes",
    metavar="N",
    type=WholeNumber(0),
    help="Maximum number of deletes. [default: no limit]",
)
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
    with Session(options, dry_run=how.dry_run) as session:
        session.require_writable()
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
