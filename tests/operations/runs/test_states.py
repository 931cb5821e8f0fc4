"""What becomes of the steps of a plan, each state of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from lockterm.domain.clock import Clock
from lockterm.domain.locks import VoiceChoice
from lockterm.domain.operation import OperationState
from lockterm.domain.plan import Action, Plan, Step, StepState, at_rest
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import RemoteChanges
from lockterm.domain.run import Run
from lockterm.domain.text.run import count_states
from lockterm.errors import RateLimitedError, ResultUnknownError, StoreError
from lockterm.operations.proof import Horizon
from lockterm.operations.rate_limiter import RateLimiter
from lockterm.operations.undoing import undo_last
from lockterm.operations.watching import Timer
from tests.faults.catalogue import BROKEN_OFF, LIMITED, REFUSED, answers, refusal, reset
from tests.faults.proxy import Exchange, FaultProxy, Play, decoded
from tests.faults.site import Site, until, verify_step
from tests.long import telling
from tests.operations.runs.planning import (
    add,
    delete,
    execute,
    keep,
    names,
    run_of,
    states,
    update,
)
from tests.operations.test_full_disk import full_disk
from tests.operations.virtual import VirtualTimer

RECORDED, UNCHANGED, SKIPPED = StepState.RECORDED, StepState.UNCHANGED, StepState.SKIPPED
REFUSED_STEP, NOT_SENT, UNKNOWN = StepState.REFUSED, StepState.NOT_SENT, StepState.UNKNOWN
TO_DO, SENT = StepState.TO_DO, StepState.SENT


@pytest.fixture
async def carried(site: Site) -> Any:
    """Carry out steps through a proxy that was prepared, in a session of their own."""

    async def carry(proxy: FaultProxy, steps: list[Step], **profile: Any) -> Plan:
        async with site.operations(proxy, **profile) as operations:
            return await execute(operations, steps)

    return carry


def applied(play: Play) -> Play:
    """The service has the request, and then something goes wrong."""

    async def apply(exchange: Exchange) -> None:
        await exchange.apply()
        await play(exchange)

    return apply


def altered(site: Site, play: Play) -> Play:
    """The service records something else than what was sent, and then something goes wrong."""

    async def apply(exchange: Exchange) -> None:
        await exchange.apply()
        site.alter_newest(decoded(exchange)["lockId"])
        await play(exchange)

    return apply


def only(lock_id: int, play: Play) -> Play:
    """Strike at one lock's requests, and let the others through."""

    async def strike(exchange: Exchange) -> None:
        if decoded(exchange).get("lockId") == lock_id:
            await play(exchange)
        else:
            await exchange.apply()
            await exchange.send(exchange.good_bytes())

    return strike


# --- as it was, or as it is to be ----------------------------------------------------------------


async def test_what_is_so_already_is_not_sent(site: Site, carried: Any):
    lock_id = site.new_lock()
    first, second, third = site.remotes(lock_id)
    site.ask("bluetooth-remote/update", lockId=lock_id, remoteId=first.id, remoteName="Anna")
    site.ask("bluetooth-remote/delete", remoteId=second.id)
    site.ask("bluetooth-remote/add", lockId=lock_id, **dict(add(lock_id, 7).wanted))
    async with site.proxy() as proxy:
        done = await carried(
            proxy,
            [
                update(lock_id, first, remoteName="Anna"),
                delete(lock_id, second),
                add(lock_id, 7),
                keep(lock_id, third),
                update(lock_id, third, remoteName=third.remote_name),
            ],
        )
        assert states(done) == [UNCHANGED] * 5
        assert proxy.ledger == []
    assert done.steps[2].remote_id == max(one.id or 0 for one in site.remotes(lock_id))


async def test_what_has_changed_since_is_skipped_and_holds_nothing_up(site: Site, carried: Any):
    lock_id = site.new_lock(7)
    renamed, moved, gone, given, kept, last, renewed = site.remotes(lock_id)
    site.ask("bluetooth-remote/update", lockId=lock_id, remoteId=renamed.id, remoteName="Bob")
    site.ask("bluetooth-remote/update", lockId=lock_id, remoteId=moved.id, isCoerced=1)
    site.ask("bluetooth-remote/delete", remoteId=gone.id)
    site.ask("bluetooth-remote/update", lockId=lock_id, remoteId=renewed.id, extraData={"a": 1})
    given = type(given).read(given.raw | {"remoteNumber": "of another one"})
    async with site.proxy() as proxy:
        done = await carried(
            proxy,
            [
                update(lock_id, renamed, remoteName="Anna"),
                update(lock_id, moved, remoteName="Moved"),
                update(lock_id, gone, remoteName="Gone"),
                update(lock_id, given, remoteName="Given"),
                delete(lock_id, type(kept).read(kept.raw | {"createTime": 1})),
                delete(lock_id, last),
                delete(lock_id, renewed),
            ],
        )
        assert states(done) == [SKIPPED, RECORDED, SKIPPED, SKIPPED, SKIPPED, RECORDED, SKIPPED]
        assert [entry.call for entry in proxy.ledger] == ["update", "delete"]
    words = [step.message for step in done.steps]
    assert "Fob 0 -> Bob" in words[0]
    assert "no longer exists" in words[2]
    assert "another remote" in words[3] and "another remote" in words[4]
    assert "The remote was changed since then: Extra data" in words[6]
    assert names(site, lock_id) == {"Bob", "Moved", "Fob 3", "Fob 4", "Fob 6"}


async def test_a_name_that_another_remote_has_is_refused_with_what_differs(
    site: Site, carried: Any
):
    lock_id = site.new_lock()
    async with site.proxy() as proxy:
        done = await carried(proxy, [add(lock_id, 1, remoteName="Fob 0"), add(lock_id, 2)])
    assert states(done) == [REFUSED_STEP, RECORDED]
    assert "Number: N-0 -> A-1" in done.steps[0].message


# --- refused, not sent ---------------------------------------------------------------------------


async def test_what_the_service_refuses_holds_nothing_up(site: Site, carried: Any):
    lock_id = site.new_lock()
    async with site.proxy() as proxy:
        proxy.arm("add", answers(refusal()), times=1)
        done = await carried(proxy, [add(lock_id, 1), add(lock_id, 2)])
    assert states(done) == [REFUSED_STEP, RECORDED]
    assert done.steps[0].message == "said (code 7): why"


@pytest.mark.parametrize(
    "step",
    [
        lambda lock_id, remote: add(lock_id, 1, remoteType=9),
        lambda lock_id, remote: add(lock_id, 1, nobody="knows"),
        lambda lock_id, remote: update(lock_id, remote, remoteNumber="N-77"),
        lambda lock_id, remote: update(lock_id, remote, remoteName=5),
        lambda lock_id, remote: update(lock_id, remote, remoteType=2),
    ],
    ids=["no such type", "no such field", "not to be changed", "no text", "no dates"],
)
async def test_what_cannot_be_sent_is_refused_and_nothing_of_it_is_sent(
    site: Site, carried: Any, step: Callable[..., Step]
):
    lock_id = site.new_lock()
    async with site.proxy() as proxy:
        done = await carried(proxy, [step(lock_id, site.remotes(lock_id)[0]), add(lock_id, 2)])
        assert states(done) == [REFUSED_STEP, RECORDED] and done.steps[0].message
        assert [entry.body["remoteName"] for entry in proxy.ledger] == ["New 2"]


@pytest.mark.parametrize("name", ["401 with an envelope", "403"])
async def test_a_denial_stops_the_run_with_its_reason(site: Site, name: str):
    locks = [site.new_lock() for _ in range(9)]
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.arm("checkRemoteName", REFUSED[name])
        run = run_of(operations, [add(lock_id, 1) for lock_id in locks])
        done = await execute(operations, run)
        asked = len(proxy.asked)
    assert "said" in run.stop_reason
    assert set(states(done)) == {REFUSED_STEP, TO_DO}
    assert done.counts()[REFUSED_STEP] == asked < len(locks)


async def test_a_lock_that_is_not_reached_holds_its_own_steps_alone(site: Site, carried: Any):
    far, near = site.new_lock(), site.new_lock()
    tried: set[tuple[int, str]] = set()

    def note(exchange: Exchange) -> None:
        if exchange.call == "checkRemoteName":
            body = decoded(exchange)
            tried.add((body["lockId"], body["remoteName"]))

    async with site.proxy() as proxy:
        proxy.arm("checkRemoteName", only(far, reset))
        proxy.on_asked = note
        steps = [add(lock_id, number) for number in range(4) for lock_id in (far, near)]
        done = await carried(proxy, steps)
    assert states(done) == [NOT_SENT, RECORDED] * 4
    assert done.steps[0].message.startswith(
        "Not reached. No change was sent, because the name check got no answer."
    )
    assert done.steps[2].message.startswith("Not reached in the previous step. ")
    assert tried == {(far, "New 0"), *((near, f"New {number}") for number in range(4))}


async def test_what_another_change_holds_back_is_not_sent(site: Site):
    lock_id, other = site.new_lock(), site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.arm("add", reset)
        lost = add(lock_id, 1)
        first = await execute(operations, [lost, add(lock_id, 2), update_of(site, lock_id)])
        assert states(first) == [UNKNOWN, NOT_SENT, RECORDED]
        assert "is unconfirmed" in first.steps[1].message
        await proxy.heal()
        again = await execute(operations, [add(lock_id, 3), add(other, 3)])
        assert states(again) == [NOT_SENT, RECORDED]


def update_of(site: Site, lock_id: int) -> Step:
    return update(lock_id, site.remotes(lock_id)[-1], remoteName="Changed")


# --- no answer -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["reset in the body", "closed before the answer"])
async def test_what_had_no_answer_is_read_back(site: Site, carried: Any, name: str):
    lock_id = site.new_lock()
    first, second, _ = site.remotes(lock_id)
    async with site.proxy() as proxy:
        for call in ("update", "delete", "add"):
            proxy.arm(call, applied(BROKEN_OFF[name]))
        steps = [update(lock_id, first, remoteName="Anna"), delete(lock_id, second)]
        done = await carried(proxy, [*steps, add(lock_id, 1)])
        assert len(proxy.ledger) == 3
    assert states(done) == [RECORDED] * 3, [one.message for one in done.steps]
    assert done.steps[2].remote_id == proxy.ledger[2].data["remoteId"]


async def test_all_that_is_unknown_is_read_back_together_at_the_end(site: Site):
    """With the clock of a real service: more than a minute, but not that for each of them."""
    steps, told, counts = [], list[Step](), list[int]()
    for _ in range(5):
        lock_id = site.new_lock()
        steps.append(update(lock_id, site.remotes(lock_id)[0], remoteName="Anna"))
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        timer = VirtualTimer()
        operations.watch.timer, operations.watch.horizon = timer, Horizon()
        proxy.arm("update", applied(reset))
        run = run_of(operations, steps)

        def note(run: Run) -> None:
            told.extend(run.steps[number] for number in run.news[len(told) :])
            counts.append(run.reading)

        run.on_change = note
        done = await execute(operations, run)
        assert states(done) == [RECORDED] * 5
        assert (max(counts), counts[-1]) == (5, 0)
        assert len(proxy.ledger) == 5 and proxy.asked.count("update") == 5
        for number in range(1, 6):
            seen = [step.state for step in told if step.number == number]
            assert seen == [SENT, UNKNOWN, RECORDED]
        assert timer.now_s() < 5 * Horizon().stale_s
        assert await operations.runs.find(done.id) == done


class HeldPace(RateLimiter):
    """No time passes by it, and nothing begins while it is held."""

    is_held = False
    refused = begun = limits = 0

    def wait_s(self, under_way: int) -> float:
        self.refused += self.is_held
        return 0.001 if self.is_held else super().wait_s(under_way)

    def begin(self, calls: int) -> None:
        self.begun += calls

    def limit(self, pause_s: float) -> None:
        self.limits += 1


async def test_each_call_that_reads_back_has_its_turn_by_the_pace(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    pace = HeldPace(Clock())
    monkeypatch.setattr("lockterm.operations.facade.RateLimiter", lambda *_, **__: pace)
    steps, asked = [], list[str]()
    for _ in range(3):
        one, other = site.new_lock(), site.new_lock()
        steps.append(update(one, site.remotes(one)[0], remoteName="Anna"))
        steps.append(delete(other, site.remotes(other)[0]))
    async with site.proxy() as proxy, site.operations(proxy, reads_back=False) as operations:
        operations.watch.timer, operations.watch.horizon = VirtualTimer(), Horizon()
        for call in ("update", "delete"):
            proxy.arm(call, applied(reset))

        def hold(run: Run) -> None:
            if run.reading == len(steps):
                pace.is_held, pace.begun = True, 0
                proxy.on_asked = lambda exchange: asked.append(exchange.call)

        run = run_of(operations, steps)
        run.on_change = hold
        running = asyncio.create_task(execute(operations, run))
        await until(lambda: pace.refused > 50)
        assert not asked
        pace.is_held = False
        assert states(await running) == [RECORDED] * len(steps)
    assert {"detail", "list"} <= {*asked}
    assert pace.begun == len(asked)


async def test_what_listens_to_what_reads_back_waits_for_no_turn_of_it(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    """A screen reads its page again when a change is proven: a key waits for that page."""
    pace, lock_id = HeldPace(Clock()), site.new_lock()
    monkeypatch.setattr("lockterm.operations.facade.RateLimiter", lambda *_, **__: pace)
    read = asyncio.Queue[asyncio.Task[Any]]()
    async with site.proxy() as proxy, site.operations(proxy, reads_back=False) as operations:
        operations.watch.timer, operations.watch.horizon = VirtualTimer(), Horizon()
        proxy.arm("update", applied(reset))
        remote = site.remotes(lock_id)[0]
        plan = operations.runs.make("a test", [update(lock_id, remote, remoteName="Anna")])

        def listen() -> None:
            pace.is_held = "detail" in proxy.asked[1:]  # the first one is the step's own
            if pace.is_held:
                work = operations.remotes.page(lock_id, 1, 20, fresh=True)
                read.put_nowait(asyncio.create_task(work))

        operations.journal.on_change = listen
        running = asyncio.create_task(execute(operations, plan))
        async with asyncio.timeout(30):
            assert (await (await read.get())).value.total
        operations.journal.on_change = lambda: None
        pace.is_held = False
        assert states(await running) == [RECORDED]


async def test_run_makes_its_own_pauses_if_the_service_states_none(site: Site):
    lock_id, waits = site.new_lock(), list[float]()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.arm("add", LIMITED["429 without Retry-After"], 1)
        run = execute(
            operations, [add(lock_id, 1)], lambda _: waits.append(operations.connection.wait_s)
        )
        assert states(await run) == [RECORDED]
        assert max(waits) == 0.0, "keys wait for the limiter of a run"
        proxy.arm("list", LIMITED["429 without Retry-After"], 3)
        with pytest.raises(RateLimitedError):
            await operations.remotes.page(lock_id, 1, 20)
        assert operations.connection.wait_s > 0


async def test_background_verification_keeps_the_rate_limit(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    pace = HeldPace(Clock())
    monkeypatch.setattr("lockterm.operations.facade.RateLimiter", lambda *_, **__: pace)
    lock_id = site.new_lock()
    (before, *_) = site.remotes(lock_id)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.arm("update", applied(reset))
        proxy.arm("detail", LIMITED["429 without Retry-After"], times=3)
        pace.is_held = True
        with pytest.raises(ResultUnknownError):
            await operations.writes.update_remote(
                lock_id, before.id or 0, RemoteChanges(remote_name="Anna"), before, just_read=True
            )
        await until(lambda: pace.refused > 50)
        assert "detail" not in proxy.asked
        pace.is_held = False
        await until(lambda: pace.limits)
        assert operations.connection.wait_s == 0, "who presses a key would wait for it"
        await verify_step(operations)
        assert await operations.journal.list_unconfirmed() == []
        assert pace.begun > 1 and pace.limits == 3


async def test_reading_back_holds_no_other_lock_up_and_ends_when_it_is_stopped(site: Site):
    class Standing(Timer):
        """Time that does not pass."""

        async def wait(self, asked: asyncio.Event, at_most_s: float) -> None:
            await asyncio.Event().wait()

    locks = [site.new_lock() for _ in range(4)]
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        operations.watch.timer, operations.watch.horizon = Standing(), Horizon()
        proxy.arm("update", reset, times=3)
        steps = [update(one, site.remotes(one)[0], remoteName="Anna") for one in locks]
        run = run_of(operations, steps)

        def stop(run: Run) -> None:
            if run.reading:
                run.stop()

        run.on_change = stop
        done = await execute(operations, run)
        assert sorted(states(done)) == [RECORDED, UNKNOWN, UNKNOWN, UNKNOWN]
        assert proxy.asked.count("update") == 4


async def test_what_did_not_arrive_stays_unknown_and_is_never_repeated(site: Site):
    lock_id, store = site.new_lock(), site.new_store()
    first, second, _ = site.remotes(lock_id)
    async with site.proxy() as proxy:
        for call in ("update", "delete", "add"):
            proxy.arm(call, reset)
        steps = [update(lock_id, first, remoteName="Anna"), delete(lock_id, second)]
        async with site.operations(proxy, store) as operations:
            done = await execute(operations, [*steps, add(lock_id, 1)])
            assert states(done) == [UNKNOWN] * 3
            assert operations.runs.retry(done).steps == ()
            writes = [one for one in proxy.asked if one in ("update", "delete", "add")]
            assert sorted(writes) == ["add", "delete", "update"]
            await proxy.heal()
            await verify_step(operations)  # what is proven by then is told in other words
            done = await operations.runs.find(done.id)
            assert states(done) == [UNKNOWN] * 3
            assert await execute(operations, done) == done
        async with site.operations(proxy, store) as operations:
            assert await execute(operations, done) == done
        assert proxy.ledger == []


async def test_what_had_no_answer_is_unknown_also_where_the_store_fails_then(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    async def fails(operation_id: str) -> None:
        raise StoreError("The disk is gone.")

    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.arm("add", applied(reset))
        monkeypatch.setattr(operations.journal, "find", fails)
        assert states(await execute(operations, [add(lock_id, 1)])) == [UNKNOWN]


async def test_step_is_unknown_when_the_store_fails_after_sending(site: Site):
    lock_id, told = site.new_lock(), list[Step]()
    limit = full_disk()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.on_asked = lambda exchange: limit.__enter__() if exchange.call == "add" else None
        try:
            run = run_of(operations, [add(lock_id, 1), add(lock_id, 2)])
            done = await execute(operations, run, told.append)
        finally:
            limit.__exit__(None, None, None)
        assert states(done) == [SENT, TO_DO] and run.stop_reason
        assert [step.state for step in told] == [SENT]
        assert (at_rest(done.steps[0]).state, at_rest(done.steps[1]).state) == (UNKNOWN, TO_DO)
        counts = count_states(done.counts())
        assert (counts["unknown"], counts["not_sent"]) == (1, 1)
        proxy.on_asked = lambda exchange: None
        assert states(await execute(operations, done)) == [RECORDED] * 2
        assert [entry.call for entry in proxy.ledger] == ["add"] * 2


async def test_step_takes_the_result_that_a_person_chose(site: Site):
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.arm("add", altered(site, reset))
        done = await execute(operations, [add(lock_id, 1)])
        (operation,) = await operations.journal.list_unconfirmed()
        assert operation.id == done.steps[0].operation_id
        assert operation.state is OperationState.AMBIGUOUS
        await operations.resolution.bind(operation, operation.candidates[0])
        (step,) = (await operations.runs.find(done.id)).steps
        assert (step.state, step.remote_id) == (RECORDED, operation.candidates[0])
        (line,) = await operations.journal.runs()
        assert line.counts() == {RECORDED: 1}
        assert states(await execute(operations, done)) == [RECORDED]


# --- too many calls ------------------------------------------------------------------------------


@pytest.mark.parametrize("call", telling(["checkRemoteName"], ["add", "checkRemoteName"]))
async def test_a_pause_that_the_service_asks_for_is_waited_out(site: Site, carried: Any, call: str):
    locks = [site.new_lock() for _ in range(4)]
    async with site.proxy() as proxy:
        proxy.arm(call, LIMITED["429 for no time"], times=5)
        done = await carried(proxy, [add(lock_id, 1) for lock_id in locks])
        assert states(done) == [RECORDED] * 4
        assert len(proxy.ledger) == 4


async def test_a_service_that_only_asks_for_pauses_is_left_in_the_end(
    site: Site, carried: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lockterm.operations.runs.MOST_PAUSES", 2)
    lock_id = site.new_lock()
    async with site.proxy() as proxy:
        proxy.arm("add", LIMITED["429 for no time"])
        done = await carried(proxy, [add(lock_id, 1)])
        assert states(done) == [NOT_SENT] and "429" in done.steps[0].message
        assert proxy.asked.count("add") == 3 and proxy.ledger == []


# --- trying again --------------------------------------------------------------------------------


async def test_what_failed_is_tried_again_as_smaller_plans_down_to_none(site: Site):
    lock_id, far = site.new_lock(), site.new_lock()
    taken = add(lock_id, 1, remoteName="Fob 0")
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        proxy.arm("checkRemoteName", only(far, reset))
        first = await execute(operations, [taken, add(lock_id, 2), add(far, 3), add(far, 4)])
        second = operations.runs.retry(first)
        assert second.id != first.id
        assert [step.number for step in second.steps] == [1, 2, 3]
        assert states(second) == [TO_DO] * 3
        await proxy.heal()
        second = await execute(operations, second)
        assert states(second) == [REFUSED_STEP, RECORDED, RECORDED]
        site.ask("bluetooth-remote/delete", remoteId=site.remotes(lock_id)[0].id)
        third = await execute(operations, operations.runs.retry(second))
        assert states(third) == [RECORDED]
        assert operations.runs.retry(third).steps == ()
        assert json.loads(json.dumps([step.operation_id for step in first.steps]))


# --- the voice of a lock -------------------------------------------------------------------------


def voice(lock_id: int) -> Step:
    wanted = {"lang": "de-DE", "timbre": "anna"}
    return Step(0, Action.VOICE, lock_id, None, "", wanted)


async def test_a_voice_is_set_once_and_what_had_no_answer_is_never_repeated(site: Site):
    locks, store = [site.new_lock() for _ in range(3)], site.new_store()
    async with site.proxy() as proxy:
        proxy.arm("updateLockSetting", only(locks[1], applied(reset)))
        async with site.operations(proxy, store) as operations:
            plan = operations.runs.make("a test", map(voice, locks))
            done = await execute(operations, plan)
            assert states(done) == [RECORDED, UNKNOWN, RECORDED]
            assert "does not report this value" in done.steps[1].message
            assert operations.runs.retry(done).steps == ()
            await proxy.heal()
        async with site.operations(proxy, store) as operations:
            assert states(await execute(operations, done)) == [RECORDED, UNKNOWN, RECORDED]
        assert len(proxy.ledger) == 3
    assert all(site.state(lock_id)[-1]["voice"] for lock_id in locks)


async def test_to_undo_a_voice_no_list_is_read(site: Site):
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        lock = await operations.locks.find(lock_id)
        for voice in (VoiceChoice("de-DE", "anna"), VoiceChoice("fr-FR", "marc")):
            await operations.writes.set_voice(lock, voice)
        proxy.asked.clear()
        (step,) = (await undo_last(operations, lock_id)).plan.steps
        assert (step.action, step.wanted["timbre"]) == (Action.VOICE, "anna")
        assert proxy.asked == []


@pytest.mark.parametrize(
    ("shown", "state"), [(3, RECORDED), (5, SKIPPED), (9, UNCHANGED), (None, RECORDED)]
)
async def test_step_skips_user_number_when_it_was_changed_elsewhere(
    site: Site, carried: Any, shown: int | None, state: StepState
):
    """The plan was made when the number was 3, and sets 9; a detail may not show it (2.3)."""
    lock_id = site.new_lock()
    raw = site.remotes(lock_id)[0].raw
    now = raw if shown is None else {**raw, "remoteUserNo": shown}
    step = update(lock_id, Remote.read({**raw, "remoteUserNo": 3}), remoteUserNo=9)
    async with site.proxy() as proxy:
        proxy.arm("detail", answers(json.dumps({"errcode": 0, "data": now})))
        done = await carried(proxy, [step])
        assert states(done) == [state]
        assert proxy.asked.count("updateRemoteUserNo") == (state is RECORDED)
    if state is SKIPPED:
        assert "changed since then: User number: 3 -> 5" in done.steps[0].message
