"""Options that several commands take, and what a command is given for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import wraps
from typing import Any, TypeVar

import click

from lockterm.cli.completion import complete_locks, complete_profiles
from lockterm.cli.logfile import LEVELS

Command = TypeVar("Command", bound=Callable[..., Any])

LAST_ID = 2**63 - 1


class WholeNumber(click.IntRange):
    """A whole number between two others; click calls one an integer range."""

    name = "whole number, such as 12"


the_lock = click.argument("typed_lock", metavar="LOCK", shell_complete=complete_locks)
the_remote = click.argument("remote_id", metavar="REMOTE", type=WholeNumber(0, LAST_ID))
for_programs = click.option("--json", "as_json", is_flag=True, help="For programs to read.")


class Form(Enum):
    """How something is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What all changes can be told beside what to change."""

    dry_run: bool
    """Print the request and send nothing."""
    yes: bool
    """Do not ask: it is meant so, or only rehearsed."""
    as_json: bool


def _note(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Keep an option for the command; one that stands behind the command overrides."""
    if value not in (None, False):
        context.obj = replace(context.obj, **{str(parameter.name): value})


# Values are checked by lockterm.config, wherever they come from, so click takes them as text.
_OPTIONS: dict[str, dict[str, Any]] = {
    "profile": {
        "metavar": "NAME",
        "help": "The profile to use.",
        "shell_complete": complete_profiles,
    },
    "base_url": {"metavar": "URL", "help": "The service to use."},
    "lock": {"metavar": "ID", "help": "Open straight on this lock's remotes."},
    "read_only": {"is_flag": True, "help": "Send nothing that changes."},
    "no_mouse": {"is_flag": True, "help": "Leave the mouse to the terminal."},
    "quiet": {"is_flag": True, "help": "For thin links: send less."},
    "no_cache": {"is_flag": True, "help": "Keep nothing that is read on the disk."},
    "log_level": {"type": click.Choice(LEVELS), "help": "How much the log file tells. [info]"},
}
OF_THE_UI = tuple(_OPTIONS)
"""What ``lockterm`` itself takes."""


def takes(*names: str) -> Callable[[Command], Command]:
    """Give a command some of the fields of ``Options`` as options; it is given all of them."""

    def decorate(command: Any) -> Any:
        command = click.pass_obj(command)
        for name in reversed(names):
            option = f"--{name.replace('_', '-')}"
            decorator = click.option(option, callback=_note, expose_value=False, **_OPTIONS[name])
            command = decorator(command)
        return command

    return decorate


asks_service = takes("profile", "base_url", "read_only", "no_cache", "log_level")
"""For every command that asks the service and draws nothing."""


def reads(command: Callable[..., int]) -> Callable[..., int]:
    """For a command that reads: it is given the ``form`` in which to print."""

    @click.option("--json", "as_json", is_flag=True, help="JSON with the service's raw values.")
    @click.option("--csv", "as_csv", is_flag=True, help="CSV; no cell is a formula.")
    @asks_service
    @wraps(command)
    def run(*args: Any, as_json: bool, as_csv: bool, **given: Any) -> int:
        if as_json and as_csv:
            raise click.UsageError("--json and --csv exclude each other")
        form = Form.JSON if as_json else Form.CSV if as_csv else Form.TABLE
        return command(*args, form=form, **given)

    return run


def changes(command: Callable[..., int]) -> Callable[..., int]:
    """For a command that changes something: it is given ``how``."""

    @click.option("--dry-run", is_flag=True, help="Print the request and send no change.")
    @click.option("--yes", "-y", is_flag=True, help="Do not ask; it is meant so.")
    @click.option("--json", "as_json", is_flag=True, help="Tell the result as JSON.")
    @asks_service
    @wraps(command)
    def run(*args: Any, dry_run: bool, yes: bool, as_json: bool, **given: Any) -> int:
        return command(*args, how=WriteOptions(dry_run, yes or dry_run, as_json), **given)

    return run
