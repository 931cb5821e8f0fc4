"""The doctor's look at the files on this machine."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from lockterm.cli.doctor.finding import Finding
from lockterm.paths import Paths

LEAST_FREE = 16 << 20
"""Bytes below which the disk is as good as full."""


def store_findings(paths: Paths) -> Iterator[Finding]:
    """Whether the store can be read and written, and whether others can read it."""
    place = next(place for place in (paths.state_dir, *paths.state_dir.parents) if place.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        yield Finding(
            "wrong",
            "store",
            f"{place} is not writable, so nothing can be changed from here: make it writable, or"
            " set XDG_STATE_HOME to a place that is.",
        )
        return
    if shutil.disk_usage(place).free < LEAST_FREE:
        yield Finding("wrong", "store", f"The disk of {place} is full: make room.")
    if paths.database.exists():
        yield from _database_findings(paths.database)
    else:
        yield Finding("ok", "store", f"{paths.database} will be made when it is needed.")


def _database_findings(database: Path) -> Iterator[Finding]:
    if database.stat().st_mode & 0o077:
        yield Finding("note", "store", f"Others can read {database}. Run: chmod 600 {database}")
    try:
        connection = sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)
        try:
            answer = connection.execute("PRAGMA quick_check").fetchone()[0]
        finally:
            connection.close()
    except sqlite3.Error as error:
        answer = str(error)
    if answer == "ok":
        yield Finding("ok", "store", f"{database} is sound.")
    else:
        yield Finding(
            "wrong", "store", f"{database} is damaged: {answer}. Move it away; a new one is made."
        )
