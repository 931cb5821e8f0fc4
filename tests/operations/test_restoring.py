"""Restoring from the history, against the real service: nothing lost unsaid, nothing doubled."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from lockterm.config import Profile
from lockterm.domain import rules
from lockterm.domain.backup import losses, read_backup
from lockterm.domain.clock import Clock
from lockterm.domain.operation import Operation, State
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import NewRemote
from lockterm.errors import Refused
from lockterm.operations import Operations
from lockterm.operations.restore import Plan, RestoreStatus, make_plan, restore, why_not_restorable
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from tests.conftest import NOW_MS
from tests.faults.site import checked
from tests.operations.forwarder import Forwarder
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
        database = Database(tmp_path / "state" / "lockterm.db")
        opened.append(Operations(profile, database, clock=Clock(wall=lambda: NOW_MS / 1000)))
        return opened[-1]

    yield start
    for operations in opened:
        await operations.close()


async def last(operations: Operations, call: str) -> Operation:
    return [
        operation for operation in await operations.journal.history() if operation.call == call
    ][-1]


async def run(
    operations: Operations, plan: Plan, after: Callable[[Plan], object] = lambda plan: None
) -> str:
    """Restore what is due; ``after`` is told the plan after each outcome."""

    def on_outcome(index: int) -> None:
        if plan.outcomes[index].status is not RestoreStatus.SENDING:
            after(plan)

    return await restore(operations, plan, plan.due, on_outcome, lambda: False)


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
    service: RunningService, start: Start
) -> None:
    operations = start(service.base_url)
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
    assert remote_id is not None
    await operations.writes.set_user_no(LOCK, await operations.remotes.detail(remote_id), 14)
    (before,) = [row for row in rows(service) if row["id"] == remote_id]
    await operations.writes.delete_remote(LOCK, await operations.remotes.detail(remote_id))

    plan = await make_plan(operations, await last(operations, "delete"))
    assert plan.losses() == ["It gets a new id and a new creation time."]
    assert await run(operations, plan) == ""
    (outcome,) = plan.outcomes
    assert outcome.status is RestoreStatus.RESTORED and outcome.new_id != remote_id
    (after,) = [row for row in rows(service) if row["id"] == outcome.new_id]
    assert without_what_is_new(after) == without_what_is_new(before)
    assert after["user_no"] == 14 and after["mac"] == "AA:BB:CC:00:11:22"


async def test_what_is_lost_of_a_remote_from_elsewhere_is_said_first(
    service: RunningService, start: Start
) -> None:
    operations = start(service.base_url)
    remotes = await operations.remotes.all(LOCK)
    await operations.writes.set_user_no(LOCK, remotes[0], 7)
    await operations.writes.clear_remotes(LOCK)
    plan = await make_plan(operations, await last(operations, "clear"))
    first, unknown, over = plan.losses()
    ended = sum(1 for remote in remotes if remote.remote_type != 1 and remote.end_ms <= NOW_MS)
    assert first == "Each gets a new id and a new creation time."
    assert unknown == (
        "Not known and left out: admin right, MAC address, battery level, business id and firmware"
        " info of all 137; user number of 136. The service did not tell them, and this lockterm"
        " did not set them."
    )
    assert over == f"{ended} of them have ended already and will open nothing."
    assert plan.remotes[0].request is not None
    assert plan.remotes[0].request.remote_user_no == 7


async def test_a_user_number_in_doubt_is_not_sent_back(start: Start, service: RunningService):
    from lockterm.domain.hidden import known_fields

    def step(call: str, state: State, **body: Any) -> Operation:
        nothing = {"path": "", "lock_id": LOCK, "lock_name": "", "remote_name": "", "before": ()}
        return Operation(
            id="x",
            profile="p",
            call=call,
            body=body,
            remote_id=5,
            state=state,
            session="s",
            prepared_ms=0,
            **nothing,
        )

    add = step("add", State.CONFIRMED, remoteUserNo=1, mac="m")
    sure = step("updateRemoteUserNo", State.CONFIRMED, remoteUserNo=2)
    doubtful = step("updateRemoteUserNo", State.GIVEN_UP, remoteUserNo=3)
    refused = step("updateRemoteUserNo", State.REFUSED, remoteUserNo=4)
    assert known_fields([add, sure, refused])[5]["remoteUserNo"] == 2
    assert "remoteUserNo" not in known_fields([add, sure, doubtful])[5]
    assert known_fields([add, doubtful, sure])[5]["remoteUserNo"] == 2


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
    plan = await make_plan(operations, await last(operations, "clear"))

    def stop_amid(plan: Plan) -> None:
        if len(plan.having(RestoreStatus.RESTORED)) == 50:
            service.stop()

    assert "127.0.0.1" in await run(operations, plan, stop_amid)
    assert len(plan.having(RestoreStatus.RESTORED)) == 50
    assert len(plan.having(RestoreStatus.NOT_SENT)) == 1
    assert len(plan.having(RestoreStatus.WAITING)) == 86
    await operations.close()

    again = running_service(database=file, port=port)
    operations = start(again.base_url)
    plan = await make_plan(operations, await last(operations, "clear"))
    assert (len(plan.having(RestoreStatus.RESTORED)), len(plan.due)) == (50, 87)
    assert await run(operations, plan) == ""
    restored = rows(again)
    assert max(Counter(row["name"] for row in restored).values()) == 1
    ordered = sorted(map(without_what_is_new, restored), key=lambda row: row["name"])
    lost = {"mac", "electric_quantity", "firmware_info", "user_no", "business_id", "remote_right"}
    for one, other in zip(ordered, sorted(before, key=lambda row: row["name"]), strict=True):
        assert {name: one[name] for name in one if name not in lost} == {
            name: other[name] for name in other if name not in lost
        }
    plan = await make_plan(operations, await last(operations, "clear"))
    assert plan.due == [] and len(plan.having(RestoreStatus.RESTORED)) == 137
    ids = {row["id"] for row in restored}
    assert {outcome.new_id for outcome in plan.outcomes} == ids


async def test_a_lost_answer_stops_the_restore_until_it_is_settled(
    service: RunningService, start: Start
) -> None:
    async with Forwarder(service, lose_answer_to=3).running() as way:
        operations = start(way.base_url)
        names = {remote.remote_name for remote in await operations.remotes.all(1003)}
        await operations.writes.clear_remotes(1003)
        plan = await make_plan(operations, await last(operations, "clear"))
        reason = await run(operations, plan)
        assert "not known yet" in reason
        assert plan.held and len(plan.having(RestoreStatus.RESTORED)) == 2
        plan = await make_plan(operations, await last(operations, "clear"))
        assert plan.held and len(plan.having(RestoreStatus.WAITING)) == 6

        # Whoever goes on all the same is held back: it could double what is not settled.
        assert "not settled" in await run(operations, plan)
        assert len(rows(service, 1003)) == 3
        (unsettled,) = await operations.journal.unsettled()
        read = await operations.watch.check(unsettled)
        assert read.state is State.AMBIGUOUS
        await operations.settling.bind(read, read.candidates[0])
        plan = await make_plan(operations, await last(operations, "clear"))
        assert len(plan.having(RestoreStatus.RESTORED)) == 3
        assert await run(operations, plan) == ""
    assert Counter(row["name"] for row in rows(service, 1003)) == Counter(names)


async def test_what_was_sent_again_counts_as_restored(
    service: RunningService, start: Start
) -> None:
    async with Forwarder(service, lose_answer_to=1).running() as way:
        operations = start(way.base_url)
        remote = (await operations.remotes.all(1003))[0]
        await operations.writes.delete_remote(1003, remote)
        plan = await make_plan(operations, await last(operations, "delete"))
        await run(operations, plan)
        (landed,) = [row for row in rows(service, 1003) if row["name"] == remote.remote_name]
        httpx.post(
            f"{service.base_url}/api/v1/bluetooth-remote/delete", json={"remoteId": landed["id"]}
        )
        (unsettled,) = await operations.journal.unsettled()
        await operations.settling.send_again(await checked(operations, unsettled))
        plan = await make_plan(operations, await last(operations, "delete"))
        assert [outcome.status for outcome in plan.outcomes] == [RestoreStatus.RESTORED]


async def test_a_name_that_is_taken_is_refused_alone_and_can_be_retried(
    service: RunningService, start: Start
) -> None:
    operations = start(service.base_url)
    remotes = await operations.remotes.all(1003)
    taken = remotes[4]
    await operations.writes.clear_remotes(1003)
    request = rules.new_remote(
        1003,
        Remote(remote_name=taken.remote_name or "", remote_number="1", remote_type=1, add_type=1),
    )
    newcomer = await operations.writes.add_remote(request)
    assert newcomer is not None
    plan = await make_plan(operations, await last(operations, "clear"))
    assert await run(operations, plan) == ""
    assert [plan.outcomes[index].words for index in plan.having(RestoreStatus.REFUSED)] == [
        "The lock has a remote of that name."
    ]
    assert len(plan.having(RestoreStatus.RESTORED)) == len(remotes) - 1
    await operations.writes.delete_remote(1003, await operations.remotes.detail(newcomer))
    assert plan.due == [4]
    assert await run(operations, plan) == ""
    assert plan.outcomes[4].status is RestoreStatus.RESTORED
    assert len(rows(service, 1003)) == len(remotes)


async def test_a_remote_in_two_backups_is_restored_once(
    service: RunningService, start: Start
) -> None:
    """A clear that took part of the remotes, whose rest was then deleted one by one, has both."""
    operations = start(service.base_url)
    remote = (await operations.remotes.all(1003))[0]
    await operations.writes.delete_remote(1003, remote)
    first = await last(operations, "delete")
    await run(operations, await make_plan(operations, first))
    from dataclasses import replace

    other = replace(first, id="another", call="clear")
    plan = await make_plan(operations, other)
    assert [outcome.status for outcome in plan.outcomes] == [RestoreStatus.RESTORED]


async def test_a_later_refusal_does_not_undo_what_was_restored(
    service: RunningService, start: Start
) -> None:
    operations = start(service.base_url)
    remote = (await operations.remotes.all(1003))[0]
    await operations.writes.delete_remote(1003, remote)
    deleted = await last(operations, "delete")
    plan = await make_plan(operations, deleted)
    await run(operations, plan)
    request = plan.remotes[0].request
    assert request is not None and remote.id is not None
    refused = request.model_copy(update={"remote_name": "another", "remote_number": ""})
    with pytest.raises(Refused):
        await operations.writes.add_remote(refused, restores=(deleted.id, remote.id))
    plan = await make_plan(operations, deleted)
    assert [outcome.status for outcome in plan.outcomes] == [RestoreStatus.RESTORED]


GOOD = {
    "id": 5,
    "remoteName": "Anna",
    "remoteNumber": "A-1",
    "remoteType": 2,
    "addType": 1,
    "startDate": NOW_MS,
    "endDate": NOW_MS + 1,
    "weekDay": [],
    "isCoerced": 0,
    "extraData": {},
}


def backed_up(record: dict[str, Any]) -> Any:
    operation = Operation(
        id="x",
        profile="p",
        call="delete",
        path="",
        body={},
        lock_id=1,
        lock_name="",
        remote_id=5,
        remote_name="",
        before=(record,),
        state=State.CONFIRMED,
        session="",
        prepared_ms=0,
    )
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
        ({"id": "5"}, "no usable id"),
    ],
)
def test_what_cannot_be_restored_says_why(change: dict[str, Any], words: str) -> None:
    assert backed_up(GOOD).request is not None
    found = backed_up({**GOOD, **change})
    assert found.request is None
    assert words in found.why_not
    assert losses([found]) == []


def test_fields_that_come_back_or_do_not() -> None:
    found = backed_up(
        {**GOOD, "mac": "AA", "remoteUserNo": None, "room": 1, "remoteName": "a\u200b"}
    )
    assert found.request.mac == "AA"
    assert found.request.remote_name == "a\u200b"
    unknown = [field.name for field in found.unknown]
    assert unknown == ["remoteRight", "electricQuantity", "businessId", "firmwareInfo"]
    assert "does not name it: room." in " ".join(losses([found]))


@pytest.mark.parametrize(
    ("call", "state", "count", "words"),
    [
        ("add", State.CONFIRMED, 0, "Only what a delete or a clear took"),
        ("delete", State.UNKNOWN, 1, "not settled"),
        ("clear", State.REFUSED, 5, "was refused"),
        ("clear", State.CONFIRMED, 0, "nothing to clear"),
        ("clear", State.CONFIRMED_BY_READING, 3, ""),
        ("clear", State.SENT_AGAIN, 3, ""),
        ("delete", State.GIVEN_UP, 1, ""),
        ("delete", State.SENT_AGAIN, 1, "was sent again"),
    ],
)
def test_what_can_be_restored(call: str, state: State, count: int, words: str) -> None:
    from dataclasses import replace

    operation = replace(
        Operation("x", "p", call, "", {}, 1, "", None, "", (), State.CONFIRMED, "", 0), state=state
    )
    said = why_not_restorable(operation, count)
    assert words in said and bool(said) == bool(words)


def test_what_was_switched_off_or_elsewhere_opens_no_lock_unsaid() -> None:
    later = {"remoteType": 2, "startDate": NOW_MS - 1, "endDate": NOW_MS + 9_000_000}
    again = "invalid at the service, and may open the lock again"
    assert again in " ".join(losses([backed_up({**GOOD, **later, "status": 2})]))
    assert again not in " ".join(losses([backed_up({**GOOD, **later, "status": 1})]))
    ended = {"remoteType": 2, "startDate": NOW_MS - 9_000_000, "endDate": NOW_MS - 1}
    assert again not in " ".join(losses([backed_up({**GOOD, **ended, "status": 2})]))

    for other in ({"lockId": 2}, {"lockInfo": {"lockId": 2}}):
        assert backed_up({**GOOD, **other}).why_not == "It belonged to another lock: 2."
