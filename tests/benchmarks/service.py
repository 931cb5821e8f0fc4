"""The embedded service: SQLite beside PostgreSQL, in one run on one machine.

``python -m tests.benchmarks service``: reads beside a bare Starlette app, calls a second and their
99th percentile, the pages of a very long lock, and what is lost when a worker is killed. Who calls
takes its share of the machine.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from operator import truediv
from pathlib import Path
from subprocess import PIPE, Popen

from lockterm.service import remote_table
from lockterm.service.app import create_service
from tests.service.cluster import Cluster, running_cluster
from tests.service.conftest import REMOTE
from tests.service.killing import served, write_through
from tests.service.test_million import INSERT, LOCK, MANY, PORTION, SIZE

SECONDS = 5.0
FEW = 100
CONNECTIONS = 64
KILLS = 50
SLICE_S, SLICES = 0.5, 20
"""Of reads beside the bare app: short and many, so that what else runs meets all alike."""
MUST = {"SQLite": 0.7, "PostgreSQL": 0.4}
"""Of the bare app's reads a second."""
Call = tuple[str, str, dict[str, object] | None]
LINE = "{:34}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}"


def page(lock_id: int, number: int, size: int = 20) -> Call:
    """A call for a page of a lock."""
    return "GET", f"{REMOTE}list?lockId={lock_id}&pageNo={number}&pageSize={size}", None


def add(number: int) -> Call:
    """A call that adds one to one of ten locks."""
    lock_id = 100 + number % 10
    body: dict[str, object] = {"lockId": lock_id, "remoteName": f"Remote {number}"}
    return "POST", f"{REMOTE}add", body | {"remoteNumber": "1", "remoteType": 1, "addType": 1}


def read(number: int) -> Call:
    """A call for the first page of one of ten locks."""
    return page(100 + number % 10, 1)


LOADS: tuple[tuple[str, int, Callable[[int], Call]], ...] = (
    ("reads", 8, read),
    ("adds", 8, add),
    ("mixed", CONNECTIONS, lambda n: add(10**6 + n) if n % 5 == 0 else read(n)),
)


async def ask(port: int, calls: Iterator[Call], until_s: float, taken: list[float]) -> None:
    """Call one after the other on one connection, and note how long each took."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for method, path, body in calls:
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        begun_s = time.perf_counter()
        writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        answer = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(answer.partition(b"content-length:")[2].partition(b"\r\n")[0])
        envelope = await reader.readexactly(length)
        taken.append(time.perf_counter() - begun_s)
        assert envelope.startswith(b'{"errcode":0,'), envelope
        if time.perf_counter() > until_s:
            break
    writer.close()


def load(
    port: int,
    connections: int,
    call: Callable[[int], Call],
    first: int,
    seconds: float = SECONDS,
) -> list[float]:
    """So many connections at once for some seconds; how long each call took, sorted."""
    taken: list[float] = []
    numbers = itertools.count(first)

    async def all_of_them() -> None:
        calls = (call(number) for number in numbers)
        until_s = time.perf_counter() + seconds
        await asyncio.gather(*(ask(port, calls, until_s, taken) for _ in range(connections)))

    asyncio.run(all_of_them())
    return sorted(taken)


def beside_bare(folder: Path, cluster: Cluster) -> None:
    """Print reads a second beside those of a bare Starlette app, in turns, on 8 connections."""
    file = folder / "beside.db"
    with ExitStack() as stack:
        ports = {}
        for what, place in (("SQLite", str(file)), ("PostgreSQL", cluster.new_database())):
            _, url = stack.enter_context(served(place, 1))
            ports[what] = int(url.rpartition(":")[2])
            load(ports[what], 8, add, 10**7, 2.0)
        with sqlite3.connect(file) as db:
            db.execute("PRAGMA wal_checkpoint")
        command = [sys.executable, "-m", "tests.benchmarks.bare_service", str(file)]
        bare = stack.enter_context(Popen(command, stdout=PIPE, text=True))
        stack.callback(bare.terminate)
        assert bare.stdout is not None
        ports["bare Starlette"] = int(bare.stdout.readline())
        rates: dict[str, list[int]] = {what: [] for what in ports}
        for _ in range(SLICES):
            for what, port in ports.items():
                rates[what].append(len(load(port, 8, read, 0, SLICE_S)))
    for what, found in rates.items():
        ratio = statistics.median(map(truediv, found, rates["bare Starlette"]))
        rate = statistics.median(found) / SLICE_S
        must = MUST.get(what)
        verdict = "" if must is None else f"{must:.2f}  {'met' if ratio >= must else 'MISSED'}"
        print(f"{what:34}{rate:10,.0f}{ratio:10.2f}  {verdict}", flush=True)


def loads(what: str, place: str, workers: int) -> None:
    """Print a line: what is served there, under each load."""
    figures = []
    with served(place, workers) as (_, url):
        port = int(url.rpartition(":")[2])
        load(port, 8, add, 10**7)  # so that there is something to read
        for _, connections, call in LOADS:
            taken = load(port, connections, call, 0)
            figures += [
                f"{len(taken) / SECONDS:,.0f}",
                f"{taken[len(taken) * 99 // 100] * 1e3:.1f}",
            ]
    print(LINE.format(what, *figures), flush=True)


def pages(what: str, place: Path | str) -> None:
    """Print a line: the first, middle and last page of a lock of few and of very many, in ms."""
    site = create_service(place, sample_data=False, migrate=True).state.site
    for lock_id, many in ((LOCK + 1, FEW), (LOCK, MANY)):
        with site.database.writing() as db:
            for first in range(0, many, PORTION):
                insert = INSERT.replace("3 * n", f"{lock_id * 10**8} + n")
                db.execute(insert.format(first=first, end=min(first + PORTION, many)), (lock_id,))
            db.execute("ANALYZE")
            remote_table.recount(db, lock_id)
            db.execute("ANALYZE")
    figures = []
    for lock_id, many in ((LOCK + 1, FEW), (LOCK, MANY)):
        for offset in (0, (many - SIZE) // 2, many - SIZE):
            taken = []
            for _ in range(50):
                begun_s = time.perf_counter()
                page = remote_table.page(site.database, lock_id, offset, SIZE)
                assert (page.total, len(page.remotes)) == (many, SIZE)
                taken.append(time.perf_counter() - begun_s)
            figures.append(f"{statistics.median(taken) * 1e3:.2f}")
    site.database.close()
    print(LINE.format(what, *figures), flush=True)


def main() -> None:
    """Run everything and print it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cluster: Cluster = stack.enter_context(running_cluster(settings="-c listen_addresses=''"))
        print("reads a second on 8 connections, in turns; their share of the bare app's, and what")
        print("it must be\n")
        beside_bare(folder, cluster)
        print("\ncalls a second, and the 99th percentile in ms: reads and adds on 8 connections,")
        print(f"mixed on {CONNECTIONS}, one add in five\n")
        print(LINE.format("", *(word for name, *_ in LOADS for word in (name, "p99"))))
        loads("SQLite", str(folder / "site.db"), 1)
        loads("PostgreSQL", cluster.new_database(), 1)
        loads("PostgreSQL, 2 workers", cluster.new_database(), 2)
        print(f"\na page of {SIZE} and the total, in ms; first, middle and last\n")
        print(LINE.format("", f"{FEW}", "", "", f"{MANY:,}", "", ""))
        pages("SQLite", folder / "long.db")
        pages("PostgreSQL", cluster.new_database())
        ledger = write_through(cluster, KILLS)
        sent, answered = len(ledger.codes), len(ledger.answered)
        print(f"\n{KILLS} kills of a worker: {sent:,} adds sent, {answered:,} answered,")
        print(f"{len(ledger.lost)} lost of those answered, {len(ledger.doubled)} doubled")
