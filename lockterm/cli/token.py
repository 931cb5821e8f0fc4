"""``lockterm token``: a line for the file of ``lockterm serve --tokens``."""

from __future__ import annotations

import sys

import click

from lockterm.cli.exit_codes import tell
from lockterm.cli.output import put
from lockterm.config import values
from lockterm.errors import ConfigError
from lockterm.service import tokens

_MOST = 4096
"""Characters of a token: a header that carries more is refused by what stands in between."""


@click.command()
@click.argument("name")
@click.option("--stdin", "is_given", is_flag=True, help="Read the token from stdin.")
def token(name: str, is_given: bool) -> int:
    """Make a line for serve --tokens.

    The token itself is told on stderr, once; it is kept nowhere.
    """
    made = tokens.new_token()
    try:
        line = tokens.line_of(name, _typed(tokens.SHORTEST) if is_given else made)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    put(line)
    if not is_given:
        tell(f"the token of {name} is {made}")
    return 0


def _typed(shortest: int) -> str:
    if sys.stdin is None:
        raise ValueError("The token cannot be read: stdin is closed.")
    try:
        typed = sys.stdin.readline(_MOST + 1).removesuffix("\n").removesuffix("\r")
        values.header_value(typed)
    except UnicodeError:  # its own words repeat part of what was typed
        raise ValueError("The token is no text in this machine's encoding.") from None
    except ValueError as error:
        raise ValueError(f"The token {error}.") from None
    if not shortest <= len(typed) <= _MOST:
        raise ValueError(
            f"A token has {shortest} to {_MOST:,} characters: a shorter one could be found from"
            " its hash."
        )
    return typed
