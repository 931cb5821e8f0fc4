"""``lockterm doctor``: what is wrong here, and what to do about it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from lockterm.cli.doctor.configuration import configuration_findings
from lockterm.cli.doctor.finding import Finding, trouble
from lockterm.cli.doctor.service import service_findings
from lockterm.cli.doctor.store import store_findings
from lockterm.cli.doctor.terminal import terminal_findings
from lockterm.cli.ending import FAILED
from lockterm.config import Options, Settings, load_settings
from lockterm.errors import ConfigError
from lockterm.paths import Paths
from lockterm.text import clean


def run_doctor(options: Options) -> int:
    """Check everything and print a line for each finding.

    Returns:
        The exit code: 1 where something is wrong, else 0.
    """
    wrong = False
    for finding in _findings(options):
        click.echo(f"{finding.state:<6} {finding.subject:<14} {clean(finding.sentence)}")
        wrong = wrong or finding.state == "wrong"
    return FAILED if wrong else 0


def _findings(options: Options) -> Iterator[Finding]:
    yield from terminal_findings(os.environ)
    paths = Paths.standard()
    settings: Settings | None = None
    try:
        settings = load_settings(paths.config_file, options, os.environ)
        yield from configuration_findings(paths.config_file, options, os.environ, settings)
    except ConfigError as error:
        yield trouble("configuration", error)
    yield from store_findings(paths)
    if settings is not None and settings.profile is not None:
        yield from service_findings(settings.profile, settings.open_lock)
