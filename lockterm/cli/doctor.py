"""The command ``lockterm doctor``, which finds problems on this machine and gives advice.

It checks configuration, store and service; ``doctor_terminal`` checks the terminal.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from lockterm import __version__
from lockterm.cli.doctor_terminal import Finding, check_terminal, finding_of, run_keys
from lockterm.cli.exit_codes import DONE, FAILED
from lockterm.cli.logfile import log_to
from lockterm.cli.manual import list_exit_codes
from lockterm.cli.options import UI_OPTIONS, json_option, take_options
from lockterm.cli.output import are_terminals, put_json, put_wrapped
from lockterm.cli.running import load_ui_settings
from lockterm.config import Options, Profile, Settings, load_settings
from lockterm.config.file import ConfigFile, read_config
from lockterm.config.look import resolve_look
from lockterm.config.zones import describe_zone_data, is_zone, zone_data
from lockterm.domain.operation import IN_FLIGHT, UNCONFIRMED
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count, format_size
from lockterm.errors import ConfigError, LocktermError, StoreError
from lockterm.keymap import hints
from lockterm.keymap.hints import key, settling
from lockterm.operations.connection import CLOCK_TOLERANCE_S
from lockterm.operations.probe import SOME_LOCK, ServiceAnswers, ask, look_at_certificate
from lockterm.paths import Paths
from lockterm.store.damage import contents, failure_of, is_damage, is_earlier, refuse_foreign
from lockterm.store.database import compare_contents, version_of
from lockterm.store.journal_search import damaged_entries
from lockterm.store.tables import VERSION

LEAST_FREE = 16 << 20
"""The free space on a disk below which the disk counts as full, in bytes."""
CALLS = 5
"""The number of calls whose time is measured. An earlier call, which opens the connection, does not
count."""
SLOW_MS = 1000.0
"""The median duration of calls above which a connection counts as slow, in milliseconds."""
SOON_DAYS = 30
"""The remaining validity of a certificate below which lockterm warns, in days."""

_DOCTOR_CODES = list_exit_codes(
    _0="nothing is wrong, but there may be warnings", _1="something is wrong"
)

_DOCTOR_HELP = f"""\
Every line starts with OK, WARN or FAIL, and shows what to do. The command asks the terminal for its
name, character widths, colors and clipboard, and does not wait long for an answer. Without a
terminal, it checks the rest. It changes nothing. With --keys, it shows each key that arrives from
the terminal until you press q.

\b
--json prints one object:
  version, ok (false: something is wrong), findings: a list of
    state    OK, WARN or FAIL
    subject  terminal, configuration, store or service
    found    the finding, as a sentence
    advice   what to do, or empty
    facts    measured values by name (null: unknown)
If stdout is a terminal, --json does not ask it. Redirect to a file.

\b
Examples:
  lockterm doctor --lock 1001
  ssh laptop lockterm doctor --json | jq '.findings[].found'
  lockterm doctor --json > report.json

{_DOCTOR_CODES}"""


@click.command(epilog=_DOCTOR_HELP)
@take_options(*UI_OPTIONS, lock="Read the remotes of this lock too. [default: none]")
@json_option
@click.option("--keys", is_flag=True, help="Show how the keys that you press arrive.")
def doctor(options: Options, as_json: bool, keys: bool) -> int:
    """Check terminal, configuration, store and service."""
    if keys:
        return run_keys()
    findings: list[dict[str, object]] = []
    wrong = False
    with ExitStack() as at_end:
        # Queries to the terminal would mix with JSON that is printed there.
        asking = None if as_json and are_terminals(sys.stdout) else at_end
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
        settings = load_ui_settings(paths.config_file, options)
        hints.use(settings.keymap)
        look, origins = settings.look, settings.origins
        configuration = check_configuration(paths.config_file, options, os.environ, settings)
    except ConfigError as error:
        nothing = ConfigFile(paths.config_file)
        look = resolve_look(nothing, os.environ, detected, quiet=None, mouse=None)
        origins = detected
        configuration = [finding_of(error)]
    checks = {
        "terminal": check_terminal(os.environ, look, origins, at_end),
        "configuration": configuration,
        "store": check_store(paths),
    }
    for subject, findings in checks.items():
        for finding in findings:
            yield subject, finding
    if settings is not None and settings.profile is not None:
        if options.log_level:  # otherwise the doctor writes nothing, not even a log
            secrets = settings.profile.headers.values()
            log_to(paths.log_file, options.log_level, secrets=secrets)
        for finding in check_service(settings.profile, settings.open_lock):
            yield "service", finding


def check_configuration(
    config_file: Path, options: Options, environ: Mapping[str, str], settings: Settings
) -> Iterator[Finding]:
    """Check the configuration file, the profile in use, and the other profiles.

    The function does not look for unknown keys or wrong values in the profile in use, because
    ``load_settings`` has already checked that profile.
    """
    config = read_config(config_file)
    if config is None:
        yield Finding("OK", f"{config_file} does not exist. lockterm works without this file.")
    else:
        mode = stat.S_IMODE(config_file.stat().st_mode)
        facts = {"file": str(config_file), "mode": f"{mode:04o}", "profiles": len(config.profiles)}
        if mode & 0o022:
            sentence = f"Other users can change {config_file} and the service that it names."
            yield Finding("WARN", sentence, f"Run: chmod 600 {config_file}", facts)
        else:
            sentence = f"{config_file} ({mode:04o}) has no unknown settings."
            yield Finding("OK", sentence, facts=facts)
    data = zone_data()
    facts = {"timeZones": asdict(data)}
    yield Finding("OK", f"Time zone data: {describe_zone_data(data)}.", facts=facts)
    profile = settings.profile
    if profile is None:
        advice = f"Run lockterm demo, add --base-url URL, or write a profile into {config_file}."
        yield Finding("FAIL", "No service is configured.", advice)
        return
    chosen = {"profile": profile.name, "baseUrl": profile.base_url, "readOnly": profile.read_only}
    read_only = ", read-only" if profile.read_only else ""
    sentence = f"The profile {profile.name} uses {profile.base_url}{read_only}."
    yield Finding("OK", sentence, facts=chosen)
    for warning in profile.warnings:
        yield Finding("WARN", warning)
    for name in config.profiles if config else ():
        try:
            load_settings(config_file, replace(options, profile=name), environ)
        except ConfigError as error:
            yield Finding("WARN", error.message, error.hint)


def check_store(paths: Paths) -> Iterator[Finding]:
    """Check that the store can be read and written, and that it is private and not damaged."""
    place = next(place for place in (paths.state_dir, *paths.state_dir.parents) if place.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        yield Finding(
            "FAIL",
            f"{place} is not writable, so lockterm can send no changes.",
            "Make it writable, or set XDG_STATE_HOME to a writable directory.",
        )
        return
    free = shutil.disk_usage(place).free
    if free < LEAST_FREE:
        yield Finding("FAIL", f"The disk that contains {place} is full.", "Free some disk space.")
    if paths.database.exists():
        yield from _check_database(paths.database)
    else:
        yield Finding("OK", f"{paths.database} will be created when it is needed.")


def _check_database(database: Path) -> Iterator[Finding]:
    mode = database.stat().st_mode
    if mode & 0o077:
        yield Finding("WARN", f"Other users can read {database}.", f"Run: chmod 600 {database}")
    try:
        facts, flaws = _inspect(database)
    except StoreError as error:
        yield Finding("FAIL", error.message, error.hint, {"file": str(database)})
        return
    except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite may quote text that is not UTF-8
        if not is_damage(error):
            yield Finding("FAIL", *failure_of(database, error), {"file": str(database)})
            return
        facts, flaws = {}, str(error)
    unknown_zones = facts.pop("unknown_zones", [])
    facts = {"file": str(database), "bytes": _measure(database), **facts}
    if flaws:
        advice = "Start lockterm to move the file aside and to save the readable entries."
        yield Finding("FAIL", f"{database} is damaged: {flaws}.", advice, facts)
        return
    if facts.pop("earlier", False):
        yield Finding(
            "WARN",
            (
                f"{database} comes from a version before the first release, which lockterm no"
                " longer reads."
            ),
            "Start lockterm to rename the file and to create a new store.",
            facts,
        )
        return
    if facts["schema"] > VERSION:
        yield Finding(
            "WARN",
            f"{database} was written by a newer lockterm. Its tables have version"
            f" {facts['schema']}, but this lockterm reads version {VERSION}.",
            "Use the newer lockterm.",
        )
    if count := facts["damaged"]:
        yield Finding(
            "FAIL",
            f"{count:,} {'entry' if count == 1 else 'entries'} of the journal in"
            f" {database} {'is' if count == 1 else 'are'} damaged. The other entries can"
            " be read.",
            f"Start lockterm and press {key('app.history')} to see the readable parts.",
            facts,
        )
        return
    summary = f"{database} is sound, {format_size(facts['bytes'])}, schema {facts['schema']}"
    yield Finding("OK", f"{summary}, with {format_count(facts['locks'], 'lock')}.", facts=facts)
    for lock_id, name, zone in unknown_zones:
        title = f"{clean(name, 60)} (lock {lock_id})" if name else f"lock {lock_id}"
        yield Finding(
            "WARN",
            f'This machine does not know the time zone "{clean(zone, 60)}" of {title}. It accepts'
            " only dates with a UTC offset, and shows times in UTC.",
            "Correct the time zone in the lock book, or type dates with their UTC offset.",
        )
    if count := facts["unsettled"]:
        yield Finding(
            "WARN",
            f"{format_count(count, 'change')} {'is' if count == 1 else 'are'} unconfirmed: it is"
            " unknown whether they took effect.",
            f"Start lockterm and press {key('app.history')}: {settling()}",
        )
    if count := facts["drafts"]:
        sentence = f"{format_count(count, 'unfinished form')}."
        yield Finding("WARN", sentence, "Start lockterm to continue the form.")


def _inspect(database: Path) -> tuple[dict[str, Any], str]:
    """Return facts about the store by name, such as how many ``locks`` it has, and its damage.

    The second value describes the damage; it is empty if the store is sound.
    """
    uri = f"{database.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.execute("PRAGMA trusted_schema = OFF")
        refuse_foreign(connection, database)
        answer = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
        if answer != "ok":
            return {}, answer
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        if is_earlier(contents(connection)):
            return {"earlier": True}, ""
        compare_contents(connection)
        version = version_of(connection)
        states = ", ".join(f"'{state.value}'" for state in UNCONFIRMED | IN_FLIGHT)
        connection.row_factory = sqlite3.Row

        def count(table: str, where: str = "") -> int:
            query = f"SELECT count(*) FROM {table}{where}"
            return connection.execute(query).fetchone()[0] if table in tables else 0

        zones = "SELECT lock_id, name, zone FROM locks WHERE zone != '' ORDER BY lock_id"
        rows = connection.execute(zones) if "locks" in tables else ()
        return {
            "unknown_zones": [tuple(row) for row in rows if not is_zone(str(row["zone"]))],
            "schema": version,
            "integrity": answer,
            "damaged": damaged_entries(connection),
            "locks": count("locks"),
            "operations": count("operations"),
            "unsettled": count("operations", f" WHERE state IN ({states})"),
            "drafts": count("drafts"),
        }, ""


def _measure(database: Path) -> int:
    files = (database, database.with_name(f"{database.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def check_service(profile: Profile, lock_id: int | None) -> Iterator[Finding]:
    """Check the service's certificate, answers, speed and clock, without changing anything."""
    try:
        answers = asyncio.run(ask(profile, lock_id or SOME_LOCK, more_calls=CALLS))
    except LocktermError as error:
        yield finding_of(error)
        return
    if profile.base_url.startswith("https:"):
        yield _check_certificate(profile)
    if answers.denial is not None:
        yield finding_of(answers.denial)
        return
    yield _check_latency(profile, answers)
    refusal = answers.refusal
    if refusal is not None and lock_id is not None:
        sentence = f"The service refuses the lock {lock_id}: {refusal.meaning}"
        yield Finding("WARN", sentence, "Check the ID.")
    yield _check_clock(answers.offset_s)


def _check_latency(profile: Profile, answers: ServiceAnswers) -> Finding:
    calls = answers.calls_ms
    middle = statistics.median(calls)
    facts = {
        "host": profile.host,
        "firstMs": round(answers.first_ms, 1),
        "minMs": round(min(calls), 1),
        "medianMs": round(middle, 1),
        "maxMs": round(max(calls), 1),
        "calls": len(calls),
    }
    sentence = (
        f"{profile.host} answers correctly: {len(calls)} calls took {min(calls):.0f} /"
        f" {middle:.0f} / {max(calls):.0f} ms (min / median / max). The first call,"
        f" which also connects, took {answers.first_ms:.0f} ms."
    )
    if middle > SLOW_MS:
        advice = "The connection is slow. If calls time out, raise timeout_s in the profile."
        return Finding("WARN", sentence, advice, facts)
    return Finding("OK", sentence, facts=facts)


def _check_clock(offset_s: float | None) -> Finding:
    if offset_s is None:
        return Finding("WARN", "The service sends no time, so lockterm did not compare the clocks.")
    facts = {"clockOffsetS": round(offset_s, 1)}
    if abs(offset_s) <= CLOCK_TOLERANCE_S:
        sentence = f"The clocks agree within {abs(offset_s) + 1:.0f} s."
        return Finding("OK", sentence, facts=facts)
    side = "behind" if offset_s > 0 else "ahead of"
    sentence = (
        f"This machine's clock is {abs(offset_s):.0f} s {side} the service's clock, so dates"
        " are wrong by that amount."
    )
    return Finding("FAIL", sentence, "Set the clock.", facts)


def _check_certificate(profile: Profile) -> Finding:
    """Check how long the service's certificate is still valid."""
    try:
        seen = look_at_certificate(profile)
    except (LocktermError, OSError, ValueError) as error:
        return Finding("WARN", f"The certificate could not be inspected: {error}.")
    facts = {
        "tls": seen.tls,
        "certificateUntil": seen.until,
        "certificateDays": seen.days,
        "certificateIssuer": seen.issuer,
    }
    by = f" by {seen.issuer}" if seen.issuer else ""
    sentence = (
        f"The certificate, issued{by}, is trusted ({seen.tls}) and valid until"
        f" {seen.until} ({seen.days} days left)."
    )
    if seen.days < SOON_DAYS:
        advice = "Ask the operators to renew the certificate before it expires."
        return Finding("WARN", sentence, advice, facts)
    return Finding("OK", sentence, facts=facts)
