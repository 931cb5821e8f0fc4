"""A damaged store is set aside, never deleted, and what can be read of it goes on."""

from __future__ import annotations

import fcntl
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lockterm.config import Profile
from lockterm.domain.drafts import Draft
from lockterm.domain.locks import Lock
from lockterm.domain.operation import UNCONFIRMED, Operation, OperationState
from lockterm.errors import StoreDamagedError, StoreError
from lockterm.store.cache import Cache
from lockterm.store.damage import passing_damage
from lockterm.store.database import Database
from lockterm.store.drafts import Drafts
from lockterm.store.journal import Journal
from lockterm.store.lock_book import LockBook
from tests.samples import an_operation
from tests.store.pages import PAGE, leaves

ROWS = 400


def operation(number: int, call: str = "update") -> Operation:
    return an_operation(
        call,
        **{"id": f"id{number}", "lock_id": 1, "remote_id": number, "remote_name": f"Fob {number}"},
        body={"lockId": 1, "remoteId": number, "remoteName": "x" * 100},
        before=({"id": number, "extraData": {"note": "y" * 300}},),
        **{"state": OperationState.PREPARED, "session": "none", "prepared_ms": number},
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


def test_rows_around_the_damage_are_saved(path: Path):
    """Two leaves are lost in the middle: what is before, between and after them is not."""
    pages = leaves(path, "operations")
    for page in (pages[len(pages) // 3], pages[len(pages) // 2]):
        spoil(path, page.number)
    damaged = path.read_bytes()
    database = Database(path)
    with pytest.raises(StoreError, match="damaged"):
        Journal(database, "p").history()
    rows = Journal(database, "p").history()
    assert ROWS * 0.9 < len(rows) < ROWS
    assert {row.id for row in rows} <= {f"id{number}" for number in range(ROWS)}
    assert all(row == operation(row.remote_id) for row in rows)
    assert len(LockBook(database, "p").locks()) == ROWS
    assert f"saved {len(rows) + ROWS} entries" in database.notice
    (aside,) = path.parent.glob("lockterm.db.damaged-*")
    assert aside.read_bytes() == damaged and aside.name in database.notice
    assert aside.stat().st_mode & 0o777 == path.stat().st_mode & 0o777 == 0o600
    database.check()
    # The numbers of lost rows are not given away again, and the store goes on working.
    assert Journal(database, "p").prepare(operation(9999)) is None
    assert Journal(database, "p").find("id9999") is not None
    database.close()


@pytest.mark.parametrize("damage", ["header", "all", "text", "cut"])
def test_store_is_set_aside_when_its_file_is_not_a_database(path: Path, damage: str):
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
    spoil(path, leaves(path, "operations")[5].number)
    database = Database(path)
    with pytest.raises(StoreError):
        Journal(database, "p").history()
    found = Journal(database, "p").find("id7777")
    assert found is not None and found.state is OperationState.PREPARED
    database.close()


def test_rubbish_that_the_database_cannot_see_is_kept_and_shown_as_such(path: Path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE operations SET body = '{cut' WHERE id = 'id3'")
        connection.execute("UPDATE operations SET state = 'nonsense' WHERE id = 'id4'")
        connection.execute("UPDATE operations SET before = '[{]' WHERE id = 'id5'")
        connection.execute(r"UPDATE operations SET id = CAST(x'6964ff' AS TEXT) WHERE id = 'id6'")
        connection.execute("UPDATE operations SET prepared_ms = x'00' WHERE id = 'id7'")
    spoil(path, leaves(path, "operations")[-1].number)  # the one with the last rows
    database = Database(path)
    journal = Journal(database, "p")
    with pytest.raises(StoreError):
        journal.list_unconfirmed()
        journal.history()
    for _ in range(2):
        rows = {row.id: row for row in journal.history()}
        lines = {line.id: line for line in journal.lines()}
        assert rows.keys() == lines.keys() and rows["id2"] == operation(2)
        damaged = {"id3", "id4", "id5", "row 7", "id7"}
        for found in (rows, lines):
            assert {key for key in found if found[key].state is OperationState.DAMAGED} == damaged
        assert (rows["id3"].lock_id, rows["id3"].body) == (1, {})
        # What may be under way holds back; what has a state of its own does not.
        assert [row.id for row in journal.list_unconfirmed()] == ["id4"]
        spoil(path, 9)  # and the next rebuilding keeps them too
    for key in ("id4", "row 7"):
        assert journal.find(key) is not None
    assert journal.move("id4", UNCONFIRMED, state=OperationState.GIVEN_UP)
    assert journal.list_unconfirmed() == []
    database.close()


@pytest.mark.parametrize(
    ("right", "wrong"), [('"remoteId": 7', '"remoteId": 5'), ('"lockId": 1', '"lockId": 3')]
)
def test_an_entry_that_names_two_remotes_or_locks_is_damaged(path: Path, right: str, wrong: str):
    """One flipped bit in a digit: sent again, it would go to another remote than it says."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "UPDATE operations SET state = 'not_seen', body = replace(body, ?, ?) WHERE id = 'id7'",
            (right, wrong),
        )
    database = Database(path)
    (one,) = Journal(database, "p").list_unconfirmed()
    assert one.state is OperationState.DAMAGED and one.remote_id == 7
    database.close()


def test_a_bad_lock_or_draft_hides_no_other(path: Path):
    database = Database(path)
    drafts, book = Drafts(database, "p"), LockBook(database, "p")
    for number in range(5):
        drafts.save(Draft("lock", number, None, {"name": f"Gate {number}"}, number, "1-ended"))
    with database.transaction() as connection:
        connection.execute("UPDATE drafts SET typed = '{cut' WHERE lock_id = 0")
        connection.execute("UPDATE drafts SET typed = '[1]' WHERE lock_id = 1")
        connection.execute("UPDATE drafts SET saved_ms = x'01' WHERE lock_id = 2")
        connection.execute("UPDATE drafts SET typed = CAST(x'7b22ff' AS TEXT) WHERE lock_id = 3")
        connection.execute("UPDATE locks SET name = CAST(x'47ff' AS TEXT) WHERE lock_id = 3")
        connection.execute("UPDATE locks SET remotes = 'many', opened_ms = x'' WHERE lock_id = 4")
    assert [draft.lock_id for draft in drafts.all()] == [4]
    locks = {lock.lock_id: lock for lock in book.locks()}
    assert len(locks) == ROWS and locks[3].name == "G\ufffd"
    assert (locks[4].remotes, locks[4].opened_ms) == (None, None)
    assert book.find(3) == locks[3]
    database.close()


def test_another_session_goes_on_with_the_new_file(path: Path):
    """What it writes must not end in the file that was set aside."""
    other, here = Database(path), Database(path)
    assert Journal(other, "p").prepare(operation(4444)) is None
    assert path.with_name("lockterm.db-wal").stat().st_size  # as long as it is open there
    spoil(path, leaves(path, "operations")[3].number)
    with pytest.raises(StoreError):
        Journal(here, "p").history()
    other_journal = Journal(other, "p")
    assert other_journal.prepare(operation(5555)) is None
    assert Journal(here, "p").find("id4444") is not None
    assert Journal(here, "p").find("id5555") is not None
    here.check()
    aside = [one for one in path.parent.glob("*.damaged-*") if not one.name.endswith("-wal")]
    assert len(aside) == 1
    for database in (other, here):
        database.close()


def test_a_salvage_that_was_cut_off_is_finished_at_the_next_start(path: Path, monkeypatch):
    spoil(path, leaves(path, "operations")[3].number)
    database = Database(path)

    class Killed(BaseException):
        pass

    replace = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if self.name == "lockterm.db.salvaged":
            raise Killed
        return replace(self, target)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Path, "replace", killed)
        Journal(database, "p").history()
    database.close()
    assert path.with_name("lockterm.db.salvaged").exists()
    database = Database(path)
    rows = Journal(database, "p").history()
    assert ROWS * 0.9 < len(rows) < ROWS
    assert {entry.name for entry in path.parent.glob(".salvage-*")} == set()
    assert not path.with_name("lockterm.db.salvaged").exists()
    database.close()


def test_salvage_locks_out_other_sessions_when_it_copies(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(path, leaves(path, "operations")[3].number)
    database = Database(path)
    copyfile, refused = shutil.copyfile, []

    def copy(source: Path, to: Path) -> Path:
        with path.with_name("lockterm.db.salvage").open("r+b") as other:
            try:
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                refused.append(source)
        return copyfile(source, to)

    monkeypatch.setattr(shutil, "copyfile", copy)
    with pytest.raises(StoreDamagedError):
        Journal(database, "p").history()
    database.close()
    assert path in refused


def test_damaged_cache_is_replaced(tmp_path: Path):
    path = tmp_path / "cache" / "answers.db"
    cache = Cache(path, Profile("p", "http://s"))
    cache.put("page 1", {"a": 1}, 5)
    cache.close()
    path.write_bytes(b"rubbish" * 3000)
    cache = Cache(path, Profile("p", "http://s"))
    assert cache.get("page 1") is None
    cache.put("page 1", {"a": 2}, 6)
    assert cache.get("page 1") == ({"a": 2}, 6)
    cache.close()
    assert not list(path.parent.glob("*damaged*"))


def test_sound_store_is_not_replaced(path: Path):
    database = Database(path)
    database.check()
    assert database.notice == ""
    with pytest.raises(StoreError), database.transaction() as connection:
        connection.execute("INSERT INTO nowhere VALUES (1)")
    assert len(Journal(database, "p").history()) == ROWS
    database.close()
    assert [entry.name for entry in path.parent.iterdir()] == ["lockterm.db"]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA max_page_count = 1")
        # What a full disk cannot take must not count as unreadable in the old store.
        with pytest.raises(sqlite3.OperationalError, match="full"), passing_damage():
            connection.execute("CREATE TABLE rows (number INTEGER)")
