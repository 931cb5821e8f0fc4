"""The doctor's look at the files on this machine. It only reads."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lockterm.cli.doctor.finding import Finding
from lockterm.keymap.spoken import key, settling
from lockterm.models.operation import IN_FLIGHT, UNSETTLED
from lockterm.paths import Paths
from lockterm.store.database import MIGRATIONS

LEAST_FREE = 16 << 20
"""Bytes below which the disk is as good as full."""


def store_findings(paths: Paths) -> Iterator[Finding]:
    """Whether the store can be read and written, what is in it, and whether others can read it."""
    place = next(place for place in (paths.state_dir, *paths.state_dir.parents) if place.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        yield Finding(
            "FAIL",
            "store",
            f"{place} is not writable, so nothing can be changed from here.",
            "Make it writable, or set XDG_STATE_HOME to a place that is.",
        )
        return
    free = shutil.disk_usage(place).free
    if free < LEAST_FREE:
        yield Finding("FAIL", "store", f"The disk of {place} is full.", "Make room.")
    if paths.database.exists():
        yield from _database_findings(paths.database)
    else:
        yield Finding("OK", "store", f"{paths.database} will be made when it is needed.")


def _database_findings(database: Path) -> Iterator[Finding]:
    mode = database.stat().st_mode
    if mode & 0o077:
        yield Finding("WARN", "store", f"Others can read {database}.", f"Run: chmod 600 {database}")
    try:
        facts, flaws = _looked_into(database)
    except sqlite3.Error as error:
        facts, flaws = {}, str(error)
    facts = {"file": str(database), "bytes": _size(database), **facts}
    if flaws:
        yield Finding(
            "FAIL",
            "store",
            f"{database} is damaged: {flaws}.",
            "Start lockterm: it sets the file aside and keeps what can be read of it.",
            facts,
        )
        return
    if newer := facts.pop("newer"):
        yield Finding(
            "WARN",
            "store",
            f"{database} was written by a later lockterm, which knows {', '.join(newer)}.",
            "Use that one; this one reads what it knows.",
        )
    words = f"{database} is sound, {facts['bytes']:,} bytes, schema {facts['schema']}"
    yield Finding("OK", "store", f"{words}, with {_counted(facts['locks'], 'lock')}.", facts=facts)
    if count := facts["unsettled"]:
        yield Finding(
            "WARN",
            "store",
            f"{_counted(count, 'change')} sent from here {'is' if count == 1 else 'are'} not"
            " settled: it is not known whether they took effect.",
            f"Start lockterm and press {key('app.history')}: {settling()}",
        )
    if count := facts["drafts"]:
        yield Finding(
            "WARN",
            "store",
            f"{_counted(count, 'form')} begun and not finished.",
            "Start lockterm: it offers what was typed.",
        )


def _looked_into(database: Path) -> tuple[dict[str, Any], str]:
    """Counts of what is in it, and what is wrong with it; empty if nothing is."""
    connection = sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)
    try:
        answer = str(connection.execute("PRAGMA quick_check").fetchone()[0])
        if answer != "ok":
            return {}, answer
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        states = ", ".join(f"'{state.value}'" for state in UNSETTLED | IN_FLIGHT)
        wanted = {
            "locks": ("locks", ""),
            "operations": ("operations", ""),
            "unsettled": ("operations", f" WHERE state IN ({states})"),
            "drafts": ("drafts", ""),
        }
        done = "SELECT name FROM migrations"
        steps = [row[0] for row in connection.execute(done)] if "migrations" in tables else []
        counts: dict[str, Any] = {
            "schema": f"{len(set(steps) & set(MIGRATIONS))} of {len(MIGRATIONS)}",
            "integrity": answer,
            "newer": sorted(set(steps) - set(MIGRATIONS)),
        }
        for name, (table, where) in wanted.items():
            query = f"SELECT count(*) FROM {table}{where}"
            counts[name] = connection.execute(query).fetchone()[0] if table in tables else 0
        return counts, ""
    finally:
        connection.close()


def _size(database: Path) -> int:
    files = (database, database.with_name(f"{database.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
