"""What proves that an add was recorded: one new remote that is equal in every field it sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from lockterm.config import Profile
from lockterm.domain.locks import Lock
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.remotes import Remote
from lockterm.errors import ResultUnknownError
from lockterm.operations import Operations
from lockterm.operations.proof import Horizon
from lockterm.operations.readback import judge_add
from lockterm.store.cache import Cache
from tests.api.fault_server import http
from tests.conftest import NOW_MS
from tests.faults.calls import new_remote
from tests.faults.catalogue import applied_unheard, stalled
from tests.faults.proxy import Exchange, FaultProxy
from tests.faults.site import Site
from tests.operations.test_late_readings import Behind, behind
from tests.operations.test_proof import operation

__all__ = ["behind"]

HOUR_MS = 3_600_000


def shows(change: Callable[[dict[str, Any]], None]) -> Any:
    """A list whose remotes were changed on the way."""

    async def play(exchange: Exchange) -> None:
        answer = await exchange.apply()
        value = json.loads(answer.body)
        for record in value["data"]["list"]:
            change(record)
        date = next(
            line for line in answer.head.decode().split("\r\n") if line.lower().startswith("date")
        )
        await exchange.send(http(json.dumps(value), 200, date, "Content-Type: application/json"))

    return play


async def lose_add(operations: Operations, proxy: FaultProxy, lock_id: int, play: Any) -> Operation:
    operations.watch.start = lambda: None  # type: ignore[method-assign]
    proxy.arm("add", play, 1)
    with pytest.raises(ResultUnknownError):
        await operations.writes.add_remote(new_remote(lock_id))
    return (await operations.journal.history())[-1]


@pytest.mark.parametrize(
    ("created", "state"),
    [
        (NOW_MS, OperationState.CONFIRMED_BY_READING),
        (NOW_MS - 4_000, OperationState.CONFIRMED_BY_READING),  # the clocks of two machines
        (NOW_MS - 30_000, OperationState.AMBIGUOUS),  # somebody else's, or the list is old
        (NOW_MS + HOUR_MS, OperationState.AMBIGUOUS),  # written down in another zone
        (NOW_MS // 1000, OperationState.AMBIGUOUS),  # not in milliseconds
        (None, OperationState.AMBIGUOUS),
    ],
)
async def test_check_records_an_add_when_it_was_created_after_the_sending(
    site: Site, created: int | None, state: OperationState
) -> None:
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        lost = await lose_add(operations, proxy, lock_id, applied_unheard)
        proxy.arm("list", shows(lambda record: record.update(createTime=created)))
        seen = await operations.watch.check(lost)
        assert seen.state is state, seen.message
        new_id = proxy.ledger[-1].data["remoteId"]
        assert new_id in (seen.remote_id, *seen.candidates)


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
        try:
            if not is_later:
                async for _ in operations.everywhere.read(locks=[Lock(lock_id)]):
                    pass
            lost = await lose_add(operations, proxy, lock_id, applied_unheard)
            if is_later:
                async for _ in operations.everywhere.read(locks=[Lock(lock_id)]):
                    pass
            proxy.arm("list", shows(lambda record: record.update(createTime=None)))
            seen = await operations.watch.check(lost)
            expected = OperationState.AMBIGUOUS if is_later else OperationState.CONFIRMED_BY_READING
            assert seen.state is expected, seen.message
        finally:
            await operations.close()


async def test_check_leaves_two_equal_remotes_to_a_person(site: Site) -> None:
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        operations.watch.horizon = Horizon()
        lost = await lose_add(operations, proxy, lock_id, applied_unheard)
        (new,) = [one for one in site.remotes(lock_id) if one.remote_name == "New fob"]

        def twin(record: dict[str, Any]) -> None:
            if record["id"] != new.id:
                record.update({**new.raw, "id": record["id"]})

        proxy.arm("list", shows(twin))
        seen = await operations.watch.check(lost)
        assert seen.state is OperationState.AMBIGUOUS and len(seen.candidates) == 4
        await proxy.heal()
        seen = await operations.watch.check(seen)
        assert seen.state is OperationState.AMBIGUOUS, "a copy that is behind hides no candidate"


async def test_check_leaves_a_remote_that_differs_to_a_person(site: Site) -> None:
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        lost = await lose_add(operations, proxy, lock_id, applied_unheard)
        site.alter_newest(lock_id)
        seen = await operations.watch.check(lost)
        assert seen.state is OperationState.AMBIGUOUS and "addType" in seen.message
        bound = await operations.resolution.bind(seen, seen.candidates[0])
        assert bound.remote_id == proxy.ledger[-1].data["remoteId"]


async def test_check_proves_nothing_while_the_add_is_sent_again(site: Site) -> None:
    """What is there may be the second one, and the first may still land."""
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        lost = await lose_add(operations, proxy, lock_id, stalled)
        lost = await operations.journal.resolve(lost, state=OperationState.NOT_SEEN)
        landed, gate = asyncio.Event(), asyncio.Event()

        async def hang(exchange: Exchange) -> None:
            await exchange.apply()
            landed.set()
            await gate.wait()
            await exchange.send(exchange.good_bytes())

        proxy.arm("add", hang, 1)
        again = asyncio.create_task(operations.resolution.send_again(lost))
        await landed.wait()
        seen = await operations.watch.check(lost)
        assert (
            seen.state is not OperationState.CONFIRMED_BY_READING and "sent again" in seen.message
        )
        gate.set()
        await again
        first, second = await operations.journal.history()
        assert (first.state, second.state) == (OperationState.SENT_AGAIN, OperationState.CONFIRMED)


async def test_check_records_a_late_landing_when_it_was_not_sent_again(site: Site) -> None:
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        lost = await lose_add(operations, proxy, lock_id, stalled)
        lost = await operations.journal.resolve(lost, state=OperationState.NOT_SEEN)
        await proxy.land()
        seen = await operations.watch.check(lost)
        assert seen.state is OperationState.CONFIRMED_BY_READING
        assert seen.remote_id == proxy.ledger[-1].data["remoteId"]


async def test_check_is_not_deceived_when_an_old_copy_shows_what_a_colleague_deleted(
    behind: Any,
) -> None:
    """Its like was added and deleted elsewhere; the add was lost, and a copy has the old one."""
    async with behind(0.0) as case:
        case: Behind
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
        assert seen.state is not OperationState.CONFIRMED_BY_READING
        await case.timer.pass_s(61)
        for _ in range(2):
            seen = await case.operations.watch.check(seen)
            await case.timer.pass_s(16)
        assert seen.state is OperationState.NOT_SEEN


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
    body = {
        **{"lockId": 1, "remoteName": "A", "remoteNumber": "1", "remoteType": 4, "addType": 1},
        **{"startDate": 5, "endDate": 9, "weekDay": [5, 1], "isCoerced": 0, "extraData": {}},
        "mac": "AA:AA:AA:00:00:01",
    }
    listed = {name: value for name, value in body.items() if name != "mac"}
    remote = Remote.read({"id": 7, **listed, **shown})
    add = operation("add", OperationState.UNKNOWN, 0, body=body)
    verdict = judge_add(add, [remote], (), {7: True})
    assert (verdict.state is OperationState.CONFIRMED_BY_READING) is is_equal
    assert verdict.remote_id == (7 if is_equal else None)
