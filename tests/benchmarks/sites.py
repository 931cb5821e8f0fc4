"""What work on many locks costs: one search of all of them, and a file of changes applied.

``python -m tests.benchmarks.sites URL HOME`` is the process in which the search is measured.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lockterm.config import Profile
from lockterm.domain.locks import Lock
from lockterm.operations import Operations
from lockterm.operations.everywhere import AT_ONCE
from lockterm.service import remote_table
from lockterm.service.running import RunningService
from lockterm.store.cache import Cache
from lockterm.store.database import Database
from tests.benchmarks.growth import INSERT, ROUNDS, Row
from tests.benchmarks.measuring import environment
from tests.servers import Link, port_of

SEARCHED, REMOTES = 100, 150
TRIP_S = 0.15
IDEAL_S = SEARCHED * TRIP_S / AT_ONCE
"""Each lock is a call, and all connections are always busy."""
CHANGED, FEW_ROWS, MANY_ROWS = 50, 100, 1000
"""Locks, and the rows of the files; 5,000 rows would take longer than all the rest."""


def sites(home: Path) -> Iterator[Row]:
    """The rows of the table, one after the other; they take about a minute.

    Args:
        home: A directory for what lockterm keeps.
    """
    service = RunningService(sample_data=False)
    with service.app.state.site.database.writing() as database:
        for lock_id in range(1, SEARCHED + 1):
            ids = INSERT.replace("3 * n + 1", f"{lock_id * 10_000} + n")
            database.execute(ids, {"many": REMOTES, "lock": lock_id})
            remote_table.recount(database, lock_id)
    with service:
        with Link(port_of(service), TRIP_S, connects_s=TRIP_S) as far:
            found = [_searched(far.base_url, home / f"search {n}") for n in range(ROUNDS)]
        best = {what: min(one[what] for one in found) for what in found[0]}
        label = f"{SEARCHED} locks of {REMOTES}"
        yield f"{label}: fresh search, of the ideal", best["s"] / IDEAL_S, 1.3, 1.15
        yield "   s of CPU", best["cpu_s"], None, None
        yield f"{label}: search of what was read last, ms", best["last_ms"], 50, 20
        yield from _applied(service.base_url, home / "apply")


def _searched(url: str, home: Path) -> dict[str, float]:
    """The figures of one search, by a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.sites", url, str(home)]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(told.stdout)
    return figures


async def _search(url: str, home: Path) -> dict[str, float]:
    profile = Profile(name="north", base_url=url)
    cache = Cache(home / "answers.db", profile)
    operations = Operations(profile, Database(home / "lockterm.db"), cache=cache)
    book = [Lock(lock_id, f"Gate {lock_id}") for lock_id in range(1, SEARCHED + 1)]
    await operations.locks.save_all(book)
    begun_s, cpu_s = time.monotonic(), time.process_time()
    async for one in operations.everywhere.read():
        assert one.listing is not None and one.listing.count == REMOTES, one.problem
    figures = {"s": time.monotonic() - begun_s, "cpu_s": time.process_time() - cpu_s}
    begun_s = time.monotonic()
    last = await operations.everywhere.last()
    count = sum(1 for one in last if one.listing for _ in one.listing.find(["m-77"]))
    figures["last_ms"] = (time.monotonic() - begun_s) * 1000
    assert count == SEARCHED
    await operations.close()
    return figures


def _applied(url: str, home: Path) -> Iterator[Row]:
    one, few, many = (_apply(url, home, rows) for rows in (1, FEW_ROWS, MANY_ROWS))
    label = f"{MANY_ROWS:,} rows applied to {CHANGED} locks"
    yield f"{label}: not recorded", MANY_ROWS - many["recorded"], 0, 0
    yield f"{label}: MiB more than one", many["mib"] - one["mib"], 30, 15
    row_s = (few["cpu_s"] - one["cpu_s"]) / (FEW_ROWS - 1)
    rows_s = (many["cpu_s"] - one["cpu_s"]) / (MANY_ROWS - 1)
    yield f"{label}: CPU a row, beside {FEW_ROWS}", rows_s / row_s, 1.2, 1.0


def _apply(url: str, home: Path, rows: int) -> dict[str, float]:
    """Have a file applied that adds so many remotes."""
    home.mkdir(exist_ok=True, parents=True)
    file, out = home / f"{rows}.csv", home / f"{rows}.out"
    lines = ["lockId,action,remoteName,remoteNumber,remoteType,addType"]
    lines += [f"{n % CHANGED + 1},add,Of {rows}: {n},R-{rows}-{n},1,1" for n in range(rows)]
    file.write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "lockterm", "apply", str(file), "--yes", "--json"]
    with out.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--base-url", url],
            **{"stdout": output, "env": {"PATH": os.environ["PATH"]} | environment(home)},
        )
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0  # waited for above
    told: dict[str, Any] = json.loads(out.read_text().splitlines()[-1])
    return {
        "recorded": told["counts"].get("recorded", 0),
        "mib": used.ru_maxrss / 1024,
        "cpu_s": used.ru_utime + used.ru_stime,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_search(sys.argv[1], Path(sys.argv[2])))))
