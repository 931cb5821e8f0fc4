"""``lockterm diff``: what ``apply`` would do with a file."""

from __future__ import annotations

from pathlib import Path

import click

from lockterm.cli import manual
from lockterm.cli.exit_codes import DONE, FAILED, code_of
from lockterm.cli.options import asks_service
from lockterm.cli.plans import drawn_from, put_end, put_plan, put_planned
from lockterm.cli.session import Session
from lockterm.config import Options
from lockterm.domain.plan import Action


@click.command(epilog=manual.DIFF)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--prune", is_flag=True, help="Include the deletes of apply --prune.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each step.")
@asks_service
def diff(options: Options, file: Path, prune: bool, as_json: bool) -> int:
    """Show what apply would do with a file.

    The exit code is 0 where the locks are as the file, and 1 where they differ.
    """
    with Session(options) as session:
        drawn = drawn_from(session, file, prune=prune)
        steps = drawn.plan.steps
        if as_json:
            put_planned(session, steps)
            put_end(None, steps, is_dry=True)
        else:
            put_plan(session, drawn)
        for one in drawn.unread:
            if one.error is not None:
                return code_of(one.error)
    return DONE if drawn.plan.actions().keys() <= {Action.KEEP} else FAILED
