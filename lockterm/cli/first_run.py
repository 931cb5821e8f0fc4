"""What is asked where no service is known yet."""

from __future__ import annotations

from pathlib import Path

import click

from lockterm.config import values
from lockterm.text import clean

DEMO = "demo"
QUIT = "quit"

_WELCOME = """\
lockterm knows no service yet.

  demo   try it on a made-up site; nothing leaves this machine
  URL    the base URL of a service, such as https://locks.example.com
  quit   leave

To be asked no more, write into {config}:

  default_profile = "north-campus"

  [profiles.north-campus]
  base_url = "https://locks.example.com"
"""


def ask(config_file: Path) -> str | None:
    """Ask for the demo or a base URL.

    Returns:
        ``DEMO``, a base URL that can be used, or None to leave.
    """
    click.echo(_WELCOME.format(config=config_file), err=True)
    while True:
        try:
            answer: str = click.prompt("demo, URL or quit", default=DEMO, err=True)
        except click.Abort:  # Ctrl+C, Ctrl+D
            return None
        answer = answer.strip()
        if answer.lower() == DEMO:
            return DEMO
        if answer.lower() in (QUIT, "q"):
            return None
        try:
            values.base_url(answer)
        except ValueError as error:
            click.echo(f"The base URL {clean(error)}.", err=True)
        else:
            return answer
