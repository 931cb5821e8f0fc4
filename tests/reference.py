"""The generated pages of the documentation: ``python -m tests.reference`` writes them.

An argument is the directory to write to, instead of ``docs/reference``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from lockterm.cli.commands import lockterm
from lockterm.cli.keys import format_markdown, key_rows

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs/reference"


def commands(
    group: click.Group = lockterm, path: str = "lockterm"
) -> Iterator[tuple[str, click.Command]]:
    """Yield every command with the words that people type for it."""
    for name in group.commands:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def format_commands() -> str:
    """Return the page of commands: a table, then the help of each."""
    lines = ["# Commands", "", "`python -m tests.reference` writes this page.", ""]
    lines += ["| command | summary |", "|---|---|", "| `lockterm` | Open the terminal UI. |"]
    helps = list[str]()
    parent = lockterm.make_context("lockterm", [], resilient_parsing=True)
    for path, command in commands():
        name = path.removeprefix("lockterm ")
        context = click.Context(command, parent, info_name=name, terminal_width=80)
        arguments = [
            parameter.make_metavar(context)
            for parameter in command.params
            if isinstance(parameter, click.Argument)
        ]
        typed = " ".join([path, *arguments]).replace("|", "\\|")
        lines.append(
            f"| [`{typed}`](#{path.replace(' ', '-')}) | {command.get_short_help_str(200)} |"
        )
        helps += ["", f"## {path}", "", "```text", command.get_help(context), "```"]
    return "\n".join([*lines, *helps, ""])


def format_keys() -> str:
    """Return the page of keys, with their IDs."""
    head = "# Keys\n\n`python -m tests.reference` writes this page."
    head += " To choose other keys, see\n[Customize keys](../how-to/customize-keys.md).\n\n"
    return head + format_markdown(key_rows({})) + "\n"


if __name__ == "__main__":
    directory = Path(*sys.argv[1:2]) if sys.argv[1:] else PAGES
    (directory / "commands.md").write_text(format_commands(), encoding="utf-8")
    (directory / "keys.md").write_text(format_keys(), encoding="utf-8")
