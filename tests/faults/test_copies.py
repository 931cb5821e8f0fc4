"""Stale, late, shifting, reused: no verdict from what copies show is ever false.

Every case loses the answer of a write that can be read back, over real HTTP to the real service,
while its reads are answered from copies that are up to 60 s behind, in turn; the ledger of the
proxy knows the truth. The watch runs on a virtual clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from lockterm.api import writes
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import RemoteChanges
from lockterm.errors import LocktermError, ResultUnknownError
from lockterm.operations import Operations
from lockterm.operations.proof import Horizon
from lockterm.operations.sending import Order
from lockterm.service.running import RunningService
from lockterm.store.journal import Journal
from tests.conftest import NOW_MS
from tests.faults.calls import new_remote
from tests.faults.copies import Copies
from tests.faults.proxy import Exchange, FaultProxy, decoded
from tests.faults.site import Site, quick, verify_step
from tests.long import telling
from tests.operations.virtual import VirtualTimer

CALLS = ("add", "update", "delete", "clear")
LAGS = ((60.0,), (30.0,), (60.0, 20.0), (0.0, 60.0), (5.0,), (0.0,))
FATES = ("never", "never", "at once", "late", "very late")
TROUBLES = ("none", "empty for a moment", "shifting", "reused id")

PLAIN, PARTS = 16, 11
"""Cases of each call in a part, and parts; all cases together are more than 500."""


@dataclass
class Case:
    """One lost write, and what the copies make of it."""

    site: Site
    timer: VirtualTimer
    call: str
    seed: int

    def __post_init__(self) -> None:
        self.chance = Random(f"{self.call} {self.seed}")
        self.lag_s = LAGS[self.seed // 2 % len(LAGS)]
        self.fate = FATES[self.seed % len(FATES)]
        self.trouble = self.chance.choice(TROUBLES)
        self.wrong: list[str] = []

    def service_ms(self) -> int:
        return NOW_MS + int(self.timer.now_s() * 1000)

    async def run(self) -> list[str]:
        lock_id = self.site.new_lock(self.chance.choice((0, 1, 2, 3)))
        async with self.site.proxy() as proxy, self.site.operations(proxy) as operations:
            operations.watch.timer, operations.watch.horizon = self.timer, Horizon()
            self.copies = Copies(self.site, lock_id, self.timer, self.service_ms, self.chance)
            self.copies.lag_s = self.lag_s
            self.copies.note()
            await self.timer.pass_s(1000)
            self.copies.stand_before(proxy)
            await self._play(operations, proxy, lock_id)
        about = f"{self.call} {self.seed}: {self.fate}, {self.lag_s}, {self.trouble}"
        return [f"{about}: {one}" for one in self.wrong]

    async def _play(self, operations: Operations, proxy: FaultProxy, lock_id: int) -> None:
        copies, chance = self.copies, self.chance
        target = Remote.read(copies.truth[0] if copies.truth else {})
        if (
            target.id is None or chance.random() < 0.7
        ):  # added a moment ago: old copies are without it
            new_id = await operations.writes.add_remote(new_remote(lock_id, "Young", "Y-1"))
            copies.note()
            target = next(Remote.read(one) for one in copies.truth if one["id"] == new_id)
            await self.timer.pass_s(chance.uniform(0, 25))
        if chance.random() < 0.7:  # renamed a moment ago: old copies have the name of before
            await operations.writes.update_remote(
                lock_id, target.id or 0, RemoteChanges(remote_name="Meanwhile"), target
            )
            copies.note()
            await self.timer.pass_s(chance.uniform(0, 25))
        old_name = target.remote_name
        target = next(Remote.read(one) for one in copies.truth if one["id"] == target.id)
        wanted = old_name if target.remote_name != old_name else "Other"
        backup = list(copies.truth)
        begun_s = self.timer.now_s()
        moment = begun_s + chance.uniform(0, 100)
        if self.trouble == "empty for a moment":
            copies.empty = (moment, moment + 14)
        elif self.trouble == "shifting":
            copies.shifting = (moment, moment + 14)
        proxy.arm(self.call, self._lose(proxy), 1)
        work: dict[str, Callable[[], Any]] = {
            "add": lambda: operations.writes.add_remote(new_remote(lock_id, "New fob")),
            "update": lambda: operations.writes.update_remote(
                lock_id, target.id or 0, RemoteChanges(remote_name=wanted), target
            ),
            "delete": lambda: operations.writes.delete_remote(lock_id, target),
            "clear": lambda: self._clear(operations, lock_id, backup),
        }
        operations.journal.on_change = lambda: self._look(operations, backup)
        sent = proxy.asked.count(self.call)
        try:
            await work[self.call]()
            self.wrong.append("it had an answer")
        except ResultUnknownError:
            pass
        except LocktermError as error:
            self.wrong.append(f"not sent: {error!r}")
            return
        self.lost = (await operations.journal.history())[-1].id
        operations.watch.start()
        await verify_step(operations)
        row = await operations.journal.find(self.lost)
        self._judge(row, backup)
        if self.timer.now_s() - begun_s > 1100:
            self.wrong.append("looked at for too long")
        if proxy.asked.count(self.call) != sent + 1:
            self.wrong.append("sent again")
        if len(proxy.applied(self.call)) > sent + (self.fate != "never"):
            self.wrong.append("doubled")
        self._judge_end(row, backup, lock_id)

    async def _clear(self, operations: Operations, lock_id: int, backup: list[Any]) -> None:
        """The list may well be refused as a backup; then the clear is sent with what there is."""
        order = Order(writes.clear_remotes(lock_id), lock_id, before=tuple(backup))
        await operations.sender.send(order)

    def _lose(self, proxy: FaultProxy) -> Any:
        async def apply(exchange: Exchange) -> None:
            await exchange.apply()
            if self.trouble == "reused id":
                self._give_the_id_away(exchange)
            self.copies.note()

        async def play(exchange: Exchange) -> None:
            delay_s = {"late": self.chance.uniform(4, 20), "very late": 200.0}.get(self.fate)
            if self.fate == "at once":
                await apply(exchange)
            elif delay_s is not None:
                self.timer.at(self.timer.now_s() + delay_s, lambda: apply(exchange))
            exchange.reset()

        return play

    def _give_the_id_away(self, exchange: Exchange) -> None:
        """The next remote gets the id of the deleted one, as services do that count the rows."""
        lock_id = self.copies.lock_id
        if self.call == "delete":
            old = int(decoded(exchange)["remoteId"])
            request = new_remote(lock_id, "Next", "X-1").body()
            new_id = self.site.ask("bluetooth-remote/add", **request)["remoteId"]
            with self.site.service.app.state.site.database.writing() as db:
                db.execute("UPDATE remote SET id = ? WHERE id = ?", (old, new_id))

    # --- what is true ------------------------------------------------------------------------

    def _look(self, operations: Operations, backup: list[dict[str, Any]]) -> None:
        """Whatever the journal says at any time has to be true then."""
        row = Journal(operations.journal.database, operations.profile.name).history()[-1]
        if row.call == self.call:
            self._judge(row, backup)

    def _judge(self, row: Operation, backup: list[dict[str, Any]]) -> None:
        now = {record["id"]: record for record in self.copies.truth}
        false = False
        if row.state is OperationState.CONFIRMED_BY_READING:
            if row.call == "add":
                false = now.get(row.remote_id, {}).get("remoteName") != "New fob"
            elif row.call == "update":
                name = now.get(row.remote_id, {}).get("remoteName")
                false = name != row.body["remoteName"]
            else:
                ids = [row.remote_id] if row.call == "delete" else [one["id"] for one in backup]
                born = {one["id"]: one["createTime"] for one in backup}
                false = any(one in now and now[one]["createTime"] == born[one] for one in ids)
        elif row.state is OperationState.AMBIGUOUS:
            false = not all(
                now.get(one, {}).get("remoteName") == "New fob" for one in row.candidates
            )
        elif row.state in (
            OperationState.CONFIRMED,
            OperationState.REFUSED,
            OperationState.NOT_SENT,
        ):
            false = True
        if false:
            self.wrong.append(f"false {row.state} at {self.timer.now_s():.0f} s: {row.message}")

    def _judge_end(self, row: Operation, backup: list[dict[str, Any]], lock_id: int) -> None:
        """Once copies have caught up there is a verdict."""
        expected = {
            OperationState.NOT_SEEN if self.fate == "never" else OperationState.CONFIRMED_BY_READING
        }
        if self.trouble == "reused id" and row.call == "delete" and self.fate != "never":
            expected = {OperationState.CONFLICT}  # its id is another remote's now: a person looks
        if row.state not in expected:
            self.wrong.append(f"ends as {row.state}: {row.message}")


@pytest.fixture
def timed_site(running_service: Callable[..., RunningService], tmp_path: Any) -> Any:
    timer = VirtualTimer()
    clock = lambda: NOW_MS + int(timer.now_s() * 1000)  # noqa: E731
    with quick():
        yield Site(running_service(sample_data=False, clock=clock), tmp_path), timer


@pytest.mark.parametrize("first", telling((0,), range(0, PLAIN * PARTS, PLAIN)))
@pytest.mark.parametrize("call", telling(("add",), CALLS))
async def test_no_copy_makes_a_verdict_false(timed_site: Any, call: str, first: int):
    site, timer = timed_site
    problems = []
    for seed in range(first, first + PLAIN):
        try:
            problems += await Case(site, timer, call, seed).run()
        except Exception as error:
            problems.append(f"{call} {seed}: {error!r}")
    assert not problems, "\n".join([f"{len(problems)} problems", *problems])
