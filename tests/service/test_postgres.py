"""What holds on PostgreSQL beyond what every database does: beginnings, many at once, faults."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import md5
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from lockterm.service import postgres_storage, remote_table
from lockterm.service.app import create_service
from lockterm.service.storage import SCHEMA
from tests.service.cluster import Cluster, make_tables, name_of, refusal
from tests.service.conftest import PATIENCE_S, REMOTE, Caller
from tests.service.killing import until

pytestmark = pytest.mark.long
ADD = {"lockId": 1004, "remoteNumber": "1", "remoteType": 1, "addType": 1}


@pytest.fixture
def new_database(cluster: Cluster) -> Callable[[], str]:
    """Of this kind alone."""
    return cluster.new_database


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a request wait for a connection as long as a busy machine takes to make it."""
    monkeypatch.setattr(postgres_storage, "WAIT_S", PATIENCE_S)


@pytest.fixture
def place(cluster: Cluster) -> str:
    return cluster.new_database()


@pytest.fixture
def two(place: str, serve: Callable[..., Caller]) -> list[Caller]:
    """Callers of two services on one database."""
    return [serve(database=place) for _ in range(2)]


def lose(api: Caller, name: str, status: int) -> None:
    """An adding that fails: what it was answered with, and that all is well again after it."""
    answer = api.request("POST", f"{REMOTE}add", json={**ADD, "remoteName": name})
    assert (answer.status_code, answer.json()["errcode"]) == (status, status)
    api.service.failures.clear()


def assert_unavailable(api: Caller) -> None:
    """Reading and writing are refused for now."""
    for method, path in (("GET", f"{REMOTE}list?lockId=1001"), ("POST", f"{REMOTE}clear")):
        answer = api.request(method, path, json={"lockId": 1004})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


def test_tables_are_made_when_that_is_asked_for_alone(
    cluster: Cluster, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--migrate" in refusal(place, "has no tables", migrate=False).hint
    # Two at once: one waits, and the site is there once.
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda _: create_service(place, migrate=True), range(2)))
    for service in (*made, create_service(place)):
        service.state.site.database.close()
    assert cluster.do("SELECT count(*) FROM remote", place) == [(270,)]
    newer = len(postgres_storage.STEPS) + 1
    cluster.do(f"INSERT INTO lockterm_version VALUES ({newer})", place)
    needed = r"its server is PostgreSQL \d+.*99 or newer is needed"
    for words in (rf"newer lockterm.* {newer}", needed):
        for migrate in (False, True):
            refusal(place, words, migrate=migrate)
        monkeypatch.setattr(postgres_storage, "OLDEST_SERVER", 99)


def test_tables_of_an_earlier_version_are_brought_to_this_one(
    cluster: Cluster, place: str, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of a new one are, with what was in them; and as those of SQLite."""
    with monkeypatch.context() as earlier:
        earlier.setattr(postgres_storage, "STEPS", postgres_storage.STEPS[:1])
        make_tables(place)
    refusal(place, "have version 1 instead of 2", migrate=False)
    with monkeypatch.context() as hasty, psycopg.connect(place) as held:
        hasty.setattr(postgres_storage, "FOR_TABLES", "SET LOCAL lock_timeout = '300ms'")
        held.execute("SELECT count(*) FROM remote")
        # Whoever only wants to read would wait behind the one that waits.
        assert "pg_stat_activity" in refusal(place, "holds its tables").hint
        held.rollback()
    assert serve(database=place).page(1001)["total"] == 137
    new = cluster.new_database()
    make_tables(new)
    tables = (
        "SELECT table_name, column_name, is_nullable, data_type FROM information_schema.columns"
        " WHERE table_schema = 'public' ORDER BY table_name, ordinal_position"
    )
    indexes = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"
    for query in (tables, indexes):
        assert cluster.do(query, place) == cluster.do(query, new)
    beside = sqlite3.connect(":memory:")
    beside.executescript(SCHEMA)
    columns = {
        (table, column): "NO" if not_null or key else "YES"
        for (table,) in beside.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%TABLE%'")
        for _, column, _, not_null, _, key in beside.execute(f"PRAGMA table_info({table})")
        if not table.startswith("sqlite_")
    }
    beside.close()
    known = {row[:2]: row[2] for row in cluster.do(tables, new)}
    of_both = {table for table, _ in columns}
    assert {one: null for one, null in known.items() if one[0] in of_both} == columns


def test_names_that_md5_takes_for_one_are_two(cluster: Cluster, place: str, serve: Any) -> None:
    """And a backslash is one whatever the database takes it for."""
    cluster.do(f"ALTER DATABASE {name_of(place)} SET standard_conforming_strings = off")
    # Found by Marc Stevens.
    one, other = (
        f"TEXTCOLLBYfGiJUETHQ4h{letter}cKSMd5zYpgqf1YRDhkmxHkhPWptrkoyz28wnI9V0aHeAuaKnak"
        for letter in "AE"
    )
    assert md5(one.encode()).digest() == md5(other.encode()).digest()
    first, second = (serve(database=place) for _ in range(2))
    for name in (one, other, "\\", "\\\\", "\\134", "n" * 60_000):
        first.add(1004, name)
        assert second.refused(f"{REMOTE}add", **{**ADD, "remoteName": name}) == -3
        assert second.refused(f"{REMOTE}checkRemoteName", lockId=1004, remoteName=name) == -3


def test_who_makes_the_tables_is_let_end(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waited for it in vain is not told to end it."""
    monkeypatch.setattr(postgres_storage, "FOR_ANOTHER", "SET LOCAL lock_timeout = '300ms'")
    with psycopg.connect(place) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", (postgres_storage.MIGRATING,))
        refused = refusal(place, "another process is still creating")
        assert "Wait until that process ends" in refused.hint


def test_serve_reports_a_database_of_no_use(cluster: Cluster, place: str) -> None:
    made = "ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
    cluster.do(f"CREATE DATABASE latin {made}")
    for address, words in (
        (place.replace("lockterm-pg-", "nowhere-"), "No such file"),
        (place.replace("lockterm@", "unknown@"), 'role "unknown" does not exist'),
        (cluster.address("latin"), "does not store text as UTF8"),
    ):
        assert refusal(address, words).hint


def test_the_password_comes_from_where_libpq_looks_for_it(
    cluster: Cluster, place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for variable in ("PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE"):
        monkeypatch.setenv(variable, "")
    access = cluster.folder / "data/pg_hba.conf"
    access.write_text(f"local all guarded scram-sha-256\n{access.read_text()}")
    cluster.do("CREATE ROLE guarded SUPERUSER LOGIN PASSWORD 'hunter22'")
    cluster.control("restart")
    address = place.replace("lockterm@", "guarded@").replace("&require_auth=none", "")
    refusal(address, "no password")
    monkeypatch.setenv("PGPASSWORD", "hunter23")
    refused = refusal(address, "authentication failed")
    assert "hunter" not in f"{refused}{refused.hint}"
    monkeypatch.setenv("PGPASSWORD", "")
    kept, service = tmp_path / "pgpass", tmp_path / "service"
    kept.touch(0o600)
    kept.write_text("*:*:*:guarded:hunter22\n")
    service.write_text(
        f"[site]\nhost={cluster.folder}\nuser=guarded\ndbname={name_of(place)}\npassword=hunter22\n"
    )
    for variable, value, where in (
        ("PGPASSWORD", "hunter22", address),
        ("PGPASSFILE", str(kept), address),
        ("PGSERVICEFILE", str(service), "postgresql:///?service=site"),
    ):
        with monkeypatch.context() as known:
            known.setenv(variable, value)
            make_tables(where)


def test_one_of_those_who_add_a_name_at_once_gets_it(two: list[Caller]) -> None:
    for turn in range(10):
        body = {**ADD, "remoteName": f"name {turn}"}
        with ThreadPoolExecutor(16) as pool:
            codes = pool.map(lambda n: _code(two[n % 2], "add", body), range(16))  # noqa: B023
        assert sorted(codes) == [-3] * 15 + [0]
    assert two[0].page(1004)["total"] == 10


def test_changes_at_once_are_as_if_one_after_the_other(two: list[Caller]) -> None:
    """What was added is what was deleted, cleared or is there; no id is given twice."""
    lock_id = 1004
    given: list[int] = []

    def work(worker: int) -> tuple[int, int]:
        chance, api = random.Random(worker), two[worker % 2]
        added = gone = 0
        for turn in range(40):
            match chance.randrange(8):
                case 0 if chance.random() < 0.3:
                    gone += api.done(f"{REMOTE}clear", lockId=lock_id)["deletedCount"]
                case 0 | 1 | 2 if given:
                    body = {"remoteId": chance.choice(given)}
                    if (code := _code(api, "delete", body)) == 0:
                        gone += 1
                    assert code in (0, -5)
                case 3 if given:
                    body = {"lockId": lock_id, "remoteId": chance.choice(given), "isCoerced": 1}
                    assert _code(api, "update", body) in (0, -5)
                case _:
                    given.append(api.add(lock_id, f"{worker}/{turn}"))
                    added += 1
            page = api.page(lock_id, pageSize=200)
            ids = [item["id"] for item in page["list"]]
            assert len(ids) == min(page["total"], 200)
            assert ids == sorted(ids)
        return added, gone

    with ThreadPoolExecutor(8) as pool:
        counted = list(pool.map(work, range(8)))
    total = two[0].page(lock_id)["total"]
    assert sum(added - gone for added, gone in counted) == total
    assert len(set(given)) == len(given)
    with two[0].service.app.state.site.database.writing() as db:
        counts = "SELECT * FROM remote_count ORDER BY lock_id, shift, bucket"
        before = db.execute(counts).fetchall()
        remote_table.recount(db, lock_id)
        assert db.execute(counts).fetchall() == before


def _code(api: Caller, call: str, body: dict[str, object]) -> int:
    answer = api.http.post(REMOTE + call, json=body)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["errcode"])


def test_service_recovers_when_the_database_returns(cluster: Cluster, two: list[Caller]) -> None:
    for api in two:
        with ThreadPoolExecutor(8) as pool:  # so that more than one connection has to be made anew
            list(pool.map(lambda _: api.page(1001), range(16)))  # noqa: B023
    ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    for turn, fault in enumerate((lambda: cluster.do(ends), lambda: cluster.control("restart"))):
        fault()
        for api in two:
            assert api.page(1001)["total"] == 137
            assert api.add(1004, f"After {turn} {id(api)}")


def test_a_database_that_may_only_be_read_is_read(cluster: Cluster, two: list[Caller]) -> None:
    for setting, status in (("on", 503), ("off", 200)):
        cluster.do(f"ALTER SYSTEM SET default_transaction_read_only = {setting}")
        cluster.control("restart")
        for api in two:
            assert api.page(1001)["total"] == 137
            answer = api.request("POST", f"{REMOTE}clear", json={"lockId": 1004})
            assert answer.status_code == status
            assert answer.headers.get("retry-after") == ("1" if status == 503 else None)
            api.service.failures.clear()


FAIL = """
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {} RETURN NEW; END $$;
CREATE TRIGGER failing BEFORE INSERT OR UPDATE ON remote_count FOR EACH ROW EXECUTE FUNCTION fail()
"""


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("RAISE disk_full;", "DiskFull"),
        ("PERFORM pg_sleep(60);", "QueryCanceled"),
        ("RAISE out_of_memory;", "OutOfMemory"),
        ("RAISE too_many_connections;", "TooManyConnections"),
        ("RAISE serialization_failure;", "SerializationFailure"),
        ("RAISE deadlock_detected;", "DeadlockDetected"),
    ],
)
def test_what_the_database_cannot_do_leaves_nothing_half_done(
    fault: str, error: str, cluster: Cluster, place: str, serve: Any, monkeypatch: Any
) -> None:
    """The row is there when its counting fails: both go."""
    monkeypatch.setattr(postgres_storage, "LIMITS", "SET statement_timeout = '3s'")
    api = serve(database=place)
    cluster.do(FAIL.format(fault), place)
    answer = api.request("POST", f"{REMOTE}add", json={**ADD, "remoteName": "Half"})
    assert (answer.status_code, answer.json()["errcode"]) == (503, 503)
    assert answer.headers["retry-after"] == "1"
    assert {type(one.__cause__).__name__ for one in api.service.failures} == {error}
    api.service.failures.clear()
    assert api.page(1004) == {"list": [], "pageNo": 1, "pageSize": 20, "pages": 0, "total": 0}
    cluster.do("DROP TRIGGER failing ON remote_count", place)
    assert api.add(1004, "Half")


def test_what_was_in_the_way_of_others_is_tried_five_times(
    cluster: Cluster, place: str, serve: Any
) -> None:
    """The sequence counts: what it has given stays given when all else is undone."""
    api = serve(database=place)
    cluster.do("CREATE SEQUENCE attempts", place)
    fault = "IF nextval('attempts') <> 5 THEN RAISE serialization_failure; END IF;"
    cluster.do(FAIL.format(fault).replace("remote_count", "remote"), place)
    assert api.add(1004, "The fifth")
    assert api.page(1004)["total"] == 1
    lose(api, "Never", 503)
    assert cluster.do("SELECT last_value FROM attempts", place) == [(10,)]
    assert api.page(1004)["total"] == 1


def test_while_the_server_is_away_it_says_so_and_then_it_is_back(
    cluster: Cluster, place: str, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a failover: another answers at the same address some time later."""
    monkeypatch.setattr(postgres_storage, "WAIT_S", 0.5)
    two = [serve(database=place) for _ in range(2)]
    cluster.control("stop", "-m", "immediate")
    try:
        for api in two:
            assert_unavailable(api)
            assert api.request("GET", "/readyz").status_code == 503
            assert api.request("GET", "/healthz").status_code == 200
    finally:
        cluster.control("start")
    for api in two:
        until(lambda: api.request("GET", "/readyz").status_code == 200)  # noqa: B023
        api.service.failures.clear()
        assert api.add(1004, f"After {id(api)}")


def test_while_all_connections_are_taken_it_says_so(
    monkeypatch: pytest.MonkeyPatch, serve: Any, place: str
) -> None:
    monkeypatch.setattr(postgres_storage, "WAIT_S", 0.5)
    monkeypatch.setattr(postgres_storage, "CONNECTIONS", 1)
    api = serve(database=place)
    with api.service.app.state.site.database.reading():
        assert_unavailable(api)
    assert {type(one.__cause__).__name__ for one in api.service.failures} == {"PoolTimeout"}
    api.service.failures.clear()
    assert api.page(1001)["total"] == 137


def test_one_who_holds_a_lock_for_long_holds_up_no_other_for_ever(
    monkeypatch: pytest.MonkeyPatch, place: str, serve: Any
) -> None:
    monkeypatch.setattr(postgres_storage, "LIMITS", "SET lock_timeout = '300ms'")
    monkeypatch.setattr(postgres_storage, "CONNECTIONS", 2)
    api = serve(database=place)
    with psycopg.connect(place) as held:
        held.execute("INSERT INTO gate VALUES (1004)")
        with ThreadPoolExecutor(6) as pool:
            ask = lambda _: api.request("POST", f"{REMOTE}clear", json={"lockId": 1004})  # noqa: E731
            answers = list(pool.map(ask, range(6)))
        held.rollback()
    assert {answer.status_code for answer in answers} == {503}
    why = {type(error.__cause__).__name__ for error in api.service.failures}
    assert "LockNotAvailable" in why
    assert why <= {"LockNotAvailable", "PoolTimeout"}  # some may have found no connection
    api.service.failures.clear()
    assert api.add(1004, "After")


def test_lost_commit_is_answered_with_504(
    monkeypatch: pytest.MonkeyPatch, cluster: Cluster, two: list[Caller]
) -> None:
    """Whoever asked has to look: the same once more could be done twice."""
    commit_of = psycopg.Connection.commit

    def commit(self: psycopg.Connection[object]) -> None:
        if self.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS:
            pid = self.info.backend_pid
            cluster.do(f"SELECT pg_terminate_backend({pid})")
            until(lambda: not cluster.do(f"SELECT 1 FROM pg_stat_activity WHERE pid = {pid}"))
        commit_of(self)

    def unknown(error: str) -> Callable[[object], None]:
        def commit(self: object) -> None:
            raise getattr(psycopg.errors, error)("it cannot be told")

        return commit

    errors = ("TransactionResolutionUnknown", "StatementCompletionUnknown")
    for number, lost in enumerate((commit, *map(unknown, errors))):
        with monkeypatch.context() as patch:
            patch.setattr(psycopg.Connection, "commit", lost)
            lose(two[0], f"Perhaps {number}", 504)
        assert two[0].add(1004, f"Perhaps {number}")


def test_ids_are_not_reused_after_explicit_ids(
    two: list[Caller], cluster: Cluster, place: str
) -> None:
    api = two[0]
    gone = api.add(1004, "Gone")
    api.done(f"{REMOTE}delete", remoteId=gone)
    with api.service.app.state.site.database.writing() as db:
        db.go_on_after_ids()
    after = api.add(1004, "After")
    assert after > gone
    cluster.do(f"SELECT setval('remote_id_seq', {after}, false)", place)
    lose(api, "Second", 500)  # an id that is there is not taken for a name that is taken


def test_reading_sees_one_state_when_another_process_writes(place: str) -> None:
    make_tables(place)
    reader, writer = (create_service(place).state.site.database for _ in range(2))
    count = "SELECT count(*) FROM site"
    with reader.reading() as db:
        before = db.execute(count).fetchone()
        with writer.writing() as other:
            other.execute("INSERT INTO site VALUES (1)")
        assert db.execute(count).fetchone() == before
    assert reader.rows(count) != [before]
    reader.close()
    writer.close()


def test_stop_ends_statements_that_still_wait(
    cluster: Cluster, place: str, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program cannot end before its threads do."""
    monkeypatch.setattr(postgres_storage, "LIMITS", "SET lock_timeout = '1h'")
    api = serve(database=place)
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        f" AND query LIKE '%gate%' AND datname = '{name_of(place)}'"
    )
    with psycopg.connect(place) as held, ThreadPoolExecutor(1) as pool:
        held.execute("INSERT INTO gate VALUES (1004)")
        asked = pool.submit(api.http.post, f"{REMOTE}add", json={**ADD, "remoteName": "Late"})
        until(lambda: cluster.do(waiting) == [(1,)])
        api.service.stop()
        until(lambda: cluster.do(waiting) == [(0,)])
        assert isinstance(asked.exception(PATIENCE_S), httpx.TransportError)
