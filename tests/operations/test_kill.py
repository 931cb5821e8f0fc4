"""kill -9 at every step of a write: what was applied is known, what was told is there."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lockterm.domain.operation import IN_FLIGHT, Operation, OperationState
from tests.faults.cases import disagreements
from tests.faults.proxy import WRITES, Exchange, FaultProxy, Play
from tests.faults.site import Site, until, verify_step
from tests.long import sample, telling
from tests.operations.mortal import OWN_STEPS

ROOT = Path(__file__).parent.parent.parent
RANDOM_KILLS = 25
LONG_RANDOM_KILLS = 500


@dataclass
class Mortal:
    """A process whose lives end by ``kill -9``."""

    process: asyncio.subprocess.Process
    pid: int = 0
    told: list[dict[str, Any]] = field(default_factory=list)

    async def live(
        self, store: Path, proxy: FaultProxy, lock_id: int, calls: list[str], **how: Any
    ) -> int:
        """One life; returns its exit code."""
        life = {"store": str(store), "base_url": proxy.base_url, "lock_id": lock_id}
        life |= {"calls": calls, "die_at": "", "endless": False, "plan": ""} | how
        self.told.clear()
        self.pid = 0
        self.process.stdin.write(json.dumps(life).encode() + b"\n")
        while True:
            line = await asyncio.wait_for(self.process.stdout.readline(), 60)
            what = json.loads(line)
            self.told.append(what)
            self.pid = what.get("pid", self.pid)
            if "ended" in what:
                self.pid = 0
                return int(what["ended"])

    def kill(self) -> None:
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    @property
    def acknowledged(self) -> list[str]:
        """The operations that the person was told had worked."""
        return [what["id"] for what in self.told if "ack" in what]


@pytest.fixture
async def mortal() -> AsyncIterator[Mortal]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.operations.mortal",
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    yield Mortal(process)
    process.stdin.close()
    await asyncio.wait_for(process.communicate(), 20)  # read to its end, stdout is closed


async def rows_after(site: Site, proxy: FaultProxy, store: Path) -> list[Operation]:
    """What the next session finds, once the dead one's requests have all been dealt with."""
    await until(lambda: not proxy.open_connections)
    await proxy.heal()
    with contextlib.closing(sqlite3.connect(store)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    async with site.operations(proxy, store, name="mortal") as operations:
        await operations.journal.list_unconfirmed()
        found = await operations.journal.history()
        assert not [row for row in found if row.state in IN_FLIGHT]
        assert disagreements(found, proxy.ledger) == []
        operations.watch.start()
        await verify_step(operations)
        rows = await operations.journal.history()
        for row in await operations.journal.list_unconfirmed():  # else they hold back the next life
            await operations.resolution.give_up(row)
    assert disagreements(rows, proxy.ledger) == []
    return rows


SEEN_STEPS = (
    "connected",
    "some of it has left",
    "all of it has left",
    "applied",
    "amid the answer",
    "answered",
)
"""Steps of a write that the proxy sees."""


def killing_at(step: str, mortal: Mortal) -> Play:
    """A fault that kills at a step which the proxy sees."""

    async def play(exchange: Exchange) -> None:
        if step in ("connected", "some of it has left"):
            mortal.kill()
            return
        if step == "all of it has left":
            mortal.kill()
        await exchange.apply()
        good = exchange.good_bytes()
        if step in ("amid the answer", "answered"):
            cut = len(good) - 5 if step == "amid the answer" else len(good)
            await exchange.send(good[:cut])
        mortal.kill()

    play.at_accept = step == "connected"
    if step == "some of it has left":
        play.before_body = True
    return play


@pytest.mark.parametrize("call", telling(("add",), WRITES))
async def test_killed_at_every_step(
    site: Site, mortal: Mortal, call: str, request: pytest.FixtureRequest
):
    for name in [*OWN_STEPS, *SEEN_STEPS]:
        lock_id, store = site.new_lock(), site.new_store()
        async with site.proxy() as proxy:
            if name in SEEN_STEPS:
                play = killing_at(name, mortal)
                if play.at_accept:
                    # The first connection is for the reads; the write makes one of its own.
                    first = "list" if call != "add" else "checkRemoteName"

                    async def begin(proxy=proxy, play=play) -> None:
                        proxy.arm_accept(play)

                    proxy.after(first, begin)
                else:
                    proxy.arm(call, play)
            died_at = "" if name in SEEN_STEPS else name
            code = await mortal.live(store, proxy, lock_id, [call], die_at=died_at)
            if name != "answered":  # then it may have been quicker
                assert code == -signal.SIGKILL, name
            rows = await rows_after(site, proxy, store)
        states = {row.state for row in rows}
        if name == "before it is prepared":
            assert rows == []
        elif name in ("prepared", "sending, before it leaves"):
            assert states == {OperationState.NOT_SENT}
        elif name == "noted, before it is shown":
            assert states == {OperationState.CONFIRMED}
        else:
            assert len(rows) == 1 and states != {OperationState.REFUSED}
            assert states != {OperationState.NOT_SENT} or (name == "connected" and not proxy.ledger)
            unreadable = call in ("updateRemoteUserNo", "updateLockSetting")
            if proxy.ledger and not unreadable and code:
                proven = {OperationState.CONFIRMED_BY_READING, OperationState.CONFIRMED}
                assert states <= proven, name
        confirmed = {row.id for row in rows if row.state is OperationState.CONFIRMED}
        assert set(mortal.acknowledged) <= confirmed
    request.node.user_properties.append(("kills at a step", len([*OWN_STEPS, *SEEN_STEPS])))


@pytest.mark.long
@pytest.mark.sampled
async def test_killed_at_random_moments(
    site: Site, mortal: Mortal, long_faults: bool, request: pytest.FixtureRequest
):
    """A session that writes as fast as it can, killed and started again on the same store."""
    kills = LONG_RANDOM_KILLS if long_faults else len(sample(range(RANDOM_KILLS), 2))
    chance = random.Random(7)
    calls = ["add", "update", "add", "updateRemoteUserNo", "updateLockSetting", "delete"]
    acknowledged: set[str] = set()
    written = 0
    async with site.proxy() as proxy:
        for kill in range(kills):
            if kill % RANDOM_KILLS == 0:  # a long history would make each life do less
                lock_id, store = site.new_lock(), site.new_store()
                acknowledged.clear()
                proxy.ledger.clear()
            living = asyncio.create_task(mortal.live(store, proxy, lock_id, calls, endless=True))
            acks = chance.randrange(4)  # however long the machine takes for them
            await until(
                lambda acks=acks: mortal.pid and len(mortal.acknowledged) >= acks, within_s=60
            )
            await asyncio.sleep(chance.uniform(0, 0.05))  # the moment is what is tested
            mortal.kill()
            assert await living == -signal.SIGKILL
            acknowledged |= set(mortal.acknowledged)
            rows = await rows_after(site, proxy, store)
            confirmed = {row.id for row in rows if row.state is OperationState.CONFIRMED}
            assert acknowledged <= confirmed
            written += len(acknowledged)
    assert written > kills
    request.node.user_properties.append(("kills at random", kills))
