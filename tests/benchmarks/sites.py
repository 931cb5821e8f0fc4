"""The cost of work on many locks: a search of all of them, and keys while a run goes on.

``python -m tests.benchmarks.sites URL HOME`` is the process in which one search is measured.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from lockterm.config import Profile
from lockterm.domain.locks import Lock
from lockterm.operations import Operations
from lockterm.operations.all_locks import AT_ONCE
from lockterm.service import remote_table
from lockterm.service.running import RunningService
from lockterm.store.cache import Cache
from tests.benchmarks.growth import INSERT, ROUNDS, Row, milliseconds, open_session
from tests.benchmarks.measuring import AFTER_FORM, Session
from tests.servers import Link, port_of

SEARCHED, REMOTES = 100, 150
TRIP_S = 0.15
READY_S = 2.0
"""How long somebody types, at the least, before all locks are read."""
IDEAL_S = SEARCHED * TRIP_S / AT_ONCE
"""Each lock is a call, and all connections are always busy."""
CHANGED = 50
"""Locks that the run changes."""
RUN_ROWS, LETTERS = 3000, 100
"""Steps of a run that goes on while so many letters are typed."""


def sites(home: Path) -> Iterator[Row]:
    """Measure the rows of the table, one after the other.

    Args:
        home: A directory for what lockterm keeps.
    """
    service = RunningService(sample_data=False)
    with service.app.state.site.database.writing() as database:
        for lock_id in range(1, SEARCHED + 1):
            ids = INSERT.replace("3 * n + 1", f"{lock_id * 10_000} + n")
            database.execute(ids, {"many": REMOTES, "lock": lock_id})
            remote_table.recount(database, lock_id)
    with service, Link(port_of(service), TRIP_S, connects_s=TRIP_S) as far:
        found = [_searched(far.base_url, home / f"search {n}") for n in range(ROUNDS)]
        keys = [*_keys(far.base_url, home / "keys")]
    yield f"{SEARCHED} locks of {REMOTES}: search, of the ideal", min(found) / IDEAL_S, 1.5, 1.15
    yield from keys


def _searched(url: str, home: Path) -> float:
    """Return the seconds of one search, measured by a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.sites", url, str(home)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


async def _search(url: str, home: Path) -> float:
    profile = Profile(name="north", base_url=url)
    cache = Cache(home / "answers.db", profile)
    operations = Operations(profile, home / "lockterm.db", open_cache=lambda: cache)
    book = [Lock(lock_id, f"Gate {lock_id}") for lock_id in range(1, SEARCHED + 1)]
    await operations.locks.save_all(book)
    await asyncio.sleep(READY_S)
    begun_s = time.monotonic()
    async for one in operations.all_locks.read():
        assert one.listing is not None and one.listing.count == REMOTES, one.problem
    taken_s = time.monotonic() - begun_s
    await operations.close()
    return taken_s


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
            busy.expect(shown)
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


def _table(kind: str, rows: int) -> str:
    """A table that adds so many remotes."""
    lines = ["lockId,action,remoteName,remoteNumber,remoteType,addType"]
    for n in range(rows):
        lines.append(f"{n % CHANGED + 1},add,{kind} of {rows}: {n},{kind}-{rows}-{n},1,1")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(asyncio.run(_search(sys.argv[1], Path(sys.argv[2]))))
