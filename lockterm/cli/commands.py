"""The commands and their options, for click; the work of each is in a module of its own."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import click

from lockterm import __version__
from lockterm.cli import manual
from lockterm.cli.ending import MISUSED, Interrupted, tell, tell_error
from lockterm.cli.options import OF_THE_UI, merged, takes
from lockterm.cli.output import NobodyReads
from lockterm.cli.remote_commands import remotes
from lockterm.cli.voice_commands import voice
from lockterm.config import Options
from lockterm.errors import LocktermError


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=manual.LOCKTERM,
)
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
@takes(*OF_THE_UI)
@click.pass_context
def lockterm(context: click.Context, /, **given: Any) -> int | None:
    """Manage the bluetooth remotes and the voices of smart locks in a terminal.

    Without a command, the terminal UI opens on the default profile; without one, it offers the
    demo or a form for the first one. Options may also stand after the commands that take them.
    """
    context.obj = Options(**given)
    if context.invoked_subcommand is not None:
        return None
    from lockterm.cli.ui import run_ui

    return run_ui(context.obj)


@lockterm.command()
@takes("lock", "read_only", "no_mouse", "quiet", "log_level")
@click.pass_obj
def demo(options: Options, /, **given: Any) -> int:
    """Try it: the UI on a made-up site, in one process."""
    from lockterm.cli.demo import run_demo

    return run_demo(merged(options, given))


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
@click.option(
    "--token",
    help="Want this bearer token with every request; env:NAME takes it from the environment.",
)
def serve(host: str, port: int, database: Path | None, sample_data: bool, token: str | None) -> int:
    """Run the embedded service alone, in the foreground."""
    from lockterm.cli.serve import run_serve

    return run_serve(host, port, database, sample_data=sample_data, token=token)


@lockterm.command()
@takes(*OF_THE_UI)
@click.option("--json", "as_json", is_flag=True, help="For programs to read.")
@click.pass_obj
def info(options: Options, /, as_json: bool, **given: Any) -> int:
    """Show version, paths and settings.

    Every setting is shown with where it came from; values of headers are not shown.
    """
    from lockterm.cli.info import run_info

    return run_info(merged(options, given), as_json=as_json)


@lockterm.command(epilog=manual.DOCTOR)
@takes(*OF_THE_UI)
@click.option("--json", "as_json", is_flag=True, help="For programs to read.")
@click.option("--keys", is_flag=True, help="Press keys, and see which arrive.")
@click.pass_obj
def doctor(options: Options, /, as_json: bool, keys: bool, **given: Any) -> int:
    """Check terminal, configuration, store and service."""
    if keys:
        from lockterm.cli.doctor.keys import run_keys

        return run_keys()
    from lockterm.cli.doctor import run_doctor

    return run_doctor(merged(options, given), as_json=as_json)


@lockterm.command(epilog=manual.COMPLETION)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> int:
    """Print the completion script of a shell."""
    from lockterm.cli.completing import run_completion

    return run_completion(shell, lockterm)


lockterm.add_command(remotes)
lockterm.add_command(voice)


def run(arguments: list[str]) -> int:
    """Carry out what was typed.

    Returns:
        The exit code.
    """
    try:
        result = lockterm.main(arguments, prog_name="lockterm", standalone_mode=False)
    except LocktermError as error:
        return tell_error(error)
    except Interrupted as interrupted:
        tell(interrupted.sentence)
        return interrupted.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        message = error.format_message().rstrip(".")
        command = getattr(error, "ctx", None)
        path = command.command_path if command is not None else "lockterm"
        tell(f"{message}. See: {path} --help")
        return MISUSED
    except NobodyReads:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left is flushed at the end
        return 128 + signal.SIGPIPE
    return result if isinstance(result, int) else 0
