"""kill -9 at random moments of a session in a terminal: nothing applied is unknown, no draft old.

``--long-faults`` kills it 500 times.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from lockterm.models.operation import Operation, State
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from lockterm.store.drafts import Drafts
from lockterm.store.journal import Journal
from tests.terminal.pty_session import LOCKTERM, PtySession, clean_environment

KILLS = 8
LONG_KILLS = 500
LIFE_S = 10.0
"""The longest life: enough for a remote or two to be added."""
DRAFT_S = 2.0
"""How old a draft may be."""
DEALING_S = 1.0
"""From a key sent to a key dealt with, on a busy machine."""
EMPTY_LOCK = 1004


@dataclass
class Life:
    """What was typed into one session until it was killed."""

    names: list[str] = field(default_factory=list)
    """Names whose form was sent, perhaps."""
    typing: str = ""
    typed_at: list[float] = field(default_factory=list)
    """When each character of the name that is being typed was sent."""
    killed_at: float = 0.0

    def kill(self, pid: int) -> None:
        """End it."""
        self.killed_at = time.monotonic()
        os.kill(pid, signal.SIGKILL)


def live(session: PtySession, life: Life, seed: int) -> None:
    """Add remotes, one after the other, until the session ends."""
    pace_s = (0.02, 0.15)[seed % 2]  # fast, to be killed while sending; slow, while typing
    session.wait_for("No remotes on")
    for number in range(5):
        name = f"Night shift {seed}-{number} " + "x" * 20
        session.press("a")
        session.wait_for("Add a remote")
        life.typed_at.clear()
        life.typing = name
        for char in name:
            session.press(char)
            life.typed_at.append(time.monotonic())
            session.pump(pace_s)
        session.press("tab", f"K-{seed}-{number}", "tab", "right", "space")
        session.wait_for("Complete")
        session.send(b"\x13")  # ctrl+s
        session.wait_for("Keep editing")
        life.names.append(name)
        life.typing = ""
        while session.pump(0.2):  # the dialog takes no key before it was seen
            pass
        session.press("right", "enter")
        session.wait_for(r"updated")


@dataclass
class Left:
    """What a killed session left on disk, as the next one finds it."""

    operations: list[Operation]
    draft: str


def next_start(store: Path, profile: str) -> Left:
    if not store.exists():
        return Left([], "")
    connection = sqlite3.connect(store)
    with contextlib.closing(connection):
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    database = Database(store)
    journal = Journal(database, profile)
    journal.settle_orphans(lambda session: False, 1)
    drafts = [d for d in Drafts(database, profile).all() if d.form == "remote"]
    operations = journal.history()
    database.close()
    return Left(operations, drafts[0].typed.get("remoteName", "") if drafts else "")


def applied(service: RunningService) -> set[str]:
    query = {"lockId": EMPTY_LOCK, "pageNo": 1, "pageSize": 200}
    path = "/api/v1/bluetooth-remote/list"
    page = httpx.get(service.base_url + path, params=query, trust_env=False).json()
    return {remote["remoteName"] for remote in page["data"]["list"]}


def kill_once(service: RunningService, home: Path, seed: int) -> bool:
    """One life; whether it got as far as sending something."""
    before = applied(service)
    after_s = random.Random(seed).uniform(0.2, LIFE_S)
    command = [*LOCKTERM, "--base-url", service.base_url, "--lock", str(EMPTY_LOCK)]
    life = Life()
    with PtySession(command, clean_environment(home)) as session:
        timer = threading.Timer(after_s, life.kill, (session.pid,))
        timer.start()
        with contextlib.suppress(AssertionError, OSError):  # it ends amid whatever was waited for
            live(session, life, seed)
        timer.join()
        session.wait_exit()
    (store,) = [*home.rglob("lockterm.db")] or [home / "none"]
    left = next_start(store, service.base_url.removeprefix("http://"))
    new = applied(service) - before
    by_name = {operation.remote_name: operation.state for operation in left.operations}
    assert new <= set(by_name), (seed, "applied, and not in the journal")
    confirmed = {name for name, state in by_name.items() if state is State.CONFIRMED}
    assert confirmed <= new, (seed, "confirmed, and never applied")
    for name, state in by_name.items():
        assert state in (State.CONFIRMED, State.UNKNOWN, State.NOT_SENT), (seed, state)
        assert not (state is State.NOT_SENT and name in new), (seed, "applied, called not sent")
    safe = sum(at <= life.killed_at - DRAFT_S - DEALING_S for at in life.typed_at)
    if life.typing and life.typing not in by_name:
        assert left.draft.startswith(life.typing[:safe]), (seed, safe, left.draft)
    return bool(by_name)


def test_killed_at_random_moments(
    running_service: type[RunningService],
    tmp_path: Path,
    pytestconfig: pytest.Config,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kills = LONG_KILLS if pytestconfig.getoption("--long-faults") else KILLS
    service = running_service()
    sent = 0
    for seed in range(kills):
        home = tmp_path / f"home-{seed}"
        home.mkdir()
        sent += kill_once(service, home, seed)
    with capsys.disabled():
        print(f"\n{kills} kills in a terminal, {sent} of them after something was sent")
