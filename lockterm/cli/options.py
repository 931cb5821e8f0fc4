"""Options that several commands take. Light: every command is declared before one is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeVar

import click

from lockterm.cli.completing import profiles
from lockterm.config import Options
from lockterm.logfile import LEVELS

Command = TypeVar("Command", bound=Callable[..., Any])

# Values are checked by lockterm.config, wherever they come from, so click takes them as text.
_OPTIONS = {
    "profile": click.option(
        "--profile", metavar="NAME", help="The profile to use.", shell_complete=profiles
    ),
    "base_url": click.option("--base-url", metavar="URL", help="The service to use."),
    "lock": click.option("--lock", metavar="ID", help="Open straight on this lock's remotes."),
    "read_only": click.option("--read-only", is_flag=True, help="Send nothing that changes."),
    "no_mouse": click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal."),
    "quiet": click.option("--quiet", is_flag=True, help="For thin links: send less."),
    "log_level": click.option(
        "--log-level", type=click.Choice(LEVELS), help="How much the log file tells. [info]"
    ),
}
OF_THE_UI = tuple(_OPTIONS)
"""What ``lockterm`` itself takes."""
OF_A_SERVICE = ("profile", "base_url", "read_only", "log_level")
"""What every command takes that asks the service and draws nothing."""


class Form(Enum):
    """How something is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class How:
    """What all changes can be told beside what to change."""

    dry_run: bool = False
    """Print the request and send nothing."""
    yes: bool = False
    """Do not ask."""
    as_json: bool = False


def takes(*names: str) -> Callable[[Command], Command]:
    """Give a command some of the options that are spelled the same everywhere."""

    def decorate(command: Command) -> Command:
        for name in reversed(names):
            command = _OPTIONS[name](command)
        return command

    return decorate


def takes_form(command: Command) -> Command:
    """Let a command that reads print for people or for programs."""
    for name, words in (
        ("csv", "CSV; no cell is a formula."),
        ("json", "JSON with the service's raw values."),
    ):
        command = click.option(f"--{name}", f"as_{name}", is_flag=True, help=words)(command)
    return command


def takes_how(command: Command) -> Command:
    """Let a command that changes something be rehearsed, be agreed to, and tell programs."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Tell the outcome as JSON."),
        click.option("--yes", "-y", is_flag=True, help="Do not ask; it is meant so."),
        click.option("--dry-run", is_flag=True, help="Print the request and send no change."),
    ):
        command = option(command)
    return command


def merged(before: Options, given: dict[str, Any]) -> Options:
    """The options before the command, overridden by those after it, which are taken out."""
    after = {name: given.pop(name) for name in _OPTIONS if name in given}
    return replace(
        before, **{name: value for name, value in after.items() if value not in (None, False)}
    )


def form_of(given: dict[str, Any]) -> Form:
    """How to print; its two options are taken out.

    Raises:
        click.UsageError: Both were given.
    """
    as_json, as_csv = given.pop("as_json"), given.pop("as_csv")
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other", click.get_current_context())
    return Form.JSON if as_json else Form.CSV if as_csv else Form.TABLE


def how_of(given: dict[str, Any]) -> How:
    """How to change something; its options are taken out."""
    return How(*(given.pop(name) for name in ("dry_run", "yes", "as_json")))
