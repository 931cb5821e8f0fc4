"""``lockterm apply``: makes locks as a file has them."""

from __future__ import annotations

from pathlib import Path

import click

from lockterm.cli import manual
from lockterm.cli.options import LAST_ID, WholeNumber, WriteOptions, changes
from lockterm.cli.plans import drawn_from
from lockterm.cli.run_plan import offer
from lockterm.cli.session import Session
from lockterm.config import Options


@click.command(epilog=manual.APPLY)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--prune", is_flag=True, help="Delete remotes of its locks that are not in the file.")
@click.option(
    "--max-deletes",
    metavar="N",
    type=WholeNumber(0, LAST_ID),
    help="Refuse to delete more.",
)
@click.option("--no-shorten", is_flag=True, help="Refuse a plan that shortens access.")
@changes
def apply(
    options: Options,
    file: Path,
    prune: bool,
    max_deletes: int | None,
    no_shorten: bool,
    how: WriteOptions,
) -> int:
    """Add, change and delete remotes as a file says.

    The plan is shown and confirmed once.
    """
    with Session(options, dry_run=how.dry_run) as session:
        session.require_writable()
        drawn = drawn_from(session, file, prune=prune)
        return offer(session, drawn, how, max_deletes=max_deletes, no_shorten=no_shorten)
