"""Readings that look like proofs and are none: of another zone's time, of before the sending."""

from __future__ import annotations

import asyncio
import json
import math
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import NewRemote, RemoteChanges
from lockterm.errors import ResultUnknownError
from lockterm.operations import Operations
from lockterm.operations.proof import Horizon
from lockterm.service.running import RunningService
from lockterm.store.journal import Journal
from tests.api.fault_server import http
from tests.conftest import NOW_MS
from tests.faults.calls import id_of, new_remote
from tests.faults.catalogue import applied_unheard, close
from tests.faults.copies import Copies
from tests.faults.proxy import Exchange, FaultProxy
from tests.faults.site import Site, quick, verify_step
from tests.operations.virtual import VirtualTimer

HOUR_MS = 3_600_000


@dataclass
class Behind:
    """A lock whose reads come from copies that are behind, on a virtual clock."""

    site: Site
    proxy: FaultProxy
    operations: Operations
    timer: VirtualTimer
    copies: Copies

    @property
    def lock_id(self) -> int:
        return self.copies.lock_id

    @property
    def first(self) -> Remote:
        """A remote as the service has it."""
        return Remote.read(self.copies.truth[0])

    async def last(self) -> Operation:
        return (await self.operations.journal.history())[-1]


@pytest.fixture
def behind(running_service: Callable[..., RunningService], tmp_path: Path):
    """Such a lock; its copies are that many seconds behind."""
    timer = VirtualTimer()

    def service_ms() -> int:
        return NOW_MS + int(timer.now_s() * 1000)

    @asynccontextmanager
    async def begin(lag_s: float, *, reads_back: bool = True) -> AsyncIterator[Behind]:
        site = Site(running_service(sample_data=False, clock=service_ms), tmp_path)
        copies = Copies(site, site.new_lock(), timer, service_ms, Random(1), lag_s=(lag_s,))
        with quick():
            async with (
                site.proxy() as proxy,
                site.operations(proxy, reads_back=reads_back) as operations,
            ):
                operations.clock.wall = lambda: service_ms() / 1000
                operations.clock.steady = timer.now_s
                operations.watch.timer, operations.watch.horizon = timer, Horizon()
                copies.note()
                await timer.pass_s(1000)
                copies.stand_before(proxy)
                yield Behind(site, proxy, operations, timer, copies)

    return begin


@pytest.mark.parametrize("zone_h", [0, 8, -5])
async def test_a_time_in_another_zone_proves_nothing(behind, zone_h: int):
    async with behind(0.0) as case:
        remote = case.first

        async def lose(exchange: Exchange) -> None:
            case.copies.lag_s = (60.0,)
            exchange.reset()

        def note() -> None:
            """As if each time were written down in another zone."""
            case.copies.note()
            for record in case.copies.truth:
                record["updateTime"] += zone_h * HOUR_MS

        for name in ("Old name", "New name"):
            await case.timer.pass_s(400)
            ids = {"lockId": case.lock_id, "remoteId": remote.id}
            case.site.ask("bluetooth-remote/update", **ids, remoteName=name)
            note()
        await case.timer.pass_s(20)
        case.proxy.arm("update", lose, 1)
        back = RemoteChanges(remote_name="Old name")
        with pytest.raises(ResultUnknownError):
            await case.operations.writes.update_remote(
                case.lock_id, id_of(remote), back, case.first
            )
        await verify_step(case.operations)
        assert (await case.last()).state is OperationState.NOT_SEEN


async def test_the_time_of_attempts_that_did_not_leave_is_not_counted(behind):
    async with behind(59.0, reads_back=False) as case:

        async def leave_late(exchange: Exchange) -> None:
            await case.timer.pass_s(20)
            await exchange.apply()
            case.copies.note()
            exchange.reset()

        case.proxy.arm("add", leave_late, 1)
        with pytest.raises(ResultUnknownError):
            await case.operations.writes.add_remote(new_remote(case.lock_id))
        seen = await case.operations.watch.until_proven(await case.last(), 90)
        assert seen.state is OperationState.CONFIRMED_BY_READING
        assert seen.remote_id == case.copies.truth[-1]["id"]


async def test_an_answer_that_took_longer_than_a_later_reading_proves_nothing(behind):
    """There, and gone by two readings, of which the first began before."""
    async with behind(0.0) as case:
        watch, remotes = case.operations.watch, case.operations.remotes
        # Else an empty list proves nothing: what else is on the lock was not read.
        remotes.known.note(case.lock_id, [], is_whole=True)
        case.proxy.arm("delete", close, 1)
        watch.start = lambda: None
        with pytest.raises(ResultUnknownError):
            await case.operations.writes.delete_remote(case.lock_id, case.first)
        lost, whole = await case.last(), remotes.whole
        begun, gate = asyncio.Event(), asyncio.Event()

        async def slowly(*args: Any, **options: Any) -> list[Remote]:
            begun.set()
            await gate.wait()
            return await whole(*args, **options)

        await case.timer.pass_s(70)
        remotes.whole = slowly
        slow = asyncio.create_task(watch.check(lost))
        await begun.wait()
        remotes.whole = whole
        await case.timer.pass_s(16)
        assert (await watch.check(lost)).state is OperationState.NOT_SEEN
        case.copies.empty = (0.0, math.inf)
        gate.set()
        await slow
        await case.timer.pass_s(1)
        assert (await watch.check(lost)).state is OperationState.UNKNOWN
        await case.timer.pass_s(15)
        assert (await watch.check(lost)).state is OperationState.CONFIRMED_BY_READING


@pytest.mark.parametrize("is_applied", [True, False])
async def test_an_id_that_a_colleague_has_set_free_is_known_again(behind, is_applied: bool):
    """Both adds are alike, and nothing in the journal has the creation time of the first."""
    async with behind(0.0) as case:
        request, seen = new_remote(case.lock_id), set()
        first_id = await case.operations.writes.add_remote(request)
        case.copies.note()
        await case.timer.pass_s(200)
        case.site.ask("bluetooth-remote/delete", remoteId=first_id)
        case.copies.note()
        await case.timer.pass_s(10)

        async def lose(exchange: Exchange) -> None:
            if is_applied:
                added = json.loads((await exchange.apply()).body)["data"]["remoteId"]
                with case.site.service.app.state.site.database.writing() as db:
                    db.execute("UPDATE remote SET id = ? WHERE id = ?", (first_id, added))
                case.copies.note()
            case.copies.lag_s = (60.0,)
            exchange.reset()

        def look() -> None:
            if (row := rows.history()[-1]).state is OperationState.CONFIRMED_BY_READING:
                seen.add(row.remote_id)
                assert first_id in [one["id"] for one in case.copies.truth]

        rows = Journal(case.operations.journal.database, case.operations.profile.name)
        case.operations.journal.on_change = look
        case.proxy.arm("add", lose, 1)
        with pytest.raises(ResultUnknownError):
            await case.operations.writes.add_remote(request)
        await verify_step(case.operations)
        last = await case.last()
        assert last.state is (
            OperationState.CONFIRMED_BY_READING if is_applied else OperationState.NOT_SEEN
        )
        assert seen == ({first_id} if is_applied else set())


async def test_a_damaged_entry_does_not_keep_others_from_being_read_back(site: Site):
    lock_id, store = site.new_lock(), site.new_store()
    first, second, _ = site.remotes(lock_id)
    async with site.proxy() as proxy:
        async with site.operations(proxy, store) as operations:
            operations.watch.start = lambda: None  # type: ignore[method-assign]
            for one in (first, second):
                proxy.arm("delete", applied_unheard, 1)
                with pytest.raises(ResultUnknownError):
                    await operations.writes.delete_remote(lock_id, one)
        with sqlite3.connect(store) as connection:
            connection.execute("UPDATE operations SET body = substr(body, 1, 5) WHERE seq = 1")
        connection.close()
        async with site.operations(proxy, store) as operations:
            operations.watch.timer = VirtualTimer()
            operations.watch.start()
            await verify_step(operations)
            states = [one.state for one in await operations.journal.history()]
            assert states == [OperationState.DAMAGED, OperationState.CONFIRMED_BY_READING]


async def test_null_for_no_weekdays_is_as_the_contract_has_it(site: Site):
    lock_id = site.new_lock(0)

    async def with_nulls(exchange: Exchange) -> None:
        answer = json.loads((await exchange.apply()).body)
        shown = answer["data"].get("list", [answer["data"]])
        for record in shown:
            record |= {name: record[name] or None for name in ("weekDay", "startDate", "endDate")}
        await exchange.send(http(json.dumps(answer), 200, "Content-Type: application/json"))

    async with site.proxy() as proxy, site.operations(proxy) as operations:
        operations.watch.timer = VirtualTimer()
        for call in ("list", "detail"):
            proxy.arm(call, with_nulls)
        proxy.arm("add", applied_unheard, 1)
        permanent = NewRemote(
            lock_id=lock_id, remote_name="P", remote_number="P-1", remote_type=1, add_type=1,
            start_ms=0, end_ms=0, week_day=[],
        )  # fmt: skip
        with pytest.raises(ResultUnknownError):
            await operations.writes.add_remote(permanent)
        await verify_step(operations)
        (added,) = await operations.journal.history()
        remote_id = proxy.applied("add")[-1].data["remoteId"]
        assert (added.state, added.remote_id) == (OperationState.CONFIRMED_BY_READING, remote_id)

        (shown,) = await operations.remotes.all(lock_id)
        recurring = RemoteChanges(remote_type=4, start_ms=1, end_ms=2, week_day=[1])
        await operations.writes.update_remote(lock_id, remote_id, recurring, shown)
        shown = await operations.remotes.detail(remote_id)
        proxy.arm("update", applied_unheard, 1)
        back = RemoteChanges(remote_type=1, start_ms=0, end_ms=0, week_day=[])
        with pytest.raises(ResultUnknownError):
            await operations.writes.update_remote(lock_id, remote_id, back, shown)
        await verify_step(operations)
        last = (await operations.journal.history())[-1]
        assert last.state is OperationState.CONFIRMED_BY_READING, last.message
