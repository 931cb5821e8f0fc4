"""The cost of long lock books, journals and lists, and of screens beside an earlier lockterm."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from lockterm.config import Profile
from lockterm.domain.changes_elsewhere import ChangeElsewhere, ChangeKind
from lockterm.domain.listing import Block, Listing
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import Remote
from lockterm.paths import APP
from lockterm.service import remote_table
from lockterm.service.running import RunningService
from lockterm.store.cache import MOST_CHANGES, Cache
from lockterm.store.database import Database
from lockterm.store.lock_book import LockBook
from tests.benchmarks import ttybench
from tests.benchmarks.measuring import Session, environment

FEW, MANY_LOCKS, MANY_OPERATIONS, MANY_REMOTES = 10, 10_000, 100_000, 200_000
ON_EACH = 100
"""Remotes on each of the locks."""
LOCK = 7
ROUNDS = 3
OPENED = 20
"""How often each screen is opened."""
OPENINGS = (("f2", "for example: Anna"), ("enter", "Created"), ("H", "History"))
"""The key that opens the add form, the detail and the history, and what each of them shows."""
PROFILE = "north"
LOCK_KEYS = ("down", "up", "G", "pageup", "g", "/", "g", "a", "9", "backspace", "escape")
HISTORY_KEYS = ("down", "G", "n", "p", "i", "i", "@", "@", "/", "a", "n", "n", "escape", "enter")
SEARCH_KEYS = ("m", "-", "1", "1", "9", *("backspace",) * 5, "q", "z", "r", "e", "m", "o")
"""On all locks: what many have, what few have, and what none has."""
PEOPLE_KEYS = ("down", "G", "g", "/", "r", "e", "m", "9", "backspace", "z", "escape")
CHANGES_KEYS = ("down", "G", "g", "/", "g", "a", "t", "9", "backspace", "z", "escape")
INSERT = """
WITH RECURSIVE turn(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM turn WHERE n + 1 < :many)
INSERT INTO remote (id, lock_id, name, number, type, add_type, start_ms, end_ms, weekdays,
                    coerced, extra_data, api_user_id, created_ms, updated_ms)
SELECT 3 * n + 1, :lock, 'Remote ' || n, 'M-' || n, 1, 1, 0, 0, '[]', 0, '{}', 1, 0, 0 FROM turn
"""

OPERATIONS = """
WITH RECURSIVE turn(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM turn WHERE n + 1 < :many)
INSERT INTO operations (id, profile, call, path, body, lock_id, lock_name, remote_id, remote_name,
                        before, state, session, prepared_ms, message, answer, candidates, service)
SELECT 'id ' || n, :profile, iif(n % 3, 'update', 'delete'), '/x', '{"remoteName": "Anna"}',
       1001 + n % 50, 'Gate ' || (n % 50), n, iif(n % 2, 'Anna ', 'Jürgen ') || n,
       json_array(json_object('id', n, 'remoteName', 'Anna', 'note', printf('%0200d', 1))),
       iif(n % 20, 'confirmed', 'refused'), '1-a', 1795000000000 + n * 1000,
       iif(n % 20, '', 'no such remote'), 'null', '[]', :url
FROM turn
"""

Row = tuple[str, float, float | None, float | None]
"""What it is, today's figure, must, stretch."""


def growth(home: Path) -> Iterator[Row]:
    """Measure the rows of the table, one after the other.

    Args:
        home: A directory for what lockterm keeps.
    """
    with _filled() as service:
        yield from _locks(service.base_url, home)
        yield from _history(service.base_url, home)
        yield from _search(service.base_url, home / "search")


def _filled() -> RunningService:
    """A service with many remotes on one lock."""
    service = RunningService(sample_data=False)
    with service.app.state.site.database.writing() as database:
        database.execute(INSERT, {"many": MANY_REMOTES, "lock": LOCK})
        remote_table.recount(database, LOCK)
    return service


def _locks(url: str, home: Path) -> Iterator[Row]:
    homes = {FEW: home / "few locks", MANY_LOCKS: home / "many locks"}
    for count, place in homes.items():
        _fill_book(place, url, count)
    cpu: dict[int, list[float]] = {FEW: [], MANY_LOCKS: []}
    taken = []
    for _ in range(ROUNDS + 1):  # the first is not counted
        for count, place in homes.items():
            with closing(open_session(url, place, f"{count:,} locks")) as session:
                cpu[count].append(session.start["cpu_ms"])
                if count == MANY_LOCKS:
                    taken.append(_cpu_ms(session, LOCK_KEYS))
    few, many = (statistics.median(cpu[count][1:]) for count in homes)
    label = f"{MANY_LOCKS:,} locks"
    yield f"{label}: CPU of a start, beside {FEW}", many / few, 1.4, 1.2
    yield f"{label}: slowest key, ms of CPU", _slowest(taken), 40, 20
    yield from _everywhere(url, homes[MANY_LOCKS])


def _everywhere(url: str, home: Path) -> Iterator[Row]:
    """A search of all locks of the book, in what was read of them last."""
    remotes = [Remote.read({"id": n, "remoteName": f"Remote {n}"}) for n in range(ON_EACH)]
    block, now_ms = Block.of(remotes), time.time_ns() // 10**6
    path = Path(environment(home)["XDG_CACHE_HOME"], APP, "answers.db")
    with closing(Cache(path, Profile(name=PROFILE, base_url=url))) as cache:
        for lock_id in range(1001, 1001 + MANY_LOCKS):
            texts = "\n".join(f"remote {n} m-{lock_id}{n} {lock_id}{n}" for n in range(ON_EACH))
            cache.put_list(lock_id, Listing([replace(block, texts=texts)], now_ms))
        cache.put_changes(
            [
                ChangeElsewhere(
                    1001 + n, n, ChangeKind.NEW, {}, {"remoteName": f"Remote {n}"}, 0, now_ms - n
                )
                for n in range(MOST_CHANGES)
            ]
        )
    with closing(open_session(url, home, f"{MANY_LOCKS:,} locks")) as session:
        session.press("F")
        session.expect("from stored lists")
        slowest = max(_cpu_ms(session, SEARCH_KEYS))
        session.press("enter")
        people = _opening_cpu_ms(session, "o", "Until")
        session.expect("000 remotes ·")  # not "so far"
        of_people = max(_cpu_ms(session, PEOPLE_KEYS))
        session.press("escape")
        changes = _opening_cpu_ms(session, "!", "Found")
        session.expect("changes by others")
        of_changes = max(_cpu_ms(session, CHANGES_KEYS))
    label = f"{MANY_LOCKS:,} locks of {ON_EACH}"
    yield f"{label}: slowest key of a search, ms of CPU", slowest, 50, 30
    yield f"{label}: People shows rows, ms of CPU", people, 300, 150
    yield f"{label}: slowest key on People, ms of CPU", of_people, 50, 30
    label = f"{MOST_CHANGES:,} changes"
    yield f"{label}: Changed elsewhere shows rows, ms of CPU", changes, 300, 200
    yield f"{label}: slowest key, ms of CPU", of_changes, 50, 30


def _history(url: str, home: Path) -> Iterator[Row]:
    opened = {count: list[float]() for count in (FEW, MANY_OPERATIONS)}
    taken = list[Sequence[float]]()
    for count in opened:
        place = home / f"{count} operations"
        _fill_journal(place, url, count)
        for _ in range(ROUNDS):
            with closing(open_session(url, place, "lock book is empty")) as session:
                session.bytes_in(2.0)  # the store is looked through after a start
                for _ in range(ROUNDS):
                    opened[count].append(milliseconds(session, "H", f"{count:,} changes"))
                    session.press("escape")
                session.press("H")
                if count == MANY_OPERATIONS:
                    taken.append(_cpu_ms(session, HISTORY_KEYS))
    label = f"{MANY_OPERATIONS:,} operations"
    yield f"{label}: the history opens, ms", min(opened[MANY_OPERATIONS]), 150, 60
    yield f"{label}: slowest key, ms of CPU", _slowest(taken), 50, 20


def openings(home: Path, before: Path) -> Iterator[Row]:
    """Measure the CPU time that screens take to open, beside that of an earlier lockterm.

    Args:
        home: A directory for what lockterm keeps.
        before: The checkout of the earlier lockterm.
    """
    with RunningService() as service, ExitStack() as stack:
        sessions = []
        for name, tree in (("now", None), ("before", before)):
            session = open_session(
                service.base_url, home / name, "page 1 of", "--lock", "1001", tree=tree
            )
            sessions.append(stack.enter_context(closing(session)))
        for key, shown in OPENINGS:
            taken: list[list[float]] = [[], []]
            for _ in range(OPENED + 1):  # the first opening imports the screen
                for session, found in zip(sessions, taken, strict=True):
                    before_ms = ttybench.proc_cpu_ms(session.run.pid)
                    session.press(key)
                    session.expect(shown)
                    found.append(ttybench.proc_cpu_ms(session.run.pid) - before_ms)
                    milliseconds(session, "escape", shown, is_gone=True)
            now, earlier = (sum(found[1:]) for found in taken)
            yield f"{shown!r} opens: CPU, beside the earlier", now / earlier, 1.25, 1.0


def _search(url: str, home: Path) -> Iterator[Row]:
    with closing(open_session(url, home, "page 1 of", "--lock", str(LOCK))) as session:
        session.press(f"/,text:{MANY_REMOTES - 1}")
        shown = f"of {MANY_REMOTES:,} match"  # before the end: "matches in the first ..."
        taken_s = milliseconds(session, "enter", shown, look_s=0.2) / 1000
        yield f"{MANY_REMOTES // 200:,} pages searched: s", taken_s, 12, 8


def open_session(
    url: str, home: Path, shown: str, *options: str, tree: Path | None = None
) -> Session:
    """Return a session in a home of its own, once it shows something.

    Args:
        url: The service.
        home: A directory for what lockterm keeps.
        shown: The text to wait for.
        options: Options of the command.
        tree: The checkout of the lockterm to run; None for the installed one.

    Raises:
        AssertionError: It never did: its start would have the CPU time of two minutes.
    """
    _store(url, home).close()
    command = [sys.executable, "-m", "lockterm", *options]
    case = {"name": "growth", "cmd": command, "until": shown, "env": environment(home)}
    session = Session(case | {"cwd": tree and str(tree)})
    assert session.start["ok"], session.text()
    session.run.key_timeout_s = 0.4  # for keys that paint nothing
    return session


def _store(url: str, home: Path) -> Database:
    """The local store of the profile that a session in this home is on."""
    places = environment(home)
    config = Path(places["XDG_CONFIG_HOME"], APP, "config.toml")
    config.parent.mkdir(parents=True, exist_ok=True)
    # Letters do nothing for a second after a form was closed; other keys do.
    keys = '[keys]\n"remotes.add" = "a,f2"\n'
    config.write_text(f'[profiles.{PROFILE}]\nbase_url = "{url}"\n{keys}')
    return Database(Path(places["XDG_STATE_HOME"], APP, "lockterm.db"))


def _fill_book(home: Path, url: str, count: int) -> None:
    with closing(_store(url, home)) as database, database.transaction():
        book = LockBook(database, PROFILE)
        for number in range(count):
            opened_ms = time.time_ns() // 10**6 - number * 10**7 if number % 2 else None
            book.save(
                Lock(1001 + number, f"Gate {number}", "North", "lumen", "L7", "", 3, opened_ms)
            )


def _fill_journal(home: Path, url: str, count: int) -> None:
    with closing(_store(url, home)) as database, database.transaction() as connection:
        connection.execute(OPERATIONS, {"many": count, "profile": PROFILE, "url": url})


def milliseconds(
    session: Session, key: str, shown: str, *, is_gone: bool = False, look_s: float = 0.002
) -> float:
    """How long it takes after a key until something is shown, or no longer.

    Looking for it takes time from a service that runs in this process: for what takes many seconds,
    look seldom.
    """
    begun = time.monotonic()
    os.write(session.run.fd, ttybench.key_bytes(key))
    while (shown in session.text()) is is_gone:
        session.run.pump(look_s)
        session.run.drain()
        assert time.monotonic() - begun < 120, session.text()
    return (time.monotonic() - begun) * 1000


def _opening_cpu_ms(session: Session, key: str, shown: str) -> float:
    """The CPU time from a key until a text of the screen that it opens is shown."""
    before = ttybench.proc_cpu_ms(session.run.pid)
    milliseconds(session, key, shown)
    return ttybench.proc_cpu_ms(session.run.pid) - before


def _slowest(rounds: Sequence[Sequence[float]]) -> float:
    """What the key takes that takes most: of each key in turn, the median of some sessions.

    Of one alone it would be what the machine did beside: one key in ten takes half as much again.
    """
    return max(map(statistics.median, zip(*rounds, strict=True)))


def _cpu_ms(session: Session, keys: Sequence[str]) -> list[float]:
    """The CPU time of each key, until the last of its bytes."""
    taken = []
    for key in keys:
        before = ttybench.proc_cpu_ms(session.run.pid)
        session.run.keys(key)
        taken.append(ttybench.proc_cpu_ms(session.run.pid) - before)
    return taken
