"""The lock book on the disk: every field, the order, two profiles, two sessions, a broken place."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.errors import StoreError
from lockterm.store.database import Database
from lockterm.store.lock_book import LockBook

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


def test_the_last_opened_comes_first_then_names(book: LockBook) -> None:
    for lock in (
        Lock(1, name="beta"),
        Lock(2, name="Alpha"),
        Lock(3, name="old", opened_ms=5),
        Lock(4, name="new", opened_ms=9),
        Lock(5, name="alpha"),
    ):
        book.save(lock)
    assert [lock.lock_id for lock in book.locks()] == [4, 3, 2, 5, 1]


def test_profiles_do_not_see_each_other(database: Database) -> None:
    north, south = LockBook(database, "north"), LockBook(database, "south")
    north.save(Lock(1, name="north's"))
    south.save(Lock(1, name="south's"))
    north.note_look(1, 7, 99)
    north.note_voice(1, VoiceChoice("de-DE", "anna"))
    north.remove(2)
    assert south.locks() == [Lock(1, name="south's")]
    south.remove(1)
    assert [lock.name for lock in north.locks()] == ["north's"]


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
        book = LockBook(database, "north")
        for lock_id in range(start, start + 10):
            book.save(Lock(lock_id, name=str(lock_id)))

    threads = [
        threading.Thread(target=work, args=(database, 10 * index))
        for index, database in enumerate(databases)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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
    assert book.locks() == [Lock(1, name="gate")]


@pytest.mark.parametrize(
    "lock", [Lock(2**63), Lock(1, remotes=10**30), Lock(1, voice=VoiceChoice("\ud800", "x"))]
)
def test_what_no_store_can_keep_is_an_error_in_words(book: LockBook, lock: Lock) -> None:
    book.save(Lock(1, name="gate"))
    with pytest.raises(StoreError, match="that the local store cannot save"):
        book.save(lock)
    assert book.locks() == [Lock(1, name="gate")]


def test_file_is_kept_when_it_is_not_a_database(file: Path) -> None:
    file.parent.mkdir(mode=0o700)
    file.write_bytes(b"something else entirely" * 100)
    with closing(Database(file)) as database:
        LockBook(database, "north").save(Lock(1))
    kept = [path.read_bytes() for path in file.parent.iterdir()]
    assert any(content.startswith(b"something else entirely") for content in kept)


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
