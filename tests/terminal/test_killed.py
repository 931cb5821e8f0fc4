"""kill -9 at random moments of a session in a terminal: nothing applied is unknown, no draft lost.

``--long-faults`` kills it 500 times.
"""

from __future__ import annotations

import contextlib
import json
import random
import signal
import sqlite3
import threading
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from lockterm.domain.operation import Operation, OperationState
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from lockterm.store.drafts import Drafts
from lockterm.store.journal import Journal
from tests.terminal.pty_session import LOCKTERM, PtySession, clean_environment

pytestmark = pytest.mark.long

KILLS = 8
LONG_KILLS = 500
LIFE_S = 10.0
"""The longest life: enough for a remote or two to be added."""
FIRST_LOCK = 20_001
"""Each life has a lock of its own: what it sent last may be applied when the next one begins."""


@dataclass
class Life:
    """What was typed into one session until it was killed."""

    names: list[str] = field(default_factory=list)
    """Names whose form was sent, perhaps."""
    typing: str = ""
    kept: str = ""
    """What was last seen on disk of the name that is being typed."""


def name_on_disk(home: Path) -> str:
    """The name in the draft of the form, as it is on disk now."""
    with contextlib.closing(sqlite3.connect(stored_in(home), timeout=60)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'drafts'").fetchall():
            return ""  # the store is still being made
        rows = connection.execute("SELECT typed FROM drafts WHERE form = 'remote'").fetchall()
    return str(json.loads(rows[0][0]).get("remoteName", "")) if rows else ""


def stored_in(home: Path) -> Path:
    return next(home.rglob("lockterm.db"), home / "none")


def live(session: PtySession, life: Life, seed: int, home: Path) -> None:
    """Add remotes, one after the other, until the session ends."""
    pace_s = (0.02, 0.15)[seed % 2]  # fast, to be killed while sending; slow, while typing
    session.wait_for("No remotes on")
    for number in range(5):
        name = f"Night shift {seed}-{number} " + "x" * 20
        session.press("a", seen="Add a remote")
        life.typing, life.kept = name, ""
        for char in name:
            session.press(char)
            session.pump(pace_s)
            kept = name_on_disk(home)
            if name.startswith(kept):  # else it is that of the remote before
                life.kept = kept
        if seed % 2:
            session.wait_until(lambda name=name: name_on_disk(home) == name, "all of it on disk")
            life.kept = name
        session.press("tab", f"K-{seed}-{number}", "tab", "space", seen="Ready")
        session.send(b"\x13")  # ctrl+s
        session.wait_for("Keep editing")
        life.names.append(name)
        life.typing = life.kept = ""
        while session.pump(0.2):  # the dialog takes no key before it was seen
            pass
        session.press("right", "enter", seen=r"updated")


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


def applied(service: RunningService, lock_id: int) -> set[str]:
    query = {"lockId": lock_id, "pageNo": 1, "pageSize": 200}
    path = "/api/v1/bluetooth-remote/list"
    page = httpx.get(service.base_url + path, params=query, trust_env=False, verify=False).json()
    return {remote["remoteName"] for remote in page["data"]["list"]}


def kill_once(service: RunningService, home: Path, seed: int) -> bool:
    """One life; whether it got as far as sending something."""
    lock_id = FIRST_LOCK + seed
    after_s = random.Random(seed).uniform(0.2, LIFE_S)
    command = [*LOCKTERM, "--base-url", service.base_url, "--lock", str(lock_id)]
    life = Life()
    with PtySession(command, clean_environment(home)) as session:
        timer = threading.Timer(after_s, session.kill, (signal.SIGKILL,))
        timer.start()
        with contextlib.suppress(AssertionError, OSError):  # it ends amid whatever was waited for
            live(session, life, seed, home)
        timer.join()
        session.wait_exit()
    left = next_start(stored_in(home), service.base_url.removeprefix("http://"))
    new = applied(service, lock_id)
    by_name = {operation.remote_name: operation.state for operation in left.operations}
    assert new <= set(by_name), (seed, "applied, and not in the journal")
    confirmed = {name for name, state in by_name.items() if state is OperationState.CONFIRMED}
    assert confirmed <= new, (seed, "confirmed, and never applied")
    for name, state in by_name.items():
        assert state in (
            OperationState.CONFIRMED,
            OperationState.UNKNOWN,
            OperationState.NOT_SENT,
        ), (seed, state)
        assert not (state is OperationState.NOT_SENT and name in new), (
            seed,
            "applied, called not sent",
        )
    if life.typing and life.typing not in by_name:
        assert left.draft.startswith(life.kept), (seed, life.kept, left.draft)
    return bool(by_name)


def test_killed_at_random_moments(
    running_service: type[RunningService],
    tmp_path: Path,
    pytestconfig: pytest.Config,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kills = LONG_KILLS if pytestconfig.getoption("--long-faults") else KILLS
    service = running_service(sample_data=False)
    sent = 0
    for seed in range(kills):
        home = tmp_path / f"home-{seed}"
        home.mkdir()
        sent += kill_once(service, home, seed)
    with capsys.disabled():
        print(f"\n{kills} kills in a terminal, {sent} of them after something was sent")
