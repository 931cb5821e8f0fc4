"""What holds on PostgreSQL beyond what every database does: beginnings, many at once, faults."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from lockterm.service import postgres_storage, remote_table
from lockterm.service.app import create_service
from lockterm.service.running import RunningService
from lockterm.service.storage import Unusable
from tests.service.cluster import Cluster
from tests.service.conftest import REMOTE, Caller

pytestmark = pytest.mark.long
ADD = {"lockId": 1004, "remoteNumber": "1", "remoteType": 1, "addType": 1}


@pytest.fixture
def new_database(cluster: Cluster) -> Callable[[], str]:
    """Of this kind alone."""
    return cluster.new_database


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
    with pytest.raises(Unusable, match="has no tables") as refused:
        create_service(place)
    assert "--migrate" in refused.value.hint
    # Two at once: one waits, and the site is there once.
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda _: create_service(place, migrate=True), range(2)))
    for service in (*made, create_service(place)):
        service.state.site.database.close()
    name = psycopg.conninfo.conninfo_to_dict(place)["dbname"]
    assert cluster.do("SELECT count(*) FROM remote", name) == [(270,)]
    cluster.do("INSERT INTO lockterm_version VALUES (99)", name)
    for migrate in (False, True):
        with pytest.raises(Unusable, match=r"newer lockterm.* 99"):
            create_service(place, migrate=migrate)


def test_a_server_that_is_away_is_told(place: str) -> None:
    with pytest.raises(Unusable, match="No such file") as refused:
        create_service(place.replace("lockterm-pg-", "nowhere-"))
    assert refused.value.hint
    with pytest.raises(Unusable, match='role "mallory" does not exist'):
        create_service(place.replace("lockterm@", "mallory@"))


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


def test_it_is_back_by_itself_when_the_database_is(cluster: Cluster, two: list[Caller]) -> None:
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


def test_a_commit_without_an_answer_is_told_as_unknown(
    monkeypatch: pytest.MonkeyPatch, cluster: Cluster, two: list[Caller]
) -> None:
    """Whoever asked has to look: the same once more could be done twice."""
    api = two[0]

    def commit(self: psycopg.Connection[object]) -> None:
        if not self.autocommit:
            cluster.do(f"SELECT pg_terminate_backend({self.info.backend_pid}, 5000)")
        commit_of(self)

    commit_of = psycopg.Connection.commit
    monkeypatch.setattr(psycopg.Connection, "commit", commit)
    answer = api.request("POST", f"{REMOTE}add", json={**ADD, "remoteName": "Perhaps"})
    assert (answer.status_code, answer.json()["errcode"]) == (504, 504)
    monkeypatch.undo()
    api.service.failures.clear()
    assert api.add(1004, "Perhaps")


def test_no_id_comes_back_after_rows_with_ids_of_their_own(two: list[Caller]) -> None:
    remote_id = two[0].add(1004, "Gone")
    two[0].done(f"{REMOTE}delete", remoteId=remote_id)
    with two[0].service.app.state.site.database.writing() as db:
        db.go_on_after_ids()
    assert two[0].add(1004, "After") > remote_id
