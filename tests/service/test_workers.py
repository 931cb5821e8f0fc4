"""Several processes on one database, from outside: killed, asked to end, left by their parent."""

from __future__ import annotations

import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import psycopg
import pytest

from tests.service.cluster import Cluster, name_of
from tests.service.conftest import PATIENCE_S, REMOTE
from tests.service.killing import LOCK, ask, body, children, recorded, served, until, write_through

pytestmark = pytest.mark.long
KILLS, CRASHES = 8, 3
"""The benchmarks do the first 50 times."""


def test_a_worker_that_is_killed_loses_and_doubles_nothing(cluster: Cluster) -> None:
    ledger = write_through(cluster, KILLS)
    assert (ledger.lost, ledger.doubled) == ([], [])
    assert set(ledger.codes.values()) <= {0, None}
    assert set(ledger.answered) <= ledger.there.keys() <= ledger.codes.keys()


def test_a_database_that_dies_under_writes_loses_nothing_and_no_worker(cluster: Cluster) -> None:
    workers = set[int]()

    def crash(process: subprocess.Popen[str]) -> None:
        workers.update(child.pid for child in children(process))
        cluster.control("restart", "-m", "immediate")

    ledger = write_through(cluster, CRASHES, crash)
    assert (ledger.lost, ledger.half_done, ledger.doubled) == ([], [], [])
    assert set(ledger.codes.values()) <= {0, 503, 504}, "each is answered, as the contract has it"
    assert len(workers) == 2


def test_what_was_taken_is_answered_before_the_end(cluster: Cluster) -> None:
    place = cluster.new_database()
    name = name_of(place)
    with served(place) as (process, url), psycopg.connect(place) as held:
        held.execute("INSERT INTO gate VALUES (%s)", (LOCK,))
        with ThreadPoolExecutor(8) as pool:
            add = lambda n: ask("POST", f"{url}{REMOTE}add", json=body(str(n)))  # noqa: E731
            asked = [pool.submit(add, n) for n in range(8)]
            until(lambda: _in_hand(cluster, name) == 8)
            process.send_signal(signal.SIGTERM)
            until(lambda: _refuses(url))
            held.rollback()
            assert [one.result().json()["errcode"] for one in asked] == [0] * 8
        assert process.wait(PATIENCE_S) == 0
    assert len(recorded(cluster, place)) == 8


def _in_hand(cluster: Cluster, name: str) -> int:
    """How many statements on the gate are under way."""
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%gate%'"
        f" AND datname = '{name}' AND pid <> pg_backend_pid()"
    )
    return int(cluster.do(query)[0][0])


def _refuses(url: str) -> bool:
    try:
        ask("GET", url)
    except httpx.TransportError:
        return True
    return False


def test_no_worker_outlives_the_one_that_started_it(cluster: Cluster) -> None:
    with served(cluster.new_database()) as (process, _):
        workers = children(process)
        assert len(workers) == 2
        process.kill()
        _, left = psutil.wait_procs(workers, timeout=PATIENCE_S)
        # Who is not waited for by the init of a container stays as a zombie.
        assert not [one for one in left if one.status() != psutil.STATUS_ZOMBIE]
