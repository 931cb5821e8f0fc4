"""``python -m lockterm`` and the ``lockterm`` command."""

from __future__ import annotations

import os
import sys

from lockterm.terminal import startup

TYPE_CHECKING = False  # as in typing, which takes longer to import than this
if TYPE_CHECKING:
    from lockterm.api.pending_connection import PendingConnection

COMPLETION = "_LOCKTERM_COMPLETE"
"""Set by the shell while it asks click what could come next."""


def main() -> None:
    """Do what was typed and end with its exit code."""
    startup.begin()
    arguments = sys.argv[1:]
    connection = None
    if COMPLETION not in os.environ:
        from lockterm.cli.early_connection import connect_early
        from lockterm.cli.plain import plain_words

        connection = connect_early(plain_words(arguments), os.environ)
    startup.import_zoneinfo()
    from lockterm.cli.ending import leave

    try:
        leave(run(arguments, connection))
    except KeyboardInterrupt:
        leave(130)


def run(
    arguments: list[str],
    connection: PendingConnection | None = None,
) -> int:
    """Do what was typed.

    Args:
        arguments: It.
        connection: To the service; None: none was begun.

    Returns:
        Its exit code.
    """
    from lockterm.cli.ending import tell_error
    from lockterm.cli.plain import plain_options
    from lockterm.errors import LocktermError

    options = plain_options(arguments)
    if options is None or COMPLETION in os.environ:
        startup.over()
        from lockterm.cli.commands import run as run_command

        return run_command(arguments)
    from lockterm.cli.ui import run_ui

    try:
        return run_ui(options, connection=connection)
    except LocktermError as error:
        return tell_error(error)


if __name__ == "__main__":
    main()
