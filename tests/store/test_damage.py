"""A store that was cut short or has flipped bits: every whole row of it goes on."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import NAMESPACE_OID, uuid5

import pytest

from lockterm.cli.doctor import check_store
from lockterm.config import Profile
from lockterm.domain.locks import Lock
from lockterm.domain.operation import UNCONFIRMED, HistoryLine, Operation, OperationState
from lockterm.operations import Operations
from lockterm.paths import Paths
from lockterm.store.database import Database
from lockterm.store.journal import Journal
from lockterm.store.lock_book import LockBook
from tests.samples import an_operation
from tests.store.pages import PAGE, cells, leaves

ROWS = 270
STATES = [state for state in OperationState if state is not OperationState.DAMAGED]
PROFILE = Profile("p", "http://127.0.0.1:9")


def id_of(number: int) -> str:
    """An id of a row: as with those of the program, no flipped bit makes it the id of another."""
    return uuid5(NAMESPACE_OID, str(number)).hex


def operation(number: int) -> Operation:
    """A row as the program writes it; each twentieth is a clear of many remotes."""
    call = "clear" if number % 20 == 0 else ("add", "update", "delete")[number % 3]
    remotes = [
        {"id": number * 100 + one, "remoteName": f"Fob {one} 张伟", "extraData": {"note": "y" * 60}}
        for one in range(60 if call == "clear" else 1)
    ]
    return an_operation(
        call,
        **{"id": id_of(number), "lock_id": number, "remote_id": number, "before": tuple(remotes)},
        body={"lockId": number, "remoteId": number, "remoteName": "Anna Weber"},
        **{"remote_name": "Anna Weber", "state": OperationState.PREPARED, "session": "1-ended"},
        **{"prepared_ms": 1_795_161_600_000 + number, "service": PROFILE.base_url},
    )


def written(number: int) -> Operation:
    """The same, in one of the states."""
    return replace(operation(number), state=STATES[number % len(STATES)])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which every state occurs, closed in good order."""
    path = tmp_path_factory.mktemp("whole") / "lockterm.db"
    database = Database(path)
    journal = Journal(database, "p")
    for number in range(ROWS):
        assert journal.prepare(operation(number)) is None
        row = written(number)
        journal.move(row.id, [OperationState.PREPARED], state=row.state, settled_ms=5)
        LockBook(database, "p").save(Lock(number, name=f"Lock {number}"))
    database.close()
    return path


def places(path: Path) -> dict[str, set[int]]:
    """The pages that the rows of the journal are on, by id of the operation; a clear is on more."""
    content, found = path.read_bytes(), {}
    for _, way, page in leaves(path, "operations"):
        for cell in cells(page):
            key = next(one for one in range(ROWS) if id_of(one).encode() in page[cell : cell + 90])
            on = set(way)
            size, at = _varint(page, cell)
            _, at = _varint(page, at)
            if size > PAGE - 35:  # the rest is on pages of its own
                least = (PAGE - 12) * 32 // 255 - 23
                local = least + (size - least) % (PAGE - 4)
                local = local if local <= PAGE - 35 else least
                following = int.from_bytes(page[at + local : at + local + 4], "big")
                while following:
                    on.add(following)
                    start = (following - 1) * PAGE
                    following = int.from_bytes(content[start : start + 4], "big")
            found[id_of(key)] = on
    assert len(found) == ROWS
    return found


def _varint(page: bytes, at: int) -> tuple[int, int]:
    value = 0
    while True:
        value = value << 7 | page[at] & 0x7F
        at += 1
        if page[at - 1] < 0x80:
            return value, at


Started = tuple[list[Operation], list[HistoryLine], list[Operation], list[Lock], str]


def started(path: Path) -> Started:
    """What a start of lockterm shows: history, its lines, unconfirmed changes, locks, notice."""

    async def start() -> Started:
        operations = Operations(PROFILE, path)
        try:
            unconfirmed = await operations.journal.list_unconfirmed()
            lines = await operations.journal.lines()
            history = await operations.journal.history()
            for one in history:
                if one.state is OperationState.DAMAGED:
                    assert await operations.journal.find(one.id) == one
            locks = await operations.locks.all()
            return history, lines, unconfirmed, locks, operations.journal.notice
        finally:
            await operations.close()

    return asyncio.run(start())


def settled(row: Operation) -> Operation:
    """As the row of a session that has ended is after the next start, but for the time."""
    if row.state in (OperationState.PREPARED, OperationState.SENDING):
        sending = row.state is OperationState.SENDING
        words = "lockterm ended while it was being sent." if sending else ""
        return replace(
            row,
            state=OperationState.UNKNOWN if sending else OperationState.NOT_SENT,
            message=words or "lockterm ended before it was sent.",
            settled_ms=None,
        )
    return replace(row, settled_ms=None)


def elsewhere(path: Path) -> int:
    """How many rows name another profile, in a text that can be read."""
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT CAST(profile AS BLOB) FROM operations WHERE typeof(profile) = 'text'"
        names = [row[0].decode(errors="replace") for row in connection.execute(query)]
    return sum(name != PROFILE.name and "\ufffd" not in name for name in names)


def hold(path: Path, whole: Path, lost: set[str], where: object) -> Sequence[Lock]:
    """Start on a harmed store: what is not lost is as it was, and what is odd says so."""
    rows = {id_of(number): settled(written(number)) for number in range(ROWS)}
    history, lines, unconfirmed, locks, notice = started(path)
    found = {row.id: replace(row, settled_ms=None) for row in history}
    missing = {key for key in rows if found.get(key) != rows[key]} - lost
    assert not missing, (
        where,
        len(missing),
        [(found.get(k), rows[k]) for k in sorted(missing)[:2]],
    )
    assert {line.id for line in lines} == found.keys(), where
    states = {line.id: line.state for line in lines}
    assert all(states[key] is found[key].state for key in rows.keys() - lost), where
    waiting = {key for key, row in rows.items() if row.state in UNCONFIRMED} - lost
    assert waiting <= {row.id for row in unconfirmed}, where
    # One bit of a name or a number may be another name or number: only that row is another.
    assert len(found.keys() - rows.keys()) <= len(lost), where
    # A bit of a profile's name may be another name: the row is one of that profile then. Only a
    # checksum in each row, which the schema has not, would tell it from what that profile sent.
    if len(found) + elsewhere(path) < ROWS:
        assert "could not be read" in notice, where
    return locks


def cuts(whole: Path, seed: int, count: int) -> Iterator[tuple[int, set[str]]]:
    """Random lengths, and the operations that are lost by them."""
    size, on = whole.stat().st_size, places(whole)
    for length in [size - PAGE, *random.Random(seed).sample(range(PAGE * 20, size), count)]:
        yield length, {key for key, pages in on.items() if max(pages) * PAGE > length}


def cut_and_start(whole: Path, folder: Path, seed: int, count: int) -> None:
    for length, lost in cuts(whole, seed, count):
        path = folder / f"cut{length}" / "lockterm.db"
        path.parent.mkdir()
        path.write_bytes(whole.read_bytes()[:length])
        hold(path, whole, lost, f"cut to {length}")
        assert next(path.parent.glob("lockterm.db.damaged-*")).stat().st_size == length
        shutil.rmtree(path.parent)


def flip_and_start(whole: Path, folder: Path, bits: Sequence[int]) -> None:
    on = places(whole)
    for bit in bits:
        path = folder / f"bit{bit}" / "lockterm.db"
        path.parent.mkdir()
        content = bytearray(whole.read_bytes())
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
        number = bit // 8 // PAGE + 1
        lost = {key for key, pages in on.items() if number in pages}
        locks = hold(path, whole, lost, f"bit {bit} of page {number}")
        if number == 1:  # the table of contents: each table is read by what it is known to be
            assert {lock.name for lock in locks} == {f"Lock {one}" for one in range(ROWS)}, bit
        shutil.rmtree(path.parent)


@pytest.mark.parametrize("value", [b"p", "\udcf0"], ids=["no text", "no UTF-8"])
def test_a_row_without_a_legible_profile_is_shown_as_damaged(
    store: Path, tmp_path: Path, value: bytes | str
) -> None:
    path = tmp_path / "lockterm.db"
    shutil.copyfile(store, path)
    raw = value if isinstance(value, bytes) else value.encode(errors="surrogateescape")
    kind = "BLOB" if isinstance(value, bytes) else "TEXT"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        change = f"UPDATE operations SET profile = CAST(? AS {kind}) WHERE seq = 20"
        connection.execute(change, [raw])
    history, lines, *_ = started(path)
    (damaged,) = [row for row in history if row.state is OperationState.DAMAGED]
    assert damaged.lock_id == 19 and len(history) == ROWS
    assert [line.id for line in lines if line.state is OperationState.DAMAGED] == [damaged.id]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"zone TEXT", b"zonf TEXT"),  # no such column
        (b"model TEXT", b"model TEXU"),  # another kind of column
        (b"locks", b"mocks"),  # no such table
        (b"CREATE TABLE locks", b"CREATE T\xc1BLE locks"),  # no text to quote
        (b"service TEXT", b"servife TEXT"),
    ],
)
def test_a_damaged_table_of_contents_loses_nothing(
    store: Path, tmp_path: Path, old: bytes, new: bytes
) -> None:
    path = Paths(tmp_path, tmp_path, tmp_path, tmp_path).database
    content = store.read_bytes()
    first = content[:PAGE].replace(old, new)
    assert first != content[:PAGE]
    path.write_bytes(first + content[PAGE:])
    path.chmod(0o600)
    finding = next(iter(check_store(Paths(tmp_path, tmp_path, tmp_path, tmp_path))))
    assert finding.state == "FAIL" and "is damaged" in finding.sentence
    locks = hold(path, store, set(), new)
    assert {lock.name for lock in locks} == {f"Lock {one}" for one in range(ROWS)}
    (aside,) = tmp_path.glob("lockterm.db.damaged-*")
    assert aside.read_bytes()[:PAGE] == first


def test_the_table_of_contents_fits_on_the_first_page(store: Path) -> None:
    """With room to spare: else a damaged one could not be replaced by that of a new store."""
    page = store.read_bytes()[:PAGE]
    cells, first_cell = (int.from_bytes(page[at : at + 2], "big") for at in (103, 105))
    assert page[100] == 13, "a leaf: no other page belongs to it"
    assert first_cell - (108 + 2 * cells) > 500


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 6))
def test_cuts_and_flipped_bits_harm_no_other_row(store: Path, tmp_path: Path, seed: int) -> None:
    cut_and_start(store, tmp_path, seed, count=33)
    size = store.stat().st_size * 8
    flip_and_start(store, tmp_path, random.Random(seed).sample(range(size), 120))
    # Those of the table of contents lose nothing.
    flip_and_start(store, tmp_path, random.Random(seed).sample(range(PAGE * 8), 80))
