"""Stores of other versions, on a file system that lacks what SQLite needs, and locked by others."""

from __future__ import annotations

import errno
import fcntl
import mmap
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lockterm.cli.doctor import check_store
from lockterm.domain.locks import Lock
from lockterm.errors import StoreError
from lockterm.paths import Paths
from lockterm.store.database import Database, look_at_file_system
from lockterm.store.lock_book import LockBook
from lockterm.store.tables import VERSION


def journal_of(file: Path) -> str:
    with closing(sqlite3.connect(file)) as connection:
        return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Paths.below(tmp_path).database


def no_maps(*_: object) -> None:
    raise OSError(errno.ENODEV, "No such device")


@pytest.mark.parametrize("had_a_log", [False, True])
def test_store_keeps_a_rollback_journal_when_memory_cannot_be_shared(
    had_a_log: bool, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if had_a_log:
        with closing(Database(file)) as database:
            LockBook(database, "north").save(Lock(1, name="Gate"))
        assert journal_of(file) == "wal"
    with monkeypatch.context() as share:
        share.setattr(mmap, "mmap", no_maps)
        with closing(Database(file)) as one, closing(Database(file)) as other:
            LockBook(one, "north").save(Lock(2, name="Dock"))
            LockBook(other, "north").save(Lock(3, name="Roof"))
            for database in (one, other):
                names = [lock.name for lock in LockBook(database, "north").locks()]
                assert sorted(names) == ["Dock", *["Gate"] * had_a_log, "Roof"]
            assert journal_of(file) == "delete"
    with closing(Database(file)) as database:
        assert len(LockBook(database, "north").locks()) == 2 + had_a_log
    assert journal_of(file) == "wal"
    assert not list(file.parent.glob(".probe*"))


@pytest.mark.parametrize(("number", "shares"), [(errno.ENOSPC, True), (errno.ENODEV, False)])
def test_file_system_shares_memory_when_it_is_only_full(
    number: int, shares: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, "No")

    with monkeypatch.context() as patch:
        patch.setattr(mmap, "mmap", refuse)
        assert look_at_file_system(tmp_path) is shares
    assert look_at_file_system(tmp_path)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_store_names_another_place_when_there_are_no_file_locks(
    number: int, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, "No locks available")

    with monkeypatch.context() as share:
        share.setattr(fcntl, "lockf", refuse)
        with closing(Database(file)) as database:
            for use in (
                LockBook(database, "x").locks,
                lambda: LockBook(database, "x").save(Lock(1)),
            ):
                with pytest.raises(StoreError, match="has no file locks") as refused:
                    use()
                assert "XDG_STATE_HOME" in refused.value.hint
    assert not list(file.parent.glob(".probe*"))


def test_store_that_cannot_be_filled_says_why_when_it_is_read(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was made, and is empty: it has no tables to read."""

    def refuse(*_: object, **__: object) -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_LOCK
        error.sqlite_errorname = "SQLITE_IOERR_LOCK"
        raise error

    monkeypatch.setattr("lockterm.store.database.use_journal", refuse)
    with (
        closing(Database(file)) as database,
        pytest.raises(StoreError, match=r"failed: disk I/O error \(SQLITE_IOERR_LOCK\)"),
    ):
        LockBook(database, "x").locks()


@pytest.mark.long
def test_doctor_calls_a_store_damaged_only_when_it_is(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = Paths.below(file.parent.parent)
    with closing(Database(file)) as database:
        LockBook(database, "north").save(Lock(1))
    with closing(sqlite3.connect(file)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        (told,) = check_store(paths)
        assert (told.state, "is locked by another program" in told.sentence) == ("FAIL", True)
        other.rollback()
    file.rename(file.with_name("kept"))
    file.mkdir()
    *_, told = check_store(paths)
    assert told.state == "FAIL" and "damaged" not in told.sentence
    file.rmdir()
    file.write_bytes(b"no database" * 1000)
    *_, told = check_store(paths)
    assert told.state == "FAIL" and "is damaged" in told.sentence


EARLIER = Path(__file__).parent / "earlier.sql"
"""A store that development versions kept, as SQL."""


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path, tmp_path, tmp_path, tmp_path)


def dump(file: Path) -> list[str]:
    """Return all that a store has, as SQL."""
    with closing(sqlite3.connect(file)) as connection:
        return [*connection.iterdump()]


def test_database_sets_aside_a_store_from_before_the_first_release(paths: Paths) -> None:
    earlier = paths.database
    with closing(sqlite3.connect(earlier)) as connection:
        connection.executescript(EARLIER.read_text("utf-8"))
    earlier.chmod(0o600)
    before, content = earlier.read_bytes(), dump(earlier)
    (finding,) = check_store(paths)
    assert finding.state == "WARN" and "before the first release" in finding.sentence
    assert earlier.read_bytes() == before
    database = Database(earlier)
    book = LockBook(database, "north")
    assert book.locks() == []
    (aside,) = (file for file in earlier.parent.glob("*.earlier-*") if file.suffix[-4:] != "-wal")
    assert "from a version before the first release" in database.notice
    assert aside.name in database.notice
    assert dump(aside) == content
    book.save(Lock(7, name="Gate"))
    database.close()
    again = Database(earlier)
    assert [lock.name for lock in LockBook(again, "north").locks()] == ["Gate"]
    assert again.notice == ""
    again.check()
    again.close()


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
