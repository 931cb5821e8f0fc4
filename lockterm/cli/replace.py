"""``lockterm replace``: replace the key fob of a remote."""

from __future__ import annotations

import click

from lockterm.cli import manual
from lockterm.cli.exit_codes import UsageError
from lockterm.cli.options import WriteOptions, changes, lock_argument, remote_argument
from lockterm.cli.remotes.reading import read_remote
from lockterm.cli.run_plan import offer_plan
from lockterm.cli.session import open_writable_lock
from lockterm.config import Options
from lockterm.operations.replacing import CannotReplaceError, plan_replacement


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
