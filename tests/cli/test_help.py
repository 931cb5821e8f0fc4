"""The help of every command: summary, options with defaults, examples and exit codes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from lockterm.cli.commands import lockterm
from lockterm.config import Options
from tests.cli.conftest import list_documented_codes

PARENT = click.Context(lockterm, info_name="lockterm", obj=Options())


def walk(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and all commands below it, each with its words."""
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(PARENT):
            below = command.get_command(PARENT, name)
            yield from walk(f"{path} {name}", below)


COMMANDS = dict(walk("lockterm", lockterm))
each_command = pytest.mark.parametrize("path", COMMANDS)


def show_help(path: str) -> str:
    """Return the help of a command for a terminal of 80 columns."""
    return COMMANDS[path].get_help(click.Context(COMMANDS[path], info_name=path, terminal_width=80))


def find_commands(text: str) -> Iterator[str]:
    """Yield each lockterm command of shell lines, without pipes and redirections."""
    for line in text.replace("\\\n", " ").splitlines():
        for found in re.findall(r"(?:^|[(;|] *|&& |ssh \w+ )(lockterm .*)", line.strip()):
            yield re.split(r" +#| *[>|)]|&&", found)[0]


def parse_command(line: str) -> str:
    """Parse a command line and return the path of its command.

    Raises:
        click.UsageError: A command or an option does not exist, or a value is wrong.
    """
    words = shlex.split(line)
    path = words.pop(0)
    while words and f"{path} {words[0]}" in COMMANDS:
        path += f" {words.pop(0)}"
    assert not words or not isinstance(COMMANDS[path], click.Group) or words[0][0] == "-", line
    COMMANDS[path].make_context(path, words, parent=PARENT)
    return path


@each_command
def test_help_has_a_short_summary(path: str) -> None:
    summary = COMMANDS[path].get_short_help_str(200)
    assert 5 < len(summary) < 60
    assert "..." not in summary


@each_command
def test_help_fits_80_columns(path: str) -> None:
    lines = show_help(path).splitlines()
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if line.endswith("...")][1:], "a list is cut"


@each_command
def test_help_shows_what_an_option_does_and_its_default(path: str) -> None:
    context = click.Context(COMMANDS[path], info_name=path)
    for option in COMMANDS[path].params:
        if isinstance(option, click.Option):
            record = option.get_help_record(context)
            assert record is not None and option.help, option.name
            if not option.is_flag:
                assert "[default: " in record[1] or "[required]" in record[1], option.name


@each_command
def test_help_has_examples_that_the_parser_accepts(path: str) -> None:
    epilog = COMMANDS[path].epilog or ""
    examples = epilog.partition("\b\nExamples:\n")[2].partition("\n\n")[0]
    found = [parse_command(line) for line in find_commands(examples)]
    assert any(f"{one} ".startswith(f"{path} ") for one in found)


@each_command
def test_help_lists_exit_codes(path: str) -> None:
    codes = list_documented_codes(COMMANDS[path])
    assert {0, 2, 6, 130} <= set(codes) <= {0, 1, 2, 3, 4, 5, 6, 130}
    assert list(codes) == sorted(codes)
    sends = any(option.name == "dry_run" for option in COMMANDS[path].params)
    assert not sends or 4 in codes, "a change can stay unconfirmed"


def test_help_of_lockterm_has_environment_and_files() -> None:
    text = show_help("lockterm")
    for part in ("Examples:", "Exit codes:", "Environment:", "Files", "LOCKTERM_PROFILE"):
        assert part in text
