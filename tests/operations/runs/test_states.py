"""What becomes of the steps of a plan, each state of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from lockterm.domain.dates import Clock
from lockterm.domain.locks import VoiceChoice
from lockterm.domain.operation import OperationState
from lockterm.domain.plan import Action, Run, Step, StepState, at_rest
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import RemoteChanges
from lockterm.domain.text.run import count_states
from lockterm.errors import RateLimitedError, ResultUnknownError, StoreError
from lockterm.operations.proof import Horizon
from lockterm.operations.rate_limiter import RateLimiter
from lockterm.operations.undoing import undo_last
from lockterm.operations.watching import Timer
from tests.faults.catalogue import BROKEN_OFF, LIMITED, REFUSED, answers, refusal, reset
from tests.faults.proxy import Exchange, Play, decoded
from tests.faults.site import Site, until, verify_step
from tests.long import telling
from tests.operations.bench import Bench, patient, reply
from tests.operations.runs.planning import (
    add,
    altered,
    applied,
    delete,
    execute,
    keep,
    names,
    run_of,
    states,
    update,
)
from tests.operations.test_full_disk import full_from

RECORDED, UNCHANGED, SKIPPED = StepState.RECORDED, StepState.UNCHANGED, StepState.SKIPPED
REFUSED_STEP, NOT_SENT, UNKNOWN = StepState.REFUSED, StepState.NOT_SENT, StepState.UNKNOWN
TO_DO, SENT = StepState.TO_DO, StepState.SENT


def only(lock_id: int, play: Play) -> Play:
    """Strike at one lock's requests, and let the others through."""

    async def strike(exchange: Exchange) -> None:
        await (play if decoded(exchange).get("lockId") == lock_id else reply)(exchange)

    return strike


def rename(site: Site, lock_id: int) -> Step:
    """A step that renames the first remote of a lock."""
    return update(lock_id, site.remotes(lock_id)[0], remoteName="Anna")


# --- as it was, or as it is to be ----------------------------------------------------------------


async def test_what_is_so_already_is_not_sent(bench: Bench):
    lock_id, first, second, third = bench.lock_id, bench.first, bench.second, bench.third
    bench.ask("update", remoteId=first.id, remoteName="Anna")
    bench.ask("delete", remoteId=second.id)
    bench.ask("add", **add(lock_id, 7).wanted)
    steps = [
        update(lock_id, first, remoteName="Anna"),
        delete(lock_id, second),
        add(lock_id, 7),
        keep(lock_id, third),
        update(lock_id, third, remoteName=third.remote_name),
    ]
    done = await execute(bench.operations, steps)
    assert states(done) == [UNCHANGED] * 5
    assert bench.proxy.ledger == []
    assert done.steps[2].remote_id == bench.remotes[-1].id


async def test_what_has_changed_since_is_skipped_and_holds_nothing_up(site: Site):
    lock_id = site.new_lock(7)
    renamed, moved, gone, given, kept, last, renewed = site.remotes(lock_id)
    site.ask("bluetooth-remote/update", lockId=lock_id, remoteId=renamed.id, remoteName="Bob")
    site.ask("bluetooth-remote/update", lockId=lock_id, remoteId=moved.id, isCoerced=1)
    site.ask("bluetooth-remote/delete", remoteId=gone.id)
    site.ask("bluetooth-remote/update", lockId=lock_id, remoteId=renewed.id, extraData={"a": 1})
    steps = [
        update(lock_id, renamed, remoteName="Anna"),
        update(lock_id, moved, remoteName="Moved"),
        update(lock_id, gone, remoteName="Gone"),
        update(lock_id, Remote.read(given.raw | {"remoteNumber": "Z-9"}), remoteName="Given"),
        delete(lock_id, Remote.read(kept.raw | {"createTime": 1})),
        delete(lock_id, last),
        delete(lock_id, renewed),
    ]
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        done = await execute(operations, steps)
        assert states(done) == [SKIPPED, RECORDED, SKIPPED, SKIPPED, SKIPPED, RECORDED, SKIPPED]
        assert [entry.call for entry in proxy.ledger] == ["update", "delete"]
    words = [step.message for step in done.steps]
    assert "Fob 0 -> Bob" in words[0]
    assert "no longer exists" in words[2]
    assert "another remote" in words[3] and "another remote" in words[4]
    assert "The remote was changed since then: Extra data" in words[6]
    assert names(site, lock_id) == {"Bob", "Moved", "Fob 3", "Fob 4", "Fob 6"}


# --- refused, not sent ---------------------------------------------------------------------------


async def test_what_is_refused_holds_nothing_up(bench: Bench):
    bench.proxy.arm("add", answers(refusal()), times=1)
    lock_id = bench.lock_id
    steps = [add(lock_id, 1), add(lock_id, 1, remoteName="Fob 0"), add(lock_id, 2)]
    done = await execute(bench.operations, steps)
    assert states(done) == [REFUSED_STEP, REFUSED_STEP, RECORDED]
    assert done.steps[0].message == "said (code 7): why"
    assert "Number: N-0 -> A-1" in done.steps[1].message, "another remote has the name"


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
    bench: Bench, step: Callable[..., Step]
):
    steps = [step(bench.lock_id, bench.first), add(bench.lock_id, 2)]
    done = await execute(bench.operations, steps)
    assert states(done) == [REFUSED_STEP, RECORDED] and done.steps[0].message
    assert [entry.body["remoteName"] for entry in bench.proxy.ledger] == ["New 2"]


@pytest.mark.parametrize("name", ["401 with an envelope", "403"])
async def test_a_denial_stops_the_run_with_its_reason(bench: Bench, name: str):
    locks = [bench.site.new_lock() for _ in range(9)]
    bench.proxy.arm("checkRemoteName", REFUSED[name])
    run = run_of(bench.operations, [add(lock_id, 1) for lock_id in locks])
    done = await execute(bench.operations, run)
    assert "said" in run.stop_reason
    assert set(states(done)) == {REFUSED_STEP, TO_DO}
    assert done.counts()[REFUSED_STEP] == len(bench.proxy.asked) < len(locks)


async def test_a_lock_that_is_not_reached_holds_its_own_steps_alone(bench: Bench):
    far, near = bench.site.new_lock(), bench.lock_id
    tried: set[tuple[int, str]] = set()

    def note(exchange: Exchange) -> None:
        if exchange.call == "checkRemoteName":
            body = decoded(exchange)
            tried.add((body["lockId"], body["remoteName"]))

    bench.proxy.arm("checkRemoteName", only(far, reset))
    bench.proxy.on_asked = note
    steps = [add(lock_id, number) for number in range(4) for lock_id in (far, near)]
    done = await execute(bench.operations, steps)
    assert states(done) == [NOT_SENT, RECORDED] * 4
    assert done.steps[0].message.startswith(
        "Not reached. No change was sent, because the name check got no answer."
    )
    assert done.steps[2].message.startswith("Not reached in the previous step. ")
    assert tried == {(far, "New 0"), *((near, f"New {number}") for number in range(4))}


async def test_what_another_change_holds_back_is_not_sent(bench: Bench):
    lock_id, other, operations = bench.lock_id, bench.site.new_lock(), bench.operations
    bench.proxy.arm("add", reset)
    steps = [add(lock_id, 1), add(lock_id, 2), rename(bench.site, lock_id)]
    first = await execute(operations, steps)
    assert states(first) == [UNKNOWN, NOT_SENT, RECORDED]
    assert "is unconfirmed" in first.steps[1].message
    await bench.proxy.heal()
    again = await execute(operations, [add(lock_id, 3), add(other, 3)])
    assert states(again) == [NOT_SENT, RECORDED]


async def test_a_remote_is_not_gone_when_its_details_alone_or_all_remotes_are(bench: Bench):
    steps = [delete(bench.lock_id, bench.first), keep(bench.lock_id, bench.second)]
    no_such = '{"errcode": -2, "errmsg": "no such remote", "description": ""}'
    bench.proxy.arm("detail", answers(no_such, 400))
    assert states(await execute(bench.operations, steps)) == [REFUSED_STEP, UNCHANGED]
    data = {"list": [], "pages": 0, "total": 0, "pageNo": 1, "pageSize": 200}
    bench.proxy.arm("list", answers(json.dumps({"errcode": 0, "data": data})))
    done = await execute(bench.operations, steps)
    assert states(done) == [SKIPPED, UNCHANGED]
    assert "not certain that the remote was deleted" in done.steps[0].message
    both = [delete(bench.lock_id, one) for one in (bench.first, bench.second)]
    for _ in both:
        bench.proxy.arm("detail", answers(no_such, 400))
        bench.proxy.arm("list", answers(json.dumps({"errcode": 0, "data": data})))
    done = await execute(bench.operations, both)
    assert states(done) == [SKIPPED, SKIPPED], "an empty list proves nothing for either of them"


# --- no answer -----------------------------------------------------------------------------------


def one_of_each(bench: Bench) -> list[Step]:
    """A change, a delete and an add."""
    changed = update(bench.lock_id, bench.first, remoteName="Anna")
    return [changed, delete(bench.lock_id, bench.second), add(bench.lock_id, 1)]


@pytest.mark.parametrize("name", ["reset in the body", "closed before the answer"])
async def test_what_had_no_answer_is_read_back(bench: Bench, name: str):
    for call in ("update", "delete", "add"):
        bench.proxy.arm(call, applied(BROKEN_OFF[name]))
    done = await execute(bench.operations, one_of_each(bench))
    assert len(bench.proxy.ledger) == 3
    assert states(done) == [RECORDED] * 3, [one.message for one in done.steps]
    assert done.steps[2].remote_id == bench.proxy.ledger[2].data["remoteId"]


async def test_step_stays_unknown_when_it_cannot_be_read_back(bench: Bench):
    bench.proxy.arm("add", applied(reset))
    bench.proxy.arm("list", answers("", 500))
    done = await execute(bench.operations, [add(bench.lock_id, 1)])
    assert states(done) == [UNKNOWN]


async def test_all_that_is_unknown_is_read_back_together_at_the_end(bench: Bench):
    """With the clock of a real service: more than a minute, but not that for each of them."""
    told, counts, operations = list[Step](), list[int](), bench.operations
    patient(operations)
    bench.proxy.arm("update", applied(reset))
    run = run_of(operations, [rename(bench.site, bench.site.new_lock()) for _ in range(5)])

    def note(run: Run) -> None:
        told.extend(run.steps[number] for number in run.news[len(told) :])
        counts.append(run.reading)

    run.on_change = note
    done = await execute(operations, run)
    assert states(done) == [RECORDED] * 5
    assert (max(counts), counts[-1]) == (5, 0)
    assert len(bench.proxy.ledger) == 5 and bench.proxy.asked.count("update") == 5
    for number in range(1, 6):
        seen = [step.state for step in told if step.number == number]
        assert seen == [SENT, UNKNOWN, RECORDED]
    assert operations.watch.timer.now_s() < 5 * Horizon().stale_s
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


@pytest.fixture
def pace(monkeypatch: pytest.MonkeyPatch) -> HeldPace:
    """The rate limiter of sessions that are opened later."""
    pace = HeldPace(Clock())
    monkeypatch.setattr("lockterm.operations.facade.RateLimiter", lambda *_, **__: pace)
    return pace


async def test_each_call_that_reads_back_has_its_turn_by_the_pace(pace: HeldPace, site: Site):
    asked, locks = list[str](), [site.new_lock() for _ in range(6)]
    steps = [rename(site, one) for one in locks[:3]]
    steps += [delete(one, site.remotes(one)[0]) for one in locks[3:]]
    async with site.proxy() as proxy, site.operations(proxy, reads_back=False) as operations:
        patient(operations)
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


async def test_what_listens_to_what_reads_back_waits_for_no_turn_of_it(pace: HeldPace, site: Site):
    """A screen reads its page again when a change is proven: a key waits for that page."""
    lock_id, read = site.new_lock(), asyncio.Queue[asyncio.Task[Any]]()
    async with site.proxy() as proxy, site.operations(proxy, reads_back=False) as operations:
        patient(operations)
        proxy.arm("update", applied(reset))

        def listen() -> None:
            pace.is_held = "detail" in proxy.asked[1:]  # the first one is the step's own
            if pace.is_held:
                work = operations.remotes.page(lock_id, 1, 20, fresh=True)
                read.put_nowait(asyncio.create_task(work))

        operations.journal.on_change = listen
        running = asyncio.create_task(execute(operations, [rename(site, lock_id)]))
        async with asyncio.timeout(30):
            assert (await (await read.get())).value.total
        operations.journal.on_change = lambda: None
        pace.is_held = False
        assert states(await running) == [RECORDED]


async def test_run_makes_its_own_pauses_if_the_service_states_none(bench: Bench):
    operations, waits = bench.operations, list[float]()
    bench.proxy.arm("add", LIMITED["429 without Retry-After"], 1)
    steps = [add(bench.lock_id, 1)]
    run = execute(operations, steps, lambda _: waits.append(operations.connection.wait_s))
    assert states(await run) == [RECORDED]
    assert max(waits) == 0.0, "keys wait for the limiter of a run"
    bench.proxy.arm("list", LIMITED["429 without Retry-After"], 3)
    with pytest.raises(RateLimitedError):
        await operations.remotes.page(bench.lock_id, 1, 20)
    assert operations.connection.wait_s > 0


async def test_background_verification_keeps_the_rate_limit(pace: HeldPace, bench: Bench):
    bench.proxy.arm("update", applied(reset))
    bench.proxy.arm("detail", LIMITED["429 without Retry-After"], times=3)
    pace.is_held = True
    changes, before = RemoteChanges(remote_name="Anna"), bench.first
    with pytest.raises(ResultUnknownError):
        await bench.writes.update_remote(
            bench.lock_id, before.id or 0, changes, before, just_read=True
        )
    await until(lambda: pace.refused > 50)
    assert "detail" not in bench.proxy.asked
    pace.is_held = False
    await until(lambda: pace.limits)
    assert bench.operations.connection.wait_s == 0, "who presses a key would wait for it"
    await verify_step(bench.operations)
    assert await bench.unconfirmed() == []
    assert pace.begun > 1 and pace.limits == 3


async def test_reading_back_holds_no_other_lock_up_and_ends_when_it_is_stopped(bench: Bench):
    class Standing(Timer):
        """Time that does not pass."""

        async def wait(self, asked: asyncio.Event, at_most_s: float) -> None:
            await asyncio.Event().wait()

    bench.watch.timer, bench.watch.horizon = Standing(), Horizon()
    bench.proxy.arm("update", reset, times=3)
    run = run_of(bench.operations, [rename(bench.site, bench.site.new_lock()) for _ in range(4)])

    def stop(run: Run) -> None:
        if run.reading:
            run.stop()

    run.on_change = stop
    done = await execute(bench.operations, run)
    assert sorted(states(done)) == [RECORDED, UNKNOWN, UNKNOWN, UNKNOWN]
    assert bench.proxy.asked.count("update") == 4


async def test_what_did_not_arrive_stays_unknown_and_is_never_repeated(bench: Bench):
    operations, proxy = bench.operations, bench.proxy
    for call in ("update", "delete", "add"):
        proxy.arm(call, reset)
    done = await execute(operations, one_of_each(bench))
    assert states(done) == [UNKNOWN] * 3
    assert operations.runs.retry(done).steps == ()
    writes = [one for one in proxy.asked if one in ("update", "delete", "add")]
    assert sorted(writes) == ["add", "delete", "update"]
    await proxy.heal()
    await verify_step(operations)  # what is proven by then is told in other words
    done = await operations.runs.find(done.id)
    assert states(done) == [UNKNOWN] * 3
    assert await execute(operations, done) == done
    async with bench.site.operations(proxy, bench.journal.database.path) as another:
        assert await execute(another, done) == done
    assert proxy.ledger == []


async def test_what_had_no_answer_is_unknown_also_where_the_store_fails_then(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    async def fails(operation_id: str) -> None:
        raise StoreError("The disk is gone.")

    bench.proxy.arm("add", applied(reset))
    monkeypatch.setattr(bench.journal, "find", fails)
    assert states(await execute(bench.operations, [add(bench.lock_id, 1)])) == [UNKNOWN]


async def test_step_is_unknown_when_the_store_fails_after_sending(bench: Bench):
    proxy, told = bench.proxy, list[Step]()
    with full_from(proxy, "add"):
        run = run_of(bench.operations, [add(bench.lock_id, 1), add(bench.lock_id, 2)])
        done = await execute(bench.operations, run, told.append)
    assert states(done) == [SENT, TO_DO] and run.stop_reason
    assert [step.state for step in told] == [SENT]
    assert [at_rest(step).state for step in done.steps] == [UNKNOWN, TO_DO]
    counts = count_states(done.counts())
    assert (counts["unknown"], counts["not_sent"]) == (1, 1)
    assert states(await execute(bench.operations, done)) == [RECORDED] * 2
    assert [entry.call for entry in proxy.ledger] == ["add"] * 2


async def test_step_takes_the_result_that_a_person_chose(bench: Bench):
    bench.proxy.arm("add", altered(bench.site, reset))
    done = await execute(bench.operations, [add(bench.lock_id, 1)])
    (operation,) = await bench.unconfirmed()
    assert operation.id == done.steps[0].operation_id
    assert operation.state is OperationState.AMBIGUOUS
    await bench.resolution.bind(operation, operation.candidates[0])
    (step,) = (await bench.runs.find(done.id)).steps
    assert (step.state, step.remote_id) == (RECORDED, operation.candidates[0])
    (line,) = await bench.journal.runs()
    assert line.counts() == {RECORDED: 1}
    assert states(await execute(bench.operations, done)) == [RECORDED]


# --- too many calls ------------------------------------------------------------------------------


@pytest.mark.parametrize("call", telling(["checkRemoteName"], ["add", "checkRemoteName"]))
async def test_a_pause_that_the_service_asks_for_is_waited_out(bench: Bench, call: str):
    bench.proxy.arm(call, LIMITED["429 for no time"], times=5)
    steps = [add(bench.site.new_lock(), 1) for _ in range(4)]
    assert states(await execute(bench.operations, steps)) == [RECORDED] * 4
    assert len(bench.proxy.ledger) == 4


async def test_a_service_that_only_asks_for_pauses_is_left_in_the_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lockterm.operations.runs.MOST_PAUSES", 2)
    bench.proxy.arm("add", LIMITED["429 for no time"])
    done = await execute(bench.operations, [add(bench.lock_id, 1)])
    assert states(done) == [NOT_SENT] and "429" in done.steps[0].message
    assert bench.proxy.asked.count("add") == 3 and bench.proxy.ledger == []


# --- trying again --------------------------------------------------------------------------------


async def test_what_failed_is_tried_again_as_smaller_plans_down_to_none(bench: Bench):
    lock_id, far, operations = bench.lock_id, bench.site.new_lock(), bench.operations
    bench.proxy.arm("checkRemoteName", only(far, reset))
    steps = [add(lock_id, 1, remoteName="Fob 0"), add(lock_id, 2), add(far, 3), add(far, 4)]
    first = await execute(operations, steps)
    second = operations.runs.retry(first)
    assert second.id != first.id
    assert [step.number for step in second.steps] == [1, 2, 3]
    assert states(second) == [TO_DO] * 3
    await bench.proxy.heal()
    second = await execute(operations, second)
    assert states(second) == [REFUSED_STEP, RECORDED, RECORDED]
    bench.ask("delete", remoteId=bench.first.id)
    third = await execute(operations, operations.runs.retry(second))
    assert states(third) == [RECORDED]
    assert operations.runs.retry(third).steps == ()


# --- the voice of a lock -------------------------------------------------------------------------


async def test_a_voice_is_set_once_and_what_had_no_answer_is_never_repeated(bench: Bench):
    locks = [bench.site.new_lock() for _ in range(3)]
    wanted = {"lang": "de-DE", "timbre": "anna"}
    steps = [Step(0, Action.VOICE, lock_id, None, "", wanted) for lock_id in locks]
    bench.proxy.arm("updateLockSetting", only(locks[1], applied(reset)))
    done = await execute(bench.operations, steps)
    assert states(done) == [RECORDED, UNKNOWN, RECORDED]
    assert "does not report this value" in done.steps[1].message
    assert bench.runs.retry(done).steps == ()
    await bench.proxy.heal()
    async with bench.site.operations(bench.proxy, bench.journal.database.path) as another:
        assert states(await execute(another, done)) == [RECORDED, UNKNOWN, RECORDED]
    assert len(bench.proxy.ledger) == 3
    assert all(bench.site.state(lock_id)[-1]["voice"] for lock_id in locks)


async def test_to_undo_a_voice_no_list_is_read(bench: Bench):
    lock = await bench.operations.locks.find(bench.lock_id)
    for voice in (VoiceChoice("de-DE", "anna"), VoiceChoice("fr-FR", "marc")):
        await bench.writes.set_voice(lock, voice)
    bench.proxy.asked.clear()
    (step,) = (await undo_last(bench.operations, bench.lock_id)).plan.steps
    assert (step.action, step.wanted["timbre"]) == (Action.VOICE, "anna")
    assert bench.proxy.asked == []


@pytest.mark.parametrize(
    ("shown", "state"), [(3, RECORDED), (5, SKIPPED), (9, UNCHANGED), (None, RECORDED)]
)
async def test_step_skips_user_number_when_it_was_changed_elsewhere(
    bench: Bench, shown: int | None, state: StepState
):
    """The plan was made when the number was 3, and sets 9; a detail may not show it (2.3)."""
    raw = bench.first.raw
    now = raw if shown is None else {**raw, "remoteUserNo": shown}
    step = update(bench.lock_id, Remote.read({**raw, "remoteUserNo": 3}), remoteUserNo=9)
    bench.proxy.arm("detail", answers(json.dumps({"errcode": 0, "data": now})))
    done = await execute(bench.operations, [step])
    assert states(done) == [state]
    assert bench.proxy.asked.count("updateRemoteUserNo") == (state is RECORDED)
    if state is SKIPPED:
        assert "changed since then: User number: 3 -> 5" in done.steps[0].message
