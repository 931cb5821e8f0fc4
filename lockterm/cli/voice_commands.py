"""``lockterm voice ...``: the commands and their options; the work is imported when one runs."""

from __future__ import annotations

from typing import Any

import click

from lockterm.cli import manual
from lockterm.cli.options import (
    OF_A_SERVICE,
    form_of,
    how_of,
    merged,
    takes,
    takes_form,
    takes_how,
)
from lockterm.cli.remote_commands import the_lock
from lockterm.config import Options


@click.group(no_args_is_help=False, epilog=manual.VOICE)
def voice() -> None:
    """List voice packs and timbres, and set the voice of a lock."""


@voice.command(epilog=manual.EXIT_CODES)
@the_lock
@takes_form
@takes(*OF_A_SERVICE)
@click.pass_obj
def packs(options: Options, /, lock: str, **given: Any) -> int:
    """List the voice packs of a lock."""
    from lockterm.cli.voice_running import run_packs

    return run_packs(merged(options, given), lock, form_of(given))


@voice.command("list", epilog=manual.EXIT_CODES)
@the_lock
@click.option("--vendor", metavar="TEXT", help="Whose lock it is. [the lock book's]")
@click.option("--model", metavar="TEXT", help="Which model. [the lock book's]")
@takes_form
@takes(*OF_A_SERVICE)
@click.pass_obj
def list_timbres(options: Options, /, lock: str, **given: Any) -> int:
    """List the timbres that a lock can speak with."""
    from lockterm.cli.voice_running import run_list

    options, form = merged(options, given), form_of(given)
    return run_list(options, lock, given["vendor"], given["model"], form)


@voice.command(epilog=manual.EXIT_CODES)
@the_lock
@click.argument("pack", metavar="PACK")
@takes_form
@takes(*OF_A_SERVICE)
@click.pass_obj
def show(options: Options, /, lock: str, pack: str, **given: Any) -> int:
    """Show URL, size and MD5 of a voice pack.

    PACK is its name, as packs lists it.
    """
    from lockterm.cli.voice_running import run_show

    return run_show(merged(options, given), lock, pack, form_of(given))


@voice.command("set", epilog=manual.EXIT_CODES)
@the_lock
@click.argument("lang", metavar="LANG")
@click.argument("timbre", metavar="TIMBRE")
@takes_how
@takes(*OF_A_SERVICE)
@click.pass_obj
def set_voice(options: Options, /, lock: str, lang: str, timbre: str, **given: Any) -> int:
    """Let a lock speak with a timbre.

    The service has no way to read it back.
    """
    from lockterm.cli.voice_running import run_set

    return run_set(merged(options, given), lock, lang, timbre, how_of(given))
