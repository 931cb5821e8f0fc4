"""The manual's commands are the commands, and their help has what a manual has.

``python -m tests.cli.test_readme_commands`` prints the table to paste.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from lockterm.cli.commands import lockterm
from lockterm.cli.locks import locks
from lockterm.cli.outcomes import outcomes
from lockterm.cli.remotes import remotes
from lockterm.cli.serve import serve
from lockterm.cli.voice import voice
from lockterm.paths import Paths

ROOT = Path(__file__).parent.parent.parent


def commands(
    group: click.Group = lockterm, path: str = "lockterm"
) -> Iterator[tuple[str, click.Command]]:
    """Every command with the words that are typed for it."""
    for name in group.commands:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def table() -> str:
    lines = ["| command | what it does |", "|---|---|", "| `lockterm` | Open the terminal UI. |"]
    for path, command in commands():
        arguments = [
            parameter.make_metavar(click.Context(command))
            for parameter in command.params
            if isinstance(parameter, click.Argument)
        ]
        typed = " ".join([path, *arguments]).replace("|", "\\|")
        lines.append(f"| `{typed}` | {command.get_short_help_str(200)} |")
    return "\n".join(lines)


def test_the_manual_has_the_commands_that_are() -> None:
    manual = (ROOT / "MANUAL.md").read_text("utf-8")
    assert table() in manual, f"the manual's table should be\n{table()}"


def test_what_is_told_of_serving_for_real_has_options_that_there_are() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    found = re.search(r"^lockterm serve ((?:.*\\\n)*.*)$", page, re.M)
    assert found is not None
    compose = (ROOT / "tests/service/compose.yaml").read_text("utf-8")
    listed = re.findall(r"^      - (--.*)$", compose, re.M)
    for arguments in (shlex.split(found[1].replace("\\\n", " ")), listed):
        assert "--migrate" in arguments
        serve.make_context("serve", list(arguments))


def test_the_readme_names_every_directory_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.delenv(f"XDG_{kind}_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    paths = Paths.standard()
    kept = {paths.config_file.parent, paths.data_dir, paths.state_dir, paths.cache_dir}
    assert {path if path in kept else path.parent for path in paths.named().values()} == kept
    readme = (ROOT / "README.md").read_text("utf-8")
    removing = readme.partition("\nTo remove it, ")[2].partition("\n\n")[0]
    named = re.findall(r"`~(/[^`]*)`", removing)
    assert {Path(f"/home/me{place}") for place in named} == kept
    for command in ("lockterm man", "completion --install", "lockterm edit", "lockterm demo"):
        assert f"`{command}`" in removing


def test_the_manual_has_every_exit_code() -> None:
    manual = (ROOT / "MANUAL.md").read_text("utf-8")
    for number in ("0", "1", "2", "3", "4", "5", "6", "130"):
        assert f"\n| {number} | " in manual


@pytest.mark.parametrize(("path", "command"), list(commands()), ids=lambda value: str(value))
def test_no_help_is_cut_and_no_line_is_too_long(path: str, command: click.Command) -> None:
    text = command.get_help(click.Context(command, info_name=path, terminal_width=80))
    assert max(map(len, text.splitlines())) <= 80
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{path} {parameter.name}"


def test_the_whole_help_reads_like_a_manual() -> None:
    text = lockterm.get_help(click.Context(lockterm, info_name="lockterm", terminal_width=80))
    for group in (lockterm, remotes, voice, locks, outcomes):
        listed = group.get_help(click.Context(group, terminal_width=80)).splitlines()
        assert not [line for line in listed if line.endswith("...")][1:], "a list that is cut"
    for part in ("Examples:", "Exit codes:", "Environment:", "Files", "LOCKTERM_PROFILE"):
        assert part in text
    for path, command in commands():
        if path.startswith(("lockterm remotes", "lockterm voice")):
            assert "4    result unknown" in command.get_help(click.Context(command)), path


@pytest.mark.parametrize(
    "begin", ["find", "report", "locks", "outcomes", "history", "voice fetch", "export", "apply"]
)
def test_a_help_has_an_example_of_its_own(begin: str) -> None:
    found = [one for one in commands() if f"{one[0]} ".startswith(f"lockterm {begin} ")]
    assert found
    for path, command in found:
        help_text = command.get_help(click.Context(command, info_name=path, terminal_width=80))
        assert f"\n    {path}" in help_text.partition("Examples:")[2], path


if __name__ == "__main__":
    print(table())
