"""A service may give the id of a deleted remote to the next one: nothing is told by an id alone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.plan import Action
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import NewRemote
from lockterm.errors import ResultUnknownError, RuleViolationError
from lockterm.operations import Operations
from lockterm.operations.recorded import is_known
from lockterm.operations.undoing import undo_one
from tests.conftest import NOW_MS
from tests.faults.calls import CALLS, Scene, new_remote
from tests.faults.cases import READ_BACK
from tests.faults.catalogue import answers, applied_unheard, close, stalled
from tests.faults.site import Site, verify_step
from tests.operations.runs.planning import execute
from tests.operations.test_proof import operation

ANNA = {"mac": "AA:AA:AA:00:00:01", "remote_user_no": 3, "remote_right": 1}


def give_id(site: Site, remote_id: int, to: int, created_ms: int) -> None:
    """Have a remote go under another id, and as made at another time."""
    with site.service.app.state.site.database.writing() as db:
        db.execute(
            "UPDATE remote SET id = ?, created_ms = ? WHERE id = ?", (to, created_ms, remote_id)
        )


@pytest.fixture
async def operations(site: Site) -> AsyncIterator[Operations]:
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        yield operations


async def add(operations: Operations, lock_id: int, name: str, number: str, **more) -> int:
    request = NewRemote(
        lock_id=lock_id, remote_name=name, remote_number=number, remote_type=1, add_type=1, **more
    )
    remote_id = await operations.writes.add_remote(request)
    return remote_id


@pytest.mark.parametrize("gone_by", ["us", "someone else"])
@pytest.mark.parametrize("number", ["A-1", "B-1"])
async def test_a_restored_remote_has_no_fields_of_who_had_its_id_before(
    site: Site, operations: Operations, gone_by: str, number: str
):
    lock_id = site.new_lock(0)
    anna = await add(operations, lock_id, "Anna", "A-1", **ANNA)
    if gone_by == "us":
        await operations.writes.delete_remote(lock_id, await operations.remotes.detail(anna))
    else:
        site.ask("bluetooth-remote/delete", remoteId=anna)
    bob = site.ask(
        "bluetooth-remote/add",
        **{"lockId": lock_id, "remoteName": "Bob", "remoteNumber": number},
        **{"remoteType": 1, "addType": 1},
    )["remoteId"]
    give_id(site, bob, anna, 1_900_000_000_000)
    (remote,) = await operations.remotes.all(lock_id)
    assert remote.id == anna and remote.remote_name == "Bob"
    await operations.writes.delete_remote(lock_id, remote)
    drawn = await undo_one(operations, (await operations.journal.history())[-1].id)
    (step,) = drawn.plan.steps
    assert not {"mac", "remoteUserNo", "remoteRight"} & step.wanted.keys()
    assert "MAC address" in " ".join(drawn.plan.losses)


async def test_restored_remote_is_found_by_operation_not_id(site: Site, operations: Operations):
    lock_id = site.new_lock(0)
    anna = await add(operations, lock_id, "Anna", "A-1")
    await operations.writes.delete_remote(lock_id, await operations.remotes.detail(anna))
    first = (await operations.journal.history())[-1]
    await execute(operations, (await undo_one(operations, first.id)).plan)
    bob = await add(operations, lock_id, "Bob", "B-1")
    give_id(site, bob, anna, 1_900_000_000_000)
    await operations.writes.delete_remote(lock_id, await operations.remotes.detail_as_shown(anna))
    drawn = await undo_one(operations, (await operations.journal.history())[-1].id)
    assert [step.action for step in drawn.plan.steps] == [Action.ADD]
    drawn = await undo_one(operations, first.id)
    assert [step.action for step in drawn.plan.steps] == [Action.KEEP]


@pytest.mark.parametrize("fault", [applied_unheard, stalled])
async def test_an_unknown_add_is_found_under_the_id_of_a_deleted_one(site: Site, fault):
    lock_id = site.new_lock(1)
    (old,) = site.remotes(lock_id)
    async with site.proxy() as proxy, site.operations(proxy, reads_back=False) as operations:
        await operations.writes.delete_remote(lock_id, old)
        proxy.arm("add", fault, 1)
        with pytest.raises(Exception, match="may have recorded"):
            await operations.writes.add_remote(new_remote(lock_id))
        await proxy.land()
        give_id(site, proxy.ledger[-1].data["remoteId"], old.id or 0, NOW_MS + 1)
        (unknown,) = await operations.journal.list_unconfirmed()
        seen = await operations.watch.check(unknown)
        assert (seen.state, seen.remote_id) == (OperationState.CONFIRMED_BY_READING, old.id)


@pytest.mark.parametrize("call", ["update", "delete", "updateRemoteUserNo"])
async def test_nothing_is_sent_again_to_the_next_remote_with_the_id(site: Site, call: str):
    lock_id = site.new_lock(1)
    (old,) = site.remotes(lock_id)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.arm(call, close, 1)
        with pytest.raises(ResultUnknownError):
            await CALLS[call](operations, Scene(lock_id, old))
        await verify_step(operations)
        (unconfirmed,) = await operations.journal.list_unconfirmed()
        assert unconfirmed.state is READ_BACK[call][1]
        site.ask("bluetooth-remote/delete", remoteId=old.id)
        next_id = site.ask("bluetooth-remote/add", **new_remote(lock_id).body())["remoteId"]
        give_id(site, next_id, old.id or 0, 1_900_000_000_000)
        with pytest.raises(RuleViolationError, match="another remote"):
            await operations.resolution.send_again(unconfirmed)
        assert proxy.asked.count(call) == 1


async def test_what_is_left_of_a_clear_is_never_the_next_remote_with_an_id(site: Site):
    lock_id = site.new_lock(3)
    old = site.remotes(lock_id)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.arm("clear", close, 1)
        with pytest.raises(ResultUnknownError):
            await CALLS["clear"](operations, Scene(lock_id, old[0]))
        await verify_step(operations)
        (unconfirmed,) = await operations.journal.list_unconfirmed()
        assert unconfirmed.state is OperationState.NOT_SEEN
        site.ask("bluetooth-remote/delete", remoteId=old[0].id)
        next_id = site.ask("bluetooth-remote/add", **new_remote(lock_id).body())["remoteId"]
        give_id(site, next_id, old[0].id or 0, 1_900_000_000_000)
        page = {"list": [one.raw for one in old], "pageNo": 1, "pageSize": 200, "total": 3}
        behind = {"errcode": 0, "errmsg": "", "description": "", "data": page | {"pages": 1}}
        proxy.arm("list", answers(json.dumps(behind)), 1)
        await operations.resolution.send_again(unconfirmed)
        assert [one.remote_name for one in site.remotes(lock_id)] == ["New fob"]
        assert proxy.asked.count("delete") == 2


OLD = {"id": 5, "remoteNumber": "N-5", "createTime": 1_795_000_000_000}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], [], False),
        ([("clear", OLD)], [], True),
        ([("clear", OLD | {"id": 6})], [], False),
        ([("clear", OLD | {"createTime": 1})], [], False),
        ([], [("clear", OLD)], False),  # the clear may have found the one that was added
        ([("clear", OLD)], [("clear", OLD)], True),
        ([("update", OLD)], [("clear", OLD)], True),
        ([("delete", OLD)], [], True),
        ([], [("delete", OLD)], False),
    ],
)
def test_is_known_is_true_when_something_before_the_add_had_the_remote(
    before: list[tuple[str, dict[str, object]]],
    after: list[tuple[str, dict[str, object]]],
    expected: bool,
):
    def done(place: int, call: str, record: dict[str, object]) -> Operation:
        remote_id = None if call == "clear" else 5
        return operation(
            call, OperationState.CONFIRMED, place, remote_id=remote_id, before=(record,)
        )

    add = operation("add", OperationState.UNKNOWN, 50)
    rows = [
        *(done(place, *one) for place, one in enumerate(before)),
        add,
        *(done(100 + place, *one) for place, one in enumerate(after)),
    ]
    assert is_known(Remote.read(OLD), add, rows, is_since=False) is expected
