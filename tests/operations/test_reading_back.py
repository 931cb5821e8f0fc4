"""After the fault: what became of a write is read back, and a person settles the rest."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from lockterm.domain.operation import UNCONFIRMED, Operation, OperationState
from lockterm.domain.plan import Plan, StepState
from lockterm.domain.remotes import Remote
from lockterm.domain.text.operation import describe_fields, describe_operation
from lockterm.errors import (
    NameTakenError,
    RateLimitedError,
    RefusedError,
    ResultUnknownError,
    RuleViolationError,
    StoreDamagedError,
    StoreError,
    UntrustedServerError,
)
from lockterm.operations import Operations
from lockterm.operations.readback import judge_add
from lockterm.operations.refusals import PendingChangeError
from lockterm.operations.undoing import undo_one
from lockterm.store.journal import Journal
from tests.certs import CERTS
from tests.faults.calls import CALLS, Scene, id_of, new_remote
from tests.faults.cases import disagreements
from tests.faults.catalogue import answers, applied_unheard, close, refusal, reset, stalled
from tests.faults.proxy import Exchange, FaultProxy
from tests.faults.site import Site, checked, until, verify_step
from tests.operations.runs.planning import execute
from tests.operations.virtual import VirtualTimer, let_pause_pass
from tests.servers import CertificateGateway

READABLE = ("add", "update", "delete", "clear")


@dataclass
class Bench:
    """A lock with three remotes, and one session."""

    site: Site
    proxy: FaultProxy
    operations: Operations
    scene: Scene

    @property
    def lock_id(self) -> int:
        return self.scene.lock_id

    @property
    def names(self) -> list[str]:
        """Of the remotes that the service has."""
        return sorted(one.remote_name or "" for one in self.site.remotes(self.lock_id))

    async def lose(self, call: str, fault=applied_unheard) -> Operation:
        """Send a write whose answer never comes, and have it read back."""
        self.proxy.arm(call, fault, 1)
        with pytest.raises(ResultUnknownError):
            await CALLS[call](self.operations, self.scene)
        await verify_step(self.operations)
        return (await self.operations.journal.history())[-1]

    async def agree(self) -> None:
        assert disagreements(await self.operations.journal.history(), self.proxy.ledger) == []


@pytest.fixture
async def bench(site: Site) -> AsyncIterator[Bench]:
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        yield Bench(site, proxy, operations, Scene(lock_id, site.remotes(lock_id)[1]))


@pytest.mark.parametrize("call", ["updateRemoteUserNo", "updateLockSetting"])
async def test_nothing_is_said_to_be_read_where_nothing_can_be(bench: Bench, call: str):
    bench.proxy.arm(call, applied_unheard, 1)
    with pytest.raises(ResultUnknownError, match="may have recorded the change") as error:
        await CALLS[call](bench.operations, bench.scene)
    assert "does not report this value" in error.value.sentences
    seen = await checked(bench.operations, (await bench.operations.journal.history())[-1])
    zone = bench.operations.profile.zone
    assert "read" not in describe_operation(seen, zone, bench.operations.now_ms())
    told = describe_fields(seen, (), zone, "")
    assert not {"Read back", "Resolved"} & {field.label for field in told}


async def test_a_voice_that_is_not_known_is_not_sent_again(bench: Bench):
    seen = await bench.lose("updateLockSetting")
    for body in ({}, {"currentVoiceTimbre": {"lang": "en-GB"}}):
        with pytest.raises(StoreDamagedError):
            await bench.operations.resolution.send_again(replace(seen, body=body))
    assert bench.proxy.asked.count("updateLockSetting") == 1


@pytest.mark.parametrize("call", READABLE)
async def test_a_late_request_is_found_by_the_second_reading(bench: Bench, call: str):
    seen = await bench.lose(call, stalled)
    assert seen.state is OperationState.NOT_SEEN and "may still take effect" in seen.message
    assert not bench.proxy.ledger
    again = await checked(bench.operations, seen)
    assert again.state is OperationState.NOT_SEEN
    await bench.proxy.land()
    again = await checked(bench.operations, again)
    if call == "add":
        assert again.remote_id == bench.proxy.ledger[0].data["remoteId"]
    assert again.state is OperationState.CONFIRMED_BY_READING
    assert await bench.operations.journal.list_unconfirmed() == []
    await bench.agree()


async def test_several_remotes_that_could_be_an_add(bench: Bench):
    seen = await bench.lose("add")
    new = next(one for one in bench.site.remotes(bench.lock_id) if one.remote_name == "New fob")
    twin = replace(new, id=id_of(new) + 1)
    verdict = judge_add(seen, [new, twin, bench.scene.remote], ())
    assert verdict.state is OperationState.AMBIGUOUS and verdict.candidates == (new.id, twin.id)
    assert judge_add(seen, [new, twin], {new.id}).candidates == (twin.id,)
    assert judge_add(seen, [new], {new.id}).state is OperationState.NOT_SEEN


async def test_what_happened_to_a_new_remote_since_does_not_hide_it(bench: Bench):
    """The remote of an unknown add was found in the list and used before it was settled."""
    bench.operations.watch.start = lambda: None  # type: ignore[method-assign]
    seen = await bench.lose("add")
    new = next(one for one in bench.site.remotes(bench.lock_id) if one.remote_name == "New fob")
    await bench.operations.writes.set_user_no(bench.lock_id, new, 5)
    assert seen.state is OperationState.UNKNOWN
    assert (await bench.operations.watch.check(seen)).remote_id == new.id


@pytest.mark.parametrize("fault", [close, stalled])
async def test_an_unsettled_add_or_clear_holds_back_more_of_them(bench: Bench, fault):
    first = await bench.lose("add", fault)
    sent = len(bench.proxy.asked)
    for held in ("clear", "add"):
        bench.proxy.asked.clear()
        request = new_remote(bench.lock_id, "Another fob", "N-901")
        with pytest.raises(PendingChangeError, match="this session"):
            await (
                bench.operations.writes.clear_remotes(bench.lock_id)
                if held == "clear"
                else bench.operations.writes.add_remote(request)
            )
        assert held not in bench.proxy.asked and sent
    # Neither another lock nor another kind of change is held.
    await bench.operations.writes.add_remote(new_remote(bench.site.new_lock()))
    await CALLS["update"](bench.operations, bench.scene)
    await bench.operations.resolution.give_up(first)
    await bench.operations.writes.add_remote(new_remote(bench.lock_id, "Another fob", "N-901"))
    await bench.operations.writes.clear_remotes(bench.lock_id)
    await bench.agree()


async def test_sending_again_what_was_not_seen(bench: Bench):
    seen = await bench.lose("add", close)
    assert seen.state is OperationState.NOT_SEEN
    await bench.operations.resolution.send_again(seen)
    first, second = await bench.operations.journal.history()
    assert (first.state, second.state) == (OperationState.SENT_AGAIN, OperationState.CONFIRMED)
    assert second.again_of == first.id and len(bench.proxy.ledger) == 1
    await bench.agree()


@pytest.mark.parametrize(
    ("call", "state", "error", "words"),
    [
        ("add", OperationState.UNKNOWN, RuleViolationError, "can still find out"),
        ("delete", OperationState.DAMAGED, StoreDamagedError, "is damaged"),
        (
            "delete",
            OperationState.CONFLICT,
            RuleViolationError,
            r"Somebody has changed it\. Nothing was sent",
        ),
    ],
    ids=["it may still be found", "its entry is damaged", "a conflict"],
)
async def test_send_again_sends_nothing_when_the_state_forbids_it(
    bench: Bench, call: str, state: OperationState, error: type[Exception], words: str
):
    seen = await bench.lose(call, close)
    bench.proxy.asked.clear()
    with pytest.raises(error, match=words):
        await bench.operations.resolution.send_again(
            replace(seen, state=state, message="Somebody has changed it.")
        )
    assert call not in bench.proxy.asked
    assert state is not OperationState.DAMAGED or bench.proxy.asked == [], "its fields are made up"


async def test_send_again_sends_nothing_when_the_change_was_recorded(bench: Bench):
    seen = await bench.lose("add", stalled)
    await bench.proxy.land()
    with pytest.raises(NameTakenError):
        await bench.operations.resolution.send_again(seen)
    assert bench.proxy.asked.count("add") == 1
    assert (await bench.operations.watch.check(seen)).state is OperationState.CONFIRMED_BY_READING


async def test_sending_again_ends_in_doubt_too(bench: Bench):
    seen = await bench.lose("add", close)
    bench.proxy.arm("add", applied_unheard, 1)
    with pytest.raises(ResultUnknownError):
        await bench.operations.resolution.send_again(seen)
    await verify_step(bench.operations)
    first, second = await bench.operations.journal.history()
    assert (first.state, second.state) == (
        OperationState.SENT_AGAIN,
        OperationState.CONFIRMED_BY_READING,
    )
    assert await bench.operations.journal.list_unconfirmed() == []
    await bench.agree()


@pytest.mark.parametrize("answer", [answers(refusal()), answers("", 401)])
async def test_sending_again_is_refused(bench: Bench, answer):
    seen = await bench.lose("update", close)
    bench.proxy.arm("update", answer, 1)
    with pytest.raises(RefusedError):
        await bench.operations.resolution.send_again(seen)
    states = [one.state for one in await bench.operations.journal.history()]
    assert states == [OperationState.NOT_SEEN, OperationState.REFUSED]


async def test_a_clear_is_never_sent_again(bench: Bench):
    """What remains of the remotes it was meant for is deleted one by one; newcomers stay."""
    seen = await bench.lose("clear", close)
    assert seen.state is OperationState.NOT_SEEN and len(seen.candidates) == 3
    newcomer = bench.site.ask(
        "bluetooth-remote/add", **new_remote(bench.lock_id, "Newcomer").body()
    )["remoteId"]
    gone = bench.site.remotes(bench.lock_id)[0]
    bench.site.ask("bluetooth-remote/delete", remoteId=gone.id)
    bench.proxy.asked.clear()
    await bench.operations.resolution.send_again(seen)
    assert bench.proxy.asked.count("detail") == 2, "each is read once before it is deleted"
    await verify_step(bench.operations)
    assert [one.id for one in bench.site.remotes(bench.lock_id)] == [newcomer]
    history = await bench.operations.journal.history()
    assert history[0].state is OperationState.SENT_AGAIN  # it may still land, and was not seen to
    assert [one.call for one in history] == ["clear", "delete", "delete"]
    assert "clear" not in bench.proxy.asked
    await bench.agree()


async def restored(bench: Bench, operation: Operation) -> Plan:
    drawn = await undo_one(bench.operations, operation.id)
    assert not drawn.left
    return await execute(bench.operations, drawn.plan)


async def test_a_clear_that_lands_amid_the_deletes_in_its_place_can_be_restored(bench: Bench):
    """It took what the other deletes were refused for, and no backup but its own has that."""
    before = bench.names
    seen = await bench.lose("clear", stalled)

    async def clear_lands(exchange: Exchange) -> None:
        await exchange.apply()
        await bench.proxy.land()
        await exchange.send(exchange.good_bytes())

    bench.proxy.arm("delete", clear_lands, 1)
    await bench.operations.resolution.send_again(seen)
    await verify_step(bench.operations)
    history = await bench.operations.journal.history()
    states = [one.state for one in history]
    assert states == [
        OperationState.SENT_AGAIN,
        OperationState.CONFIRMED,
        OperationState.REFUSED,
        OperationState.REFUSED,
    ]
    await restored(bench, history[1])
    plan = await restored(bench, history[0])
    assert len(plan.steps) == 3
    assert {step.state for step in plan.steps} == {StepState.RECORDED, StepState.UNCHANGED}
    assert bench.names == before


@pytest.mark.parametrize("lands", [True, False])
async def test_a_delete_that_was_given_up_can_be_restored_where_it_landed(
    bench: Bench, lands: bool
):
    before = bench.names
    seen = await bench.lose("delete", stalled if lands else close)
    given_up = await bench.operations.resolution.give_up(seen)
    await bench.proxy.land()
    drawn = await undo_one(bench.operations, given_up.id)
    assert (
        "Result of a delete: dismissed. Remotes whose name is still on the lock are not"
        in " ".join(drawn.plan.losses)
    )
    plan = await restored(bench, given_up)
    state = StepState.RECORDED if lands else StepState.UNCHANGED
    assert [step.state for step in plan.steps] == [state]
    assert bench.proxy.asked.count("add") == lands
    assert bench.names == before


async def test_deleting_one_by_one_goes_on_after_an_interruption(bench: Bench):
    seen = await bench.lose("clear", close)
    bench.proxy.arm("delete", applied_unheard, 1)
    with pytest.raises(ResultUnknownError):
        await bench.operations.resolution.send_again(seen)
    await verify_step(bench.operations)
    first = (await bench.operations.journal.history())[0]
    await bench.operations.resolution.send_again(first)
    await verify_step(bench.operations)
    assert bench.site.remotes(bench.lock_id) == []
    assert len(bench.proxy.applied("delete")) == 3
    assert await bench.operations.journal.list_unconfirmed() == []
    await bench.agree()


@pytest.mark.parametrize(
    ("path", "fields", "words"),
    [
        ("delete", {}, "no longer exists"),
        ("update", {"remoteName": "By someone else"}, "remoteName"),
    ],
)
async def test_update_is_a_conflict_when_someone_else_changed_its_remote(
    bench: Bench, path: str, fields: dict[str, str], words: str
):
    bench.proxy.arm("update", close, 1)

    async def interfere() -> None:
        about = {"lockId": bench.lock_id} if fields else {}
        remote_id = bench.scene.remote.id
        bench.site.ask(f"bluetooth-remote/{path}", remoteId=remote_id, **about, **fields)

    bench.proxy.after("update", interfere)
    with pytest.raises(ResultUnknownError):
        await CALLS["update"](bench.operations, bench.scene)
    await verify_step(bench.operations)
    (row,) = await bench.operations.journal.history()
    assert row.state is OperationState.CONFLICT and words in row.message


async def test_verification_repeats_until_it_succeeds(bench: Bench):
    """First it answers with errors, then not at all, then it is well again."""
    bench.proxy.arm("delete", applied_unheard, 1)
    bench.proxy.arm("list", answers("", 500))
    with pytest.raises(ResultUnknownError):
        await CALLS["delete"](bench.operations, bench.scene)
    await until(lambda: bench.proxy.asked.count("list") >= 4)
    assert (await bench.operations.journal.history())[0].state is OperationState.UNKNOWN
    bench.proxy.arm("list", reset)
    await bench.proxy.refuse()
    await until(lambda: bench.operations.connection.online is False)
    assert (await bench.operations.journal.history())[0].state is OperationState.UNKNOWN
    await bench.proxy.heal()
    async with asyncio.timeout(20):
        while (await bench.operations.journal.history())[0].state is OperationState.UNKNOWN:
            await asyncio.sleep(0.01)
    assert (await bench.operations.journal.history())[
        0
    ].state is OperationState.CONFIRMED_BY_READING


async def test_an_outcome_in_doubt_while_others_are_read_back_is_read_too(bench: Bench):
    gate = asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        answer = await exchange.apply()
        await gate.wait()
        await exchange.send(answer.head + b"\r\n\r\n" + answer.body)

    bench.proxy.arm("delete", applied_unheard, 1)
    bench.proxy.arm("update", applied_unheard, 1)
    bench.proxy.arm("list", slow, 1)
    other = Scene(bench.lock_id, bench.site.remotes(bench.lock_id)[2])
    deleting = asyncio.ensure_future(CALLS["delete"](bench.operations, bench.scene))
    await until(lambda: "list" in bench.proxy.asked)
    with pytest.raises(ResultUnknownError):
        await CALLS["update"](bench.operations, other)
    assert not deleting.done(), "its reading is held"
    gate.set()
    with pytest.raises(ResultUnknownError):
        await deleting
    await verify_step(bench.operations)
    states = {one.state for one in await bench.operations.journal.history()}
    assert states == {OperationState.CONFIRMED_BY_READING}


async def test_one_that_cannot_be_read_does_not_stop_the_others(bench: Bench):
    bench.proxy.arm("list", answers("", 500))
    bench.proxy.arm("update", applied_unheard, 1)
    bench.proxy.arm("delete", applied_unheard, 1)
    other = Scene(bench.lock_id, bench.site.remotes(bench.lock_id)[2])
    for call, scene in (("delete", other), ("update", bench.scene)):
        with pytest.raises(ResultUnknownError):
            await CALLS[call](bench.operations, scene)
    async with asyncio.timeout(20):
        while (await bench.operations.journal.history())[
            1
        ].state is not OperationState.CONFIRMED_BY_READING:
            await asyncio.sleep(0.01)
    assert (await bench.operations.journal.history())[0].state is OperationState.UNKNOWN


def full(*args: object, **changes: object) -> None:
    raise StoreError("disk full")


async def test_a_store_that_another_program_keeps_for_a_while_ends_no_reading_back(
    bench: Bench, monkeypatch
):
    tried: list[object] = []
    move = Journal.move

    def busy(
        journal: Journal, operation_id: str, states: frozenset[OperationState], **changes: Any
    ) -> bool:
        if states == UNCONFIRMED:
            tried.append(operation_id)
            full()
        return move(journal, operation_id, states, **changes)

    bench.proxy.arm("delete", applied_unheard, 1)
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "move", busy)
        with pytest.raises(ResultUnknownError):
            await CALLS["delete"](bench.operations, bench.scene)
        await until(lambda: tried)
    await verify_step(bench.operations)
    (row,) = await bench.operations.journal.history()
    assert row.state is OperationState.CONFIRMED_BY_READING


async def test_an_outcome_that_the_store_did_not_take_is_noted_later(bench: Bench, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "settle_sent", full)
        await CALLS["add"](bench.operations, bench.scene)
        assert (await bench.operations.journal.history())[0].state is OperationState.SENDING
    row = (await bench.operations.journal.history())[0]
    assert (
        row.state is OperationState.CONFIRMED
        and row.remote_id == bench.proxy.ledger[0].data["remoteId"]
    )


async def test_a_store_that_fails_between_prepared_and_sending_holds_nothing(
    bench: Bench, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "move", full)
        with pytest.raises(StoreError):
            await CALLS["add"](bench.operations, bench.scene)
    assert "add" not in bench.proxy.asked
    await CALLS["add"](bench.operations, bench.scene)
    states = [one.state for one in await bench.operations.journal.history()]
    assert states == [OperationState.NOT_SENT, OperationState.CONFIRMED]


async def test_write_continues_when_its_caller_is_canceled(bench: Bench):
    gate = asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        answer = await exchange.apply()
        await gate.wait()
        await exchange.send(answer.head + b"\r\n\r\n" + answer.body)

    bench.proxy.arm("add", slow)
    waiting = asyncio.create_task(CALLS["add"](bench.operations, bench.scene))
    await until(lambda: bench.proxy.ledger)
    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await waiting
    gate.set()
    async with asyncio.timeout(20):
        while (await bench.operations.journal.history())[0].state is OperationState.SENDING:
            await asyncio.sleep(0.01)
    assert (await bench.operations.journal.history())[0].state is OperationState.CONFIRMED


async def test_a_clear_stops_when_the_lock_has_other_remotes_than_were_seen(bench: Bench):
    from lockterm.errors import RuleViolationError

    with pytest.raises(RuleViolationError):
        await bench.operations.writes.clear_remotes(bench.lock_id, 4)
    assert "clear" not in bench.proxy.asked
    assert await bench.operations.journal.history() == []


async def test_nothing_is_sent_or_noted_during_a_pause(bench: Bench):
    """The service was not asked: such a write was neither refused nor is it in doubt."""
    bench.proxy.arm("update", answers("", 429, "Retry-After: 30"), 1)
    with pytest.raises(RateLimitedError):
        await CALLS["update"](bench.operations, bench.scene)
    for call in ("update", "delete", "updateLockSetting", "detail"):
        with pytest.raises(RateLimitedError):
            await CALLS[call](bench.operations, bench.scene)
    assert bench.proxy.asked == ["detail", "update"]
    assert [row.state for row in await bench.operations.journal.history()] == [
        OperationState.REFUSED
    ]
    let_pause_pass(bench.operations)
    await CALLS["update"](bench.operations, bench.scene)
    await bench.agree()


@pytest.mark.parametrize(
    "other",
    [
        {"remoteName": "New fob 2"},
        {"remoteNumber": "N-901"},
        {"remoteType": 2},
        {"startDate": 1_000},
        {"endDate": 1_000},
        {"weekDay": [1]},
    ],
    ids=lambda other: next(iter(other)),
)
async def test_judge_add_leaves_it_to_a_person_when_a_field_differs(bench: Bench, other):
    seen = await bench.lose("add")
    new = next(one for one in bench.site.remotes(bench.lock_id) if one.remote_name == "New fob")
    differing, are_new = Remote.read({**new.raw, **other}), {new.id: True}
    verdict = judge_add(seen, [differing], (), are_new)
    if {"remoteName", "remoteNumber"} & other.keys():  # it is another remote
        assert verdict.state is OperationState.NOT_SEEN
        return
    assert (verdict.state, verdict.candidates) == (OperationState.AMBIGUOUS, (new.id,))
    assert next(iter(other)) in verdict.words
    assert judge_add(seen, [differing], (), {new.id: False}).state is OperationState.NOT_SEEN
    assert judge_add(seen, [new], (), are_new).remote_id == new.id
    assert judge_add(seen, [new], ()).candidates == (new.id,)


async def test_what_was_not_sent_is_recognized_as_the_service_fills_it_in(bench: Bench):
    seen = await bench.lose("add")
    sent = {name: seen.body[name] for name in ("remoteName", "remoteNumber", "remoteType")}
    for filled_in in ({}, {"startDate": 0, "endDate": 0, "weekDay": []}):
        remote = Remote.read({"id": 7, **sent, **filled_in})
        assert judge_add(replace(seen, body=sent), [remote], ()).candidates == (7,)


async def test_only_what_the_service_does_not_know_is_gone(bench: Bench):
    """Who may not ask, or not now, has not been told that there is no such remote."""
    read = bench.operations.remotes.detail_or_gone
    assert (await read(bench.scene.remote.id)).id == bench.scene.remote.id
    assert await read(999_999) is None
    bench.proxy.arm(
        "detail", answers('{"errcode": -2, "errmsg": "no such remote", "description": ""}', 400), 1
    )
    assert await read(bench.scene.remote.id) is None
    refused = [(status, RefusedError) for status in (400, 401, 403, 405, 407)]
    for status, error in (*refused, (429, RateLimitedError)):
        bench.proxy.arm("detail", answers("", status), 1)
        with pytest.raises(error) as refusal:
            await read(bench.scene.remote.id)
        assert refusal.value.status == status


async def test_send_again_sends_nothing_when_the_check_settles_a_clear(bench: Bench):
    """It had landed after all: one reading more proves it, and a newcomer stays."""
    seen = await bench.lose("clear", stalled)
    await bench.proxy.land()
    newcomer = bench.site.ask(
        "bluetooth-remote/add", **new_remote(bench.lock_id, "Newcomer").body()
    )["remoteId"]
    timer = VirtualTimer(time.monotonic())
    bench.operations.watch.timer = timer
    seen = await bench.operations.watch.check(seen)
    assert seen.is_unconfirmed, "one reading is no proof of an absence"
    await timer.pass_s(1)
    bench.proxy.asked.clear()
    await bench.operations.resolution.send_again(seen)
    assert bench.proxy.asked == ["list"]
    assert [one.id for one in bench.site.remotes(bench.lock_id)] == [newcomer]
    (row,) = await bench.operations.journal.history()
    assert row.state is OperationState.CONFIRMED_BY_READING


async def test_write_is_recorded_as_not_sent_when_a_gateway_wants_a_client_certificate(site: Site):
    """With TLS 1.3 the request has left by then, and nobody read it. This call reads nothing."""
    lock_id = site.new_lock()
    scene = Scene(lock_id, site.remotes(lock_id)[1])
    with CertificateGateway(ssl.TLSVersion.TLSv1_3) as gateway:
        ca_file = str(CERTS / "ca.pem")
        async with (
            site.proxy() as proxy,
            site.operations(proxy, base_url=gateway.base_url, ca_file=ca_file) as operations,
        ):
            with pytest.raises(UntrustedServerError, match="requires a client certificate"):
                await CALLS["updateLockSetting"](operations, scene)
            (row,) = await operations.journal.history()
    assert row.state is OperationState.NOT_SENT and "did not read the request" in row.message


async def test_delete_is_not_recorded_when_only_the_list_is_without_the_remote(bench: Bench):
    others = [
        one.raw for one in bench.site.remotes(bench.lock_id) if one.id != bench.scene.remote.id
    ]
    data = {"list": others, "pages": 1, "total": len(others), "pageNo": 1, "pageSize": 200}
    bench.proxy.arm("list", answers(json.dumps({"errcode": 0, "data": data})), 9)
    seen = await bench.lose("delete", stalled)
    assert seen.state is OperationState.NOT_SEEN and "its details can still be read" in seen.message


async def test_send_again_deletes_nothing_when_what_a_clear_left_is_uncertain(bench: Bench):
    """An old list may show a remote under an id that another one has by now."""
    seen = await bench.lose("clear", stalled)
    await bench.proxy.land()
    bench.operations.watch.timer = VirtualTimer(time.monotonic())
    with pytest.raises(RuleViolationError, match="does not know yet"):
        await bench.operations.resolution.send_again(seen)
    assert "delete" not in bench.proxy.asked


async def test_send_again_raises_the_refusal_when_a_clear_leaves_something(bench: Bench):
    seen = await bench.lose("clear", close)
    bench.proxy.arm("delete", answers(refusal()), 1)
    with pytest.raises(RefusedError):
        await bench.operations.resolution.send_again(seen)
    assert len(bench.site.remotes(bench.lock_id)) == 1
