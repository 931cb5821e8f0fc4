"""The replacement of a fob: two steps, of which the second is sent only if the first is done."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from typing import Any

import pytest

from lockterm.domain.plan import DUE, Action, Plan, Step, StepState
from lockterm.domain.remotes import Remote
from lockterm.domain.requests import NewRemote
from lockterm.domain.text.run import describe_outcome
from lockterm.errors import RuleViolationError, StoreError
from lockterm.operations import Operations
from lockterm.operations.replacing import CannotReplaceError, plan_replacements
from lockterm.operations.undoing import undo_last, undo_one
from lockterm.store.runs import RunStore
from tests.conftest import NOW_MS
from tests.faults.catalogue import answers, refusal, reset
from tests.faults.proxy import Exchange, FaultProxy
from tests.faults.site import Site, until
from tests.operations.bench import Bench, patient, reply
from tests.operations.runs.planning import applied, execute, run_of, states
from tests.operations.test_kill import Mortal

RECORDED, REFUSED, NOT_SENT = StepState.RECORDED, StepState.REFUSED, StepState.NOT_SENT
UNKNOWN, SKIPPED = StepState.UNKNOWN, StepState.SKIPPED
FREE = answers('{"errcode": 0, "errmsg": "", "description": "", "data": {}}')
"""A name check that does not mind a second remote of the name."""

WEEK = {"remoteType": 4, "startDate": 1_700_000_000_000, "endDate": 1_900_000_000_000}
FIELDS = WEEK | {"weekDay": [1, 3], "isCoerced": 1, "addType": 2, "extraData": {"team": "north"}}


def someone(site: Site, lock_id: int, **given: Any) -> Remote:
    """A remote of Anna with all kinds of fields, added by someone else."""
    body = FIELDS | {"remoteName": "Anna", "remoteNumber": "A-1"} | given
    site.ask("bluetooth-remote/add", lockId=lock_id, **body)
    return site.remotes(lock_id)[-1]


def fobs(site: Site, lock_id: int) -> list[str]:
    """The numbers of Anna's fobs that open the lock."""
    return [row["number"] for row in site.state(lock_id)[:-1] if row["name"] == "Anna"]


def actions(steps: Iterable[Step]) -> list[Action]:
    return [step.action for step in steps]


def writes(proxy: FaultProxy) -> list[str]:
    return [call for call in proxy.asked if call in ("add", "delete", "update", "clear")]


async def planned(operations: Operations, remote: Remote, number: str = "B-2") -> Plan:
    return (await plan_replacements(operations, [(remote.lock_id, remote)], number)).plan


@pytest.mark.parametrize("call", ["add", "delete"])
async def test_undo_of_one_step_of_a_replacement_takes_both(bench: Bench, call: str) -> None:
    site, operations = bench.site, bench.operations
    first, second = bench.lock_id, site.new_lock()
    rows = [(lock_id, someone(site, lock_id)) for lock_id in (first, second)]
    draft = await plan_replacements(operations, rows, "B-2")
    run = await execute(operations, draft.plan)
    assert states(run) == [RECORDED] * 4
    history = await operations.journal.of_run(run.id)
    change = next(one for one in history if (one.call, one.lock_id) == (call, second))
    undo = await undo_one(operations, change.id)
    assert sorted(actions(undo.plan.steps)) == [Action.ADD, Action.DELETE]
    assert {step.lock_id for step in undo.plan.steps} == {second}
    assert undo.plan.title.startswith(f"undo the replacement: {call} Anna")
    assert undo.about.startswith(
        "Only the two changes of this replacement, not the whole run of 4 changes."
    )
    assert states(await execute(operations, undo.plan)) == [RECORDED] * 2
    assert (fobs(site, first), fobs(site, second)) == (["B-2"], ["A-1"])


async def test_replacement_keeps_all_but_the_number_and_undo_brings_the_old_fob_back(bench: Bench):
    site, operations, lock_id = bench.site, bench.operations, bench.lock_id
    old = someone(site, lock_id)
    draft = await plan_replacements(operations, [(lock_id, old)], " B-2 ", "C4:4E:AC:01:02:03")
    assert actions(draft.plan.steps) == [Action.DELETE, Action.ADD]
    words = " ".join(draft.plan.losses)
    assert "lockterm therefore deletes the old" in words
    assert "Anna has no working fob until you retry or undo the run" in words
    assert "each fob has its own values: user number, battery level, firmware info." in words
    assert "does not return these values: admin right, business ID." in words
    assert writes(bench.proxy) == []

    done = await execute(operations, draft.plan)
    assert states(done) == [RECORDED, RECORDED]
    now = site.remotes(lock_id)[-1]
    same = ("remoteName", *FIELDS)
    assert [now.raw[name] for name in same] == [old.raw[name] for name in same]
    assert (now.remote_number, fobs(site, lock_id)) == ("B-2", ["B-2"])
    assert bench.proxy.ledger[-1].body["mac"] == "C4:4E:AC:01:02:03"
    assert len(await operations.journal.of_run(done.id)) == 2

    back = await undo_last(operations, lock_id)
    assert "belongs to this run" in back.about
    assert states(await execute(operations, back.plan)) == [RECORDED, RECORDED]
    restored = site.remotes(lock_id)[-1]
    assert [restored.raw[name] for name in same] == [old.raw[name] for name in same]
    assert (restored.remote_number, fobs(site, lock_id)) == ("A-1", ["A-1"])


async def test_replacement_copies_what_lockterm_knows_of_the_person_not_of_the_device(
    bench: Bench,
):
    bench.operations.clock.wall = lambda: NOW_MS / 1000  # that of the service
    hidden = {"remoteRight": 1, "remoteUserNo": 7, "mac": "00:11", "electricQuantity": 90}
    body = FIELDS | hidden | {"lockId": bench.lock_id, "remoteName": "Anna", "remoteNumber": "A-1"}
    await bench.writes.add_remote(NewRemote.checked(body))
    plan = await planned(bench.operations, bench.remotes[-1])
    wanted = plan.steps[1].wanted
    assert wanted["remoteRight"] == 1
    assert not {"remoteUserNo", "mac", "electricQuantity", "firmwareInfo"} & wanted.keys()
    words = " ".join(plan.losses)
    assert "user number, MAC address, battery level, firmware info." in words
    assert "does not return it" not in words


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        ("  ", "A number is required."),
        ("A-1", "This is the number of the old fob."),
        ("N-7", "Ben on this lock has the same number."),
        ("B\N{REPLACEMENT CHARACTER}2", "replaces a lost character"),
    ],
)
async def test_plan_is_refused_when_the_number_is_missing_or_in_use(
    bench: Bench, number: str, reason: str
):
    old = someone(bench.site, bench.lock_id)
    someone(bench.site, bench.lock_id, remoteName="Ben", remoteNumber="N-7")
    with pytest.raises(CannotReplaceError, match=reason):
        await planned(bench.operations, old, number)
    plan = await planned(bench.operations, old, "n 7")
    notes = " ".join(step.note for step in plan.steps)
    assert "Ben on this lock has nearly the same number" in notes
    assert writes(bench.proxy) == []


async def test_plan_is_refused_when_the_id_belongs_to_another_remote(bench: Bench):
    old = someone(bench.site, bench.lock_id)
    other = Remote.read({**old.raw, "remoteNumber": "A-0"})
    with pytest.raises(RuleViolationError, match="to another remote"):
        await planned(bench.operations, other)


# --- one person on several locks ---------------------------------------------------------------


async def test_fobs_of_a_person_are_replaced_on_all_locks_as_one_plan(bench: Bench):
    site, operations = bench.site, bench.operations
    locks = [site.new_lock() for _ in range(3)]
    rows = [(lock_id, someone(site, lock_id, remoteNumber=f"A-{lock_id}")) for lock_id in locks]
    draft = await plan_replacements(operations, rows, "B-2")
    assert draft.plan.title == "replace 3 fobs of Anna with B-2"
    assert [step.lock_id for step in draft.plan.steps] == [
        lock_id for lock_id in locks for _ in range(2)
    ]
    for delete, add in zip(draft.plan.steps[::2], draft.plan.steps[1::2], strict=True):
        assert (delete.action, add.action) == (Action.DELETE, Action.ADD)
        assert add.requires(delete)
    assert "3 of 3 locks cannot have two remotes with the same name" in draft.plan.losses[0]
    assert states(await execute(operations, draft.plan)) == [RECORDED] * 6
    assert [fobs(site, lock_id) for lock_id in locks] == [["B-2"]] * 3

    back = await undo_last(operations, locks[0])
    assert states(await execute(operations, back.plan)) == [RECORDED] * 6
    assert [fobs(site, lock_id) for lock_id in locks] == [[f"A-{one}"] for one in locks]


async def test_a_fob_that_cannot_be_replaced_is_left_out_and_the_others_are_deleted(bench: Bench):
    site, operations = bench.site, bench.operations
    first, taken, silent = (site.new_lock() for _ in range(3))
    rows = [(lock_id, someone(site, lock_id)) for lock_id in (first, taken, silent)]
    someone(site, taken, remoteName="Ben", remoteNumber="B-2")

    async def answer(exchange: Exchange) -> None:
        if f"lockId={silent}" in exchange.target:
            exchange.reset()
        else:
            await reply(exchange)

    bench.proxy.arm("list", answer)
    draft = await plan_replacements(operations, rows, "B-2")
    assert [(step.lock_id, step.action) for step in draft.plan.steps if step.is_planned] == [
        (first, Action.DELETE),
        (first, Action.ADD),
    ]
    left = {step.lock_id: step for step in draft.left}
    assert left[taken].message == "Ben on this lock has the same number."
    assert (left[taken].state, left[silent].state) == (REFUSED, NOT_SENT)
    assert left[silent].message and left[silent].action is Action.DELETE
    await execute(operations, draft.plan)
    assert (fobs(site, first), fobs(site, silent)) == (["B-2"], ["A-1"])
    with pytest.raises(CannotReplaceError, match="Ben on this lock"):
        await plan_replacements(operations, rows[1:], "B-2")


async def test_two_fobs_on_one_lock_get_no_common_number(bench: Bench):
    site, lock_id, other = bench.site, bench.lock_id, bench.site.new_lock()
    rows = [
        (lock_id, someone(site, lock_id)),
        (lock_id, someone(site, lock_id, remoteName="anna", remoteNumber="A-2")),
        (other, someone(site, other, remoteName="ANNA")),
    ]
    with pytest.raises(CannotReplaceError, match=f"2 of the remotes are on lock {lock_id}"):
        await plan_replacements(bench.operations, rows, "B-2")
    draft = await plan_replacements(bench.operations, rows[1:], "B-2")
    assert draft.plan.title == "replace 2 fobs of 2 differently named remotes with B-2"
    assert "names of the remotes differ: “anna”, “ANNA”. Check" in draft.plan.losses[0]
    assert writes(bench.proxy) == []


# --- the second step depends on the first one ----------------------------------------------------


async def test_new_fob_is_not_added_when_the_delete_is_refused(bench: Bench):
    site, operations, lock_id, proxy = bench.site, bench.operations, bench.lock_id, bench.proxy
    plan = await planned(operations, someone(site, lock_id))
    proxy.arm("delete", answers(refusal()))
    proxy.arm("checkRemoteName", FREE)  # or the name alone would hold the add back
    done = await execute(operations, plan)
    assert states(done) == [REFUSED, NOT_SENT]
    assert done.steps[1].message == "Not sent, because step 1 was refused."
    assert fobs(site, lock_id) == ["A-1"] and writes(proxy) == ["delete"]
    assert "retry 2 steps" in describe_outcome(done.steps, {})
    await proxy.heal()
    again = await execute(operations, operations.runs.retry(done))
    assert states(again) == [RECORDED, RECORDED]
    assert fobs(site, lock_id) == ["B-2"]


async def test_new_fob_can_be_retried_or_undone_when_the_add_is_refused(bench: Bench):
    site, operations, lock_id = bench.site, bench.operations, bench.lock_id
    bench.proxy.arm("add", answers(refusal()))
    done = await execute(operations, await planned(operations, someone(site, lock_id)))
    assert states(done) == [RECORDED, REFUSED]
    assert fobs(site, lock_id) == []
    assert "retry 1 step" in describe_outcome(done.steps, {})
    await bench.proxy.heal()
    (step,) = operations.runs.retry(done).steps
    assert step.action is Action.ADD
    back = await undo_last(operations, lock_id)
    assert states(await execute(operations, back.plan)) == [RECORDED]
    assert fobs(site, lock_id) == ["A-1"]


async def test_new_fob_is_not_added_when_the_delete_has_no_answer(site: Site):
    lock_id, store = site.new_lock(), site.new_store()
    old = someone(site, lock_id)
    async with site.proxy() as proxy:
        async with site.operations(proxy, store, reads_back=False) as operations:
            patient(operations)
            plan = await planned(operations, old)
            proxy.arm("delete", reset)
            proxy.arm("checkRemoteName", FREE)
            done = await execute(operations, plan)
            assert states(done) == [UNKNOWN, NOT_SENT]
            assert done.steps[1].message == "Not sent, because step 1 is unconfirmed."
            assert operations.runs.retry(done).steps == ()
            assert "retry" not in describe_outcome(done.steps, {})
            assert fobs(site, lock_id) == ["A-1"] and writes(proxy) == ["delete"]
            await proxy.heal()
        async with site.operations(proxy, store) as operations:
            assert states(await execute(operations, done)) == [UNKNOWN, NOT_SENT]
        assert writes(proxy) == ["delete"]


async def test_new_fob_is_added_when_the_lost_answer_of_the_delete_is_proven(site: Site):
    lock_id = site.new_lock()
    old = someone(site, lock_id)
    async with site.proxy() as proxy, site.operations(proxy, reads_back=False) as operations:
        patient(operations)
        proxy.arm("delete", applied(reset))
        done = await execute(operations, await planned(operations, old))
        assert states(done) == [RECORDED, RECORDED]
        assert fobs(site, lock_id) == ["B-2"] and writes(proxy) == ["delete", "add"]


async def test_nothing_is_sent_when_the_remote_was_changed_since_the_plan(bench: Bench):
    old = someone(bench.site, bench.lock_id)
    plan = await planned(bench.operations, old)
    bench.ask("update", remoteId=old.id, isCoerced=2)
    bench.proxy.arm("checkRemoteName", FREE)
    done = await execute(bench.operations, plan)
    assert states(done) == [SKIPPED, NOT_SENT]
    assert done.steps[1].message == "Not sent, because step 1 was skipped."
    assert bench.runs.retry(done).steps == ()
    assert writes(bench.proxy) == []


async def check_resumes(operations: Operations, plan: Plan, words: str) -> None:
    """See that a run which ended between its steps is one, and goes on with the second step."""
    (line,) = await operations.journal.runs()
    assert line.is_interrupted
    left = await operations.runs.find(plan.id)
    assert left.steps[1].state in DUE
    assert words in describe_outcome(left.steps, {})
    assert states(await execute(operations, left)) == [RECORDED, RECORDED]


@pytest.mark.parametrize("is_noted", [True, False])
async def test_run_resumes_with_the_add_when_it_ended_between_the_steps(
    site: Site, monkeypatch: pytest.MonkeyPatch, is_noted: bool
):
    """The disk has the result of the delete, or only the journal has it."""
    lock_id, store = site.new_lock(), site.new_store()
    old = someone(site, lock_id)
    note = RunStore.note

    def end(step: Step) -> None:
        if step.state is RECORDED:
            run.stop()

    def fails(self: RunStore, plan_id: str, steps: Iterable[Step]) -> None:
        steps = [*steps]
        if any(step.state is RECORDED for step in steps):
            raise StoreError("The disk is gone.")
        note(self, plan_id, steps)

    async with site.proxy() as proxy:
        async with site.operations(proxy, store) as operations:
            plan = await planned(operations, old)
            if not is_noted:
                monkeypatch.setattr(RunStore, "note", fails)
            run = run_of(operations, plan)
            await execute(operations, run, end)
        monkeypatch.undo()
        assert fobs(site, lock_id) == [] and writes(proxy) == ["delete"]
        async with site.operations(proxy, store, reads_back=False) as operations:
            await check_resumes(operations, plan, "left.")
        assert fobs(site, lock_id) == ["B-2"] and writes(proxy) == ["delete", "add"]


# --- a service that takes two remotes with the same name -----------------------------------------


@pytest.fixture
def lenient(bench: Bench) -> Bench:
    """A service that stores two remotes with the same name on a lock."""
    with bench.site.service.app.state.site.database.writing() as db:
        db.execute("DROP INDEX IF EXISTS remote_by_name")
    bench.proxy.arm("checkRemoteName", FREE)
    return bench


async def test_new_fob_comes_first_when_the_service_takes_two_of_one_name(lenient: Bench):
    site, operations, proxy = lenient.site, lenient.operations, lenient.proxy
    lock_id = lenient.lock_id
    plan = await planned(operations, someone(site, lock_id))
    assert actions(plan.steps) == [Action.ADD, Action.DELETE]
    assert "adds the new fob first" in plan.losses[0]
    proxy.arm("add", answers(refusal()), times=1)
    done = await execute(operations, plan)
    assert states(done) == [REFUSED, NOT_SENT]
    assert fobs(site, lock_id) == ["A-1"] and writes(proxy) == ["add"]
    again = await execute(operations, operations.runs.retry(done))
    assert states(again) == [RECORDED, RECORDED]
    assert fobs(site, lock_id) == ["B-2"] and writes(proxy) == ["add", "add", "delete"]


@pytest.mark.parametrize("is_applied", [True, False])
async def test_old_fob_is_kept_when_the_add_of_the_new_one_is_not_proven(
    lenient: Bench, is_applied: bool
):
    """The old remote has the name of the new one, so it must not count as the new one."""
    old = someone(lenient.site, lenient.lock_id)
    patient(lenient.operations)
    lenient.proxy.arm("add", applied(reset) if is_applied else reset, times=1)
    done = await execute(lenient.operations, await planned(lenient.operations, old))
    if is_applied:
        assert states(done) in ([RECORDED, RECORDED], [UNKNOWN, NOT_SENT])
    else:
        assert states(done) == [UNKNOWN, NOT_SENT]
    kept = ["B-2"] if done.steps[1].state is RECORDED else ["A-1"] + ["B-2"] * is_applied
    assert fobs(lenient.site, lenient.lock_id) == kept


# --- killed --------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_answered", [True, False])
async def test_run_resumes_with_the_add_when_it_was_killed_after_the_delete(
    site: Site, mortal: Mortal, is_answered: bool
):
    """``kill -9`` before the answer of the delete, or when the add is about to be sent."""
    lock_id, store = site.new_lock(), site.new_store()
    old = someone(site, lock_id)

    async def die(exchange: Exchange) -> None:
        if not is_answered:
            await exchange.apply()
        mortal.kill()

    async with site.proxy() as proxy:
        async with site.operations(proxy, store, name="mortal") as operations:
            plan = await planned(operations, old)
            await operations.runs.keep(plan)
        proxy.arm("checkRemoteName" if is_answered else "delete", die)
        assert await mortal.live(store, proxy, 0, [], plan=plan.id) == -signal.SIGKILL
        await until(lambda: not proxy.open_connections)
        await proxy.heal()
        assert fobs(site, lock_id) == [] and writes(proxy) == ["delete"]
        async with site.operations(proxy, store, name="mortal", reads_back=False) as operations:
            patient(operations)
            await check_resumes(operations, plan, "resume.")
        assert fobs(site, lock_id) == ["B-2"] and writes(proxy) == ["delete", "add"]
