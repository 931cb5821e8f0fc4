"""The command ``lockterm doctor``, which finds problems on this machine and gives advice."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack

import click

from lockterm import __version__
from lockterm.cli import manual
from lockterm.cli.doctor.checks import (
    Finding,
    check_configuration,
    check_service,
    check_store,
    finding_of,
)
from lockterm.cli.doctor.terminal import check_terminal
from lockterm.cli.exit_codes import DONE, FAILED
from lockterm.cli.logfile import log_to
from lockterm.cli.options import UI_OPTIONS, json_option, take_options
from lockterm.cli.output import is_terminal, put_json, put_wrapped
from lockterm.cli.presets import check_presets
from lockterm.config import Options, Settings, load_settings
from lockterm.config.file import ConfigFile
from lockterm.config.look import resolve_look
from lockterm.domain.safe_text import clean
from lockterm.errors import ConfigError
from lockterm.keymap import hints
from lockterm.paths import Paths


@click.command(epilog=manual.DOCTOR)
@take_options(*UI_OPTIONS, lock="Read the remotes of this lock too. [default: none]")
@json_option
@click.option("--keys", is_flag=True, help="Show how the keys that you press arrive.")
def doctor(options: Options, as_json: bool, keys: bool) -> int:
    """Check terminal, configuration, store and service."""
    if keys:
        # This module imports Textual, which is missing when the manual pages are built.
        from lockterm.cli.doctor.keys import run_keys

        return run_keys()
    findings: list[dict[str, object]] = []
    wrong = False
    with ExitStack() as at_end:
        # Queries to the terminal would mix with JSON that is printed there.
        asking = None if as_json and is_terminal() else at_end
        for subject, finding in _check_all(options, asking):
            wrong = wrong or finding.state == "FAIL"
            record = {"state": finding.state, "subject": subject, "found": finding.sentence}
            findings.append({**record, "advice": finding.advice, "facts": dict(finding.facts)})
            if not as_json:  # print each finding at once, because a silent service takes time
                words = f"{finding.sentence} {finding.advice}".strip()
                put_wrapped(f"{finding.state:<5} {subject:<14} ", clean(words))
    if as_json:
        put_json({"version": __version__, "ok": not wrong, "findings": findings})
    return FAILED if wrong else DONE


def _check_all(options: Options, at_end: ExitStack | None) -> Iterator[tuple[str, Finding]]:
    """Yield pairs of a subject and a finding, each as soon as the finding is known.

    Args:
        options: The options of the command.
        at_end: The stack that restores the terminal after the queries; None to send no queries.
    """
    paths = Paths.standard()
    settings: Settings | None = None
    origins: Mapping[str, str]
    detected: dict[str, str] = {}
    configuration: Iterable[Finding]
    try:
        settings = load_settings(paths.config_file, options, os.environ)
        check_presets(settings)
        hints.use(settings.keymap)
        look, origins = settings.look, settings.origins
        configuration = check_configuration(paths.config_file, options, os.environ, settings)
    except ConfigError as error:
        nothing = ConfigFile(paths.config_file)
        look = resolve_look(nothing, os.environ, detected, quiet=None, mouse=None)
        origins = detected
        configuration = [finding_of(error)]
    yield from _with_subject("terminal", check_terminal(os.environ, look, origins, at_end))
    yield from _with_subject("configuration", configuration)
    yield from _with_subject("store", check_store(paths))
    if settings is not None and settings.profile is not None:
        if options.log_level:  # otherwise the doctor writes nothing, not even a log
            secrets = settings.profile.headers.values()
            log_to(paths.log_file, options.log_level, secrets=secrets)
        yield from _with_subject("service", check_service(settings.profile, settings.open_lock))


def _with_subject(subject: str, findings: Iterable[Finding]) -> Iterator[tuple[str, Finding]]:
    return ((subject, finding) for finding in findings)
