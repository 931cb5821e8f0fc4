"""``python -m lockterm`` and the ``lockterm`` command."""

from __future__ import annotations

import sys

from lockterm.cli.commands import run
from lockterm.cli.ending import leave
from lockterm.config.zone_data import use_newest
from lockterm.terminal import startup


def main() -> None:
    """Do what was typed and end with its exit code."""
    startup.begin()
    use_newest()
    try:
        leave(run(sys.argv[1:]))
    except KeyboardInterrupt:
        leave(130)


if __name__ == "__main__":
    main()
