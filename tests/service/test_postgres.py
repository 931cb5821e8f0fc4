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
from lockterm.service.running import RunningService
from lockterm.service.storage import SCHEMA, DatabaseUnusableError
from tests.service.cluster import Cluster
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
def two(
    place: str,
    running_service: Callable[..., RunningService],
    call_to: Callable[[RunningService], Caller],
) -> list[Caller]:
    """Callers of two services on one database."""
    return [call_to(running_service(database=place)) for _ in range(2)]


def test_tables_are_made_when_that_is_asked_for_alone(cluster: Cluster, place: str) -> None:
    with pytest.raises(DatabaseUnusableError, match="has no tables") as refused:
        create_service(place)
    assert "--migrate" in refused.value.hint
    # Two at once: one waits, and the site is there once.
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda _: create_service(place, migrate=True), range(2)))
    for service in (*made, create_service(place)):
        service.state.site.database.close()
    name = psycopg.conninfo.conninfo_to_dict(place)["dbname"]
    assert cluster.do("SELECT count(*) FROM remote", name) == [(270,)]
    newer = len(postgres_storage.STEPS) + 1
    cluster.do(f"INSERT INTO lockterm_version VALUES ({newer})", name)
    for migrate in (False, True):
        with pytest.raises(DatabaseUnusableError, match=rf"newer lockterm.* {newer}"):
            create_service(place, migrate=migrate)


def test_serve_refuses_a_server_that_is_older_than_what_was_tested(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_storage, "OLDEST_SERVER", 99)
    for migrate in (False, True):
        with pytest.raises(
            DatabaseUnusableError, match=r"its server is PostgreSQL \d+.*99 or newer is needed"
        ):
            create_service(place, migrate=migrate)


def test_tables_of_an_earlier_version_are_brought_to_this_one(
    cluster: Cluster, place: str, running_service: Any, call_to: Any, monkeypatch: Any
) -> None:
    """As those of a new one are, with what was in them; and as those of SQLite."""
    with monkeypatch.context() as earlier:
        earlier.setattr(postgres_storage, "STEPS", postgres_storage.STEPS[:1])
        create_service(place, migrate=True).state.site.database.close()
    with pytest.raises(DatabaseUnusableError, match=r"have version 1 instead of 2"):
        create_service(place)
    api = call_to(running_service(database=place))
    assert api.page(1001)["total"] == 137
    new = cluster.new_database()
    running_service(database=new)
    tables = (
        "SELECT table_name, column_name, is_nullable, data_type FROM information_schema.columns"
        " WHERE table_schema = 'public' ORDER BY table_name, ordinal_position"
    )
    indexes = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"
    names = [psycopg.conninfo.conninfo_to_dict(one)["dbname"] for one in (place, new)]
    for query in (tables, indexes):
        brought, made = (cluster.do(query, name) for name in names)
        assert brought == made
    beside = sqlite3.connect(":memory:")
    beside.executescript(SCHEMA)
    columns = {
        (table, column): "NO" if not_null or key else "YES"
        for (table,) in beside.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%TABLE%'")
        for _, column, _, not_null, _, key in beside.execute(f"PRAGMA table_info({table})")
        if not table.startswith("sqlite_")
    }
    beside.close()
    known = {row[:2]: row[2] for row in cluster.do(tables, names[1])}
    of_both = {table for table, _ in columns}
    assert {one: null for one, null in known.items() if one[0] in of_both} == columns


def test_names_that_md5_takes_for_one_are_two(two: list[Caller]) -> None:
    # Found by Marc Stevens.
    one, other = (
        f"TEXTCOLLBYfGiJUETHQ4h{letter}cKSMd5zYpgqf1YRDhkmxHkhPWptrkoyz28wnI9V0aHeAuaKnak"
        for letter in "AE"
    )
    assert md5(one.encode()).digest() == md5(other.encode()).digest()
    for name in (one, other, "\\", "\\134", "n" * 60_000):
        two[0].add(1004, name)
        assert two[1].refused(f"{REMOTE}add", **{**ADD, "remoteName": name}) == -3
        assert two[1].refused(f"{REMOTE}checkRemoteName", lockId=1004, remoteName=name) == -3


def test_a_backslash_is_one_whatever_the_database_takes_it_for(
    cluster: Cluster, place: str, running_service: Any, call_to: Any
) -> None:
    name = psycopg.conninfo.conninfo_to_dict(place)["dbname"]
    cluster.do(f"ALTER DATABASE {name} SET standard_conforming_strings = off")
    api = call_to(running_service(database=place))
    for name in ("\\", "\\\\", "\\134"):
        api.add(1004, name)
        assert api.refused(f"{REMOTE}add", **{**ADD, "remoteName": name}) == -3


def test_migration_does_not_wait_for_a_long_reader(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever only wants to read would wait behind the one that waits."""
    with monkeypatch.context() as earlier:
        earlier.setattr(postgres_storage, "STEPS", postgres_storage.STEPS[:1])
        create_service(place, migrate=True).state.site.database.close()
    monkeypatch.setattr(postgres_storage, "FOR_TABLES", "SET LOCAL lock_timeout = '300ms'")
    with psycopg.connect(place) as held:
        held.execute("SELECT count(*) FROM remote")
        with pytest.raises(DatabaseUnusableError, match="holds its tables") as refused:
            create_service(place, migrate=True)
        assert "pg_stat_activity" in refused.value.hint
        held.rollback()
    create_service(place, migrate=True).state.site.database.close()


def test_who_makes_the_tables_is_let_end(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waited for it in vain is not told to end it."""
    monkeypatch.setattr(postgres_storage, "FOR_ANOTHER", "SET LOCAL lock_timeout = '300ms'")
    with psycopg.connect(place) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", (postgres_storage.MIGRATING,))
        with pytest.raises(
            DatabaseUnusableError, match="another process is still creating"
        ) as refused:
            create_service(place, migrate=True)
        assert "Wait until that process ends" in refused.value.hint


def test_serve_reports_an_unreachable_database(place: str) -> None:
    with pytest.raises(DatabaseUnusableError, match="No such file") as refused:
        create_service(place.replace("lockterm-pg-", "nowhere-"))
    assert refused.value.hint
    with pytest.raises(DatabaseUnusableError, match='role "mallory" does not exist'):
        create_service(place.replace("lockterm@", "mallory@"))


def test_the_password_comes_from_where_libpq_looks_for_it(
    cluster: Cluster, place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for variable in ("PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE"):
        monkeypatch.setenv(variable, "")
    access = cluster.folder / "data/pg_hba.conf"
    access.write_text(f"local all guarded scram-sha-256\n{access.read_text()}")
    cluster.do("CREATE ROLE guarded SUPERUSER LOGIN PASSWORD 'hunter22'")
    cluster.control("restart")
    address, name = (
        place.replace("lockterm@", "guarded@").replace("&require_auth=none", ""),
        psycopg.conninfo.conninfo_to_dict(place)["dbname"],
    )
    with pytest.raises(DatabaseUnusableError, match="no password"):
        create_service(address, migrate=True)
    monkeypatch.setenv("PGPASSWORD", "hunter23")
    with pytest.raises(DatabaseUnusableError, match="authentication failed") as refused:
        create_service(address, migrate=True)
    assert "hunter" not in f"{refused.value}{refused.value.hint}"
    monkeypatch.setenv("PGPASSWORD", "")
    kept, service = tmp_path / "pgpass", tmp_path / "service"
    kept.touch(0o600)
    kept.write_text("*:*:*:guarded:hunter22\n")
    service.write_text(
        f"[site]\nhost={cluster.folder}\nuser=guarded\ndbname={name}\npassword=hunter22\n"
    )
    for variable, value, where in (
        ("PGPASSWORD", "hunter22", address),
        ("PGPASSFILE", str(kept), address),
        ("PGSERVICEFILE", str(service), "postgresql:///?service=site"),
    ):
        with monkeypatch.context() as known:
            known.setenv(variable, value)
            create_service(where, migrate=True).state.site.database.close()


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
    fault: str,
    error: str,
    cluster: Cluster,
    place: str,
    running_service: Any,
    call_to: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The row is there when its counting fails: both go."""
    monkeypatch.setattr(postgres_storage, "LIMITS", "SET statement_timeout = '3s'")
    api = call_to(running_service(database=place))
    name = psycopg.conninfo.conninfo_to_dict(place)["dbname"]
    for statement in (FAIL.format(fault)).split("\n\n"):
        cluster.do(statement, name)
    answer = api.request("POST", f"{REMOTE}add", json={**ADD, "remoteName": "Half"})
    assert (answer.status_code, answer.json()["errcode"]) == (503, 503)
    assert answer.headers["retry-after"] == "1"
    assert {type(one.__cause__).__name__ for one in api.service.failures} == {error}
    api.service.failures.clear()
    assert api.page(1004) == {"list": [], "pageNo": 1, "pageSize": 20, "pages": 0, "total": 0}
    cluster.do("DROP TRIGGER failing ON remote_count", name)
    assert api.add(1004, "Half")


def test_what_was_in_the_way_of_others_is_tried_five_times(
    cluster: Cluster, place: str, running_service: Any, call_to: Any
) -> None:
    """The sequence counts: what it has given stays given when all else is undone."""
    api = call_to(running_service(database=place))
    name = psycopg.conninfo.conninfo_to_dict(place)["dbname"]
    cluster.do("CREATE SEQUENCE attempts", name)
    fault = "IF nextval('attempts') <> 5 THEN RAISE serialization_failure; END IF;"
    cluster.do(FAIL.format(fault).replace("remote_count", "remote"), name)
    assert api.add(1004, "The fifth")
    assert api.page(1004)["total"] == 1
    answer = api.request("POST", f"{REMOTE}add", json={**ADD, "remoteName": "Never"})
    assert answer.status_code == 503
    assert cluster.do("SELECT last_value FROM attempts", name) == [(10,)]
    api.service.failures.clear()
    assert api.page(1004)["total"] == 1


@pytest.fixture
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a request give up soon where there is no connection to be had."""
    monkeypatch.setattr(postgres_storage, "WAIT_S", 0.5)


@pytest.mark.usefixtures("short_wait")
def test_while_the_server_is_away_it_says_so_and_then_it_is_back(
    cluster: Cluster, two: list[Caller]
) -> None:
    """As in a failover: another answers at the same address some time later."""
    cluster.control("stop", "-m", "immediate")
    try:
        for api in two:
            for method, path in (("GET", f"{REMOTE}list?lockId=1001"), ("POST", f"{REMOTE}clear")):
                answer = api.request(method, path, json={"lockId": 1004})
                assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert api.request("GET", "/readyz").status_code == 503
            assert api.request("GET", "/healthz").status_code == 200
            api.service.failures.clear()
    finally:
        cluster.control("start")
    for api in two:
        until(lambda: api.request("GET", "/readyz").status_code == 200)  # noqa: B023
        api.service.failures.clear()
        assert api.add(1004, f"After {id(api)}")


@pytest.mark.usefixtures("short_wait")
def test_while_all_connections_are_taken_it_says_so(
    monkeypatch: pytest.MonkeyPatch, running_service: Any, call_to: Any, place: str
) -> None:
    monkeypatch.setattr(postgres_storage, "CONNECTIONS", 1)
    api = call_to(running_service(database=place))
    with api.service.app.state.site.database.reading():
        for method, path in (("GET", f"{REMOTE}list?lockId=1001"), ("POST", f"{REMOTE}clear")):
            answer = api.request(method, path, json={"lockId": 1004})
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert {type(one.__cause__).__name__ for one in api.service.failures} == {"PoolTimeout"}
    api.service.failures.clear()
    assert api.page(1001)["total"] == 137


def test_one_who_holds_a_lock_for_long_holds_up_no_other_for_ever(
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    running_service: Callable[..., RunningService],
    call_to: Callable[[RunningService], Caller],
) -> None:
    monkeypatch.setattr(postgres_storage, "LIMITS", "SET lock_timeout = '300ms'")
    monkeypatch.setattr(postgres_storage, "CONNECTIONS", 2)
    service = running_service(database=place)
    api = call_to(service)
    with psycopg.connect(place) as held:
        held.execute("INSERT INTO gate VALUES (1004)")
        with ThreadPoolExecutor(6) as pool:
            ask = lambda _: api.request("POST", f"{REMOTE}clear", json={"lockId": 1004})  # noqa: E731
            answers = list(pool.map(ask, range(6)))
        held.rollback()
    assert {answer.status_code for answer in answers} == {503}
    why = {type(error.__cause__).__name__ for error in service.failures}
    assert "LockNotAvailable" in why
    assert why <= {"LockNotAvailable", "PoolTimeout"}  # some may have found no connection
    service.failures.clear()
    assert api.add(1004, "After")


def test_lost_commit_is_answered_with_504(
    monkeypatch: pytest.MonkeyPatch, cluster: Cluster, two: list[Caller]
) -> None:
    """Whoever asked has to look: the same once more could be done twice."""
    api = two[0]

    def commit(self: psycopg.Connection[object]) -> None:
        if self.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS:
            pid = self.info.backend_pid
            cluster.do(f"SELECT pg_terminate_backend({pid})")
            until(lambda: not cluster.do(f"SELECT 1 FROM pg_stat_activity WHERE pid = {pid}"))
        commit_of(self)

    commit_of = psycopg.Connection.commit
    monkeypatch.setattr(psycopg.Connection, "commit", commit)
    answer = api.request("POST", f"{REMOTE}add", json={**ADD, "remoteName": "Perhaps"})
    assert (answer.status_code, answer.json()["errcode"]) == (504, 504)
    monkeypatch.undo()
    api.service.failures.clear()
    assert api.add(1004, "Perhaps")


@pytest.mark.parametrize("error", ["TransactionResolutionUnknown", "StatementCompletionUnknown"])
def test_service_answers_504_when_the_server_does_not_know_of_a_commit(
    monkeypatch: pytest.MonkeyPatch, two: list[Caller], error: str
) -> None:
    def commit(self: psycopg.Connection[object]) -> None:
        raise getattr(psycopg.errors, error)("it cannot be told")

    api = two[0]
    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Connection, "commit", commit)
        answer = api.request("POST", f"{REMOTE}add", json={**ADD, "remoteName": "Perhaps"})
    assert (answer.status_code, answer.json()["errcode"]) == (504, 504)
    api.service.failures.clear()
    assert api.add(1004, "Perhaps")


def test_ids_are_not_reused_after_explicit_ids(two: list[Caller]) -> None:
    remote_id = two[0].add(1004, "Gone")
    two[0].done(f"{REMOTE}delete", remoteId=remote_id)
    with two[0].service.app.state.site.database.writing() as db:
        db.go_on_after_ids()
    assert two[0].add(1004, "After") > remote_id


def test_service_takes_no_id_that_is_there_for_a_name_that_is_taken(
    two: list[Caller], cluster: Cluster, place: str
) -> None:
    api = two[0]
    remote_id = api.add(1004, "First")
    name = psycopg.conninfo.conninfo_to_dict(place)["dbname"]
    cluster.do(f"SELECT setval('remote_id_seq', {remote_id}, false)", name)
    answer = api.request("POST", f"{REMOTE}add", json={**ADD, "remoteName": "Second"})
    assert answer.status_code == 500 and answer.json()["errcode"] != -3
    api.service.failures.clear()


def test_reading_sees_one_state_when_another_process_writes(place: str) -> None:
    create_service(place, migrate=True).state.site.database.close()
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


def test_service_makes_no_tables_when_the_database_does_not_keep_utf8(
    cluster: Cluster, place: str
) -> None:
    made = "ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
    cluster.do(f"CREATE DATABASE latin {made}")
    with pytest.raises(DatabaseUnusableError, match="does not store text as UTF8"):
        create_service(psycopg.conninfo.make_conninfo(place, dbname="latin"), migrate=True)


def test_service_makes_no_tables_when_it_was_not_asked_to(cluster: Cluster) -> None:
    with pytest.raises(DatabaseUnusableError, match="no tables of lockterm"):
        create_service(database=cluster.new_database())


def test_stop_ends_statements_that_still_wait(
    cluster: Cluster,
    place: str,
    running_service: Any,
    call_to: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The program cannot end before its threads do."""
    monkeypatch.setattr(postgres_storage, "LIMITS", "SET lock_timeout = '1h'")
    api = call_to(running_service(database=place))
    name = psycopg.conninfo.conninfo_to_dict(place)["dbname"]
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        f" AND query LIKE '%gate%' AND datname = '{name}'"
    )
    with psycopg.connect(place) as held, ThreadPoolExecutor(1) as pool:
        held.execute("INSERT INTO gate VALUES (1004)")
        asked = pool.submit(api.http.post, f"{REMOTE}add", json={**ADD, "remoteName": "Late"})
        until(lambda: cluster.do(waiting) == [(1,)])
        api.service.stop()
        until(lambda: cluster.do(waiting) == [(0,)])
        assert isinstance(asked.exception(PATIENCE_S), httpx.TransportError)
