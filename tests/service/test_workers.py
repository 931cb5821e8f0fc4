"""Several processes on one database, from outside: killed, asked to end, left by their parent."""

from __future__ import annotations

import itertools
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import psutil
import psycopg
import pytest

from tests.service.cluster import Cluster
from tests.service.conftest import REMOTE

pytestmark = pytest.mark.long
LOCK = 5
KILLS = 8
PATIENCE_S = 60.0


@contextmanager
def served(place: str, workers: int = 2) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """``lockterm serve`` with so many workers, and its address."""
    command = [sys.executable, "-m", "lockterm", "serve", "--port", "0", "--empty", "--migrate"]
    command += ["--database", place, "--workers", str(workers)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert first.startswith("listening on http://127.0.0.1:")
            yield process, first.split()[-1]
        finally:
            process.terminate()


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children()


def until(condition: Callable[[], Any]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end_s
        time.sleep(0.01)


def body(name: str) -> dict[str, object]:
    return {
        "lockId": LOCK, "remoteName": name, "remoteNumber": "1", "remoteType": 1, "addType": 1
    }  # fmt: skip


def recorded(cluster: Cluster, place: str) -> Counter[str]:
    name = psycopg.conninfo.conninfo_to_dict(place)["dbname"]
    return Counter(row[0] for row in cluster.do("SELECT name FROM remote", name))


def test_a_worker_that_is_killed_loses_and_doubles_nothing(cluster: Cluster) -> None:
    place = cluster.new_database()
    answered: list[str] = []
    is_over = threading.Event()

    def write(url: str, worker: int) -> int:
        for turn in itertools.count():
            name = f"{worker}/{turn}"
            try:
                answer = httpx.post(f"{url}{REMOTE}add", json=body(name), timeout=PATIENCE_S)
            except httpx.TransportError:
                continue  # it is not known, and not sent again
            assert answer.json()["errcode"] == 0, answer.text
            answered.append(name)
            if is_over.is_set():
                return turn + 1
        raise AssertionError

    with served(place) as (process, url), ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(write, url, worker) for worker in range(8)]
        try:
            for _ in range(KILLS):
                before = len(answered)
                until(lambda: len(answered) > before + 20)  # noqa: B023
                until(lambda: len(children(process)) == 2)
                children(process)[random.randrange(2)].kill()
        finally:
            is_over.set()
        count = sum(one.result() for one in sent)
    there = recorded(cluster, place)
    assert [name for name in answered if there[name] != 1] == []
    assert max(there.values()) == 1
    assert len(answered) <= len(there) <= count


def test_what_was_taken_is_answered_before_the_end(cluster: Cluster) -> None:
    place = cluster.new_database()
    name = psycopg.conninfo.conninfo_to_dict(place)["dbname"]
    with served(place) as (process, url), psycopg.connect(place) as held:
        held.execute("INSERT INTO gate VALUES (%s)", (LOCK,))
        with ThreadPoolExecutor(8) as pool:
            ask = lambda n: httpx.post(f"{url}{REMOTE}add", json=body(str(n)), timeout=PATIENCE_S)  # noqa: E731
            asked = [pool.submit(ask, n) for n in range(8)]
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
        httpx.get(url, timeout=PATIENCE_S)
    except httpx.TransportError:
        return True
    return False


def test_no_worker_outlives_the_one_that_started_it(cluster: Cluster) -> None:
    with served(cluster.new_database()) as (process, _):
        workers = children(process)
        assert len(workers) == 2
        process.kill()
        psutil.wait_procs(workers, timeout=PATIENCE_S)
        assert not any(worker.is_running() for worker in workers)
