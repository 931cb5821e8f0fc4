"""Plans as a whole: kept, found, gone on with, stopped, refused."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from lockterm.cli import output, run_plan
from lockterm.domain.dates import Clock
from lockterm.domain.plan import RunState, Step, StepState
from lockterm.errors import NoSuchRunError, RuleViolationError, StoreDamagedError
from lockterm.operations.rate_limiter import RateLimiter
from lockterm.operations.refusals import OtherPlanError, RunUnderWayError
from tests.faults.catalogue import reset
from tests.faults.proxy import Exchange
from tests.faults.site import Site, until, verify_step
from tests.operations.bench import Bench, Gate
from tests.operations.runs.planning import (
    add,
    altered,
    applied,
    delete,
    execute,
    names,
    one_of_each,
    run_of,
    states,
)

RECORDED, TO_DO, UNCHANGED = StepState.RECORDED, StepState.TO_DO, StepState.UNCHANGED
UNKNOWN = StepState.UNKNOWN


async def test_a_plan_is_carried_out_once_and_kept(bench: Bench):
    site, lock_id, runs, told = bench.site, bench.lock_id, bench.runs, list[Step]()
    left = replace(add(lock_id, 9), state=StepState.REFUSED, message="Why not.")
    plan = runs.make("a test", one_of_each(site, lock_id), [left])
    assert runs.cost(plan).startswith("6 requests to the service, about ")
    await runs.keep(plan)
    assert (await bench.journal.runs())[0].state is RunState.PLANNED
    done = await execute(bench.operations, plan, told.append)
    assert states(done) == [RECORDED, RECORDED, RECORDED, UNCHANGED, StepState.REFUSED]
    sent = [step.number for step in told if step.state is StepState.SENT]
    assert sorted(sent) == [1, 2, 3]
    ended = [step for step in told if step.state is not StepState.SENT]
    assert sorted(ended, key=lambda step: step.number) == list(done.steps[:4])
    assert names(site, lock_id) == {"Renamed", "Fob 2", "New 1"}
    assert done.steps[0].remote_id in {one.id for one in bench.remotes}
    async with site.operations(bench.proxy, bench.journal.database.path) as operations:
        (line,) = await operations.journal.runs()
        assert line.state is RunState.DONE and line.counts() == done.counts()
        found = await operations.runs.find(plan.id[:6])
        assert found == done
        assert states(await execute(operations, found)) == states(done)
        journal = {one.id for one in await operations.journal.history()}
    assert journal == {step.operation_id for step in done.steps[:3]}
    assert len(bench.proxy.ledger) == 3


async def test_what_is_stopped_ends_what_is_under_way_and_goes_on_later(bench: Bench):
    locks, gate = [bench.lock_id, bench.site.new_lock()], Gate()
    bench.proxy.arm("add", gate)
    steps = [add(lock_id, number) for number in range(3) for lock_id in locks]
    run = run_of(bench.operations, steps)
    running = asyncio.create_task(execute(bench.operations, run))
    await until(lambda: gate.waiting == 2)
    assert (await bench.journal.runs())[0].state is RunState.RUNNING
    run.stop()
    gate.open.set()
    stopped = await running
    assert states(stopped) == [RECORDED] * 2 + [TO_DO] * 4
    assert (await bench.journal.runs())[0].state is RunState.INTERRUPTED
    done = await execute(bench.operations, stopped)
    assert states(done) == [RECORDED] * 6
    assert len(bench.proxy.ledger) == 6


async def test_who_stops_waiting_leaves_nothing_half_done(bench: Bench):
    gate = Gate()
    bench.proxy.arm("add", gate, times=1)
    plan = bench.runs.make("a test", [add(bench.lock_id, 1), add(bench.lock_id, 2)])
    running = asyncio.create_task(execute(bench.operations, plan))
    await until(lambda: gate.waiting)
    for _ in range(2):
        running.cancel()
        await asyncio.sleep(0)
    assert await bench.runs.is_running(plan.id), "it waits for what is under way"
    gate.open.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert states(await bench.runs.find(plan.id)) == [RECORDED, TO_DO]
    assert states(await execute(bench.operations, plan)) == [RECORDED] * 2
    assert len(bench.proxy.ledger) == 2


async def test_one_write_at_a_time_on_a_lock_and_locks_side_by_side(bench: Bench):
    locks = [bench.site.new_lock() for _ in range(3)]
    on_lock, most = dict.fromkeys(locks, 0), 0

    async def count(exchange: Exchange) -> None:
        nonlocal most
        lock_id = int(json.loads(exchange.body)["lockId"])
        on_lock[lock_id] += 1
        assert on_lock[lock_id] == 1
        most = max(most, sum(on_lock.values()))
        await exchange.apply()
        await asyncio.sleep(0.01)  # the others may come meanwhile
        on_lock[lock_id] -= 1
        await exchange.send(exchange.good_bytes())

    bench.proxy.arm("add", count)
    steps = [add(lock_id, number) for lock_id in locks for number in range(8)]
    assert set(states(await execute(bench.operations, steps))) == {RECORDED}
    assert most > 1


async def test_a_plan_that_another_session_carries_out_is_refused(bench: Bench):
    gate, one = Gate(), bench.operations
    async with bench.site.operations(bench.proxy, bench.journal.database.path) as other:
        bench.proxy.arm("add", gate)
        plan = one.runs.make("a test", [add(bench.lock_id, 1)])
        running = asyncio.create_task(execute(one, plan))
        await until(lambda: gate.waiting)
        for session in (other, one):
            with pytest.raises(RunUnderWayError, match=one.journal.session.id):
                await execute(session, plan)
        gate.open.set()
        assert states(await running) == [RECORDED]
        assert states(await execute(other, plan)) == [RECORDED]


async def test_reader_reports_only_changed_steps_of_another_session(bench: Bench):
    site, one = bench.site, bench.operations
    async with site.operations(bench.proxy, bench.journal.database.path) as other:
        bench.proxy.arm("add", altered(site, reset), times=1)
        steps = [add(bench.lock_id, 1), *one_of_each(site, bench.lock_id)[1:]]
        plan = one.runs.make("a test", [*steps, delete(bench.lock_id, bench.first)])
        await one.runs.keep(plan)
        assert await other.runs.changed(plan) == []
        done = await execute(one, plan)
        assert {UNKNOWN, RECORDED, UNCHANGED} < set(states(done))
        await verify_step(one)
        done = await one.runs.find(plan.id)
        changed = {step.number: step for step in await other.runs.changed(plan)}
        assert tuple(changed.values()) == done.steps
        (operation,) = await bench.unconfirmed()
        assert await other.runs.changed(done) == []
        await one.resolution.bind(operation, operation.candidates[0])
        (step,) = await other.runs.changed(done)
        assert (step.number, step.state, step.remote_id) == (1, RECORDED, operation.candidates[0])


async def test_a_plan_of_another_profile_or_service_is_refused_by_name(site: Site):
    lock_id, store = site.new_lock(), site.new_store()
    async with site.proxy() as proxy, site.operations(proxy, store, name="north") as operations:
        plan = operations.runs.make("remotes.csv", [add(lock_id, 1)])
        await operations.runs.keep(plan)
        async with site.operations(proxy, store, name="south") as other:
            assert await other.journal.runs() == []
            with pytest.raises(OtherPlanError, match="with the profile north for"):
                await execute(other, await other.runs.find(plan.id))
        elsewhere = replace(plan, service="https://elsewhere.example")
        with pytest.raises(OtherPlanError, match="elsewhere"):
            await execute(operations, elsewhere)
        assert proxy.ledger == []


async def test_a_read_only_profile_keeps_and_shows_plans_and_carries_none_out(site: Site):
    lock_id = site.new_lock()
    async with site.proxy() as proxy, site.operations(proxy, read_only=True) as operations:
        plan = operations.runs.make("a test", [add(lock_id, 1)])
        await operations.runs.keep(plan)
        kept = replace(plan, credentials=operations.journal.account.credentials)
        assert await operations.runs.find(plan.id) == kept
        with pytest.raises(RuleViolationError, match="read-only"):
            await execute(operations, plan)
        assert proxy.asked == []


async def test_a_plan_is_found_by_what_only_its_id_begins_with(bench: Bench):
    runs = bench.runs
    for plan_id in ("ab1", "ab2", "ab", "c%"):
        await runs.keep(replace(runs.make(plan_id, []), id=plan_id))
    for start, found in (("ab1", "ab1"), ("ab", "ab"), ("c", "c%")):
        assert (await runs.find(start)).id == found
    with pytest.raises(NoSuchRunError, match="Several run IDs begin with a"):
        await runs.find("a")
    for start in ("", "%", "b", "x"):
        with pytest.raises(NoSuchRunError, match="No run ID begins with"):
            await runs.find(start)


@pytest.mark.parametrize(
    "damage", ["wanted = '{'", "before = '[]'", "state = 'lost'", "lock_id = 'x'"]
)
async def test_a_damaged_plan_is_not_carried_out(bench: Bench, damage: str):
    plan = bench.runs.make("a test", [add(bench.lock_id, 1)])
    await bench.runs.keep(plan)
    with closing(sqlite3.connect(bench.journal.database.path)) as connection, connection:
        connection.execute(f"UPDATE steps SET {damage}")
    for use in (bench.runs.find(plan.id), execute(bench.operations, plan)):
        with pytest.raises(StoreDamagedError, match="is damaged"):
            await use
    assert bench.proxy.asked == []
    assert len(await bench.journal.runs()) == 1


@pytest.mark.parametrize(
    ("locks", "steps", "limit", "words"),
    [
        (1, 1, 0, "2 requests to the service, about 1 s"),
        (1, 107, 0, "214 requests to the service, about 43 s"),
        (12, 1200, 0, "2,400 requests to the service, about 40 s"),
        (50, 5000, 600, "10,000 requests to the service, about 17 min"),
        (1, 0, 0, "0 requests to the service, about 1 s"),
    ],
)
async def test_cost_describes_calls_and_time(
    site: Site, locks: int, steps: int, limit: int, words: str
):
    async with site.proxy() as proxy, site.operations(proxy, calls_per_minute=limit) as operations:
        plan = operations.runs.make("", [add(number % locks, number) for number in range(steps)])
        assert operations.runs.cost(plan) == words


async def test_cost_includes_the_pause_and_the_rate_of_a_limit(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    now_s = [0.0]
    pace = RateLimiter(Clock(steady=lambda: now_s[0]))
    monkeypatch.setattr("lockterm.operations.facade.RateLimiter", lambda *_, **__: pace)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        for _ in range(6):
            pace.answer()
        pace.limit(20.0)
        plan = operations.runs.make("", [add(number, number) for number in range(30)])
        # 20 s, then six requests a second, also for a run that begins later
        assert operations.runs.cost(plan) == "60 requests to the service, about 30 s"
        now_s[0] = 600.0
        assert operations.runs.cost(plan) == "60 requests to the service, about 10 s"


async def test_only_what_was_sent_by_this_run_is_under_way(bench: Bench):
    """Two steps had their ids noted by a session that was killed, and nothing of them was sent."""
    gate, locks = Gate(), (bench.lock_id, bench.site.new_lock())
    bench.proxy.arm("add", gate)
    plan = bench.runs.make("a test", [add(one, n) for one in locks for n in (1, 2)])
    never = {"state": StepState.SENT, "operation_id": "never"}
    steps = [replace(step, **never) if step.number in (1, 3) else step for step in plan.steps]
    plan = replace(plan, steps=tuple(steps))
    await bench.runs.keep(plan)
    run = bench.operations.begin_run(plan)
    assert (run.due, run.under_way) == (4, 0)
    await until(lambda: gate.waiting == 2)
    assert (run.done, run.under_way) == (0, 2)
    gate.open.set()
    await run.finished.wait()
    assert (run.done, run.under_way) == (4, 0)
    assert states(run.plan) == [RECORDED] * 4


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


async def test_progress_counts_only_what_was_left_as_a_run_goes_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    """A step that was unknown is proven by then: it is told, and was none of those left."""
    terminal = Terminal()
    monkeypatch.setattr(output, "PROGRESS_S", 0)
    monkeypatch.setattr("sys.stderr", terminal)

    def stop_at_unknown(step: Step) -> None:
        if step.state is UNKNOWN:
            run.stop()

    bench.proxy.arm("delete", applied(reset), times=1)
    bench.proxy.arm("list", reset)
    run = run_of(bench.operations, [delete(bench.lock_id, x) for x in bench.remotes])
    begun = await execute(bench.operations, run, stop_at_unknown)
    assert states(begun) == [UNKNOWN, TO_DO, TO_DO]
    await bench.proxy.heal()
    progress, again = run_plan.Progress(as_json=False), run_of(bench.operations, begun)
    again.on_change = progress.note
    done = await execute(bench.operations, again)
    assert states(done) == [RECORDED] * 3 and progress.noted == {1, 2, 3}
    lines = terminal.getvalue().split("\r")
    counted = [one.split(" done")[0].strip() for one in lines if " done" in one]
    assert counted[-1] == "2 of 2" and "3 of 2" not in counted
