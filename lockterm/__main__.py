"""``python -m lockterm`` and the ``lockterm`` command."""

from __future__ import annotations

import os
import sys

COMPLETION = "_LOCKTERM_COMPLETE"
"""Set by the shell while it asks click what could come next."""


def main() -> None:
    """Do what was typed and end with its exit code."""
    from lockterm.cli.ending import leave

    arguments = sys.argv[1:]
    try:
        leave(_run(arguments))
    except KeyboardInterrupt:
        leave(130)


def _run(arguments: list[str]) -> int:
    from lockterm.cli.plain import plain_options

    options = plain_options(arguments)
    if options is None or COMPLETION in os.environ:
        from lockterm.cli.commands import run

        return run(arguments)
    from lockterm.cli.ending import tell_error
    from lockterm.cli.ui import run_ui
    from lockterm.errors import LocktermError

    try:
        return run_ui(options)
    except LocktermError as error:
        return tell_error(error)


if __name__ == "__main__":
    main()
