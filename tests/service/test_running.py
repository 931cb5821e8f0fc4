"""How the service begins and ends, what a database file keeps, and the sample data."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from lockterm.service import storage
from lockterm.service.running import RunningService
from lockterm.service.storage import VERSION, DatabaseUnavailableError, SqliteDatabase
from tests.conftest import NOW_MS
from tests.servers import port_of
from tests.service.conftest import PATIENCE_S, REMOTE, SETTING, VOICE, calling
from tests.service.killing import ask

DAY_MS = 86_400_000


def test_a_database_keeps_what_was_changed(serve, new_database) -> None:
    place = new_database()
    api, beside = serve(database=place), serve(database=place)
    if isinstance(place, Path):
        assert place.stat().st_mode & 0o777 == 0o600
    remote_id = api.add(1004, "Kept 王")
    api.done(f"{REMOTE}clear", lockId=1002)
    before = api.detail(remote_id)
    assert beside.detail(remote_id) == before, "two services on one database see each other"
    assert beside.refused(f"{REMOTE}add", **ADD | {"remoteName": "Kept 王"}) == -3
    api.service.stop()
    again = serve(database=place, today=date(2031, 1, 1))
    assert again.detail(remote_id) == before
    assert again.page(1002)["total"] == 0
    assert again.page(1001)["total"] == 137


ADD = {"lockId": 1004, "remoteNumber": "1", "remoteType": 1, "addType": 1}


def test_an_empty_service_accepts_any_lock(serve, new_database) -> None:
    place = new_database()
    api = serve(database=place, sample_data=False)
    lock_id = 2**63 - 1
    assert api.page(lock_id)["total"] == 0
    record = api.detail(api.add(lock_id, "First"))
    assert record["lockInfo"]["lockId"] == lock_id
    pack = api.done(f"{VOICE}list", lockId=5)[0]
    assert api.done(f"{VOICE}detail", lockId=5, name=pack["name"])["fileSize"]
    api.done(SETTING, lockId=5, currentVoiceTimbre={"lang": "de-DE", "timbre": "anna"})
    api.service.stop()
    again = serve(database=place)
    assert again.page(lock_id)["total"] == 1
    assert again.page(1001)["total"] == 0


def test_files_of_others_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, other = tmp_path / "text", tmp_path / "other.db"
    text.write_text("not a database " * 100)
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE journal (a)")
    db.close()
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(OSError, match="database"):
            RunningService(database=path)
        assert path.read_bytes() == before
    for path in (tmp_path, tmp_path / "no" / "such.db"):
        with pytest.raises(OSError, match=str(path)):
            RunningService(database=path)
    file = tmp_path / "service.db"
    file.touch()
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    with pytest.raises(OSError, match=r"another user.*service\.db"):
        RunningService(database=file)
    assert file.read_bytes() == b""


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
def test_database_is_refused_when_a_link_is_in_the_place_of_its_files(
    end: str, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / f"service.db{end}").symlink_to(victim)
    with pytest.raises(OSError, match=rf"it is a link, or not a file.*service\.db{end}'"):
        RunningService(database=tmp_path / "service.db")
    assert victim.read_bytes() == b"precious"


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o720, 0o702])
def test_database_is_refused_when_others_can_write_in_its_directory(
    mode: int, tmp_path: Path
) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(mode)
    with pytest.raises(OSError, match="others can write in its directory"):
        RunningService(database=tmp_path / "open/service.db")
    assert list((tmp_path / "open").iterdir()) == []


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "CREATE TRIGGER odd AFTER INSERT ON remote BEGIN DELETE FROM remote; END",
            "trigger or view of another program, odd",
        ),
        ("CREATE VIEW odd AS SELECT * FROM remote", "trigger or view of another program, odd"),
        *(
            (f"PRAGMA user_version = {version}", "made by another version of the service")
            for version in (VERSION - 1, VERSION + 1)
        ),
    ],
)
def test_database_is_refused_when_another_program_or_version_changed_it(
    statement: str, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "service.db"
    service = RunningService(database=file)
    database = service.app.state.site.database
    for transaction in (database.reading(), database.writing()):
        with transaction as db:
            assert db.execute("PRAGMA trusted_schema").fetchone()[0] == 0
    service.stop()
    with sqlite3.connect(file) as db:
        db.execute(statement)
    db.close()
    with pytest.raises(OSError, match=words):
        RunningService(database=file)


@pytest.mark.parametrize("mode", [0o660, 0o640, 0o604])
def test_database_is_closed_to_others_when_they_could_read_it(mode: int, tmp_path: Path) -> None:
    file = tmp_path / "service.db"
    RunningService(database=file).stop()
    for name in ("", "-wal", "-shm"):
        file.with_name(file.name + name).touch()
        file.with_name(file.name + name).chmod(mode)
    with RunningService(database=file):
        files = [path for path in tmp_path.iterdir() if path.name.startswith("service.db")]
        assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_the_site_has_what_screens_need(serve) -> None:
    api, same = serve(), serve()
    later = serve(today=date(2026, 11, 21), clock=lambda: NOW_MS + DAY_MS)
    ids = []
    for lock_id, count in ((1001, 137), (1002, 42), (1003, 9), (1004, 0), (1005, 64), (1006, 18)):
        remotes = api.page(lock_id, pageSize=200)["list"]
        assert len(remotes) == count
        assert remotes == same.page(lock_id, pageSize=200)["list"]
        for moved, remote in zip(later.page(lock_id, pageSize=200)["list"], remotes, strict=True):
            assert moved["createTime"] == remote["createTime"] + DAY_MS
            assert moved["status"] == remote["status"]
        ids += [remote["id"] for remote in remotes]
    assert len(set(ids)) == len(ids)
    gate = api.page(1001, pageSize=200)["list"]
    kinds = {(remote["remoteType"], remote["status"]) for remote in gate}
    assert kinds == {(1, 1), (2, 1), (2, 2), (4, 1), (4, 2)}
    assert any(0 <= remote["endDate"] - NOW_MS < DAY_MS for remote in gate)
    assert any(remote["startDate"] > NOW_MS for remote in gate)
    assert {remote["isCoerced"] for remote in gate} == {0, 1, 2}
    assert {remote["addType"] for remote in gate} == {1, 2}
    assert {bool(remote["weekDay"]) for remote in gate if remote["remoteType"] == 4} == {
        True,
        False,
    }
    assert not any(remote["weekDay"] for remote in gate if remote["remoteType"] != 4)
    names = [remote["remoteName"] for remote in gate]
    assert len(set(names)) == 137
    assert max(map(len, names)) > 60
    for wanted in ("王秀英", "👩‍🚒", "🔧"):
        assert any(wanted in name for name in names)
    assert all(NOW_MS > remote["updateTime"] >= remote["createTime"] for remote in gate)
    assert gate[-1]["id"] - gate[0]["id"] > 2 * len(gate)


@pytest.mark.long
def test_callers_at_once(api) -> None:
    def work(worker: int) -> None:
        with calling(api.service) as own:
            for turn in range(10):
                added = own.add(1004, f"{worker}/{turn}")
                own.page(1004)
                if turn % 2:
                    own.done(f"{REMOTE}delete", remoteId=added)
                # All race for one name; one of them gets it.
                own.post(f"{REMOTE}add", **ADD, remoteName="one")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    page = api.page(1004, pageSize=200)
    assert page["total"] == len(page["list"]) == 8 * 5 + 1


def connect(service: RunningService) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port_of(service)), timeout=PATIENCE_S)


def test_stop_is_prompt_and_leaves_nothing(running_service) -> None:
    threads = set(threading.enumerate())
    service = running_service()
    with (
        calling(service) as keep_alive,
        connect(service) as silent,
        connect(service) as half_sent,
        connect(service) as not_reading,
    ):
        half_sent.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx")
        get = b"GET /packs/nordriegel/nr-450/de-de-anna.wav HTTP/1.1\r\nHost: localhost\r\n\r\n"
        not_reading.sendall(get * 8)
        keep_alive.http.get("/")
        service.stop()  # none of the four would ever let go by itself
        assert silent.recv(1) == b""
    for thread in set(threading.enumerate()) - threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), thread
    with pytest.raises(ConnectionRefusedError):
        connect(service)
    service.stop()


def test_who_has_come_as_it_ends_is_answered(running_service) -> None:
    is_held, is_free = threading.Event(), threading.Event()

    def clock() -> int:
        """Holds up the loop at the first answer, so that what follows is there all at once."""
        is_held.set()
        assert is_free.wait(PATIENCE_S)
        return NOW_MS

    service = running_service(clock=clock, drain_s=PATIENCE_S)
    get = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connect(service) as first, connect(service) as second:
        first.sendall(get)
        assert is_held.wait(PATIENCE_S)
        with connect(service) as late:
            late.sendall(get)
            second.sendall(get)
            service.ask_to_stop()
            is_free.set()
            for line in (first, second, late):
                with line.makefile("rb") as received:  # up to its end: who is answered is let go
                    assert received.read().startswith(b"HTTP/1.1 200")


def test_a_port_in_use_is_an_os_error(api) -> None:
    for port, words in ((port_of(api.service), "in use"), (70_000, "70000")):
        with pytest.raises(OSError, match=words):
            RunningService(port=port)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_in_the_foreground(number: signal.Signals, tmp_path: Path) -> None:
    program = "import sys; from lockterm.service.running import serve; serve(port=0)"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as process:
        first = process.stdout.readline()
        assert first.startswith("listening on http://127.0.0.1:")
        page = ask("GET", f"{first.split()[-1]}{REMOTE}list", params={"lockId": 1001})
        assert page.json()["data"]["total"] == 137
        process.send_signal(number)
        assert process.communicate(timeout=PATIENCE_S) == ("", "")
        assert process.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_a_read_is_answered_while_a_write_to_the_file_lasts(serve, tmp_path: Path) -> None:
    """Reads run in the loop: one that waited for a write would hold up everything."""
    api = serve(database=tmp_path / "site.db")
    with api.service.app.state.site.database.writing(1004) as db:
        db.execute("DELETE FROM remote WHERE lock_id = 1001")
        assert api.page(1001)["total"] == len(api.page(1001, pageSize=200)["list"]) == 137
        assert api.request("GET", "/healthz").status_code == 200
        assert len(api.page(1001, pageNo=20, pageSize=15)["list"]) == 0, "deep pages, too"


@pytest.fixture
def file_and_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[SqliteDatabase, sqlite3.Connection]]:
    """A new database that waits for no other program, and another program's connection to it."""
    monkeypatch.setattr(storage, "WRITE_WAIT_S", 0.0)
    monkeypatch.setattr(storage, "READ_WAIT_S", 0.0)
    with (
        closing(SqliteDatabase(tmp_path / "service.db", lambda db: None)) as database,
        closing(sqlite3.connect(tmp_path / "service.db", timeout=0, isolation_level=None)) as other,
    ):
        yield database, other


def test_writing_holds_the_file_from_its_beginning_or_raises_unavailable(
    file_and_other: tuple[SqliteDatabase, sqlite3.Connection],
) -> None:
    """What it reads before it writes is then not changed by another program."""
    database, other = file_and_other
    with database.writing(), pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("BEGIN IMMEDIATE")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseUnavailableError), database.writing():
        pass
    other.execute("ROLLBACK")
    with database.writing():
        pass


def test_reading_sees_one_state_when_another_program_writes(
    file_and_other: tuple[SqliteDatabase, sqlite3.Connection],
) -> None:
    database, other = file_and_other
    count = "SELECT count(*) FROM site"
    with database.reading() as db:
        before = db.execute(count).fetchone()
        other.execute("INSERT INTO site VALUES (1)")
        assert db.execute(count).fetchone() == before
    assert database.rows(count) != [before]
