"""Restoring from the history, against the real service: nothing lost unsaid, nothing doubled."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from lockterm.config import Profile
from lockterm.domain import rules
from lockterm.domain.copies import read_backup
from lockterm.domain.dates import Clock
from lockterm.domain.locks import Lock
from lockterm.domain.operation import Operation, OperationState, known_fields
from lockterm.domain.plan import Action, Step, StepState
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import NewRemote
from lockterm.domain.text.plan import describe_notes
from lockterm.domain.text.remote import describe_losses
from lockterm.domain.undo import why_not_restorable
from lockterm.errors import RefusedError
from lockterm.operations import Operations
from lockterm.operations.copying import CopySource, plan_copies
from lockterm.operations.planner import PlanDraft
from lockterm.operations.undoing import plan_undo, undo_last, undo_one
from lockterm.service.running import RunningService
from tests.conftest import NOW_MS
from tests.faults.site import checked
from tests.operations.bench import Bench
from tests.operations.forwarder import Forwarder
from tests.operations.runs.planning import execute
from tests.samples import an_operation
from tests.servers import port_of

LOCK = 1001
"""The lock of the sample data that has 137 remotes."""

Start = Callable[[str], Operations]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Open lockterm on a service, again and again on the same store."""
    opened: list[Operations] = []

    def start(base_url: str) -> Operations:
        profile = Profile(name="site", base_url=base_url, timeout_s=5.0)
        store = tmp_path / "state" / "lockterm.db"
        opened.append(Operations(profile, store, clock=Clock(wall=lambda: NOW_MS / 1000)))
        return opened[-1]

    yield start
    for operations in opened:
        await operations.close()


@pytest.fixture
def operations(service: RunningService, start: Start) -> Operations:
    return start(service.base_url)


async def last(operations: Operations, call: str) -> Operation:
    return [one for one in await operations.journal.history() if one.call == call][-1]


async def restoring(operations: Operations, call: str, *, renames: bool = False) -> PlanDraft:
    """The plan that restores what the last delete or clear took away."""
    return await undo_one(operations, (await last(operations, call)).id, renames=renames)


def rows(service: RunningService, lock_id: int = LOCK) -> list[dict[str, Any]]:
    """What the service itself has of a lock, the hidden fields too."""
    with service.app.state.site.database.reading() as db:
        found = db.execute("SELECT * FROM remote WHERE lock_id = ?", (lock_id,))
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found]


def without_what_is_new(row: dict[str, Any]) -> dict[str, Any]:
    new = ("id", "created_ms", "updated_ms", "position", "api_user_id")
    return {name: value for name, value in row.items() if name not in new}


async def test_a_remote_added_from_here_comes_back_with_every_field(
    service: RunningService, operations: Operations
) -> None:
    request = NewRemote(
        lock_id=LOCK,
        remote_name="Anna \u202eWeber",  # as it was named at the service, however it looks
        remote_number="A-2041",
        mac="AA:BB:CC:00:11:22",
        remote_type=4,
        add_type=2,
        start_ms=NOW_MS,
        end_ms=NOW_MS + 86_400_000,
        week_day=[1, 3, 5],
        electric_quantity=71,
        firmware_info={"version": "1.2"},
        remote_user_no=3,
        business_id=9,
        remote_right=1,
        is_coerced=2,
        extra_data={"floor": {"n": 2}},
    )
    remote_id = await operations.writes.add_remote(request)
    await operations.writes.set_user_no(LOCK, await operations.remotes.detail(remote_id), 14)
    (before,) = [row for row in rows(service) if row["id"] == remote_id]
    await operations.writes.delete_remote(LOCK, await operations.remotes.detail(remote_id))

    drawn = await restoring(operations, "delete")
    assert drawn.plan.losses == ("The remote gets a new ID and a new creation time.",)
    assert drawn.plan.steps[0].note == "The deleted remote gets access again."
    (step,) = (await execute(operations, drawn.plan)).steps
    assert step.state is StepState.RECORDED and step.remote_id != remote_id
    (after,) = [row for row in rows(service) if row["id"] == step.remote_id]
    assert without_what_is_new(after) == without_what_is_new(before)
    assert after["user_no"] == 14 and after["mac"] == "AA:BB:CC:00:11:22"


async def test_known_hidden_has_what_was_sent_when_it_was_before_the_change(
    operations: Operations,
) -> None:
    request = NewRemote(
        lock_id=LOCK, remote_name="Anna", remote_number="A-1", remote_type=1, add_type=1, mac="AA"
    )
    remote_id = await operations.writes.add_remote(request)
    other, *_ = await operations.remotes.all(LOCK)
    await operations.writes.delete_remote(LOCK, await operations.remotes.detail(remote_id))
    await operations.writes.set_user_no(LOCK, other, 7)
    deleted = await last(operations, "delete")
    known = await operations.journal.known_hidden(deleted)
    assert set(known) == {remote_id}
    assert known[remote_id]["mac"] == "AA"


async def test_what_is_lost_of_a_remote_from_elsewhere_is_said_first(
    operations: Operations,
) -> None:
    remotes = await operations.remotes.all(LOCK)
    await operations.writes.set_user_no(LOCK, remotes[0], 7)
    await operations.writes.clear_remotes(LOCK)
    drawn = await restoring(operations, "clear")
    first, unknown = drawn.plan.losses
    ended = sum(1 for remote in remotes if remote.remote_type != 1 and remote.end_ms <= NOW_MS)
    assert first == "Each remote gets a new ID and a new creation time."
    assert unknown == (
        "Not restored, because lockterm does not know the values: admin right, MAC address,"
        " battery level, business ID and firmware info of all 137 remotes; user number of 136"
        " remotes."
    )
    zones = {LOCK: operations.zone(Lock(LOCK))}
    told = " ".join(describe_notes(drawn.plan.steps, zones, NOW_MS))
    assert (
        f"and {ended - 3} more: The end date has passed, so this remote will not open the lock."
    ) in told
    assert drawn.plan.steps[0].wanted["remoteUserNo"] == 7
    said = [step.note for step in drawn.plan.steps if step.note]
    assert len(said) == 137 - ended, "not of each that opens again is it said"


def test_a_user_number_in_doubt_is_not_sent_back() -> None:
    def step(call: str, state: OperationState, **body: Any) -> Operation:
        return an_operation(call, lock_id=LOCK, body=body, remote_id=5, state=state)

    add = step("add", OperationState.CONFIRMED, remoteUserNo=1, mac="m")
    sure = step("updateRemoteUserNo", OperationState.CONFIRMED, remoteUserNo=2)
    doubtful = step("updateRemoteUserNo", OperationState.GIVEN_UP, remoteUserNo=3)
    refused = step("updateRemoteUserNo", OperationState.REFUSED, remoteUserNo=4)
    assert known_fields([add, sure, refused])[5]["remoteUserNo"] == 2
    assert "remoteUserNo" not in known_fields([add, sure, doubtful])[5]
    assert known_fields([add, doubtful, sure])[5]["remoteUserNo"] == 2


async def test_undo_sets_the_former_user_number_when_nothing_has_changed_since(bench: Bench):
    for number in (7, 9):
        await bench.writes.set_user_no(bench.lock_id, bench.first, number)
    drawn = await undo_last(bench.operations, bench.lock_id)
    assert not drawn.left
    assert [step.wanted for step in drawn.plan.steps] == [{"remoteUserNo": 7}]


@pytest.mark.long
async def test_an_interrupted_restore_goes_on_where_it_stopped(
    running_service: Callable[..., RunningService], start: Start, tmp_path: Path
) -> None:
    file = tmp_path / "service.db"
    service = running_service(database=file)
    port = port_of(service)
    operations = start(service.base_url)
    before = [without_what_is_new(row) for row in rows(service)]
    assert await operations.writes.clear_remotes(LOCK, expected=137) == 137
    drawn, done = await restoring(operations, "clear"), list[Step]()

    def stop_amid(step: Step) -> None:
        done.extend([step] * (step.state is StepState.RECORDED))
        if len(done) == 50:
            service.stop()

    plan = await execute(operations, drawn.plan, stop_amid)
    assert plan.counts() == {StepState.RECORDED: 50, StepState.NOT_SENT: 87}
    await operations.close()

    again = running_service(database=file, port=port)
    operations = start(again.base_url)
    drawn = await restoring(operations, "clear")
    assert drawn.plan.actions() == {Action.KEEP: 50, Action.ADD: 87}
    done = await execute(operations, drawn.plan)
    assert done.counts() == {StepState.UNCHANGED: 50, StepState.RECORDED: 87}
    # The plan that was interrupted adds none of them a second time, whatever they are called now.
    (renamed,) = [row["id"] for row in rows(again) if row["id"] == done.steps[-1].remote_id]
    remote = await operations.remotes.detail(renamed)
    changes = rules.changes(remote, replace(remote, remote_name="Renamed since"))
    await operations.writes.update_remote(LOCK, renamed, changes, remote)
    left = operations.runs.retry(plan)
    assert (await execute(operations, left)).counts() == {StepState.UNCHANGED: 87}
    changes = rules.changes(await operations.remotes.detail(renamed), remote)
    now = await operations.remotes.detail(renamed)
    await operations.writes.update_remote(LOCK, renamed, changes, now)
    restored = rows(again)
    assert max(Counter(row["name"] for row in restored).values()) == 1
    ordered = sorted(map(without_what_is_new, restored), key=lambda row: row["name"])
    lost = {"mac", "electric_quantity", "firmware_info", "user_no", "business_id", "remote_right"}
    for one, other in zip(ordered, sorted(before, key=lambda row: row["name"]), strict=True):
        assert {name: one[name] for name in one if name not in lost} == {
            name: other[name] for name in other if name not in lost
        }
    drawn = await restoring(operations, "clear")
    assert drawn.plan.actions() == {Action.KEEP: 137}
    assert {step.remote_id for step in drawn.plan.steps} == {row["id"] for row in restored}


async def test_a_lost_answer_stops_the_restore_until_it_is_settled(
    service: RunningService, start: Start
) -> None:
    async with Forwarder(service, lose_answer_to=3).running() as way:
        operations = start(way.base_url)
        names = {remote.remote_name for remote in await operations.remotes.all(1003)}
        await operations.writes.clear_remotes(1003)
        drawn = await restoring(operations, "clear")
        plan = await execute(operations, drawn.plan)
        count = len(names)
        assert plan.counts() == {
            StepState.RECORDED: 2,
            StepState.UNKNOWN: 1,
            StepState.NOT_SENT: count - 3,
        }
        assert "unconfirmed" in plan.steps[-1].message, "it could double what is not settled"
        assert len(rows(service, 1003)) == 3
        drawn = await restoring(operations, "clear")
        (left,) = drawn.left
        assert left.state is StepState.UNKNOWN and "Resolve the change first" in left.message
        assert drawn.plan.actions() == {Action.KEEP: 2, Action.ADD: count - 3}
        (unconfirmed,) = await operations.journal.list_unconfirmed()
        read = await operations.watch.check(unconfirmed)
        assert read.state is OperationState.AMBIGUOUS
        await operations.resolution.bind(read, read.candidates[0])
        drawn = await restoring(operations, "clear")
        assert drawn.plan.actions() == {Action.KEEP: 3, Action.ADD: count - 3}
        assert (await execute(operations, drawn.plan)).counts()[StepState.RECORDED] == count - 3
    assert Counter(row["name"] for row in rows(service, 1003)) == Counter(names)


@pytest.mark.long
async def test_what_was_sent_again_counts_as_restored(
    service: RunningService, start: Start
) -> None:
    async with Forwarder(service, lose_answer_to=1).running() as way:
        operations = start(way.base_url)
        remote = (await operations.remotes.all(1003))[0]
        await operations.writes.delete_remote(1003, remote)
        await execute(operations, (await restoring(operations, "delete")).plan)
        (landed,) = [row for row in rows(service, 1003) if row["name"] == remote.remote_name]
        httpx.post(
            f"{service.base_url}/api/v1/bluetooth-remote/delete", json={"remoteId": landed["id"]}
        )
        (unconfirmed,) = await operations.journal.list_unconfirmed()
        await operations.resolution.send_again(await checked(operations, unconfirmed))
        (step,) = (await restoring(operations, "delete")).plan.steps
        assert step.action is Action.KEEP and "was already restored" in step.message


@pytest.mark.long
@pytest.mark.parametrize("renames", [False, True])
async def test_a_name_that_is_taken_is_left_out_or_changed_as_chosen(
    service: RunningService, operations: Operations, renames: bool
) -> None:
    remotes = await operations.remotes.all(1003)
    taken = remotes[4].remote_name or ""
    await operations.writes.clear_remotes(1003)
    request = rules.new_remote(
        1003, Remote(remote_name=taken, remote_number="1", remote_type=1, add_type=1)
    )
    newcomer = await operations.writes.add_remote(request)
    assert newcomer is not None
    drawn = await restoring(operations, "clear", renames=renames)
    assert drawn.names_taken == (not renames)
    plan = await execute(operations, drawn.plan)
    assert plan.counts()[StepState.RECORDED] == len(remotes) - (not renames)
    named = {row["name"] for row in rows(service, 1003)}
    assert (f"{taken} (2)" in named) == renames
    if not renames:
        await operations.writes.delete_remote(1003, await operations.remotes.detail(newcomer))
        clear = (await last(operations, "clear")).id
        again = await undo_one(operations, clear)
        assert again.plan.actions()[Action.ADD] == 1
        await execute(operations, again.plan)
        assert sorted(row["name"] for row in rows(service, 1003)) == sorted(
            one.remote_name or "" for one in remotes
        )


async def test_a_remote_is_restored_once(operations: Operations) -> None:
    """Also if it is in two backups, or if a later add of it was refused.

    A clear that took part of the remotes, whose rest was then deleted one by one, has both.
    """
    remote = (await operations.remotes.all(1003))[0]
    await operations.writes.delete_remote(1003, remote)
    first, drawn = await last(operations, "delete"), await restoring(operations, "delete")
    await execute(operations, drawn.plan)
    other = replace(first, id="another", call="clear")
    (step,) = (await plan_undo(operations, [other], "restore", renames=False)).plan.steps
    assert step.action is Action.KEEP and "was already restored" in step.message

    given = {**drawn.plan.steps[0].wanted, "remoteName": "another", "remoteNumber": ""}
    refused = NewRemote.model_construct(**NewRemote.checked({**given, "lockId": 1003}).__dict__)
    with pytest.raises(RefusedError):
        await operations.writes.add_remote(refused, restores=(first.id, remote.id))
    (step,) = (await restoring(operations, "delete")).plan.steps
    assert step.action is Action.KEEP


GOOD = {
    **{"id": 5, "remoteName": "Anna", "remoteNumber": "A-1", "remoteType": 2, "addType": 1},
    **{"startDate": NOW_MS, "endDate": NOW_MS + 1, "weekDay": [], "isCoerced": 0, "extraData": {}},
}


def backed_up(record: dict[str, Any]) -> Any:
    operation = an_operation("delete", lock_id=1, remote_id=5, before=(record,), prepared_ms=0)
    (found,) = read_backup(operation, {}, NOW_MS)
    return found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"remoteName": None}, "no usable name."),
        ({"remoteNumber": "  "}, "no usable number."),
        ({"remoteType": 3}, "no usable type."),
        ({"remoteType": "2"}, "no usable type."),
        ({"addType": None}, "no usable way of adding."),
        ({"endDate": 0}, "no usable end."),
        ({"remoteType": 4, "weekDay": [1, "2"]}, "no usable weekdays."),
        ({"isCoerced": True}, "no usable coerced flag."),
        ({"extraData": [1]}, "no usable extra data."),
        ({"id": "5"}, "no usable ID"),
    ],
)
def test_what_cannot_be_restored_says_why(change: dict[str, Any], words: str) -> None:
    assert backed_up(GOOD).request is not None
    found = backed_up({**GOOD, **change})
    assert found.request is None
    assert words in found.reason
    assert describe_losses([found]) == []


def test_fields_that_come_back_or_do_not() -> None:
    name = {"remoteName": "a\u200b"}
    found = backed_up({**GOOD, **name, "mac": "AA", "remoteUserNo": None, "room": 1})
    assert found.request.mac == "AA"
    assert found.request.remote_name == "a\u200b"
    unknown = [field.name for field in found.unknown]
    assert unknown == ["remoteRight", "electricQuantity", "businessId", "firmwareInfo"]
    assert "does not know these fields: room." in " ".join(describe_losses([found]))


@pytest.mark.parametrize(
    ("call", "state", "count", "words"),
    [
        ("add", OperationState.CONFIRMED, 0, "Only remotes that a delete or a clear removed"),
        ("delete", OperationState.UNKNOWN, 1, "unconfirmed"),
        ("clear", OperationState.REFUSED, 5, "refused. Therefore"),
        ("clear", OperationState.CONFIRMED, 0, "nothing to clear"),
        ("clear", OperationState.CONFIRMED_BY_READING, 3, ""),
        ("clear", OperationState.SENT_AGAIN, 3, ""),
        ("delete", OperationState.GIVEN_UP, 1, ""),
        ("delete", OperationState.SENT_AGAIN, 1, "sent again. Therefore"),
    ],
)
def test_what_can_be_restored(call: str, state: OperationState, count: int, words: str) -> None:
    said = why_not_restorable(an_operation(call, state=state), count)
    assert words in said and bool(said) == bool(words)


def test_what_was_switched_off_or_elsewhere_opens_no_lock_unsaid() -> None:
    later = {"remoteType": 2, "startDate": NOW_MS - 1, "endDate": NOW_MS + 9_000_000}
    again = 'had the status "invalid" and may open the lock again'
    assert again in " ".join(describe_losses([backed_up({**GOOD, **later, "status": 2})]))
    assert again not in " ".join(describe_losses([backed_up({**GOOD, **later, "status": 1})]))
    ended = {"remoteType": 2, "startDate": NOW_MS - 9_000_000, "endDate": NOW_MS - 1}
    assert again not in " ".join(describe_losses([backed_up({**GOOD, **ended, "status": 2})]))

    for other in ({"lockId": 2}, {"lockInfo": {"lockId": 2}}):
        assert backed_up({**GOOD, **other}).reason == "The remote belonged to another lock, 2."


async def test_copy_counts_expired_remotes_once(operations: Operations) -> None:
    """Of those that are added: one that is there already stays as it is."""
    source = CopySource(Lock(LOCK))
    ended = [one for one in await operations.remotes.all(LOCK) if (one.end_ms or NOW_MS) < NOW_MS]
    there = replace(ended[0], remote_name="Another name of the same number")
    await operations.writes.add_remote(rules.new_remote(1004, there))
    drawn = await plan_copies(operations, source, [1002, 1004], renames=False)
    due = [step for step in drawn.plan.steps if step.is_left]
    zones = {lock_id: operations.zone(Lock(lock_id)) for lock_id in (1002, 1004)}
    told = [*drawn.plan.losses, *describe_notes(due, zones, NOW_MS)]
    (said,) = [words for words in told if "has passed" in words]
    over = [step for step in due if 0 < step.wanted["endDate"] < NOW_MS]
    assert 3 < len(over) < 2 * len(ended), "what is there already stays as it is"
    assert f"and {len(over) - 3} more: The end date has passed" in said

    many = await plan_copies(
        operations, CopySource(Lock(LOCK), marked=[]), range(1002, 1009), renames=False
    )
    assert many.plan.title == "copy 1001 to 1002, 1003, 1004, 1005, 1006 and 2 more"
