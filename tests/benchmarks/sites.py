"""What work on many locks costs: one search of all of them, and a file of changes applied.

``python -m tests.benchmarks.sites WHAT URL HOME`` is the process in which one of them is measured.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from lockterm.config import Profile
from lockterm.domain.locks import Lock
from lockterm.domain.plan import Action, Step, StepState
from lockterm.operations import Operations
from lockterm.operations.everywhere import AT_ONCE
from lockterm.operations.steps import CALLS
from lockterm.service import remote_table
from lockterm.service.running import RunningService
from lockterm.store.cache import Cache
from tests.benchmarks.growth import INSERT, ROUNDS, Row, milliseconds, open_session
from tests.benchmarks.measuring import AFTER_FORM, Session, environment
from tests.servers import Link, port_of

SEARCHED, REMOTES = 100, 150
TRIP_S = 0.15
READY_S = 2.0
"""How long somebody types, at the least, before all locks are read."""
IDEAL_S = SEARCHED * TRIP_S / AT_ONCE
"""Each lock is a call, and all connections are always busy."""
ALLOWED, LIMITED_STEPS = 20, 600
"""Calls a second of a service that does not tell its limit, and the steps of a run against it."""
CHANGED, FEW_ROWS, MANY_ROWS = 50, 100, 5000
"""Locks, and the rows of the files."""
RUN_ROWS, LETTERS = 3000, 100
"""Steps of a run that goes on while so many letters are typed."""


def sites(home: Path) -> Iterator[Row]:
    """The rows of the table, one after the other; they take some minutes.

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
            keys = [*_keys(far.base_url, home / "keys")]
        best = {what: min(one[what] for one in found) for what in found[0]}
        label = f"{SEARCHED} locks of {REMOTES}"
        yield f"{label}: fresh search, of the ideal", best["s"] / IDEAL_S, 1.5, 1.15
        yield "   s of CPU", best["cpu_s"], None, None
        yield f"{label}: search of what was read last, ms", best["last_ms"], 50, 20
        yield from keys
        yield from _applied(service.base_url, home / "apply")


class Limit:
    """Answers so many calls in each second of its clock, and 429 to the rest, without a limit told.

    Args:
        app: The service.
        per_s: How many.
    """

    def __init__(self, app: ASGIApp, per_s: int) -> None:
        self._app = app
        self._per_s = per_s
        self._taken = Counter[int]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        second = int(time.monotonic())
        self._taken[second] += scope["type"] == "http"
        is_taken = self._taken[second] <= self._per_s
        app = self._app if is_taken else JSONResponse({}, HTTPStatus.TOO_MANY_REQUESTS)
        await app(scope, receive, send)


def limited(home: Path) -> list[Row]:
    """The rows of a run against a service with a limit that it does not tell.

    It waits nearly all of its time, so something else may be measured beside it.

    Args:
        home: A directory for what lockterm keeps.
    """
    service = RunningService(sample_data=False)
    service.app.add_middleware(Limit, per_s=ALLOWED)
    with service:
        told = _figures("limited", service.base_url, home)
    label = f"{ALLOWED} calls a second allowed"
    # What is missing, not what is reached: every row is met from below.
    return [
        (f"{label}: share not reached", 1 - told["per_s"] / ALLOWED, 0.1, 0.07),
        (f"{label}: answered 429, %", 100 * told["limited"] / told["calls"], 2, 1),
    ]


async def _run(url: str, home: Path) -> dict[str, float]:
    """The figures of a run of adds over the locks, its search for the limit included."""
    profile = Profile(name="north", base_url=url)
    operations = Operations(profile, home / "lockterm.db")
    wanted = {"remoteType": 1, "addType": 1}
    steps = [
        Step(0, Action.ADD, n % CHANGED + 1, None, f"Of {n}", wanted | {
            "remoteName": f"Of {n}", "remoteNumber": f"R-{n}"
        })
        for n in range(LIMITED_STEPS)
    ]  # fmt: skip
    limited = 0

    def count(pause_s: float) -> None:
        nonlocal limited
        limited += 1
        note(pause_s)

    runs = operations.runs
    note, operations.connection.on_limited = operations.connection.on_limited, count
    plan = runs.make("limited", steps)
    await operations.connection.open()
    begun_s = time.monotonic()
    done = await runs.carry_out(plan, on_step=lambda step: None, stop=asyncio.Event())
    taken_s = time.monotonic() - begun_s
    assert done.counts() == {StepState.RECORDED: LIMITED_STEPS}, done.counts()
    await operations.close()
    calls = LIMITED_STEPS * CALLS[Action.ADD]
    return {"per_s": calls / taken_s, "calls": calls, "limited": limited}


def _searched(url: str, home: Path) -> dict[str, float]:
    """The figures of one search."""
    return _figures("search", url, home)


def _figures(what: str, url: str, home: Path) -> dict[str, float]:
    """The figures that are measured by a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.sites", what, url, str(home)]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(told.stdout)
    return figures


async def _search(url: str, home: Path) -> dict[str, float]:
    profile = Profile(name="north", base_url=url)
    cache = Cache(home / "answers.db", profile)
    operations = Operations(profile, home / "lockterm.db", open_cache=lambda: cache)
    book = [Lock(lock_id, f"Gate {lock_id}") for lock_id in range(1, SEARCHED + 1)]
    await operations.locks.save_all(book)
    await asyncio.sleep(READY_S)
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


def _keys(url: str, home: Path) -> Iterator[Row]:
    """When a letter of a search is seen, in a session with a run beside one without, in turns."""
    file = home / "rows.csv"
    home.mkdir(parents=True)
    file.write_text(_table("K", RUN_ROWS))
    began = f"/{RUN_ROWS}"
    with ExitStack() as stack:
        quiet, busy = (
            stack.enter_context(closing(open_session(url, home / name, "page 1 of", "--lock", "1")))
            for name in ("quiet", "busy")
        )
        for keys, shown in (
            (f"I,text:{file},enter", "to add: "),
            ("enter", f"on {CHANGED} locks"),
            (f"text:{RUN_ROWS},enter", f"on {CHANGED} locks"),
        ):
            busy.press(keys)
            assert busy.shows(shown), busy.text()
        for key, shown in (("enter", began), ("escape", "Import"), ("escape", "page 1 of")):
            milliseconds(busy, key, shown)
        busy.press(AFTER_FORM)
        taken: dict[Session, list[float]] = {quiet: [], busy: []}
        for session in taken:
            milliseconds(session, "/", "Find:")
        for _ in range(LETTERS):
            for session, found in taken.items():
                found.append(milliseconds(session, "a", "Find: a"))
                found.append(milliseconds(session, "backspace", "Find: a", is_gone=True))
        assert began in busy.text(), "the run has ended before the last key"
        for what, at in (("median", 0.5), ("p95", 0.95)):
            of_quiet, of_busy = (sorted(found)[int(at * len(found))] for found in taken.values())
            yield f"a letter while a run goes on: {what}, beside none", of_busy / of_quiet, 1.3, 1.1


def _applied(url: str, home: Path) -> Iterator[Row]:
    one, few, many = (_apply(url, home, rows) for rows in (1, FEW_ROWS, MANY_ROWS))
    label = f"{MANY_ROWS:,} rows applied to {CHANGED} locks"
    yield f"{label}: not recorded", MANY_ROWS - many["recorded"], 0, 0
    yield f"{label}: MiB more than one", many["mib"] - one["mib"], 30, 15
    row_s = (few["cpu_s"] - one["cpu_s"]) / (FEW_ROWS - 1)
    rows_s = (many["cpu_s"] - one["cpu_s"]) / (MANY_ROWS - 1)
    yield f"{label}: CPU a row, beside {FEW_ROWS}", rows_s / row_s, 1.2, 1.0


def _table(kind: str, rows: int) -> str:
    """A table that adds so many remotes."""
    lines = ["lockId,action,remoteName,remoteNumber,remoteType,addType"]
    for n in range(rows):
        lines.append(f"{n % CHANGED + 1},add,{kind} of {rows}: {n},{kind}-{rows}-{n},1,1")
    return "\n".join(lines) + "\n"


def _apply(url: str, home: Path, rows: int) -> dict[str, float]:
    """Have a file applied that adds so many remotes."""
    home.mkdir(exist_ok=True, parents=True)
    file, out = home / f"{rows}.csv", home / f"{rows}.out"
    file.write_text(_table("R", rows))
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
    measured = {"search": _search, "limited": _run}[sys.argv[1]]
    print(json.dumps(asyncio.run(measured(sys.argv[2], Path(sys.argv[3])))))
