"""The options that several commands take, their completion in shells, and their prompts."""

from __future__ import annotations

import os
import select
import shlex
import signal
import socket
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class

from lockterm.cli.exit_codes import FAILED, UsageError, notify
from lockterm.cli.logfile import LEVELS
from lockterm.cli.output import are_terminals, put_stderr
from lockterm.config import Options, load_settings
from lockterm.config.file import read_config
from lockterm.config.values import INT64
from lockterm.domain.safe_text import clean
from lockterm.errors import LocktermError
from lockterm.paths import Paths

Command = TypeVar("Command", bound=Callable[..., Any])


class WholeNumber(click.IntRange):
    """The type of an option or argument whose value is a whole number of at most 64 bits.

    ``convert`` checks the maximum, so that click's help shows only the minimum.
    """

    name = "whole number, such as 12"

    def __init__(self, minimum: int) -> None:
        super().__init__(minimum)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, or fail with click's error for an invalid value."""
        number = super().convert(value, param, ctx)
        if number not in INT64:
            self.fail(f"{number} is too large. The maximum is {INT64[-1]}.", param, ctx)
        return number


# --- completion -----------------------------------------------------------------------------------


class QuotingBash(BashComplete):
    """Shell completion for bash that quotes the completed words, because bash leaves them unquoted.

    Quoting is necessary because a profile's name may be any text, even ``a$(touch x)``.
    """

    def format_completion(self, item: CompletionItem) -> str:
        """Return the completed word, quoted for bash and for ``read`` in click's script."""
        value = shlex.quote(item.value) if item.type == "plain" else item.value
        return f"{item.type},{value}".replace("\\", "\\\\")


add_completion_class(QuotingBash)


def complete_profiles(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the names of the profiles in the configuration that start with the typed text."""
    with suppress(LocktermError):
        config = read_config(Paths.standard().config_file)
        names = config.profiles if config else ()
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return []


def complete_locks(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the IDs of locks in the lock book whose ID or name starts with the typed text.

    The function does not call the service.
    """
    from lockterm.store import database, lock_book  # only to complete a lock

    paths = Paths.standard()
    if not paths.database.exists():
        return []
    options = Options(profile=context.obj.profile, base_url=context.obj.base_url)
    with suppress(LocktermError):
        profile = load_settings(paths.config_file, options, os.environ).profile
        if profile is None:
            return []
        store = database.Database(paths.database)
        try:
            book = lock_book.LockBook(store, profile.name).locks()
        finally:
            store.close()
        wanted = incomplete.casefold()
        return [
            CompletionItem(str(lock.lock_id), help=clean(lock.name, 60))
            for lock in book
            if str(lock.lock_id).startswith(wanted) or lock.name.casefold().startswith(wanted)
        ]
    return []


# --- options --------------------------------------------------------------------------------------

lock_argument = click.argument("typed_lock", metavar="LOCK", shell_complete=complete_locks)
lock_option = click.option(
    "--lock",
    "typed_lock",
    metavar="LOCK",
    help="Show only changes of this lock. [default: all locks]",
    shell_complete=complete_locks,
)
remote_argument = click.argument("remote_id", metavar="REMOTE", type=WholeNumber(0))
FILE_PATH = click.Path(path_type=Path)
"""The type of an option or argument whose value is the path of a file."""
file_argument = click.argument("file", metavar="FILE", type=FILE_PATH)
max_deletes_option = click.option(
    "--max-deletes",
    metavar="N",
    type=WholeNumber(0),
    help="Maximum number of deletes. [default: no limit]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
yes_option = click.option("--yes", "-y", is_flag=True, help="Skip the confirmation prompt.")


class Format(Enum):
    """The format of the output."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class WriteOptions(NamedTuple):
    """The options of every command that changes something."""

    dry_run: bool
    """Whether to print the request and send nothing."""
    yes: bool
    """Whether to skip the prompt, which is always the case in a dry run."""
    as_json: bool


def _store(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Store the value of an option in ``Options``, in place of an earlier value of this option."""
    if value not in (None, False):
        context.obj = replace(context.obj, **{str(parameter.name): value})


# lockterm.config checks the values from every source, so click takes them as text.
_OPTIONS: dict[str, dict[str, Any]] = {
    "profile": {
        "metavar": "NAME",
        "help": "Profile to use. [default: the default profile]",
        "shell_complete": complete_profiles,
    },
    "base_url": {"metavar": "URL", "help": "Service to use. [default: that of the profile]"},
    "lock": {"metavar": "ID", "help": "Open the remotes of this lock. [default: none]"},
    "read_only": {"is_flag": True, "help": "Send no changes."},
    "no_mouse": {"is_flag": True, "help": "Do not use the mouse."},
    "quiet": {"is_flag": True, "help": "Use the low-bandwidth mode."},
    "no_cache": {"is_flag": True, "help": "Do not save lists on disk."},
    "log_level": {"type": click.Choice(LEVELS), "help": "Level of the log file. [default: info]"},
}
UI_OPTIONS = tuple(_OPTIONS)
"""The names of the options that ``lockterm`` accepts when it opens the UI."""


def take_options(*names: str, **helps: str) -> Callable[[Command], Command]:
    """Return a decorator that adds options to a command and passes their values as ``Options``.

    Args:
        names: The names of fields of ``Options``, each of which becomes an option of the command.
        helps: Help texts by field, which replace the usual help texts in this command.
    """

    def decorate(command: Any) -> Any:
        command = click.pass_obj(command)
        for name in reversed(names):
            option = f"--{name.replace('_', '-')}"
            settings = _OPTIONS[name] | ({"help": helps[name]} if name in helps else {})
            decorator = click.option(option, callback=_store, expose_value=False, **settings)
            command = decorator(command)
        return command

    return decorate


asks_service = take_options("profile", "base_url", "read_only", "no_cache", "log_level")
"""A decorator for commands that use the service or the store, but not the UI."""


def reads(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of a command that only reads.

    The command gets the output format as its argument ``form``.
    """

    @json_option
    @click.option("--csv", "as_csv", is_flag=True, help="Print CSV in which no cell is a formula.")
    @asks_service
    @wraps(command)
    def run(*args: Any, as_json: bool, as_csv: bool, **given: Any) -> int:
        if as_json and as_csv:
            raise click.UsageError("--json and --csv cannot be used together")
        form = Format.JSON if as_json else Format.CSV if as_csv else Format.TABLE
        return command(*args, form=form, **given)

    return run


def changes(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of a command that changes something.

    The command gets their values as its argument ``how``.
    """

    @click.option("--dry-run", is_flag=True, help="Show what would be sent, but send nothing.")
    @yes_option
    @click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
    @asks_service
    @wraps(command)
    def run(*args: Any, dry_run: bool, yes: bool, as_json: bool, **given: Any) -> int:
        return command(*args, how=WriteOptions(dry_run, yes or dry_run, as_json), **given)

    return run


# --- prompts --------------------------------------------------------------------------------------


def require_answer(yes: bool, what: str) -> None:
    """Check that ``--yes`` was given, or that a prompt can be shown in a terminal.

    Args:
        yes: Whether ``--yes`` was given.
        what: The action with which the error message begins, such as ``Deleting``.

    Raises:
        UsageError: If ``--yes`` was not given and there is no terminal.
    """
    if not yes and not can_prompt():
        raise UsageError(
            f"{what} needs --yes if there is no terminal. Nothing was sent.",
            hint="Give --yes, or run the command in a terminal.",
        )


def can_prompt() -> bool:
    """Return whether stdin and stderr are terminals, so that a prompt can be shown."""
    return are_terminals(sys.stdin, sys.stderr)


def confirm(question: str, *, yes: bool) -> bool:
    """Ask a yes-or-no question and return the answer.

    If ``yes`` is True, return True without asking.
    """
    if yes:
        return True
    _drop_typed_keys()
    while (answer := _ask(f"{question} [y/N]: ").lower()) not in ("y", "yes", "n", "no", ""):
        put_stderr("Answer y or n.")
    return answer.startswith("y")


def confirm_by_typing(question: str, accepted: tuple[str, ...], *, yes: bool) -> bool:
    """Ask the user to type a text, and return whether the text is accepted.

    Args:
        question: The prompt.
        accepted: The accepted texts; empty texts are ignored.
        yes: Whether to return True without a prompt.
    """
    if yes:
        return True
    _drop_typed_keys()
    return _ask(f"{question}: ") in filter(None, accepted)


def cancel() -> int:
    """Report on stderr that nothing was sent, and return the exit code of a canceled command."""
    notify("Nothing was sent.")
    return FAILED


def _ask(question: str) -> str:
    """Print a question, and return the line that the user types.

    The function waits for signals as well as for input, because with ``input`` a Ctrl+C may have no
    effect until the next key.

    Raises:
        click.Abort: If there is no more input.
    """
    put_stderr(question, nl=False)
    waking, woken = socket.socketpair()
    with waking, woken:
        waking.setblocking(False)
        before = signal.set_wakeup_fd(waking.fileno())
        try:
            select.select([sys.stdin, woken], [], [])
        finally:
            signal.set_wakeup_fd(before)
    line = sys.stdin.readline()
    if not line:
        raise click.Abort
    return line.strip()


def _drop_typed_keys() -> None:
    """Discard keys that were typed before the question appeared."""
    termios.tcflush(sys.stdin, termios.TCIFLUSH)
