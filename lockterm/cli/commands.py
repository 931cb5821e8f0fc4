"""The commands and their options, for click; the work of each is in a module of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from lockterm import __version__
from lockterm.cli.ending import MISUSED, tell, tell_error
from lockterm.config import Options
from lockterm.errors import LocktermError

Command = TypeVar("Command", bound=Callable[..., Any])

# Values are checked by lockterm.config, wherever they come from, so click takes them as text.
_OPTIONS = {
    "profile": click.option("--profile", metavar="NAME", help="The profile to use."),
    "base_url": click.option("--base-url", metavar="URL", help="The service to use."),
    "lock": click.option("--lock", metavar="ID", help="Open straight on this lock's remotes."),
    "read_only": click.option("--read-only", is_flag=True, help="Send nothing that changes."),
    "no_mouse": click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal."),
}


def _takes(*names: str) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for name in reversed(names):
            command = _OPTIONS[name](command)
        return command

    return decorate


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
@_takes(*_OPTIONS)
@click.pass_context
def lockterm(context: click.Context, /, **given: Any) -> int | None:
    """Manage the bluetooth remotes and the voices of smart locks in a terminal.

    Without a command, the terminal UI opens on the default profile. The options may also stand
    after info, doctor and demo.
    """
    context.obj = Options(**given)
    if context.invoked_subcommand is not None:
        return None
    from lockterm.cli.ui import run_ui

    return run_ui(context.obj)


@lockterm.command()
@_takes("lock", "read_only", "no_mouse")
@click.pass_obj
def demo(options: Options, /, **given: Any) -> int:
    """Try it: the UI on a made-up site, in one process."""
    from lockterm.cli.demo import run_demo

    return run_demo(_merged(options, given))


@lockterm.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="0: a free one."
)
@click.option(
    "--database", type=click.Path(path_type=Path), help="A file that keeps what is changed."
)
@click.option(
    "--sample-data/--empty",
    default=True,
    show_default=True,
    help="A new database has a made-up site, or no locks and accepts any lock id.",
)
@click.option("--token", help="Want this bearer token with every request.")
def serve(host: str, port: int, database: Path | None, sample_data: bool, token: str | None) -> int:
    """Run the embedded service alone, in the foreground."""
    from lockterm.cli.serve import run_serve

    return run_serve(host, port, database, sample_data=sample_data, token=token)


@lockterm.command()
@_takes(*_OPTIONS)
@click.option("--json", "as_json", is_flag=True, help="For programs to read.")
@click.pass_obj
def info(options: Options, /, as_json: bool, **given: Any) -> int:
    """Show the version, every path, and the settings with where each came from."""
    from lockterm.cli.info import run_info

    return run_info(_merged(options, given), as_json=as_json)


@lockterm.command()
@_takes(*_OPTIONS)
@click.pass_obj
def doctor(options: Options, /, **given: Any) -> int:
    """Check this terminal, the configuration, the store and the service."""
    from lockterm.cli.doctor import run_doctor

    return run_doctor(_merged(options, given))


def _merged(before: Options, after: dict[str, Any]) -> Options:
    """The options before the command, overridden by those after it."""
    return replace(
        before, **{name: value for name, value in after.items() if value not in (None, False)}
    )


def run(arguments: list[str]) -> int:
    """Carry out what was typed.

    Returns:
        The exit code.
    """
    try:
        result = lockterm.main(arguments, prog_name="lockterm", standalone_mode=False)
    except LocktermError as error:
        return tell_error(error)
    except click.Abort:
        return 130
    except click.ClickException as error:
        message = error.format_message().rstrip(".")
        command = getattr(error, "ctx", None)
        path = command.command_path if command is not None else "lockterm"
        tell(f"{message}. See: {path} --help")
        return MISUSED
    except BrokenPipeError:
        sys.stdout = None  # nobody reads it: nothing to flush at the end
        return 141
    return result if isinstance(result, int) else 0
