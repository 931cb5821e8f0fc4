"""``lockterm serve`` with workers, writes to it with a ledger outside, and kills in their midst."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests.service.cluster import Cluster
from tests.service.conftest import PATIENCE_S, REMOTE

LOCK = 5


PATIENT = f"""
import sys
from lockterm.cli.commands import run
from lockterm.service import postgres_storage, running
postgres_storage.WAIT_S = running.DRAIN_S = {PATIENCE_S}
postgres_storage.LIMITS = "SET lock_timeout = '{PATIENCE_S:.0f}s'"
sys.exit(run(sys.argv[1:]))
"""
"""``lockterm`` with limits that a busy machine does not come to."""


@contextmanager
def served(
    place: str | None, workers: int = 2, *options: str, says: Path | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """``lockterm serve`` with so many workers, and its address.

    Args:
        place: The database; None keeps it in memory.
        workers: How many.
        options: More of its options.
        says: The file that gets what it writes to stderr.
    """
    command = [sys.executable, "-c", PATIENT, "serve", "--port", "0", "--empty"]
    if place is not None:
        command += ["--migrate", "--database", place]
    command += ["--workers", str(workers), *options]
    with (
        open(says or os.devnull, "wb") as stderr,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as process,
    ):
        try:
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


def ask(method: str, url: str, **options: Any) -> httpx.Response:
    """On a connection of its own, which any of the workers may take."""
    with httpx.Client(trust_env=False, verify=False, timeout=PATIENCE_S) as http:
        return http.request(method, url, **options)


def body(name: str) -> dict[str, object]:
    return {
        "lockId": LOCK, "remoteName": name, "remoteNumber": "1", "remoteType": 1, "addType": 1
    }  # fmt: skip


def recorded(cluster: Cluster, place: str) -> Counter[str]:
    return Counter(row[0] for row in cluster.do("SELECT name FROM remote", place))


@dataclass(frozen=True)
class Ledger:
    """What became of the writes."""

    codes: dict[str, int | None]
    """What the adding of each name was answered with; None: nothing."""
    there: Counter[str]
    """How often each name is recorded."""

    @property
    def answered(self) -> list[str]:
        """The names whose adding was answered as done."""
        return [name for name, code in self.codes.items() if code == 0]

    @property
    def lost(self) -> list[str]:
        return [name for name in self.answered if not self.there[name]]

    @property
    def half_done(self) -> list[str]:
        """Those that are there although the answer says that nothing was changed."""
        return [name for name, code in self.codes.items() if code == 503 and self.there[name]]

    @property
    def doubled(self) -> list[str]:
        return [name for name, count in self.there.items() if count > 1]


def kill_one(process: subprocess.Popen[str]) -> None:
    """Kill a worker as soon as both are there."""
    found = list[psutil.Process]()

    def are_two() -> bool:
        found[:] = children(process)
        return len(found) == 2

    until(are_two)
    random.choice(found).kill()


def write_through(
    cluster: Cluster,
    times: int,
    fault: Callable[[subprocess.Popen[str]], None] = kill_one,
    writers: int = 8,
) -> Ledger:
    """Add remotes through two workers, with so many faults, each after some were added."""
    place = cluster.new_database()
    codes: dict[str, int | None] = {}
    done: list[str] = []
    is_over = threading.Event()

    def write(url: str, writer: int) -> None:
        for turn in itertools.count():
            name = f"{writer}/{turn}"
            codes[name] = None
            try:
                answer = ask("POST", f"{url}{REMOTE}add", json=body(name))
            except httpx.TransportError:
                continue  # it is not known, and not sent again
            codes[name] = answer.json()["errcode"]
            if codes[name] == 0:
                done.append(name)
            if is_over.is_set():
                return

    with served(place) as (process, url), ThreadPoolExecutor(writers) as pool:
        sent = [pool.submit(write, url, writer) for writer in range(writers)]
        try:
            for _ in range(times):
                before = len(done)
                until(lambda: len(done) > before + 20)  # noqa: B023
                fault(process)
            before = len(done)
            until(lambda: len(done) > before + 20)
        finally:
            is_over.set()
        for one in sent:
            one.result()
    return Ledger(codes, recorded(cluster, place))
