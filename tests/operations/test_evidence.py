"""What proves that a write was recorded, and readings that look like proofs and are none."""

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

from lockterm.config import Profile
from lockterm.domain.locks import Lock
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import NewRemote, RemoteChanges
from lockterm.errors import ResultUnknownError
from lockterm.operations import Operations
from lockterm.operations.proof import Horizon, judge_add
from lockterm.service.running import RunningService
from lockterm.store.cache import Cache
from lockterm.store.journal import Journal
from tests.conftest import NOW_MS
from tests.faults.calls import id_of, new_remote
from tests.faults.catalogue import applied_unheard, close, stalled
from tests.faults.copies import Copies
from tests.faults.proxy import Exchange, FaultProxy, Play
from tests.faults.site import Site, quick, verify_step
from tests.operations.bench import Bench, Gate, lose, read_nothing_back, shows
from tests.operations.test_proof import operation
from tests.operations.virtual import VirtualTimer

HOUR_MS = 3_600_000
PROVEN, AMBIGUOUS = OperationState.CONFIRMED_BY_READING, OperationState.AMBIGUOUS
NOT_SEEN, UNKNOWN = OperationState.NOT_SEEN, OperationState.UNKNOWN


async def lose_add(
    operations: Operations, proxy: FaultProxy, lock_id: int, play: Play = applied_unheard
) -> Operation:
    """Lose the answer of an add, which is read back by hand alone."""
    read_nothing_back(operations)
    adding = operations.writes.add_remote(new_remote(lock_id))
    return await lose(operations, proxy, "add", adding, play)


# --- an add: one new remote that is equal in every field it sent ----------------------------------


@pytest.fixture
async def added(bench: Bench) -> Operation:
    """An add that the service has recorded, and whose answer was lost."""
    return await lose_add(bench.operations, bench.proxy, bench.lock_id)


@pytest.mark.parametrize(
    ("created", "state"),
    [
        (NOW_MS, PROVEN),
        (NOW_MS - 4_000, PROVEN),  # the clocks of two machines
        (NOW_MS - 30_000, AMBIGUOUS),  # somebody else's, or the list is old
        (NOW_MS + HOUR_MS, AMBIGUOUS),  # written down in another zone
        (NOW_MS // 1000, AMBIGUOUS),  # not in milliseconds
        (None, AMBIGUOUS),
    ],
)
async def test_check_records_an_add_when_it_was_created_after_the_sending(
    bench: Bench, added: Operation, created: int | None, state: OperationState
) -> None:
    bench.proxy.arm("list", shows(lambda record: record.update(createTime=created)))
    seen = await bench.watch.check(added)
    assert seen.state is state, seen.message
    assert bench.remotes[-1].id in (seen.remote_id, *seen.candidates)


@pytest.mark.parametrize("is_later", [False, True])
async def test_check_records_an_add_by_its_id_when_the_list_before_was_without_it(
    site: Site, tmp_path: Any, is_later: bool
) -> None:
    """A list that was read after the sending is no evidence."""
    lock_id = site.new_lock()
    async with site.proxy() as proxy:
        profile = Profile(name="kept", base_url=proxy.base_url)
        cache = Cache(tmp_path / "answers.db", profile)
        operations = Operations(profile, site.new_store(), open_cache=lambda: cache)

        async def read() -> None:
            async for _ in operations.all_locks.read(locks=[Lock(lock_id)]):
                pass

        try:
            if not is_later:
                await read()
            lost = await lose_add(operations, proxy, lock_id)
            if is_later:
                await read()
            proxy.arm("list", shows(lambda record: record.update(createTime=None)))
            seen = await operations.watch.check(lost)
            assert seen.state is (AMBIGUOUS if is_later else PROVEN), seen.message
        finally:
            await operations.close()


async def test_check_leaves_two_equal_remotes_to_a_person(bench: Bench) -> None:
    bench.watch.horizon = Horizon()
    lost = await lose_add(bench.operations, bench.proxy, bench.lock_id)
    new = bench.remotes[-1]

    def twin(record: dict[str, Any]) -> None:
        record.update({**new.raw, "id": record["id"]})

    bench.proxy.arm("list", shows(twin))
    seen = await bench.watch.check(lost)
    assert seen.state is AMBIGUOUS and len(seen.candidates) == 4
    await bench.proxy.heal()
    seen = await bench.watch.check(seen)
    assert seen.state is AMBIGUOUS, "a copy that is behind hides no candidate"


async def test_check_leaves_a_remote_that_differs_to_a_person(
    bench: Bench, added: Operation
) -> None:
    bench.site.alter_newest(bench.lock_id)
    seen = await bench.watch.check(added)
    assert seen.state is AMBIGUOUS and "addType" in seen.message
    bound = await bench.resolution.bind(seen, seen.candidates[0])
    assert bound.remote_id == bench.remotes[-1].id


async def test_check_proves_nothing_while_the_add_is_sent_again(bench: Bench) -> None:
    """What is there may be the second one, and the first may still land."""
    lost = await lose_add(bench.operations, bench.proxy, bench.lock_id, stalled)
    lost, gate = await bench.journal.resolve(lost, state=NOT_SEEN), Gate(is_applied=True)
    bench.proxy.arm("add", gate, 1)
    again = asyncio.create_task(bench.resolution.send_again(lost))
    while not gate.waiting:
        await asyncio.sleep(0.005)
    seen = await bench.watch.check(lost)
    assert seen.state is not PROVEN and "sent again" in seen.message
    gate.open.set()
    await again
    assert await bench.states() == [OperationState.SENT_AGAIN, OperationState.CONFIRMED]


async def test_check_records_a_late_landing_when_it_was_not_sent_again(bench: Bench) -> None:
    lost = await lose_add(bench.operations, bench.proxy, bench.lock_id, stalled)
    lost = await bench.journal.resolve(lost, state=NOT_SEEN)
    await bench.proxy.land()
    seen = await bench.watch.check(lost)
    assert (seen.state, seen.remote_id) == (PROVEN, bench.remotes[-1].id)


@pytest.mark.parametrize(
    ("shown", "is_equal"),
    [
        ({}, True),
        ({"isCoerced": None, "extraData": None}, True),
        ({"isCoerced": 1}, False),
        ({"extraData": {"dept": "other"}}, False),
        ({"mac": "AA:AA:AA:00:00:02"}, False),
        ({"weekDay": [1, 5]}, True),
        ({"weekDay": [1]}, False),
        ({"addType": 2}, False),
    ],
)
def test_judge_add_compares_every_field_that_was_sent(
    shown: dict[str, Any], is_equal: bool
) -> None:
    listed = {
        **{"lockId": 1, "remoteName": "A", "remoteNumber": "1", "remoteType": 4, "addType": 1},
        **{"startDate": 5, "endDate": 9, "weekDay": [5, 1], "isCoerced": 0, "extraData": {}},
    }
    remote = Remote.read({"id": 7, **listed, **shown})
    body = {**listed, "mac": "AA:AA:AA:00:00:01"}
    verdict = judge_add(operation("add", UNKNOWN, 0, body=body), [remote], (), {7: True})
    assert (verdict.state is PROVEN) is is_equal
    assert verdict.remote_id == (7 if is_equal else None)


async def test_null_for_no_weekdays_is_as_the_contract_has_it(site: Site):
    lock_id, dates = site.new_lock(0), ("weekDay", "startDate", "endDate")
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        operations.watch.timer = VirtualTimer()
        nulls = shows(lambda record: record.update({name: record[name] or None for name in dates}))
        for call in ("list", "detail"):
            proxy.arm(call, nulls)
        permanent = NewRemote(
            lock_id=lock_id, remote_name="P", remote_number="P-1", remote_type=1, add_type=1,
            start_ms=0, end_ms=0, week_day=[],
        )  # fmt: skip
        writes = operations.writes
        adding = writes.add_remote(permanent)
        added = await lose(operations, proxy, "add", adding, applied_unheard)
        remote_id = proxy.applied("add")[-1].data["remoteId"]
        assert (added.state, added.remote_id) == (PROVEN, remote_id)

        (shown,) = await operations.remotes.all(lock_id)
        recurring = RemoteChanges(remote_type=4, start_ms=1, end_ms=2, week_day=[1])
        await writes.update_remote(lock_id, remote_id, recurring, shown)
        shown = await operations.remotes.detail(remote_id)
        back = RemoteChanges(remote_type=1, start_ms=0, end_ms=0, week_day=[])
        changing = writes.update_remote(lock_id, remote_id, back, shown)
        last = await lose(operations, proxy, "update", changing, applied_unheard)
        assert last.state is PROVEN, last.message


# --- copies that are behind, of another zone's time, of before the sending ------------------------


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

    async def lose_from_old_copies(self, exchange: Exchange) -> None:
        """Lose a request, after which the copies are a minute behind."""
        self.copies.lag_s = (60.0,)
        exchange.reset()


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


async def test_check_is_not_deceived_when_an_old_copy_shows_what_a_colleague_deleted(behind):
    """Its like was added and deleted elsewhere; the add was lost, and a copy has the old one."""
    async with behind(0.0) as case:
        request = new_remote(case.lock_id)
        old = case.site.ask("bluetooth-remote/add", **request.body())["remoteId"]
        case.copies.note()
        await case.timer.pass_s(20)
        case.site.ask("bluetooth-remote/delete", remoteId=old)
        case.copies.note()
        await case.timer.pass_s(1)

        async def lose(exchange: Exchange) -> None:
            case.copies.lag_s = (10.0,)
            exchange.reset()

        lost = await lose_add(case.operations, case.proxy, case.lock_id, lose)
        seen = await case.operations.watch.check(lost)
        assert seen.state is not PROVEN
        await case.timer.pass_s(61)
        for _ in range(2):
            seen = await case.operations.watch.check(seen)
            await case.timer.pass_s(16)
        assert seen.state is NOT_SEEN


@pytest.mark.parametrize("zone_h", [0, 8, -5])
async def test_a_time_in_another_zone_proves_nothing(behind, zone_h: int):
    async with behind(0.0) as case:
        remote = case.first
        for name in ("Old name", "New name"):
            await case.timer.pass_s(400)
            ids = {"lockId": case.lock_id, "remoteId": remote.id}
            case.site.ask("bluetooth-remote/update", **ids, remoteName=name)
            case.copies.note()
            for record in case.copies.truth:  # as if each time were written down in another zone
                record["updateTime"] += zone_h * HOUR_MS
        await case.timer.pass_s(20)
        case.proxy.arm("update", case.lose_from_old_copies, 1)
        back = RemoteChanges(remote_name="Old name")
        with pytest.raises(ResultUnknownError):
            await case.operations.writes.update_remote(
                case.lock_id, id_of(remote), back, case.first
            )
        await verify_step(case.operations)
        assert (await case.last()).state is NOT_SEEN


async def test_the_time_of_attempts_that_did_not_leave_is_not_counted(behind):
    async with behind(59.0, reads_back=False) as case:

        async def leave_late(exchange: Exchange) -> None:
            await case.timer.pass_s(20)
            await exchange.apply()
            case.copies.note()
            exchange.reset()

        lost = await lose_add(case.operations, case.proxy, case.lock_id, leave_late)
        seen = await case.operations.watch.until_proven(lost, 90)
        assert seen.state is PROVEN
        assert seen.remote_id == case.copies.truth[-1]["id"]


async def test_check_records_an_add_whose_answer_was_lost_a_minute_after_its_sending(behind):
    async with behind(0.0, reads_back=False) as case:

        async def lose_late(exchange: Exchange) -> None:
            await exchange.apply()
            case.copies.note()
            await case.timer.pass_s(60)
            exchange.reset()

        lost = await lose_add(case.operations, case.proxy, case.lock_id, lose_late)
        seen = await case.operations.watch.check(lost)
        assert seen.state is PROVEN, seen.message


async def test_an_answer_that_took_longer_than_a_later_reading_proves_nothing(behind):
    """There, and gone by two readings, of which the first began before."""
    async with behind(0.0) as case:
        watch, remotes = case.operations.watch, case.operations.remotes
        # Else an empty list proves nothing: what else is on the lock was not read.
        remotes.known.note(case.lock_id, [], is_whole=True)
        read_nothing_back(case.operations)
        case.proxy.arm("delete", close, 1)
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
        assert (await watch.check(lost)).state is NOT_SEEN
        case.copies.empty = (0.0, math.inf)
        gate.set()
        await slow
        await case.timer.pass_s(1)
        assert (await watch.check(lost)).state is UNKNOWN
        await case.timer.pass_s(15)
        assert (await watch.check(lost)).state is PROVEN


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
            await case.lose_from_old_copies(exchange)

        def look() -> None:
            if (row := rows.history()[-1]).state is PROVEN:
                seen.add(row.remote_id)
                assert first_id in [one["id"] for one in case.copies.truth]

        rows = Journal(case.operations.journal.database, case.operations.profile.name)
        case.operations.journal.on_change = look
        case.proxy.arm("add", lose, 1)
        with pytest.raises(ResultUnknownError):
            await case.operations.writes.add_remote(request)
        await verify_step(case.operations)
        assert (await case.last()).state is (PROVEN if is_applied else NOT_SEEN)
        assert seen == ({first_id} if is_applied else set())


async def test_a_damaged_entry_does_not_keep_others_from_being_read_back(bench: Bench):
    store = bench.journal.database.path
    read_nothing_back(bench.operations)
    for one in (bench.first, bench.second):
        await bench.lose("delete", applied_unheard, one)
    await bench.operations.close()
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE operations SET body = substr(body, 1, 5) WHERE seq = 1")
    connection.close()
    async with bench.site.operations(bench.proxy, store) as operations:
        operations.watch.timer = VirtualTimer()
        operations.watch.start()
        await verify_step(operations)
        states = [one.state for one in await operations.journal.history()]
        assert states == [OperationState.DAMAGED, PROVEN]
