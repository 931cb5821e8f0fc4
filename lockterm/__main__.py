"""The ``lockterm`` command, also run by ``python -m lockterm``."""

from __future__ import annotations

import sys

from lockterm.terminal import startup


def main() -> None:
    """Run the command line and exit with its exit code."""
    startup.begin()
    # The garbage collector is paused here, which saves a tenth of the import time.
    from lockterm.cli.commands import run
    from lockterm.cli.exit_codes import leave
    from lockterm.config.zone_data import use_newest

    use_newest()
    try:
        leave(run(sys.argv[1:]))
    except KeyboardInterrupt:
        leave(130)


if __name__ == "__main__":
    main()
