"""The lock book and the runs on the disk: fields, order, profiles, sessions, a broken place."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.plan import Action, Plan, Step, StepState
from lockterm.errors import StoreError
from lockterm.store.database import Database
from lockterm.store.lock_book import LockBook, last_lock
from lockterm.store.runs import RunStore
from lockterm.store.sessions import StoreSession

NUMBERS = st.integers(min_value=-(2**63), max_value=2**63 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
VOICES = st.builds(VoiceChoice, TEXTS, TEXTS)
LOCKS = st.builds(
    Lock,
    lock_id=NUMBERS,
    name=TEXTS,
    alias=TEXTS,
    vendor=TEXTS,
    model=TEXTS,
    zone=TEXTS,
    remotes=st.none() | NUMBERS,
    opened_ms=st.none() | NUMBERS,
    voice=st.none() | VOICES,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "lockterm.db"


@pytest.fixture
def database(file: Path) -> Iterator[Database]:
    database = Database(file)
    yield database
    database.close()


@pytest.fixture
def book(database: Database) -> LockBook:
    return LockBook(database, "north")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(LOCKS, LOCKS)
def test_every_field_comes_back_and_saving_replaces_what_people_say(
    book: LockBook, first: Lock, then: Lock
) -> None:
    """A form open meanwhile would take back the voice, the count and when it was opened."""
    book.remove(first.lock_id)  # left by the example before
    book.save(first)
    assert book.find(first.lock_id) == first
    noted = {name: getattr(first, name) for name in ("lock_id", "remotes", "opened_ms", "voice")}
    book.save(replace(then, lock_id=first.lock_id))
    second = replace(then, **noted)
    assert book.find(first.lock_id) == second
    assert [lock for lock in book.locks() if lock.lock_id == first.lock_id] == [second]


def test_the_last_opened_comes_first_then_names(database: Database, book: LockBook) -> None:
    opened = [Lock(3, name="old", opened_ms=5), Lock(4, name="new", opened_ms=9)]
    for lock in (Lock(1, name="beta"), Lock(2, name="Alpha"), *opened, Lock(5, name="alpha")):
        book.save(lock)
    assert [lock.lock_id for lock in book.locks()] == [4, 3, 2, 5, 1]
    south = LockBook(database, "south")
    south.save(Lock(1, name="south's"))
    book.note_look(1, 7, 99)
    book.note_voice(1, VoiceChoice("de-DE", "anna"))
    assert south.locks() == [Lock(1, name="south's")], "profiles do not see each other"
    south.remove(1)
    assert len(book.locks()) == 5


def test_looks_and_voices_change_nothing_else(book: LockBook) -> None:
    lock = Lock(1, "gate", "alias", "v", "m", "Europe/Berlin", 3, 5, VoiceChoice("a", "b"))
    book.save(lock)
    book.note_look(1, 6, 8)
    book.note_voice(1, VoiceChoice("c", "d"))
    assert book.find(1) == replace(lock, remotes=6, opened_ms=8, voice=VoiceChoice("c", "d"))
    book.note_look(2, 4, 8)
    book.note_voice(2, VoiceChoice("c", "d"))
    assert book.find(2) is None, "what is not in the book does not come into it by being opened"


def test_it_is_on_the_disk_and_for_this_user_alone(file: Path, book: LockBook) -> None:
    book.save(Lock(1, name="gate"))
    again = Database(file)
    assert LockBook(again, "north").find(1) == Lock(1, name="gate")
    again.close()
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in file.parent.iterdir()} == {0o600}


def test_sessions_in_other_threads_and_connections_write_too(file: Path) -> None:
    databases = [Database(file) for _ in range(4)]

    def work(database: Database, start: int) -> None:
        for lock_id in range(start, start + 10):
            LockBook(database, "north").save(Lock(lock_id, name=str(lock_id)))

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(work, databases, (0, 10, 20, 30))] == [None] * 4
    assert len(LockBook(databases[0], "north").locks()) == 40
    for database in databases:
        database.close()


def test_an_unusable_place_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where a directory should be")
    database = Database(tmp_path / "state" / "lockterm.db")
    with closing(database), pytest.raises(StoreError) as caught:
        LockBook(database, "north").locks()
    assert str(tmp_path / "state") in caught.value.message
    assert caught.value.hint


def test_a_failed_change_leaves_everything_as_it_was(book: LockBook, database: Database) -> None:
    book.save(Lock(1, name="gate"))
    with pytest.raises(StoreError), database.transaction() as connection:
        connection.execute("DELETE FROM locks")
        connection.execute("INSERT INTO nowhere VALUES (1)")
    unstorable = VoiceChoice("\ud800", "x")
    for lock in (Lock(2**63), Lock(1, remotes=10**30), Lock(1, voice=unstorable)):
        with pytest.raises(StoreError, match="that the local store cannot save"):
            book.save(lock)
    assert book.locks() == [Lock(1, name="gate")]


def test_an_empty_text_that_a_flipped_bit_made_a_number_of_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "lockterm.db"
    database = Database(path)
    LockBook(database, "demo").save(Lock(1001, "Main gate", vendor="Acme"))
    database.close()
    content = bytearray(path.read_bytes())
    row = content.index(b"demo\x03\xe9Main gate")
    content[content.rindex(b"\x0d", row - 14, row)] ^= 4
    path.write_bytes(content)
    database = Database(path)
    (lock,) = LockBook(database, "demo").locks()
    with database.reading() as connection:
        (kept,) = connection.execute("SELECT typeof(zone), typeof(model) FROM locks").fetchall()
    assert "integer" in tuple(kept), "the bit that was meant"
    assert (lock.model, lock.zone) == ("", "")
    database.close()


def test_last_lock_is_that_of_the_profile_which_was_opened_last(tmp_path: Path) -> None:
    path = tmp_path / "store #1?.db"
    assert last_lock(path, "north") is None
    assert not path.exists()
    database = Database(path)
    north, south = LockBook(database, "north"), LockBook(database, "south")
    for lock_id in (1, 2, 3):
        north.save(Lock(lock_id))
    assert last_lock(path, "north") is None, "none was opened yet"
    north.note_look(2, remotes=5, opened_ms=2000)
    north.note_look(1, remotes=5, opened_ms=1000)
    north.note_look(3, remotes=5, opened_ms=3000)
    south.save(Lock(9, opened_ms=9000))
    assert (last_lock(path, "north"), last_lock(path, "south")) == (3, 9)
    with database.transaction() as connection:
        connection.execute("UPDATE locks SET opened_ms = 'late' WHERE lock_id = 3")
    assert last_lock(path, "north") == 2, "damaged entries are passed over"
    north.remove(2)
    assert last_lock(path, "north") == 1
    database.close()
    assert last_lock(path, "north") == 1, "also where nobody has the file open"
    for damage in (b"", b"no database" * 1000):
        path.write_bytes(damage)
        assert last_lock(path, "north") is None
        assert path.read_bytes() == damage


STEP = Step(1, Action.DELETE, 1001, 7, "Anna", before={"id": 7})


def test_run_line_counts_as_left_out_only_what_was_not_planned_and_refused(
    database: Database,
) -> None:
    """The service may refuse a step, too: that one was planned."""
    not_sent = replace(STEP, number=5, state=StepState.NOT_SENT, is_planned=False)
    refused = [replace(STEP, number=number, state=StepState.REFUSED) for number in (2, 3, 4)]
    unplanned = [replace(one, is_planned=False) for one in refused[1:]]
    session = StoreSession(database.path.parent / "sessions")
    store, about = RunStore(database, session), ("north", "https://a.example", "a test")
    store.keep(Plan("one", *about, 1, (STEP, refused[0], *unplanned, not_sent)))
    store.keep(Plan("two", *about, 2, (STEP, refused[0])))
    lines = store.lines("north")
    assert [(line.id, line.left_out) for line in lines] == [("two", 0), ("one", 2)]
