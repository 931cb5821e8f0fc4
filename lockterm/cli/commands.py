"""The command ``lockterm``: the list of its commands, and the function that runs one of them."""

from __future__ import annotations

import signal
from contextlib import suppress
from importlib import import_module

import click

from lockterm import __version__
from lockterm.cli import output
from lockterm.cli.exit_codes import DONE, MISUSED, CommandInterruptedError, notify, report_error
from lockterm.cli.manual import list_exit_codes
from lockterm.cli.options import UI_OPTIONS, take_options
from lockterm.cli.output import BrokenStdoutError, choose_glyphs
from lockterm.config import Options
from lockterm.config.zones import use_newest
from lockterm.errors import LocktermError
from lockterm.terminal import startup


class Commands(click.Group):
    """A group of commands, which imports the module of a command only if the command is used."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, or None if lockterm has no such command."""
        if cmd_name not in MODULES:
            return None
        module = import_module(f"lockterm.cli.{MODULES[cmd_name]}")
        command: click.Command = getattr(module, cmd_name)
        return command


MODULES = {
    "demo": "demo",
    "serve": "serve",
    "token": "serve",
    "info": "info",
    "doctor": "doctor",
    "keys": "keys",
    "completion": "install",
    "man": "man",
    "remotes": "remotes",
    "voice": "voice",
    "find": "all_locks",
    "report": "report",
    "people": "people",
    "locks": "locks",
    "unconfirmed": "unconfirmed",
    "history": "history",
    "changes": "changes",
    "export": "tables",
    "diff": "tables",
    "apply": "tables",
    "edit": "tables",
    "copy": "plan_commands",
    "clean": "plan_commands",
    "replace": "plan_commands",
    "runs": "runs",
}
"""Maps the names of commands to the modules of this package that define them."""

_ALL_CODES = list_exit_codes(
    _1="refused, or something is wrong",
    _2="an argument, a setting or the terminal is wrong",
    _3="lockterm cannot reach the service, or could not read a lock",
    _4="a change is unconfirmed",
    _5="the local store is damaged, and nothing was sent",
)

_ENVIRONMENT = """\
\b
Environment:
  LOCKTERM_PROFILE    name of a profile, like --profile
  LOCKTERM_BASE_URL   address of a service, like --base-url
  LOCKTERM_LOCK       ID of a lock, like --lock
  LOCKTERM_READ_ONLY  1: like --read-only
  LOCKTERM_QUIET      1: like --quiet
  NO_COLOR            any value: no color
  XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_CACHE_HOME
                      directories of the files
"""

_FILES = """\
\b
Files (lockterm info shows the paths in use):
  ~/.config/lockterm/config.toml        profiles
  ~/.local/state/lockterm/lockterm.db   lock book and journal
  ~/.local/state/lockterm/lockterm.log  log, at most 1 MiB
  ~/.local/share/lockterm/              exports and voice packs
  ~/.cache/lockterm/                    can be deleted at any time
"""

_LOCKTERM_HELP = f"""\
\b
Examples:
  lockterm demo
  lockterm --profile north-campus --lock 1001
  lockterm remotes list "Main gate" --all --csv > remotes.csv
  lockterm find weber
  lockterm report --within 30d
  eval "$(lockterm completion bash)"

{_ALL_CODES}
{_ENVIRONMENT}
{_FILES}"""


@click.group(
    cls=Commands,
    commands={name: click.Command(name) for name in MODULES},
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "obj": Options()},
    epilog=_LOCKTERM_HELP,
)
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
@take_options(*UI_OPTIONS)
@click.pass_context
def lockterm(context: click.Context, options: Options) -> int | None:
    """Manage the bluetooth remotes and voices of smart locks.

    Without a command, lockterm opens the terminal UI with the default profile. If there is no
    profile, the UI offers a demo and a form for the first profile. You can write these options
    before a command, or after it if the command has the same option.
    """
    if context.invoked_subcommand is not None:
        startup.finish()
        choose_glyphs()
        return None
    from lockterm.cli.ui import run_ui

    return run_ui(options)


def run(arguments: list[str]) -> int:
    """Run a command line and return the exit code."""
    use_newest()
    output.start()
    return output.finish(_run(arguments))


def _run(arguments: list[str]) -> int:
    try:
        result = lockterm.main(arguments, prog_name="lockterm", standalone_mode=False)
    except LocktermError as error:
        return report_error(error)
    except CommandInterruptedError as interrupted:
        notify(interrupted.sentence)
        return interrupted.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        message = error.format_message().rstrip(".")
        command = getattr(error, "ctx", None)
        path = command.command_path if command is not None else "lockterm"
        ends = "" if message.endswith("?") else "."  # click may ask whether you meant an option
        notify(f"{message}{ends} See: {path} --help")
        return MISUSED
    except BrokenStdoutError:
        output.start()  # a program that SIGPIPE ends reports no error either
        return 128 + signal.SIGPIPE
    except OSError as error:
        if not _is_of_click(error):
            raise
        with suppress(BrokenStdoutError):  # click prints help and version without output.py
            output.note_failure(error)
        return DONE
    return result if isinstance(result, int) else 0


def _is_of_click(error: OSError) -> bool:
    """Return whether the error was raised while ``click.echo`` was printing."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at is not None and at.tb_frame.f_code is click.echo.__code__
