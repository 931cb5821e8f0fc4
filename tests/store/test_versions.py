"""Stores from before the first release are set aside; those of a later version are read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lockterm.cli.doctor.checks import check_store
from lockterm.domain.locks import Lock
from lockterm.paths import Paths
from lockterm.store.database import Database
from lockterm.store.lock_book import LockBook
from lockterm.store.tables import VERSION

EARLIER = Path(__file__).parent / "earlier.sql"
"""A store that development versions kept, as SQL."""


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path, tmp_path, tmp_path, tmp_path)


def dump(file: Path) -> list[str]:
    """Return all that a store has, as SQL."""
    with closing(sqlite3.connect(file)) as connection:
        return [*connection.iterdump()]


@pytest.fixture
def earlier(paths: Paths) -> Path:
    with closing(sqlite3.connect(paths.database)) as connection:
        connection.executescript(EARLIER.read_text("utf-8"))
    paths.database.chmod(0o600)
    return paths.database


def test_database_sets_aside_a_store_from_before_the_first_release(earlier: Path) -> None:
    content = dump(earlier)
    database = Database(earlier)
    book = LockBook(database, "north")
    assert book.locks() == []
    (aside,) = (file for file in earlier.parent.glob("*.earlier-*") if file.suffix[-4:] != "-wal")
    assert (
        "from a version before the first release" in database.notice
        and aside.name in database.notice
    )
    assert dump(aside) == content
    book.save(Lock(7, name="Gate"))
    database.close()

    again = Database(earlier)
    assert [lock.name for lock in LockBook(again, "north").locks()] == ["Gate"]
    assert again.notice == ""
    again.check()
    again.close()


def test_doctor_reports_a_store_from_before_the_first_release(earlier: Path, paths: Paths) -> None:
    content = earlier.read_bytes()
    (finding,) = check_store(paths)
    assert finding.state == "WARN" and "before the first release" in finding.sentence
    assert earlier.read_bytes() == content


def test_database_reads_a_store_of_a_later_version(paths: Paths) -> None:
    database = Database(paths.database)
    LockBook(database, "north").save(Lock(7, name="Gate"))
    database.close()
    with closing(sqlite3.connect(paths.database)) as connection:
        connection.execute("ALTER TABLE locks ADD COLUMN more TEXT")
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.commit()
    later = Database(paths.database)
    assert [lock.name for lock in LockBook(later, "north").locks()] == ["Gate"]
    assert later.notice == ""
    later.close()
    (warning, *_) = check_store(paths)
    assert warning.state == "WARN" and "a newer lockterm" in warning.sentence
