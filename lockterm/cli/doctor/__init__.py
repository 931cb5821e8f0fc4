"""``lockterm doctor``: what is wrong here, and what to do about it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from lockterm import __version__
from lockterm.cli.doctor.configuration import configuration_findings
from lockterm.cli.doctor.finding import Finding, trouble
from lockterm.cli.doctor.service import service_findings
from lockterm.cli.doctor.store import store_findings
from lockterm.cli.doctor.terminal import terminal_findings
from lockterm.cli.ending import DONE, FAILED
from lockterm.cli.output import put, put_json
from lockterm.config import Options, Settings, load_settings
from lockterm.errors import ConfigError
from lockterm.logfile import log_to
from lockterm.paths import Paths
from lockterm.text import clean


def run_doctor(options: Options, *, as_json: bool) -> int:
    """Check everything and print a line for each finding.

    Returns:
        The exit code: 1 where something is wrong, else 0.
    """
    findings: list[Finding] = []
    for finding in _findings(options):
        findings.append(finding)
        if not as_json:  # a line at once: a service that does not answer takes its time
            words = f"{finding.sentence} {finding.advice}".strip()
            put(f"{finding.state:<5} {finding.subject:<14} {clean(words)}")
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
        if options.log_level:  # else looking changes nothing, not even the log
            secrets = settings.profile.headers.values()
            log_to(paths.log_file, options.log_level, secrets=secrets)
        yield from service_findings(settings.profile, settings.open_lock)
