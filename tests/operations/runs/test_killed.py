"""Plans whose run is killed with ``kill -9`` at random moments, among faults, and goes on."""

from __future__ import annotations

import asyncio
import functools
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from lockterm.domain.operation import OperationState
from lockterm.domain.plan import DUE, Action, Plan, Step, StepState
from lockterm.operations import Operations
from tests.faults.catalogue import BROKEN_OFF, LIMITED, MALFORMED, answers, refusal, reset
from tests.faults.proxy import Entry, Exchange, FaultProxy, Play
from tests.faults.site import Site, until
from tests.long import sample
from tests.operations.bench import patient
from tests.operations.runs.planning import add, delete, execute, keep, names, update
from tests.operations.test_kill import SEEN_STEPS, Mortal, killing_at

RECORDED, UNKNOWN = StepState.RECORDED, StepState.UNKNOWN

KILLS, LONG_KILLS = 100, 200

FAULTS: list[Play] = [
    reset,
    BROKEN_OFF["reset in the body"],
    MALFORMED["500 without an envelope"],
    MALFORMED["HTML with 502"],
    LIMITED["429 for no time"],
    answers(refusal()),
]


def mixed(chance: random.Random, share: float) -> Play:
    """A fault now and then, before the request was applied or after."""

    async def play(exchange: Exchange) -> None:
        is_fault, is_applied = chance.random() < share, chance.random() < 0.5
        fault = chance.choice(FAULTS)
        may_be_applied = fault not in (FAULTS[-1], FAULTS[-2])  # then the service said no
        if not is_fault or (is_applied and may_be_applied):
            await exchange.apply()
        if is_fault:
            await fault(exchange)
        else:
            await exchange.send(exchange.good_bytes())

    return play


def arm(proxy: FaultProxy, chance: random.Random, share: float) -> None:
    for call in ("checkRemoteName", "detail", "list", "add", "update", "delete"):
        proxy.arm(call, mixed(chance, share))


async def steps_on(
    site: Site, operations: Operations, chance: random.Random, locks: int, each: int
) -> list[Step]:
    """So many steps on each of some new locks, of all kinds, in any order."""
    steps: list[Step] = []
    for _ in range(locks):
        lock_id = site.new_lock(each)
        for number, remote in enumerate(await operations.remotes.all(lock_id)):
            some = [add(lock_id, number), update(lock_id, remote, remoteName=f"Renamed {number}")]
            some += [add(lock_id, number), delete(lock_id, remote), keep(lock_id, remote)]
            steps.append(chance.choice(some))
    chance.shuffle(steps)
    return steps


async def decide(operations: Operations) -> None:
    """As a person does: recognise what was added, and give up what cannot be known."""
    for operation in await operations.journal.list_unconfirmed():
        operation = await operations.watch.check(operation)
        if operation.state is OperationState.AMBIGUOUS and len(operation.candidates) == 1:
            await operations.resolution.bind(operation, operation.candidates[0])
        elif operation.is_unconfirmed:
            await operations.resolution.give_up(operation)


def is_of(step: Step, entry: Entry) -> bool:
    """Whether something that the service applied is what a step wants."""
    if entry.call != step.action:
        return False
    if step.action is Action.ADD:
        same = (entry.body["lockId"], entry.body["remoteName"])
        return same == (step.lock_id, step.wanted["remoteName"])
    return bool(entry.body["remoteId"] == step.remote_id)


def disagreements(plan: Plan, ledger: list[Entry]) -> list[str]:
    """Where the states of steps and what the service has applied do not agree."""
    wrong = []
    for step in plan.steps:
        count = sum(is_of(step, entry) for entry in ledger)
        least = int(step.state is RECORDED)
        most = int(step.state in (RECORDED, UNKNOWN, *DUE))
        if not least <= count <= most:
            wrong.append(f"{step.state}, applied {count} times: {step}")
    return wrong


async def gone_on_with(operations: Operations, plan: Plan) -> list[Plan]:
    """The smaller plans after a plan, until nothing is left to be tried."""
    plans: list[Plan] = []
    while (plan := operations.runs.retry(plan)).steps:
        plan = await execute(operations, plan)
        await decide(operations)
        plan = await operations.runs.find(plan.id)
        plans.append(plan)
        assert len(plans) < 9, "it does not get smaller"
    return plans


def which(step: Step) -> tuple[object, ...]:
    """What a step is about, also in the smaller plans after its own."""
    return step.action, step.lock_id, step.remote_id if step.before else step.remote_name


def check_site(site: Site, plans: list[Plan], steps: list[Step], ledger: list[Entry]) -> None:
    """See that the service has what was planned, but for what is known not to be known."""
    applied = Counter(which(step) for entry in ledger for step in steps if is_of(step, entry))
    assert set(applied.values()) <= {1}, "twice"
    assert sum(applied.values()) == len(ledger), "something that was not planned"
    last = {which(step): step for plan in plans for step in plan.steps}
    for step in map(last.__getitem__, map(which, steps)):
        if step.state is UNKNOWN:
            continue
        assert step.state in (RECORDED, StepState.UNCHANGED), step
        on_lock = names(site, step.lock_id)
        if step.action is Action.DELETE:
            assert step.remote_name not in on_lock, step
        else:
            assert step.wanted.get("remoteName", step.remote_name) in on_lock, step


async def killed_again_and_again(
    site: Site, mortal: Mortal, *, kills: int, locks: int, each: int, seed: int
) -> int:
    """Kill so often that runs are, of plans with so many steps; how many kills it came to."""
    chance, killed = random.Random(seed), 0
    while killed < kills:
        async with site.proxy() as proxy:
            session = functools.partial(site.operations, proxy, site.new_store(), name="mortal")
            async with session() as operations:
                steps = await steps_on(site, operations, chance, locks, each)
                plan = operations.runs.make("a test", steps)
                await operations.runs.keep(plan)
            plans = []
            while killed < kills and plan.steps:
                code, told = await one_life(mortal, session.args[1], proxy, plan, chance)
                killed += code == -signal.SIGKILL
                async with session() as operations:
                    await operations.journal.list_unconfirmed()
                    plan = await operations.runs.find(plan.id)
                    for number, state in told.items():  # it was noted before it was told
                        assert plan.steps[number - 1].state == state or state == UNKNOWN
                    if not plans:
                        assert disagreements(plan, proxy.ledger) == []
                    await decide(operations)
                    if code == 0:
                        plans.append(await operations.runs.find(plan.id))
                        plan = operations.runs.retry(plan)
                        await operations.runs.keep(plan)
            async with session() as operations:
                if plan.steps:
                    await execute(operations, plan)
                    await decide(operations)
                    plans.append(await operations.runs.find(plan.id))
                    plans += await gone_on_with(operations, plans[-1])
            check_site(site, plans, steps, proxy.ledger)
    return killed


async def one_life(
    mortal: Mortal, store: Path, proxy: FaultProxy, plan: Plan, chance: random.Random
) -> tuple[int, dict[int, str]]:
    """Go on with a plan among faults and be killed, unless it ends before; what was told of it."""
    arm(proxy, chance, 0.01)
    living = asyncio.create_task(mortal.live(store, proxy, 0, [], plan=plan.id))
    ends = chance.randrange(12)  # however long the machine takes for them
    await until(lambda: living.done() or len(mortal.told) > ends)
    await asyncio.sleep(chance.uniform(0, 0.05))  # the moment is what is tested
    mortal.kill()
    code = await living
    await until(lambda: not proxy.open_connections)
    await proxy.heal()
    return code, {one["step"]: one["state"] for one in mortal.told if "step" in one}


async def test_a_run_that_is_killed_goes_on_where_it_was(
    site: Site, mortal: Mortal, request: pytest.FixtureRequest
):
    killed = await killed_again_and_again(site, mortal, kills=3, locks=2, each=16, seed=5)
    request.node.user_properties.append(("kills of runs", killed))


@pytest.mark.parametrize("how", ["resume", "the same file again"])
@pytest.mark.parametrize(
    "step",
    ["sending, before it leaves", "applied", "amid the answer", "answered, before it is noted"],
)
async def test_run_records_every_row_once_when_an_add_was_killed(
    site: Site, mortal: Mortal, step: str, how: str
):
    """No question and no wait: the horizon is that of a real service, and time stands still."""
    lock_id, count = site.new_lock(0), 12
    async with site.proxy() as proxy:
        session = functools.partial(site.operations, proxy, site.new_store(), name="mortal")
        async with session() as operations:
            plan = operations.runs.make("a test", [add(lock_id, number) for number in range(count)])
            await operations.runs.keep(plan)
        if step in SEEN_STEPS:
            play = killing_at(step, mortal)

            async def amid(exchange: Exchange) -> None:
                if len(proxy.ledger) == count // 2:
                    await play(exchange)
                else:
                    await exchange.apply()
                    await exchange.send(exchange.good_bytes())

            proxy.arm("add", amid)
        died_at = "" if step in SEEN_STEPS else step
        code = await mortal.live(session.args[1], proxy, 0, [], plan=plan.id, die_at=died_at)
        assert code == -signal.SIGKILL
        await until(lambda: not proxy.open_connections)
        await proxy.heal()
        async with session(reads_back=False) as operations:
            patient(operations)
            if how == "resume":
                left = await operations.runs.find(plan.id)
            else:
                there = {remote.remote_name for remote in await operations.remotes.all(lock_id)}
                left = [one for one in plan.steps if one.wanted["remoteName"] not in there]
            done = await execute(operations, left)
            assert {step.state for step in done.steps} == {RECORDED}
            assert operations.watch.timer.now_s() == 0
            assert await operations.journal.list_unconfirmed() == []
        assert sorted(names(site, lock_id)) == sorted(f"New {number}" for number in range(count))
        assert len(proxy.ledger) == count


@pytest.mark.long
async def test_runs_of_300_steps_are_killed_many_times(
    site: Site, mortal: Mortal, long_faults: bool, request: pytest.FixtureRequest
):
    kills = LONG_KILLS if long_faults else KILLS
    killed = await killed_again_and_again(site, mortal, kills=kills, locks=6, each=50, seed=6)
    request.node.user_properties.append(("kills of runs", killed))


@pytest.mark.sampled
@pytest.mark.parametrize("seed", sample(range(40), 40))
async def test_whatever_goes_wrong_the_states_are_what_the_service_has(site: Site, seed: int):
    chance = random.Random(seed)
    async with site.proxy() as proxy, site.operations(proxy) as operations:
        steps = await steps_on(site, operations, chance, chance.randint(1, 4), 10)
        arm(proxy, chance, chance.choice((0.05, 0.2, 0.5)))
        told: list[Step] = []
        done = await execute(operations, steps, told.append)
        await until(lambda: not proxy.open_connections)
        assert not [step for step in done.steps if step.state in DUE]
        ended = [step for step in told if step.state not in {*DUE, UNKNOWN}]
        assert {step.number: step for step in told} == {step.number: step for step in done.steps}
        assert len({step.number for step in ended}) == len(ended), "an outcome was told twice"
        assert disagreements(done, proxy.ledger) == []
        await proxy.heal()
        await decide(operations)
        done = await operations.runs.find(done.id)
        plans = [done, *await gone_on_with(operations, done)]
        check_site(site, plans, steps, proxy.ledger)
