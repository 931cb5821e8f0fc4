"""The ``lockterm remotes`` commands, which list, add, change and delete the remotes of a lock."""

from __future__ import annotations

import click

from lockterm.cli import manual
from lockterm.cli.remotes.reading import check_name, list_remotes, show
from lockterm.cli.remotes.writing import add, clear, delete, update, user_number


@click.group(
    commands=[list_remotes, show, add, update, delete, clear, user_number, check_name],
    no_args_is_help=False,
    epilog=manual.REMOTES,
)
def remotes() -> None:
    """List, add, change and delete the remotes of a lock."""
