"""``lockterm doctor``: what is wrong here, and what to do about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

from lockterm import __version__
from lockterm.cli.doctor.configuration import configuration_findings
from lockterm.cli.doctor.finding import Finding, trouble
from lockterm.cli.doctor.service import service_findings
from lockterm.cli.doctor.store import store_findings
from lockterm.cli.doctor.terminal import terminal_findings
from lockterm.cli.ending import DONE, FAILED
from lockterm.cli.output import put_json, put_wrapped
from lockterm.config import Options, Settings, load_settings
from lockterm.config.file import ConfigFile
from lockterm.config.terminal import settle_look
from lockterm.errors import ConfigError
from lockterm.keymap import spoken
from lockterm.logfile import log_to
from lockterm.paths import Paths
from lockterm.text import clean


def run_doctor(options: Options, *, as_json: bool) -> int:
    """Check everything and print a line for each finding.

    Returns:
        The exit code: 1 where something is wrong, else 0.
    """
    findings: list[Finding] = []
    with ExitStack() as at_end:
        # What programs read on a terminal is JSON and nothing else.
        asking = None if as_json and sys.stdout.isatty() else at_end
        for finding in _findings(options, asking):
            findings.append(finding)
            if not as_json:  # a line at once: a service that does not answer takes its time
                words = f"{finding.sentence} {finding.advice}".strip()
                put_wrapped(f"{finding.state:<5} {finding.subject:<14} ", clean(words))
    wrong = any(finding.state == "FAIL" for finding in findings)
    if as_json:
        put_json({"version": __version__, "ok": not wrong, "findings": [*map(_json, findings)]})
    return FAILED if wrong else DONE


def _json(finding: Finding) -> dict[str, object]:
    return {
        "state": finding.state,
        "subject": finding.subject,
        "found": finding.sentence,
        "advice": finding.advice,
        "facts": dict(finding.facts),
    }


def _findings(options: Options, at_end: ExitStack | None) -> Iterator[Finding]:
    paths = Paths.standard()
    settings: Settings | None = None
    wrong: ConfigError | None = None
    origins: Mapping[str, str]
    detected: dict[str, str]
    try:
        settings = load_settings(paths.config_file, options, os.environ)
        spoken.use(settings.keymap)
        look, origins = settings.look, settings.origins
    except ConfigError as error:
        wrong, detected = error, {}
        nothing = ConfigFile(paths.config_file)
        look = settle_look(nothing, os.environ, detected, quiet=None, mouse=None)
        origins = detected
    yield from terminal_findings(os.environ, look, origins, at_end)
    if settings is not None:
        yield from configuration_findings(paths.config_file, options, os.environ, settings)
    elif wrong is not None:
        yield trouble("configuration", wrong)
    yield from store_findings(paths)
    if settings is not None and settings.profile is not None:
        if options.log_level:  # else looking changes nothing, not even the log
            secrets = settings.profile.headers.values()
            log_to(paths.log_file, options.log_level, secrets=secrets)
        yield from service_findings(settings.profile, settings.open_lock)
