"""``python -m lockterm`` and the ``lockterm`` command."""

from __future__ import annotations

import sys

from lockterm.terminal import startup


def main() -> None:
    """Do what was typed and end with its exit code."""
    startup.begin()
    # The garbage collector is paused by now, which takes a tenth off what is imported here.
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
