"""What the SQLite file does when another program has it, and when a statement fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockterm.service import sqlite_storage
from lockterm.service.sqlite_storage import SqliteDatabase
from lockterm.service.storage import DatabaseUnavailableError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "service.db"


@pytest.fixture
def database(file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteDatabase]:
    """Return a new database that waits for no other program."""
    monkeypatch.setattr(sqlite_storage, "WRITE_WAIT_S", 0.0)
    monkeypatch.setattr(sqlite_storage, "READ_WAIT_S", 0.0)
    database = SqliteDatabase(file, lambda db: None)
    yield database
    database.close()


@pytest.fixture
def other(database: SqliteDatabase, file: Path) -> Iterator[sqlite3.Connection]:
    """Return another program's connection to the file."""
    connection = sqlite3.connect(file, timeout=0, isolation_level=None)
    yield connection
    connection.close()


def test_writing_holds_the_file_from_its_beginning(
    database: SqliteDatabase, other: sqlite3.Connection
) -> None:
    """What it reads before it writes is then not changed by another program."""
    with database.writing(), pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("BEGIN IMMEDIATE")
    other.execute("BEGIN IMMEDIATE")


def test_writing_raises_unavailable_when_another_program_has_the_file(
    database: SqliteDatabase, other: sqlite3.Connection
) -> None:
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseUnavailableError), database.writing():
        pass
    other.execute("ROLLBACK")
    with database.writing():
        pass


def test_reading_sees_one_state_when_another_program_writes(
    database: SqliteDatabase, other: sqlite3.Connection
) -> None:
    count = "SELECT count(*) FROM site"
    with database.reading() as db:
        before = db.execute(count).fetchone()
        other.execute("INSERT INTO site VALUES (1)")
        assert db.execute(count).fetchone() == before
    assert database.rows(count) != [before]
