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
for_programs = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


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
        "help": "Profile to use. [default: the default profile]",
        "shell_complete": complete_profiles,
    },
    "base_url": {"metavar": "URL", "help": "Service to use. [default: that of the profile]"},
    "lock": {"metavar": "ID", "help": "Open the remotes of this lock. [default: none]"},
    "read_only": {"is_flag": True, "help": "Send no changes."},
    "no_mouse": {"is_flag": True, "help": "Leave the mouse to the terminal."},
    "quiet": {"is_flag": True, "help": "Use the low-bandwidth mode."},
    "no_cache": {"is_flag": True, "help": "Keep no lists on disk."},
    "log_level": {"type": click.Choice(LEVELS), "help": "Level of the log file. [default: info]"},
}
OF_THE_UI = tuple(_OPTIONS)
"""What ``lockterm`` itself takes."""


def takes(*names: str, **helps: str) -> Callable[[Command], Command]:
    """Give a command some fields of ``Options`` as options; the command receives all of them.

    Args:
        names: The fields.
        helps: Help texts of the command's own, by field.
    """

    def decorate(command: Any) -> Any:
        command = click.pass_obj(command)
        for name in reversed(names):
            option = f"--{name.replace('_', '-')}"
            settings = _OPTIONS[name] | ({"help": helps[name]} if name in helps else {})
            decorator = click.option(option, callback=_note, expose_value=False, **settings)
            command = decorator(command)
        return command

    return decorate


asks_service = takes("profile", "base_url", "read_only", "no_cache", "log_level")
"""For every command that asks the service and draws nothing."""


def reads(command: Callable[..., int]) -> Callable[..., int]:
    """For a command that reads: it is given the ``form`` in which to print."""

    @click.option("--json", "as_json", is_flag=True, help="Print JSON as the service sent it.")
    @click.option("--csv", "as_csv", is_flag=True, help="Print CSV without formulas.")
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

    @click.option("--dry-run", is_flag=True, help="Show what would be sent, but send nothing.")
    @click.option("--yes", "-y", is_flag=True, help="Skip the confirmation prompt.")
    @click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
    @asks_service
    @wraps(command)
    def run(*args: Any, dry_run: bool, yes: bool, as_json: bool, **given: Any) -> int:
        return command(*args, how=WriteOptions(dry_run, yes or dry_run, as_json), **given)

    return run
