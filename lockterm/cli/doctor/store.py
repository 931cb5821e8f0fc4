"""The doctor's look at the files on this machine. It only reads."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from lockterm.cli.doctor.finding import Finding
from lockterm.config.values import is_zone
from lockterm.domain.operation import IN_FLIGHT, UNSETTLED
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count, format_size
from lockterm.errors import StoreError
from lockterm.keymap.hints import key, settling
from lockterm.paths import Paths
from lockterm.store.damage import contents, failure_of, is_damage, is_earlier, refuse_foreign
from lockterm.store.database import compare_contents, version_of
from lockterm.store.journal_known import damaged_entries
from lockterm.store.tables import VERSION

LEAST_FREE = 16 << 20
"""Bytes below which the disk is as good as full."""


def store_findings(paths: Paths) -> Iterator[Finding]:
    """Whether the store can be read and written, what is in it, and whether others can read it."""
    place = next(place for place in (paths.state_dir, *paths.state_dir.parents) if place.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        yield Finding(
            "FAIL",
            f"{place} is not writable, so nothing can be changed from here.",
            "Make it writable, or set XDG_STATE_HOME to a place that is.",
        )
        return
    free = shutil.disk_usage(place).free
    if free < LEAST_FREE:
        yield Finding("FAIL", f"The disk of {place} is full.", "Make room.")
    if paths.database.exists():
        yield from _database_findings(paths.database)
    else:
        yield Finding("OK", f"{paths.database} will be made when it is needed.")


def _database_findings(database: Path) -> Iterator[Finding]:
    mode = database.stat().st_mode
    if mode & 0o077:
        yield Finding("WARN", f"Others can read {database}.", f"Run: chmod 600 {database}")
    try:
        facts, flaws = _looked_into(database)
    except StoreError as error:
        yield Finding("FAIL", error.message, error.hint, {"file": str(database)})
        return
    except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite quotes what is no text
        if not is_damage(error):
            yield Finding("FAIL", *failure_of(database, error), {"file": str(database)})
            return
        facts, flaws = {}, str(error)
    unknown_zones = facts.pop("unknown_zones", [])
    facts = {"file": str(database), "bytes": _size(database), **facts}
    if flaws:
        advice = "Start lockterm: it sets the file aside and keeps what can be read of it."
        yield Finding("FAIL", f"{database} is damaged: {flaws}.", advice, facts)
        return
    if facts.pop("earlier", False):
        yield Finding(
            "WARN",
            f"{database} is from before the first release, and is not read any more.",
            "Start lockterm: it keeps the file under another name and begins a new store.",
            facts,
        )
        return
    if facts["schema"] > VERSION:
        yield Finding(
            "WARN",
            f"{database} was written by a later lockterm: its tables are version"
            f" {facts['schema']}, and this one knows version {VERSION}.",
            "Use that one; this one reads what it knows.",
        )
    if count := facts["damaged"]:
        yield Finding(
            "FAIL",
            f"{count:,} {'entry' if count == 1 else 'entries'} of the journal in {database}"
            f" {'is' if count == 1 else 'are'} damaged; the others can be read.",
            f"Start lockterm and press {key('app.history')}: it shows what is left of each.",
            facts,
        )
        return
    words = f"{database} is sound, {format_size(facts['bytes'])}, schema {facts['schema']}"
    yield Finding("OK", f"{words}, with {format_count(facts['locks'], 'lock')}.", facts=facts)
    for lock_id, name, zone in unknown_zones:
        title = f"{clean(name, 60)} (lock {lock_id})" if name else f"lock {lock_id}"
        yield Finding(
            "WARN",
            f'This machine does not know the time zone "{clean(zone, 60)}" of {title}: no date is'
            " read for it, and times are shown in UTC.",
            "Correct the zone in the lock book, or type dates with their offset.",
        )
    if count := facts["unsettled"]:
        yield Finding(
            "WARN",
            f"{format_count(count, 'change')} sent from here {'is' if count == 1 else 'are'} not"
            " settled: it is not known whether they took effect.",
            f"Start lockterm and press {key('app.history')}: {settling()}",
        )
    if count := facts["drafts"]:
        sentence = f"{format_count(count, 'form')} begun and not finished."
        yield Finding("WARN", sentence, "Start lockterm: it offers what was typed.")


def _looked_into(database: Path) -> tuple[dict[str, Any], str]:
    """Counts of what is in it, and what is wrong with it; empty if nothing is."""
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
        states = ", ".join(f"'{state.value}'" for state in UNSETTLED | IN_FLIGHT)
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


def _size(database: Path) -> int:
    files = (database, database.with_name(f"{database.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
