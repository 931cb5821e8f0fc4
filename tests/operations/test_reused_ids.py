"""A service may give the id of a deleted remote to the next one: nothing is told by an id alone."""

from __future__ import annotations

import json

import pytest

from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.plan import Action
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import NewRemote
from lockterm.errors import RuleViolationError
from lockterm.operations.planner import PlanDraft
from lockterm.operations.recorded import is_known
from lockterm.operations.undoing import undo_one
from tests.conftest import NOW_MS
from tests.faults.calls import new_remote
from tests.faults.cases import READ_BACK
from tests.faults.catalogue import answers, applied_unheard, close, stalled
from tests.faults.site import Site
from tests.operations.bench import Bench, read_nothing_back
from tests.operations.runs.planning import execute
from tests.operations.test_proof import operation

PROVEN = OperationState.CONFIRMED_BY_READING
ANNA = {"mac": "AA:AA:AA:00:00:01", "remote_user_no": 3, "remote_right": 1}


def give_id(site: Site, remote_id: int, to: int, created_ms: int) -> None:
    """Have a remote go under another id, and as made at another time."""
    with site.service.app.state.site.database.writing() as db:
        db.execute(
            "UPDATE remote SET id = ?, created_ms = ? WHERE id = ?", (to, created_ms, remote_id)
        )


async def add(bench: Bench, name: str, number: str, **more) -> int:
    request = NewRemote(
        **{"lock_id": bench.lock_id, "remote_name": name, "remote_number": number},
        **{"remote_type": 1, "add_type": 1, **more},
    )
    return await bench.writes.add_remote(request)


async def undo_of_last(bench: Bench) -> PlanDraft:
    return await undo_one(bench.operations, (await bench.history())[-1].id)


@pytest.mark.parametrize("gone_by", ["us", "someone else"])
@pytest.mark.parametrize("number", ["A-1", "B-1"])
async def test_a_restored_remote_has_no_fields_of_who_had_its_id_before(
    bench: Bench, gone_by: str, number: str
):
    anna = await add(bench, "Anna", "A-1", **ANNA)
    if gone_by == "us":
        await bench.call("delete", bench.remotes[-1])
    else:
        bench.ask("delete", remoteId=anna)
    body = {"remoteName": "Bob", "remoteNumber": number, "remoteType": 1, "addType": 1}
    give_id(bench.site, bench.ask("add", **body)["remoteId"], anna, 1_900_000_000_000)
    (remote,) = [one for one in await bench.operations.remotes.all(bench.lock_id) if one.id == anna]
    assert remote.remote_name == "Bob"
    await bench.call("delete", remote)
    drawn = await undo_of_last(bench)
    (step,) = drawn.plan.steps
    assert not {"mac", "remoteUserNo", "remoteRight"} & step.wanted.keys()
    assert "MAC address" in " ".join(drawn.plan.losses)


async def test_restored_remote_is_found_by_operation_not_id(bench: Bench):
    anna = await add(bench, "Anna", "A-1")
    await bench.call("delete", bench.remotes[-1])
    first = (await bench.history())[-1]
    await execute(bench.operations, (await undo_one(bench.operations, first.id)).plan)
    give_id(bench.site, await add(bench, "Bob", "B-1"), anna, 1_900_000_000_000)
    await bench.call("delete", await bench.operations.remotes.detail_as_shown(anna))
    drawn = await undo_of_last(bench)
    assert [step.action for step in drawn.plan.steps] == [Action.ADD]
    drawn = await undo_one(bench.operations, first.id)
    assert [step.action for step in drawn.plan.steps] == [Action.KEEP]


@pytest.mark.parametrize("fault", [applied_unheard, stalled])
async def test_an_unknown_add_is_found_under_the_id_of_a_deleted_one(bench: Bench, fault):
    read_nothing_back(bench.operations)
    await bench.call("delete")
    unknown = await bench.lose("add", fault)
    await bench.proxy.land()
    give_id(bench.site, bench.proxy.ledger[-1].data["remoteId"], bench.second.id or 0, NOW_MS + 1)
    seen = await bench.watch.check(unknown)
    assert (seen.state, seen.remote_id) == (PROVEN, bench.second.id)


def replace_by_another(bench: Bench, old: Remote) -> None:
    """Let the service give the id of a remote to the next one."""
    bench.ask("delete", remoteId=old.id)
    next_id = bench.ask("add", **new_remote(bench.lock_id).body())["remoteId"]
    give_id(bench.site, next_id, old.id or 0, 1_900_000_000_000)


@pytest.mark.parametrize("call", ["update", "delete", "updateRemoteUserNo"])
async def test_nothing_is_sent_again_to_the_next_remote_with_the_id(bench: Bench, call: str):
    unconfirmed = await bench.lose(call, close)
    assert unconfirmed.state is READ_BACK[call][1]
    replace_by_another(bench, bench.second)
    with pytest.raises(RuleViolationError, match="another remote"):
        await bench.resolution.send_again(unconfirmed)
    assert bench.proxy.asked.count(call) == 1


async def test_what_is_left_of_a_clear_is_never_the_next_remote_with_an_id(bench: Bench):
    old, unconfirmed = bench.remotes, await bench.lose("clear", close)
    assert unconfirmed.state is OperationState.NOT_SEEN
    replace_by_another(bench, bench.first)
    page = {"list": [one.raw for one in old], "pageNo": 1, "pageSize": 200, "total": 3}
    behind = {"errcode": 0, "errmsg": "", "description": "", "data": page | {"pages": 1}}
    bench.proxy.arm("list", answers(json.dumps(behind)), 1)
    await bench.resolution.send_again(unconfirmed)
    assert bench.names == ["New fob"]
    assert bench.proxy.asked.count("delete") == 2


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
