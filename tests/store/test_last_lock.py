"""The lock that was opened last, told without touching the file."""

from __future__ import annotations

from pathlib import Path

from lockterm.domain.locks import Lock
from lockterm.store.database import Database
from lockterm.store.lock_book import LockBook, last_lock


def test_it_is_that_of_the_profile_which_was_opened_last(tmp_path: Path) -> None:
    database = Database(tmp_path / "store #1?.db")
    north, south = LockBook(database, "north"), LockBook(database, "south")
    for lock_id in (1, 2, 3):
        north.save(Lock(lock_id))
    assert last_lock(database.path, "north") is None, "none was opened yet"
    north.note_look(2, remotes=5, opened_ms=2000)
    north.note_look(1, remotes=5, opened_ms=1000)
    south.save(Lock(9, opened_ms=9000))
    assert last_lock(database.path, "north") == 2
    assert last_lock(database.path, "south") == 9
    north.remove(2)
    assert last_lock(database.path, "north") == 1
    database.close()
    assert last_lock(database.path, "north") == 1, "also where nobody has the file open"


def test_unreadable_last_lock_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "lockterm.db"
    assert last_lock(path, "north") is None
    assert not path.exists()
    for damage in (b"", b"no database" * 1000):
        path.write_bytes(damage)
        assert last_lock(path, "north") is None
        assert path.read_bytes() == damage


def test_damaged_entries_are_passed_over(tmp_path: Path) -> None:
    database = Database(tmp_path / "lockterm.db")
    book = LockBook(database, "north")
    book.save(Lock(1, opened_ms=1000))
    book.save(Lock(7, opened_ms=2000))
    with database.transaction() as connection:
        connection.execute("UPDATE locks SET opened_ms = 'late' WHERE lock_id = 7")
    assert last_lock(database.path, "north") == 1
    database.close()
