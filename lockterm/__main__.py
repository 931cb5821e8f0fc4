"""``python -m lockterm`` and the ``lockterm`` command."""

from __future__ import annotations

import os
import sys
import time

from lockterm.terminal import startup
from lockterm.terminal.at_once import show_at_once
from lockterm.terminal.replay import Replay
from lockterm.terminal.start_key import StartKey

TYPE_CHECKING = False  # as in typing, which takes longer to import than this
if TYPE_CHECKING:
    from lockterm.api.pending_connection import PendingConnection

COMPLETION = "_LOCKTERM_COMPLETE"
"""Set by the shell while it asks click what could come next."""


def main() -> None:
    """Do what was typed and end with its exit code."""
    startup.begin()
    arguments = sys.argv[1:]
    with Replay() as replay:
        start = StartKey(arguments, os.environ)
        connection = None
        if COMPLETION not in os.environ:
            connection = show_at_once(replay, start, os.environ, time.time_ns() // 1_000_000)
            from lockterm.cli.early_connection import connect_early
            from lockterm.cli.plain import plain_words

            connection = connection or connect_early(plain_words(arguments), os.environ)
        startup.import_zoneinfo()
        from lockterm.cli.ending import leave

        try:
            leave(run(arguments, start, replay, connection))
        except KeyboardInterrupt:
            leave(130)


def run(
    arguments: list[str],
    start: StartKey | None = None,
    replay: Replay | None = None,
    connection: PendingConnection | None = None,
) -> int:
    """Do what was typed.

    Args:
        arguments: It.
        start: This start, by which a later one knows that it is like it; None: none will.
        replay: Shows the last frame, or will; None: nobody has shown anything.
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

    replay = replay or Replay()
    try:
        return run_ui(options, start=start, replay=replay, connection=connection)
    except LocktermError as error:
        replay.give_back()
        return tell_error(error)


if __name__ == "__main__":
    main()
