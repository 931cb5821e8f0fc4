"""A damaged store is set aside, never deleted, and what can be read of it goes on."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lockterm.errors import StoreError
from lockterm.models.locks import Lock
from lockterm.models.operation import Operation, State
from lockterm.store.cache import Cache
from lockterm.store.database import Database
from lockterm.store.journal import Journal
from lockterm.store.lock_book import LockBook

ROWS = 400
PAGE = 4096


def operation(number: int, call: str = "update") -> Operation:
    return Operation(
        id=f"id{number}",
        profile="p",
        call=call,
        path=f"/api/v1/bluetooth-remote/{call}",
        body={"lockId": 1, "remoteId": number, "remoteName": "x" * 100},
        lock_id=1,
        lock_name="Gate",
        remote_id=number,
        remote_name=f"Fob {number}",
        before=({"id": number, "extraData": {"note": "y" * 300}},),
        state=State.PREPARED,
        session="none",
        prepared_ms=number,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with some hundred operations and locks, closed in good order."""
    path = tmp_path / "state" / "lockterm.db"
    database = Database(path)
    with database.transaction():
        for number in range(ROWS):
            assert Journal(database, "p").prepare(operation(number)) is None
            LockBook(database, "p").save(Lock(number, name=f"Lock {number}"))
    database.close()
    assert not path.with_name("lockterm.db-wal").exists()
    return path


def spoil(path: Path, page: int, pages: int = 1) -> None:
    """Overwrite pages, the first of which is 1, with rubbish."""
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(b"\xa5" * PAGE * pages)


def leaves(path: Path, table: str) -> list[int]:
    """The pages that hold the rows of a table."""
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()
    content, found = path.read_bytes(), []
    waiting = [root]
    while waiting:
        number = waiting.pop()
        page = content[(number - 1) * PAGE : number * PAGE]
        if page[0] == 5:  # an inner page of a table
            cells = int.from_bytes(page[3:5], "big")
            for cell in range(cells):
                at = int.from_bytes(page[12 + 2 * cell : 14 + 2 * cell], "big")
                waiting.append(int.from_bytes(page[at : at + 4], "big"))
            waiting.append(int.from_bytes(page[8:12], "big"))
        elif page[0] == 13:
            found.append(number)
    return found


def test_rows_around_the_damage_are_saved(path: Path):
    """Two leaves are lost in the middle: what is before, between and after them is not."""
    pages = leaves(path, "operations")
    for page in (pages[len(pages) // 3], pages[len(pages) // 2]):
        spoil(path, page)
    damaged = path.read_bytes()
    database = Database(path)
    with pytest.raises(StoreError, match="damaged"):
        Journal(database, "p").history()
    rows = Journal(database, "p").history()
    assert ROWS * 0.9 < len(rows) < ROWS
    assert {row.id for row in rows} <= {f"id{number}" for number in range(ROWS)}
    assert all(row == operation(row.remote_id) for row in rows)
    assert len(LockBook(database, "p").locks()) == ROWS
    assert f"{len(rows) + ROWS} of its entries" in database.notice
    (aside,) = path.parent.glob("lockterm.db.damaged-*")
    assert aside.read_bytes() == damaged and aside.name in database.notice
    assert aside.stat().st_mode & 0o777 == path.stat().st_mode & 0o777 == 0o600
    assert database.flaws() == ""
    # The numbers of lost rows are not given away again, and the store goes on working.
    assert Journal(database, "p").prepare(operation(9999)) is None
    assert Journal(database, "p").find("id9999") is not None
    database.close()


@pytest.mark.parametrize("damage", ["header", "all", "text", "cut"])
def test_a_file_that_is_no_store_any_more(path: Path, damage: str):
    if damage == "header":
        spoil(path, 1)
    elif damage == "all":
        path.write_bytes(b"\x00\xff" * 5000)
    elif damage == "text":
        path.write_text("not a database, but a text of some length\n" * 200)
    else:
        path.write_bytes(path.read_bytes()[: PAGE * 9])
    damaged = path.read_bytes()
    database = Database(path)
    try:
        Journal(database, "p").history()
    except StoreError:
        Journal(database, "p").history()
    assert database.notice
    (aside,) = path.parent.glob("lockterm.db.damaged-*")
    assert aside.read_bytes() == damaged
    assert Journal(database, "p").prepare(operation(9999)) is None
    database.close()


def test_the_log_of_the_last_changes_is_saved_too(path: Path):
    """Ended by kill -9: the newest rows are in the write-ahead log alone."""
    database = Database(path)
    Journal(database, "p").prepare(operation(7777, "add"))
    copy = path.parent.parent / "killed"
    shutil.copytree(path.parent, copy)
    database.close()
    path = copy / "lockterm.db"
    assert path.with_name("lockterm.db-wal").stat().st_size
    spoil(path, leaves(path, "operations")[5])
    database = Database(path)
    with pytest.raises(StoreError):
        Journal(database, "p").history()
    found = Journal(database, "p").find("id7777")
    assert found is not None and found.state is State.PREPARED
    database.close()


def test_rubbish_that_the_database_cannot_see_is_left_behind(path: Path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE operations SET body = '{cut' WHERE id = 'id3'")
        connection.execute("UPDATE operations SET state = 'nonsense' WHERE id = 'id4'")
    spoil(path, leaves(path, "operations")[0])  # the one with the last rows
    database = Database(path)
    with pytest.raises(StoreError):
        Journal(database, "p").unsettled()
        Journal(database, "p").history()
    ids = {row.id for row in Journal(database, "p").history()}
    assert "id2" in ids and not {"id3", "id4"} & ids
    database.close()


def test_another_session_goes_on_with_the_new_file(path: Path):
    """What it writes must not end in the file that was set aside."""
    other, here = Database(path), Database(path)
    assert Journal(other, "p").prepare(operation(4444)) is None
    assert path.with_name("lockterm.db-wal").stat().st_size  # as long as it is open there
    spoil(path, leaves(path, "operations")[3])
    with pytest.raises(StoreError):
        Journal(here, "p").history()
    other_journal = Journal(other, "p")
    assert other_journal.prepare(operation(5555)) is None
    assert Journal(here, "p").find("id4444") is not None
    assert Journal(here, "p").find("id5555") is not None
    assert here.flaws() == ""
    aside = [one for one in path.parent.glob("*.damaged-*") if not one.name.endswith("-wal")]
    assert len(aside) == 1
    for database in (other, here):
        database.close()


def test_a_salvage_that_was_cut_off_is_finished_at_the_next_start(path: Path, monkeypatch):
    spoil(path, leaves(path, "operations")[3])
    database = Database(path)

    class Killed(BaseException):
        pass

    def killed(path: Path) -> None:
        path.with_name("lockterm.db-wal").unlink(missing_ok=True)
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr("lockterm.store.salvage._put_in_place", killed)
        Journal(database, "p").history()
    database.close()
    database = Database(path)
    rows = Journal(database, "p").history()
    assert ROWS * 0.9 < len(rows) < ROWS
    assert {entry.name for entry in path.parent.glob(".salvage-*")} == set()
    assert not path.with_name("lockterm.db.salvaged").exists()
    database.close()


def test_a_damaged_cache_is_begun_anew(tmp_path: Path):
    path = tmp_path / "cache" / "answers.db"
    cache = Cache(path, "http://s")
    cache.put("page 1", {"a": 1}, 5)
    cache.close()
    path.write_bytes(b"rubbish" * 3000)
    cache = Cache(path, "http://s")
    assert cache.get("page 1") is None
    cache.put("page 1", {"a": 2}, 6)
    assert cache.get("page 1") == ({"a": 2}, 6)
    cache.close()
    assert not list(path.parent.glob("*damaged*"))


def test_nothing_is_replaced_where_there_is_no_damage(path: Path):
    database = Database(path)
    assert database.flaws() == "" and database.notice == ""
    with pytest.raises(StoreError), database.transaction() as connection:
        connection.execute("INSERT INTO nowhere VALUES (1)")
    assert len(Journal(database, "p").history()) == ROWS
    database.close()
    assert [entry.name for entry in path.parent.iterdir()] == ["lockterm.db"]
