"""After the fault: what became of a write is read back, and a person settles the rest."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import time
from dataclasses import replace
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
from lockterm.operations.proof import judge_add
from lockterm.operations.refusals import PendingChangeError
from lockterm.operations.undoing import undo_one
from lockterm.store.journal import Journal
from tests.certs import CERTS
from tests.faults.calls import CALLS, Scene, id_of, new_remote
from tests.faults.catalogue import answers, applied_unheard, close, refusal, reset, stalled
from tests.faults.proxy import Exchange
from tests.faults.site import Site, checked, until, verify_step
from tests.operations.bench import Bench, Gate, read_nothing_back
from tests.operations.runs.planning import execute
from tests.operations.virtual import VirtualTimer, let_pause_pass
from tests.servers import CertificateGateway

NOT_SEEN, UNKNOWN, SENDING = OperationState.NOT_SEEN, OperationState.UNKNOWN, OperationState.SENDING
CONFIRMED, PROVEN = OperationState.CONFIRMED, OperationState.CONFIRMED_BY_READING
REFUSED, SENT_AGAIN = OperationState.REFUSED, OperationState.SENT_AGAIN
AMBIGUOUS, NOT_SENT = OperationState.AMBIGUOUS, OperationState.NOT_SENT


@pytest.mark.parametrize("call", ["updateRemoteUserNo", "updateLockSetting"])
async def test_nothing_is_said_to_be_read_where_nothing_can_be(bench: Bench, call: str):
    bench.proxy.arm(call, applied_unheard, 1)
    with pytest.raises(ResultUnknownError, match="may have recorded the change") as error:
        await bench.call(call)
    assert "does not report this value" in error.value.sentences
    seen = await checked(bench.operations, (await bench.history())[-1])
    zone = bench.operations.profile.zone
    assert "read" not in describe_operation(seen, zone, bench.operations.now_ms())
    told = describe_fields(seen, (), zone, "")
    assert not {"Read back", "Resolved"} & {field.label for field in told}
    if call == "updateLockSetting":  # a voice that is not known is not sent again
        for body in ({}, {"currentVoiceTimbre": {"lang": "en-GB"}}):
            with pytest.raises(StoreDamagedError):
                await bench.resolution.send_again(replace(seen, body=body))
    assert bench.proxy.asked.count(call) == 1


@pytest.mark.parametrize("call", ["add", "update", "delete", "clear"])
async def test_a_late_request_is_found_by_the_second_reading(bench: Bench, call: str):
    seen = await bench.lose(call, stalled)
    assert seen.state is NOT_SEEN and "may still take effect" in seen.message
    assert not bench.proxy.ledger
    again = await checked(bench.operations, seen)
    assert again.state is NOT_SEEN
    await bench.proxy.land()
    again = await checked(bench.operations, again)
    if call == "add":
        assert again.remote_id == bench.proxy.ledger[0].data["remoteId"]
    assert again.state is PROVEN
    assert await bench.unconfirmed() == []
    await bench.agree()


async def test_what_happened_to_a_new_remote_since_does_not_hide_it(bench: Bench):
    """The remote of an unknown add was found in the list and used before it was settled."""
    read_nothing_back(bench.operations)
    seen = await bench.lose("add")
    new = bench.remotes[-1]
    await bench.writes.set_user_no(bench.lock_id, new, 5)
    assert seen.state is UNKNOWN
    assert (await bench.watch.check(seen)).remote_id == new.id


@pytest.mark.parametrize("fault", [close, stalled])
async def test_an_unsettled_add_or_clear_holds_back_more_of_them(bench: Bench, fault):
    writes, lock_id = bench.writes, bench.lock_id
    first = await bench.lose("add", fault)
    bench.proxy.asked.clear()
    another = new_remote(lock_id, "Another fob", "N-901")
    for held in (writes.clear_remotes(lock_id), writes.add_remote(another)):
        with pytest.raises(PendingChangeError, match="this session"):
            await held
    assert not {"add", "clear"} & {*bench.proxy.asked}
    # Neither another lock nor another kind of change is held.
    await writes.add_remote(new_remote(bench.site.new_lock()))
    await bench.call("update")
    await bench.resolution.give_up(first)
    await writes.add_remote(another)
    await writes.clear_remotes(lock_id)
    await bench.agree()


@pytest.mark.parametrize("fault", [None, applied_unheard])
async def test_sending_again_what_was_not_seen(bench: Bench, fault):
    """The second one may be lost too."""
    seen = await bench.lose("add", close)
    assert seen.state is NOT_SEEN
    if fault is None:
        await bench.resolution.send_again(seen)
    else:
        bench.proxy.arm("add", fault, 1)
        with pytest.raises(ResultUnknownError):
            await bench.resolution.send_again(seen)
        await verify_step(bench.operations)
    first, second = await bench.history()
    assert (first.state, second.state) == (SENT_AGAIN, PROVEN if fault else CONFIRMED)
    assert second.again_of == first.id and len(bench.proxy.ledger) == 1
    assert await bench.unconfirmed() == []
    await bench.agree()


@pytest.mark.parametrize(
    ("call", "state", "error", "words"),
    [
        ("add", UNKNOWN, RuleViolationError, "can still find out"),
        ("delete", OperationState.DAMAGED, StoreDamagedError, "is damaged"),
        ("delete", OperationState.CONFLICT, RuleViolationError, r"changed it\. Nothing was sent"),
    ],
    ids=["it may still be found", "its entry is damaged", "a conflict"],
)
async def test_send_again_sends_nothing_when_the_state_forbids_it(
    bench: Bench, call: str, state: OperationState, error: type[Exception], words: str
):
    seen = await bench.lose(call, close)
    bench.proxy.asked.clear()
    with pytest.raises(error, match=words):
        message = "Somebody has changed it."
        await bench.resolution.send_again(replace(seen, state=state, message=message))
    assert call not in bench.proxy.asked
    assert state is not OperationState.DAMAGED or bench.proxy.asked == [], "its fields are made up"


async def test_send_again_sends_nothing_when_the_change_was_recorded(bench: Bench):
    seen = await bench.lose("add", stalled)
    await bench.proxy.land()
    with pytest.raises(NameTakenError):
        await bench.resolution.send_again(seen)
    assert bench.proxy.asked.count("add") == 1
    assert (await bench.watch.check(seen)).state is PROVEN


@pytest.mark.parametrize("answer", [answers(refusal()), answers("", 401)])
async def test_sending_again_is_refused(bench: Bench, answer):
    seen = await bench.lose("update", close)
    bench.proxy.arm("update", answer, 1)
    with pytest.raises(RefusedError):
        await bench.resolution.send_again(seen)
    assert await bench.states() == [NOT_SEEN, REFUSED]


async def test_a_clear_is_never_sent_again(bench: Bench):
    """What remains of the remotes it was meant for is deleted one by one; newcomers stay."""
    seen = await bench.lose("clear", close)
    assert seen.state is NOT_SEEN and len(seen.candidates) == 3
    newcomer = bench.ask("add", **new_remote(bench.lock_id, "Newcomer").body())["remoteId"]
    bench.ask("delete", remoteId=bench.first.id)
    bench.proxy.asked.clear()
    await bench.resolution.send_again(seen)
    assert bench.proxy.asked.count("detail") == 2, "each is read once before it is deleted"
    await verify_step(bench.operations)
    assert [one.id for one in bench.remotes] == [newcomer]
    assert [(one.call, one.state) for one in await bench.history()] == [
        ("clear", SENT_AGAIN),  # it may still land, and was not seen to
        ("delete", CONFIRMED),
        ("delete", CONFIRMED),
    ]
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
    await bench.resolution.send_again(seen)
    await verify_step(bench.operations)
    assert await bench.states() == [SENT_AGAIN, CONFIRMED, REFUSED, REFUSED]
    clear, delete, *_ = await bench.history()
    await restored(bench, delete)
    plan = await restored(bench, clear)
    assert len(plan.steps) == 3
    assert {step.state for step in plan.steps} == {StepState.RECORDED, StepState.UNCHANGED}
    assert bench.names == before


@pytest.mark.parametrize("lands", [True, False])
async def test_a_delete_that_was_given_up_can_be_restored_where_it_landed(
    bench: Bench, lands: bool
):
    before = bench.names
    seen = await bench.lose("delete", stalled if lands else close)
    given_up = await bench.resolution.give_up(seen)
    await bench.proxy.land()
    losses = " ".join((await undo_one(bench.operations, given_up.id)).plan.losses)
    assert "Result of a delete: dismissed. Remotes whose name is still on the lock are" in losses
    plan = await restored(bench, given_up)
    state = StepState.RECORDED if lands else StepState.UNCHANGED
    assert [step.state for step in plan.steps] == [state]
    assert bench.proxy.asked.count("add") == lands
    assert bench.names == before


async def test_deleting_one_by_one_goes_on_after_an_interruption(bench: Bench):
    seen = await bench.lose("clear", close)
    bench.proxy.arm("delete", applied_unheard, 1)
    with pytest.raises(ResultUnknownError):
        await bench.resolution.send_again(seen)
    await verify_step(bench.operations)
    await bench.resolution.send_again((await bench.history())[0])
    await verify_step(bench.operations)
    assert bench.remotes == []
    assert len(bench.proxy.applied("delete")) == 3
    assert await bench.unconfirmed() == []
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
    async def interfere() -> None:
        bench.ask(path, remoteId=bench.second.id, **fields)

    bench.proxy.after("update", interfere)
    row = await bench.lose("update", close)
    assert row.state is OperationState.CONFLICT and words in row.message


async def test_verification_repeats_until_it_succeeds(bench: Bench):
    """First it answers with errors, then not at all, then it is well again."""
    bench.proxy.arm("delete", applied_unheard, 1)
    bench.proxy.arm("list", answers("", 500))
    with pytest.raises(ResultUnknownError):
        await bench.call("delete")
    await until(lambda: bench.proxy.asked.count("list") >= 4)
    assert await bench.states() == [UNKNOWN]
    bench.proxy.arm("list", reset)
    await bench.proxy.refuse()
    await until(lambda: bench.operations.connection.online is False)
    assert await bench.states() == [UNKNOWN]
    await bench.proxy.heal()
    await bench.until_state(PROVEN)


async def test_an_outcome_in_doubt_while_others_are_read_back_is_read_too(bench: Bench):
    gate = Gate(is_applied=True)
    bench.proxy.arm("delete", applied_unheard, 1)
    bench.proxy.arm("update", applied_unheard, 1)
    bench.proxy.arm("list", gate, 1)
    deleting = asyncio.ensure_future(bench.call("delete"))
    await until(lambda: "list" in bench.proxy.asked)
    with pytest.raises(ResultUnknownError):
        await bench.call("update", bench.third)
    assert not deleting.done(), "its reading is held"
    gate.open.set()
    with pytest.raises(ResultUnknownError):
        await deleting
    await verify_step(bench.operations)
    assert await bench.states() == [PROVEN, PROVEN]


async def test_one_that_cannot_be_read_does_not_stop_the_others(bench: Bench):
    bench.proxy.arm("list", answers("", 500))
    for call, remote in (("delete", bench.third), ("update", bench.second)):
        bench.proxy.arm(call, applied_unheard, 1)
        with pytest.raises(ResultUnknownError):
            await bench.call(call, remote)
    await bench.until_state(PROVEN, 1)
    assert await bench.states() == [UNKNOWN, PROVEN]


def full(*args: object, **changes: object) -> None:
    raise StoreError("disk full")


async def test_a_store_that_another_program_keeps_for_a_while_ends_no_reading_back(
    bench: Bench, monkeypatch
):
    tried: list[object] = []
    move = Journal.move

    def busy(journal: Journal, operation_id: str, states: Any, **changes: Any) -> bool:
        if states == UNCONFIRMED:
            tried.append(operation_id)
            full()
        return move(journal, operation_id, states, **changes)

    bench.proxy.arm("delete", applied_unheard, 1)
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "move", busy)
        with pytest.raises(ResultUnknownError):
            await bench.call("delete")
        await until(lambda: tried)
    await verify_step(bench.operations)
    assert await bench.states() == [PROVEN]


async def test_a_store_that_fails_between_prepared_and_sending_holds_nothing(
    bench: Bench, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "move", full)
        with pytest.raises(StoreError):
            await bench.call("add")
    assert "add" not in bench.proxy.asked
    await bench.call("add")
    assert await bench.states() == [NOT_SENT, CONFIRMED]


async def test_write_continues_when_its_caller_is_canceled(bench: Bench):
    gate = Gate(is_applied=True)
    bench.proxy.arm("add", gate)
    waiting = asyncio.create_task(bench.call("add"))
    await until(lambda: gate.waiting)
    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await waiting
    gate.open.set()
    await bench.until_state(CONFIRMED)


async def test_nothing_is_sent_or_noted_during_a_pause(bench: Bench):
    """The service was not asked: such a write was neither refused nor is it in doubt."""
    bench.proxy.arm("update", answers("", 429, "Retry-After: 30"), 1)
    for call in ("update", "update", "delete", "updateLockSetting", "detail"):
        with pytest.raises(RateLimitedError):
            await bench.call(call)
        assert bench.proxy.asked == ["detail", "update"]
    assert await bench.states() == [REFUSED]
    let_pause_pass(bench.operations)
    await bench.call("update")
    await bench.agree()


async def test_judge_add_leaves_it_to_a_person_when_remotes_or_fields_differ(bench: Bench):
    seen = await bench.lose("add")
    new = bench.remotes[-1]
    twin, are_new = replace(new, id=id_of(new) + 1), {new.id: True}
    verdict = judge_add(seen, [new, twin, bench.second], ())
    assert (verdict.state, verdict.candidates) == (AMBIGUOUS, (new.id, twin.id))
    assert judge_add(seen, [new, twin], {new.id}).candidates == (twin.id,)
    assert judge_add(seen, [new], {new.id}).state is NOT_SEEN
    assert judge_add(seen, [new], (), are_new).remote_id == new.id
    assert judge_add(seen, [new], ()).candidates == (new.id,)

    for another in ({"remoteName": "New fob 2"}, {"remoteNumber": "N-901"}):
        remote = Remote.read({**new.raw, **another})
        assert judge_add(seen, [remote], (), are_new).state is NOT_SEEN
    for name, value in (("remoteType", 2), ("startDate", 1), ("endDate", 1), ("weekDay", [1])):
        differing = Remote.read({**new.raw, name: value})
        verdict = judge_add(seen, [differing], (), are_new)
        assert (verdict.state, verdict.candidates) == (AMBIGUOUS, (new.id,)), name
        assert name in verdict.words
        assert judge_add(seen, [differing], (), {new.id: False}).state is NOT_SEEN

    sent = {name: seen.body[name] for name in ("remoteName", "remoteNumber", "remoteType")}
    for filled_in in ({}, {"startDate": 0, "endDate": 0, "weekDay": []}):  # by the service
        remote = Remote.read({"id": 7, **sent, **filled_in})
        assert judge_add(replace(seen, body=sent), [remote], ()).candidates == (7,)


async def test_only_what_the_service_does_not_know_is_gone(bench: Bench):
    """Who may not ask, or not now, has not been told that there is no such remote."""
    read = bench.operations.remotes.detail_or_gone
    assert (await read(bench.second.id)).id == bench.second.id
    assert await read(999_999) is None
    no_such = '{"errcode": -2, "errmsg": "no such remote", "description": ""}'
    bench.proxy.arm("detail", answers(no_such, 400), 1)
    assert await read(bench.second.id) is None
    refused = [(status, RefusedError) for status in (400, 401, 403, 405, 407)]
    for status, error in (*refused, (429, RateLimitedError)):
        bench.proxy.arm("detail", answers("", status), 1)
        with pytest.raises(error) as raised:
            await read(bench.second.id)
        assert raised.value.status == status


async def test_send_again_sends_nothing_when_a_clear_had_landed(bench: Bench):
    """One reading proves no absence, and a second one does; a newcomer stays."""
    seen = await bench.lose("clear", stalled)
    await bench.proxy.land()
    newcomer = bench.ask("add", **new_remote(bench.lock_id, "Newcomer").body())["remoteId"]
    bench.watch.timer = timer = VirtualTimer(time.monotonic())
    with pytest.raises(RuleViolationError, match="does not know yet"):
        await bench.resolution.send_again(seen)
    (seen,) = await bench.unconfirmed()
    await timer.pass_s(1)
    bench.proxy.asked.clear()
    await bench.resolution.send_again(seen)
    assert bench.proxy.asked == ["list"]
    assert [one.id for one in bench.remotes] == [newcomer]
    assert await bench.states() == [PROVEN]


async def test_write_is_recorded_as_not_sent_when_a_gateway_wants_a_client_certificate(site: Site):
    """With TLS 1.3 the request has left by then, and nobody read it. This call reads nothing."""
    lock_id = site.new_lock()
    scene, ca_file = Scene(lock_id, site.remotes(lock_id)[1]), str(CERTS / "ca.pem")
    with CertificateGateway(ssl.TLSVersion.TLSv1_3) as gateway:
        async with (
            site.proxy() as proxy,
            site.operations(proxy, base_url=gateway.base_url, ca_file=ca_file) as operations,
        ):
            with pytest.raises(UntrustedServerError, match="requires a client certificate"):
                await CALLS["updateLockSetting"](operations, scene)
            (row,) = await operations.journal.history()
    assert row.state is NOT_SENT and "did not read the request" in row.message


async def test_delete_is_not_recorded_when_only_the_list_is_without_the_remote(bench: Bench):
    others = [bench.first.raw, bench.third.raw]
    data = {"list": others, "pages": 1, "total": 2, "pageNo": 1, "pageSize": 200}
    bench.proxy.arm("list", answers(json.dumps({"errcode": 0, "data": data})), 9)
    seen = await bench.lose("delete", stalled)
    assert seen.state is NOT_SEEN and "its details can still be read" in seen.message


async def test_send_again_raises_the_refusal_when_a_clear_leaves_something(bench: Bench):
    seen = await bench.lose("clear", close)
    bench.proxy.arm("delete", answers(refusal()), 1)
    with pytest.raises(RefusedError):
        await bench.resolution.send_again(seen)
    assert len(bench.remotes) == 1
