"""The command ``lockterm keys``, which prints every key of the UI."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

import click

from lockterm.cli.manual import NO_CODES
from lockterm.cli.options import json_option
from lockterm.cli.output import put, put_json, put_wrapped
from lockterm.config.settings import keys_in
from lockterm.keymap import Keymap
from lockterm.keymap.hints import written
from lockterm.keymap.keys import PLACES
from lockterm.paths import Paths

KEYS_CELLS, ID_CELLS = 17, 22
"""The widths of the first two columns, in cells."""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A row of the output: an action on one screen or widget, with its keys."""

    where: str
    id: str
    keys: tuple[str, ...]
    usual: tuple[str, ...]
    """The default keys."""
    chosen: bool
    """Whether the configuration replaces the default keys."""
    verb: str
    does: str


_KEYS_HELP = f"""\
The configuration chooses other keys by their ID:

\b
  [keys]
  "remotes.delete" = "x"
  "remotes.next_page" = "n,pgdn"

\b
--json prints keys: a list of
  where, id, keys, usual (the default keys), chosen, verb, does

\b
Examples:
  lockterm keys | less
  lockterm keys --json | jq '.keys[] | select(.chosen)'

{NO_CODES}"""


@click.command(epilog=_KEYS_HELP)
@json_option
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a Markdown table.")
def keys(as_json: bool, as_markdown: bool) -> int:
    """Print every key of the UI, with the keys that you changed."""
    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown cannot be used together.")
    listed = list(key_rows(keys_in(Paths.standard().config_file)))
    if as_json:
        put_json({"keys": [asdict(row) for row in listed]})
    elif as_markdown:
        put(format_markdown(listed))
    else:
        _print_table(listed)
    return 0


def key_rows(keymap: Keymap) -> Iterator[KeyRow]:
    """Yield a row for every action; actions that work on all screens come first.

    Args:
        keymap: The configured keys.
    """
    for place in sorted(PLACES.values(), key=lambda place: place is not PLACES["app"]):
        for found in place.tasks.values():
            for key in found:
                usual = tuple(map(written, place.keys[key.id]))
                chosen = tuple(map(written, keymap.get(key.id, place.keys[key.id])))
                is_chosen = chosen != usual
                yield KeyRow(place.words, key.id, chosen, usual, is_chosen, key.verb, key.does)


def format_markdown(listed: Iterable[KeyRow]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| where | key | ID | what it does |", "|---|---|---|---|"]
    for row in listed:
        keys = " ".join(f"`{key}`" for key in row.keys).replace("|", "\\|")
        lines.append(f"| {row.where} | {keys} | `{row.id}` | {row.does} |")
    return "\n".join(lines)


def _print_table(listed: list[KeyRow]) -> None:
    where = ""
    for row in listed:
        if row.where != where:
            put(f"\n{row.where}" if where else row.where)
            where = row.where
        mark = "*" if row.chosen else " "
        put_wrapped(f"{mark} {' '.join(row.keys):<{KEYS_CELLS}} {row.id:<{ID_CELLS}} ", row.does)
    if any(row.chosen for row in listed):
        put("\n* differs from the default keys")
