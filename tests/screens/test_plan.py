"""A plan on the screen: what it would do, the question, the run, and what became of each step."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from lockterm.app import LocktermApp
from lockterm.config import Options
from lockterm.config.look import FULL_LOOK, Look
from lockterm.config.profiles import Profiles
from lockterm.domain.dates import day_time
from lockterm.domain.locks import Lock
from lockterm.domain.plan import Action, RunState, Step, StepState
from lockterm.domain.remotes import Remote, RemoteType
from lockterm.domain.text.remote import describe_backup
from lockterm.operations.planner import PlanDraft
from lockterm.operations.proof import Horizon
from lockterm.screens.dialogs.confirm import ConfirmModal, QuestionBox
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.screens.history.table import format_run, run_outcome
from lockterm.screens.locks import LocksScreen
from lockterm.screens.modal import RefusedModal
from lockterm.screens.plan import PlanScreen
from lockterm.screens.plan.opening import screen_of_run
from lockterm.screens.profiles import ProfilesScreen
from lockterm.service.running import RunningService
from lockterm.store.database import Database
from lockterm.store.runs import RunStore
from lockterm.store.sessions import StoreSession
from lockterm.widgets.line_table import LineTable
from tests.conftest import NOW_MS
from tests.faults.catalogue import reset
from tests.faults.proxy import FaultProxy
from tests.operations.forwarder import Forwarder
from tests.operations.runs.planning import add, delete, keep, update
from tests.operations.test_full_disk import full_disk
from tests.screens import someone_else
from tests.screens.running_app import Demo, Starter, notices, settled, shown, until
from tests.screens.site import LOCKS, press, press_to, settled_when, words
from tests.screens.snapshots import assert_picture
from tests.servers import port_of


def remotes(service: RunningService, lock_id: int) -> list[Remote]:
    return [Remote.read(one) for one in someone_else.page(service, lock_id, size=200)]


def names(service: RunningService, lock_id: int) -> set[str]:
    return {remote.remote_name or "" for remote in remotes(service, lock_id)}


def app_of(pilot: Pilot[int]) -> LocktermApp:
    assert isinstance(pilot.app, LocktermApp)
    return pilot.app


def one_of_each(service: RunningService) -> list[Step]:
    first, second, third, *_ = remotes(service, 1003)
    return [
        keep(1003, third),
        update(1003, first, remoteName="Renamed"),
        delete(1003, second),
        add(1002, 1),
    ]


async def plan_shown(
    pilot: Pilot[int], steps: Sequence[Step], left: Sequence[Step] = ()
) -> PlanScreen:
    """Show a plan of some steps."""
    plan = app_of(pilot).operations.runs.make("apply remotes.csv", steps, left)
    pilot.app.push_screen(PlanScreen(PlanDraft(plan)))
    await settled(pilot)
    return on_plan(pilot)


def on_plan(pilot: Pilot[int]) -> PlanScreen:
    screen = pilot.app.screen
    assert isinstance(screen, PlanScreen)
    return screen


async def asked(pilot: Pilot[int], kind: type[Screen[bool | None]]) -> None:
    """Ask whether the plan is meant."""
    await press_to(pilot, kind, "enter")


def details(pilot: Pilot[int]) -> str:
    """What a question says, without the ends of its lines."""
    return " ".join(str(pilot.app.screen.query_one(".details Static", Static).content).split())


async def ended(pilot: Pilot[int]) -> None:
    """Wait for the end of the run, and until it is painted."""
    operations = app_of(pilot).operations
    await until(pilot, lambda: operations.run_here is not None and operations.run_here.is_finished)
    screen = pilot.app.screen
    if isinstance(screen, PlanScreen):
        await until(pilot, lambda: screen.table.is_at_rest)
    await settled(pilot)


async def agreed(pilot: Pilot[int]) -> None:
    """Agree to a plan that deletes nothing."""
    await asked(pilot, ConfirmModal)
    await pilot.press("right", "enter")
    await until(pilot, lambda: app_of(pilot).operations.run_here is not None)


async def test_it_is_shown_before_anything_is_kept_or_sent(demo: Demo) -> None:
    demo.fill_book(*LOCKS)
    steps, before = one_of_each(demo.service), names(demo.service, 1003)
    async with demo() as pilot:
        left = replace(add(1001, 7), number=5, state=StepState.NOT_SENT, message="No answer.")
        await plan_shown(pilot, steps, [left])
        said = words(pilot.app)
        assert "Plan > apply remotes.csv" in said
        assert "1 to add, 1 to change, 1 to delete: 6 requests to the service, about 1 s" in said
        for row in ("! not sent · New 7 A-7 Main gate", "No answer.", "= keep"):
            assert row in said
        assert_picture(pilot.app, "plan-80x24")
        await asked(pilot, DestroyModal)
        question = words(pilot.app)
        assert "Delete 1, change 1, add 1 on 2 locks?" in question
        assert f"- {steps[2].remote_name}" in question
        assert_picture(pilot.app, "plan-question-80x24")
        await pilot.press("enter")  # Cancel has the focus
        await settled(pilot)
        on_plan(pilot)
        assert not await app_of(pilot).operations.journal.runs()
        assert names(demo.service, 1003) == before


async def test_question_of_one_step_names_its_remote_and_verb(demo: Demo) -> None:
    demo.fill_book(*LOCKS)
    first, second, *_ = remotes(demo.service, 1003)
    seen = f"{second.remote_name} ({second.remote_number})"
    one = f"{first.remote_name} ({first.remote_number})"
    cases = (
        (update(1003, first, remoteName="Renamed"), "Change", f"{one} on Server room"),
        (delete(1003, second), "Delete", f"{seen} from Server room"),
        (add(1002, 1, remoteName="Renée"), "Add", "Renée to Loading dock"),
    )
    async with demo() as pilot:
        for step, verb, who in cases:
            await plan_shown(pilot, [step])
            kind = DestroyModal if step.action is Action.DELETE else ConfirmModal
            await asked(pilot, kind)
            box = pilot.app.screen.query_one(QuestionBox)
            assert str(box.query_one(".question", Static).content) == f"{verb} {who}?"
            assert str(box.act.label).endswith(f"{verb} {step.remote_name}")
            assert ("Number: A-1" in details(pilot)) == (step.action is Action.ADD)
            assert ("Name: " in details(pilot)) == (step.action is Action.UPDATE)
            is_delete = step.action is Action.DELETE
            assert (describe_backup(second.raw) in details(pilot)) == is_delete
            assert "PgDn" not in words(pilot.app), "all lines are in sight"
            await press(pilot, "escape", "escape")


async def test_what_became_of_each_step_and_what_is_tried_again(demo: Demo) -> None:
    """A refused step and one that was overtaken hold nothing up; the refused one shrinks away."""
    demo.fill_book(*LOCKS)
    first, second, third, *_ = remotes(demo.service, 1003)
    taken = str(third.remote_name)
    steps = [
        add(1003, 1, remoteName=taken, remoteNumber="Z-1"),
        update(1003, first, remoteName="Renamed"),
        update(1003, second, remoteName="Second"),
        keep(1003, third),
    ]
    demo.post("update", lockId=1003, remoteId=second.id, remoteName="Overtaken")
    async with demo() as pilot:
        await plan_shown(pilot, steps)
        await agreed(pilot)
        await ended(pilot)
        said = words(pilot.app)
        assert "1 step recorded, 1 unchanged, 1 refused, 1 skipped." in said
        assert "Press N to retry 1 step." in said
        for row in ("+ ! refused", "~ recorded", "~ ! skipped", "= keep"):
            assert row in said
        assert_picture(pilot.app, "plan-ended-80x24")
        await pilot.press("down", "down")
        await until(pilot, lambda: "The remote was changed since then: Name:" in words(pilot.app))
        await pilot.press("i")
        await until(pilot, lambda: "= keep" not in words(pilot.app))
        assert on_plan(pilot).query_one(LineTable).row_count == 2
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RefusedModal))
        assert "Every step has a result" in words(pilot.app)
        await press(pilot, "escape")
        demo.post("delete", lockId=1003, remoteId=third.id)
        before = on_plan(pilot)
        await pilot.press("N")
        await settled_when(pilot, lambda: pilot.app.screen not in (before,))
        assert "1 to add: 2 requests" in words(pilot.app)
        await agreed(pilot)
        await until(pilot, lambda: "1 step recorded." in words(pilot.app))
        assert names(demo.service, 1003) >= {taken, "Renamed", "Overtaken"}


@pytest.mark.long
async def test_result_counts_unplanned_steps_and_retry_keeps_notes(demo: Demo) -> None:
    demo.fill_book(*LOCKS)
    first, *_ = remotes(demo.service, 1003)
    ended_at = {"startDate": NOW_MS - 86_400_000, "endDate": NOW_MS - 60_000}
    taken = add(1003, 1, remoteName=first.remote_name, remoteType=2, **ended_at)
    gained = "The deleted remote gets access again."
    taken = replace(taken, note=gained)
    far = replace(add(1001, 7), state=StepState.NOT_SENT, message="No answer.")
    left = [far, replace(add(1001, 8), state=StepState.REFUSED, message="It has no end.")]
    lost = ["Each remote gets a new ID"]
    async with demo(size=(120, 40)) as pilot:
        plan = app_of(pilot).operations.runs.make("restore", [taken, add(1002, 2)], left, lost)
        pilot.app.push_screen(PlanScreen(PlanDraft(plan)))
        await settled(pilot)
        await asked(pilot, ConfirmModal)
        note = "The end date has passed, so this remote will not open the lock."
        assert note in details(pilot)
        assert "2 steps could not be planned. The run will not include those steps." in details(
            pilot
        )
        await pilot.press("right", "enter")
        await until(pilot, lambda: app_of(pilot).operations.run_here is not None)
        await ended(pilot)
        said = words(pilot.app)
        assert (
            "1 step recorded, 1 refused, 1 not sent, 1 not planned. Press N to retry 1 step."
            in said
        )
        assert "could not be planned" not in said and "! not planned" in said, "it is told once"
        (line,) = await app_of(pilot).operations.journal.runs()
        assert line.counts()[StepState.NOT_SENT] == 1
        assert format_run(line).endswith(": 1 recorded, 1 refused, 1 not sent, 1 not planned")
        assert run_outcome(line) == "! incomplete"
        pilot.app.push_screen(await screen_of_run(app_of(pilot).operations, line.id))
        await settled_when(pilot, lambda: isinstance(pilot.app.screen, PlanScreen))
        assert on_plan(pilot).plan.losses == tuple(lost), "asked again where it is gone on with"
        await pilot.press("escape")
        before = pilot.app.screen
        await pilot.press("N")
        await settled_when(pilot, lambda: pilot.app.screen is not before)
        assert "1 to add: 2 requests" in words(pilot.app) and note in words(pilot.app)
        await asked(pilot, ConfirmModal)
        for words_of in (note, gained, *lost):
            assert words_of in details(pilot)


async def test_many_deletes_are_all_named_and_their_number_is_typed(demo: Demo) -> None:
    found = remotes(demo.service, 1002)[:30]
    async with demo(size=(60, 20)) as pilot:
        await plan_shown(pilot, [delete(1002, one) for one in found[:10]])
        await asked(pilot, DestroyModal)
        assert "Remotes to be deleted: -" in details(pilot), (
            "so few are not announced as a long list"
        )
        assert describe_backup(found[0].raw, many=True) in details(pilot)
        await press(pilot, "escape", "escape")
        await plan_shown(pilot, [delete(1002, one) for one in found])
        await asked(pilot, DestroyModal)
        modal = pilot.app.screen
        assert isinstance(modal, DestroyModal)
        said = words(pilot.app)
        assert "type 30, then press Enter" in said and re.search(r"PgDn shows \d+ more", said)
        read = said
        for _ in range(12):
            await pilot.press("pagedown")
            await pilot.pause()
            read += words(pilot.app)
        shortened = [str(one.remote_name)[:30] for one in found]
        assert not [name for name in shortened if f"- {name}" not in read]
        await pilot.press("3", "enter", "tab", "D")  # the wrong number
        await settled(pilot)
        assert pilot.app.screen is modal and not modal.may_act()
        assert len(remotes(demo.service, 1002)) == 42
        await pilot.press("shift+tab", "3", "0", "enter")  # what stands there is marked
        await until(pilot, modal.may_act)
        await until(pilot, lambda: "Your input matches. Press D to delete." in words(pilot.app))
        await pilot.press("D")
        await until(pilot, lambda: app_of(pilot).operations.run_here is not None)
        await ended(pilot)
        assert "30 steps recorded." in words(pilot.app)
        assert not {one.id for one in remotes(demo.service, 1002)} & {one.id for one in found}


async def test_many_deletes_leave_room_for_a_wrong_number_and_the_key(demo: Demo) -> None:
    steps = [delete(1002, one) for one in remotes(demo.service, 1002)[:30]]
    async with demo(size=(60, 20)) as pilot:
        await plan_shown(pilot, steps)
        await asked(pilot, DestroyModal)
        await pilot.press("3", "enter")
        for size in ((60, 20), (80, 24), (80, 30), (120, 40)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: "Your input is not 30." in shown(pilot))
            assert "D  Delete 30" in shown(pilot), size


async def test_keys_that_are_typed_before_the_question_delete_nothing(demo: Demo) -> None:
    before = names(demo.service, 1003)
    async with demo() as pilot:
        await pilot.press("L")
        await until(pilot, lambda: "No plan has been run on this machine yet." in shown(pilot))
        assert "Last run: not available" in shown(pilot)
        await press(pilot, "escape")
        await plan_shown(pilot, [delete(1003, remotes(demo.service, 1003)[0])])
        for key in ("enter", "D"):
            pilot.app.simulate_key(key)
        await until(pilot, lambda: "Typed too early" in notices(pilot))
        assert isinstance(pilot.app.screen, DestroyModal)
        assert app_of(pilot).operations.run_here is None
        assert names(demo.service, 1003) == before


@pytest.mark.long
async def test_it_is_left_stopped_and_gone_on_with(demo: Demo, tmp_path: Path) -> None:
    demo.fill_book(*LOCKS)
    file = tmp_path / "config.toml"
    file.write_text('[profiles.other]\nbase_url = "http://127.0.0.1:9"\n')
    profiles = Profiles(file, Options(), {})
    steps = [add(1003, number) for number in range(1, 9)]
    async with demo.held(hold_from=4, profiles=profiles) as (way, pilot):
        app = app_of(pilot)
        await plan_shown(pilot, steps)
        await agreed(pilot)
        await until(pilot, lambda: way.held)
        await until(pilot, lambda: "3 of 8 done, 5 left (1 under way)" in words(app))
        await until(pilot, lambda: "run 3/8" in words(app))
        assert_picture(app, "plan-running-80x24")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, LocksScreen))
        await until(pilot, lambda: "run 3/8" in words(app))
        # Another plan waits for its end.
        await plan_shown(pilot, [add(1002, 1)])
        await pilot.press("enter")
        await until(pilot, lambda: "Another run is under way (3 of 8" in words(app))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, LocksScreen))
        # Nobody leaves unasked, nor switches.
        await pilot.press("q")
        await settled_when(pilot, lambda: "A run is under way (3 of 8 steps done)." in words(app))
        await press_to(pilot, ProfilesScreen, "enter", "P")
        await pilot.press("enter")
        await until(pilot, lambda: "A run is under way. Wait" in words(app))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, LocksScreen))
        # The same run is there again.
        await press_to(pilot, PlanScreen, "L")
        assert "3 of 8 done" in words(app) and words(app).count("recorded") == 3
        # A second Enter, such as of a double press, opens no dialog that would take the stop key.
        await pilot.press("enter", "s")
        await until(pilot, lambda: "Stopping after the steps" in words(app))
        way.release.set()
        await ended(pilot)
        said = words(app)
        assert "Stopped. 4 steps recorded. 4 steps left. Press Enter to resume." in said
        assert "run 4/8" not in said
        assert len(names(demo.service, 1003)) == 13
        await agreed(pilot)
        await until(pilot, lambda: "8 steps recorded." in words(app))
        assert len(remotes(demo.service, 1003)) == 17
        await settled(pilot)
        await pilot.press("N")
        await until(pilot, lambda: "No step can be retried." in notices(pilot))
        (line,) = await app.operations.journal.runs()
        assert line.state is RunState.DONE


@pytest.mark.long
async def test_deletes_on_several_locks_end_with_where_it_is_gone(demo: Demo) -> None:
    demo.fill_book(*LOCKS)
    unread = Step(
        0, Action.DELETE, 1001, None, "not read", state=StepState.NOT_SENT, message="Not reached."
    )
    said = "2 steps recorded, 1 not sent. Deleted remotes on 2 of 3 locks. Not reached: Main gate."
    steps = [delete(one, remotes(demo.service, one)[0]) for one in (1002, 1003)]
    async with demo.held(hold_from=2, hold="/delete") as (way, pilot):
        await plan_shown(pilot, steps, [unread])
        await asked(pilot, DestroyModal)
        await pilot.press("D")
        await until(pilot, lambda: way.held)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, PlanScreen))
        way.release.set()
        await until(pilot, lambda: f"{said} Press L to show the run " in notices(pilot))
        await pilot.press("L")
        await until(pilot, lambda: said in words(pilot.app))


@pytest.mark.long
async def test_what_was_under_way_as_the_store_failed_is_unknown_and_read_back(demo: Demo) -> None:
    async with demo.held(hold_from=2) as (way, pilot):
        app = app_of(pilot)
        await plan_shown(pilot, [add(1003, number) for number in range(1, 5)])
        await agreed(pilot)
        await until(pilot, lambda: way.held)
        await until(pilot, lambda: "1 of 4 done, 3 left (1 under way)" in words(app))
        assert "run 1/4" in words(app) and "sending" in words(app)
        with full_disk():
            way.release.set()
            await ended(pilot)
        said = words(app)
        assert "1 step recorded, 1 unconfirmed." in said
        assert (
            "1 step was under way when the run ended, 2 steps left. Press Enter to verify"
            " and resume." in said
        )
        assert "? unconfirmed" in said and "sending" not in said
        await pilot.press("i")
        await until(pilot, lambda: on_plan(pilot).query_one(LineTable).row_count == 1)
        await agreed(pilot)
        await until(pilot, lambda: "4 steps recorded." in words(app))
        assert [names(demo.service, 1003) >= {f"New {number}"} for number in range(1, 5)] == [
            True
        ] * 4


@asynccontextmanager
async def run_of_another_session(
    pilot: Pilot[int], *steps: Step
) -> AsyncIterator[tuple[str, Sequence[Step], RunStore]]:
    """Yield the id and the steps of a plan that another session carries out, and its store."""
    runs, journal = app_of(pilot).operations.runs, app_of(pilot).operations.journal
    plan = runs.make("apply remotes.csv", steps)
    await runs.keep(plan)
    other = StoreSession(journal.database.path.parent / "sessions")
    other.open()
    with closing(Database(journal.database.path)) as database:
        store = RunStore(database, other)
        assert not store.take(plan.id)
        yield plan.id, plan.steps, store
        store.release(plan.id)
    other.close()


@pytest.mark.long
async def test_run_of_another_session_is_followed_and_resumed(demo: Demo) -> None:
    refused = replace(add(1003, 3), state=StepState.REFUSED, message="No.")
    async with demo() as pilot:
        app, steps = app_of(pilot), (add(1003, 1), add(1003, 2), refused)
        async with run_of_another_session(pilot, *steps) as (plan_id, (first, *_), store):
            store.note(plan_id, [replace(first, state=StepState.SENT, operation_id="a" * 32)])
            app.push_screen(await screen_of_run(app.operations, plan_id))
            way = "running in another session: 1 refused, 1 under way, 1 left."
            await until(pilot, lambda: way in words(app) and "sending" in words(app))
            assert "unknown" not in words(app) and "going on" not in words(app)
            for key in ("enter", "N"):
                await pilot.press(key)
                await until(pilot, lambda: "Another session is running this plan" in words(app))
                await pilot.press("escape")
            store.note(plan_id, [replace(first, state=StepState.RECORDED)])
            await until(pilot, lambda: "1 recorded, 1 refused, 1 left." in words(app))
        left = "1 step recorded, 1 refused. 1 step left. Press Enter to resume."
        await until(pilot, lambda: left in words(app))
        await agreed(pilot)
        await until(pilot, lambda: "2 steps recorded, 1 refused." in words(app))
        assert {"New 2"} == names(demo.service, 1003) & {"New 1", "New 2", "New 3"}


@pytest.mark.long
async def test_a_damaged_run_of_another_session_does_not_stay_under_way(demo: Demo) -> None:
    async with demo() as pilot:
        app = app_of(pilot)
        async with run_of_another_session(pilot, add(1003, 1)) as (plan_id, *_):
            app.push_screen(await screen_of_run(app.operations, plan_id))
            await until(pilot, lambda: "running in another session" in words(app))
            path = app.operations.journal.database.path
            with closing(Database(path)) as database, database.transaction() as connection:
                connection.execute("UPDATE steps SET state = 'odd' WHERE plan_id = ?", [plan_id])
        await until(pilot, lambda: "running in another session" not in words(app))
        await until(pilot, lambda: f"The plan {plan_id} is damaged" in notices(pilot))
        await agreed(pilot)
        await until(pilot, lambda: "its steps cannot be read" in words(app))
        assert "New 1" not in names(demo.service, 1003)


@asynccontextmanager
async def unanswered(
    lockterm_app: Starter,
    service: RunningService,
    steps: Sequence[Step],
    size: tuple[int, int] = (80, 24),
) -> AsyncIterator[tuple[Pilot[int], FaultProxy]]:
    """A plan is carried out, no update is answered, and none is proven."""
    async with (
        FaultProxy(port_of(service)).running() as proxy,
        lockterm_app(proxy, timeout_s=60.0, size=size) as pilot,
    ):
        app_of(pilot).operations.watch.horizon = Horizon(stale_s=3600)
        proxy.arm("update", reset)
        await plan_shown(pilot, steps)
        await agreed(pilot)
        yield pilot, proxy


async def test_unverified_steps_are_shown_and_not_counted_as_failed(demo: Demo) -> None:
    first, second = remotes(demo.service, 1002)[:2]
    steps = [update(1002, one, remoteName=f"Anna {one.id}") for one in (first, second)]
    async with unanswered(demo.starter, demo.service, steps) as (pilot, proxy):
        app = app_of(pilot)
        told = "0 of 2 done, 1 unconfirmed, 1 left, 1 being verified"
        await until(pilot, lambda: told in words(app))
        await until(pilot, lambda: "run 0/2" in words(app))
        await pilot.press("s")
        await ended(pilot)
        assert proxy.asked.count("update") == 1


async def test_what_is_unknown_is_read_back_at_the_end_until_that_is_stopped(demo: Demo) -> None:
    steps = [update(one, remotes(demo.service, one)[0], remoteName="Anna") for one in (1002, 1003)]
    async with unanswered(demo.starter, demo.service, steps) as (pilot, proxy):
        app = app_of(pilot)
        await until(pilot, lambda: "Verifying 2 results for at most" in words(app))
        assert words(app).count("? unconfirmed") == 2
        await pilot.press("ctrl+q")
        await settled_when(pilot, lambda: "A run is verifying its results" in words(app))
        await press(pilot, "enter")
        await pilot.press("s")
        await ended(pilot)
        assert "2 steps unconfirmed." in words(app) and "Verifying" not in words(app)
        assert proxy.asked.count("update") == 2


async def test_leaving_waits_for_the_steps_under_way(demo: Demo) -> None:
    async with demo.held(hold_from=2) as (way, pilot):
        app = app_of(pilot)
        await plan_shown(pilot, [add(1003, number) for number in range(1, 5)])
        await agreed(pilot)
        await until(pilot, lambda: way.held)
        await press_to(pilot, ConfirmModal, "ctrl+q")
        await pilot.press("right", "enter")
        await until(pilot, lambda: "Stopping the run" in notices(pilot))
        assert app.return_code is None
        way.release.set()
        await until(pilot, lambda: not app.is_running or app._exit)
        run = app.operations.run_here
        assert run is not None and run.counts()[StepState.RECORDED] == 2


async def test_quitting_asks_when_a_stopped_run_has_steps_left(demo: Demo) -> None:
    async with demo.held(hold_from=1) as (way, pilot):
        app = app_of(pilot)
        await plan_shown(pilot, [add(1003, number) for number in range(1, 6)])
        await agreed(pilot)
        await until(pilot, lambda: way.held)
        await pilot.press("s")
        way.release.set()
        await settled_when(pilot, lambda: "Stopped." in words(app))
        said = "A run has stopped, and 4 of 5 steps are not done."
        await pilot.press("ctrl+q")
        await settled_when(pilot, lambda: said in words(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PlanScreen))
        assert app.is_running and not app._exit
        await pilot.press("ctrl+q")
        await settled_when(pilot, lambda: said in words(app))
        await pilot.press("right", "enter")
        await until(pilot, lambda: not app.is_running or app._exit)


@pytest.mark.long
@pytest.mark.parametrize("keys", [["enter"], ["right", "enter"]])
async def test_the_question_to_leave_does_not_outlive_the_run(demo: Demo, keys: list[str]) -> None:
    """What is typed for the question before it has changed does not leave."""
    async with demo.held(hold_from=1) as (way, pilot):
        app = app_of(pilot)
        await plan_shown(pilot, [add(1003, 1)])
        await agreed(pilot)
        await until(pilot, lambda: way.held)
        await pilot.press("ctrl+q")
        await settled_when(pilot, lambda: "Stop and leave" in words(app))
        *first, last = keys
        await pilot.press(*first)
        way.release.set()
        await until(pilot, lambda: "The run has ended. Leave lockterm?" in words(app))
        await until(pilot, lambda: "Stop it" not in words(app))
        await press_to(pilot, PlanScreen, last)
        assert app.is_running and not app._exit
        assert "1 step recorded." in words(app)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running or app._exit)


@pytest.mark.long
async def test_run_end_is_reported_on_other_screens(demo: Demo) -> None:
    async with demo.held(hold_from=2, open_lock=1003) as (way, pilot):
        await plan_shown(pilot, [add(1003, 1), add(1003, 2)])
        await agreed(pilot)
        await until(pilot, lambda: way.held)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, PlanScreen))
        way.release.set()
        said = "Run ended: 2 steps recorded. Press L to show the run “apply remotes.csv”."
        await until(pilot, lambda: said in notices(pilot))
        await until(pilot, lambda: "New 2" in words(pilot.app))


@pytest.mark.parametrize("size", [(60, 20), (80, 24)])
async def test_plan_shows_new_values_in_row_and_question(demo: Demo, size: tuple[int, int]) -> None:
    demo.fill_book(*LOCKS)
    fobs = [
        one for one in remotes(demo.service, 1002) if one.remote_type == RemoteType.TIME_LIMITED
    ][:3]
    end_ms = max(one.end_ms or 0 for one in fobs) + 86_400_000
    steps = [update(1002, one, endDate=end_ms) for one in fobs]
    async with demo(size=size) as pilot:
        await plan_shown(pilot, steps)
        end = day_time(end_ms, ZoneInfo("Europe/Berlin"))
        day, year = end[:11].rsplit(" ", 1)
        assert len(re.findall(f"-> (?:until )?{day} (?:20)?{year[2:]}", words(pilot.app))) >= 3
        await asked(pilot, ConfirmModal)
        told = details(pilot)
        assert f"End: {end} for 3 remotes." in told
        for one in fobs:
            assert f"- {one.remote_name} ({one.remote_number})" in told


@pytest.mark.long
async def test_plan_renders_only_visible_steps(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key costs what it does among twenty; only what is seen is put into words."""
    from lockterm.screens.plan import table

    made: list[Step] = []
    words_of = table.what_of

    def what_of(step: Step, *others: object) -> str:
        made.append(step)
        return words_of(step, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(table, "what_of", what_of)
    async with demo() as pilot:
        await plan_shown(pilot, [add(1003, number) for number in range(5000)])
        assert len(made) < 100
        await press(pilot, "G")
        assert "New 4999" in words(pilot.app) and len(made) < 200


async def history_of_interrupted(pilot: Pilot[int]) -> None:
    """Open the history in a session that was told of an interrupted run."""
    await until(
        pilot, lambda: "The run did not finish: apply remotes.csv. Press L" in notices(pilot)
    )
    pilot.app.clear_notifications()
    await press(pilot, "H")


@pytest.mark.long
async def test_history_lists_a_run_and_offers_an_interrupted_one(demo: Demo) -> None:
    demo.fill_book(*LOCKS)
    async with Forwarder(demo.service, hold_from=3).running() as way:
        async with demo.starter(way, timeout_s=60.0) as pilot:
            operations = app_of(pilot).operations
            await operations.writes.delete_remote(1003, remotes(demo.service, 1003)[0])
            await plan_shown(pilot, [add(1002, number) for number in range(1, 6)])
            await agreed(pilot)
            await until(pilot, lambda: way.held)
            run = operations.run_here
            assert run is not None
            run.stop()
            way.release.set()
            await ended(pilot)
        async with demo.starter(way, timeout_s=60.0, size=(120, 40)) as pilot:
            await history_of_interrupted(pilot)
            assert_picture(pilot.app, "history-runs-120x40")
        async with demo.starter(way, timeout_s=60.0) as pilot:
            await history_of_interrupted(pilot)
            said = words(pilot.app)
            assert "run ! interrupted apply remotes.csv: 3" in said
            assert "apply remotes.csv: 3 recorded, 2 left Enter to resume" in said
            assert "4 changes 1 run" in said
            assert pilot.app.screen.query_one(LineTable).row_count == 2
            assert_picture(pilot.app, "history-runs-80x24")
            await press_to(pilot, PlanScreen, "g", "enter")
            assert "3 steps recorded. 2 steps left. Press Enter to resume." in words(pilot.app)
            await agreed(pilot)
            await until(pilot, lambda: "5 steps recorded." in words(pilot.app))
            assert len(names(demo.service, 1002)) == 47
            await pilot.press("escape")
            await until(pilot, lambda: "run done" in words(pilot.app))
            await pilot.press("slash", *"New", "enter")
            await until(pilot, lambda: "5 of 6 changes" in words(pilot.app))
            assert "New 2" in words(pilot.app)


@pytest.mark.long
async def test_dates_are_doubted_while_the_clocks_disagree(demo: Demo) -> None:
    first, *_ = remotes(demo.service, 1003)
    dates = {"remoteType": 2, "startDate": NOW_MS, "endDate": NOW_MS + 86_400_000}
    async with demo() as pilot:
        app_of(pilot).operations.connection.note_reached(3600.0)
        await plan_shown(pilot, [update(1003, first, remoteName="Renamed"), add(1003, 1)])
        await asked(pilot, ConfirmModal)
        assert "clock" not in details(pilot)  # no date is sent
        await press(pilot, "escape", "escape")
        await plan_shown(pilot, [add(1003, 1), add(1003, 2, **dates)])
        await asked(pilot, ConfirmModal)
        assert "Note: This machine's clock is 60 min behind the service's clock." in details(pilot)


@pytest.mark.long
async def test_plan_works_without_lock_names(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    demo.fill_book(*LOCKS)
    async with demo() as pilot:
        operations, may_read = app_of(pilot).operations, asyncio.Event()
        find = operations.locks.find

        async def find_late(lock_id: int) -> Lock:
            await may_read.wait()
            return await find(lock_id)

        monkeypatch.setattr(operations.locks, "find", find_late)
        screen = PlanScreen(PlanDraft(operations.runs.make("a plan", one_of_each(demo.service))))
        pilot.app.push_screen(screen)
        await until(pilot, lambda: screen.is_mounted and screen.query(LineTable))
        screen.only_problems = True
        screen.only_problems = False
        await until(pilot, lambda: "lock 1003" in words(pilot.app))
        question = screen.action_carry_out()
        await until(pilot, lambda: isinstance(pilot.app.screen, DestroyModal))
        assert "on 2 locks?" in words(pilot.app)
        pilot.app.screen.dismiss(False)
        await until(pilot, lambda: question.is_finished)
        may_read.set()
        await settled(pilot)
        assert "lock 1003" not in words(pilot.app)


async def test_a_run_asks_for_the_account_when_the_credentials_have_changed(demo: Demo) -> None:
    async with demo() as pilot:
        app = app_of(pilot)
        plan = app.operations.runs.make("apply remotes.csv", [add(1003, 1)])
        await app.operations.runs.keep(replace(plan, credentials="others"))
        app.push_screen(await screen_of_run(app.operations, plan.id))
        await settled_when(pilot, lambda: isinstance(pilot.app.screen, PlanScreen))

        def asks() -> bool:
            return "since this run began. Same account?" in words(app)

        for keys, is_sent in ((["escape"], False), (["right", "enter"], True)):
            await asked(pilot, ConfirmModal)
            await pilot.press("right", "enter")
            await until(pilot, asks)
            await settled(pilot)
            await press_to(pilot, PlanScreen, *keys)
            assert (app.operations.run_here is not None) is is_sent
        await ended(pilot)
        assert "New 1" in names(demo.service, 1003)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "size", "look"),
    [
        ("120x40", (120, 40), FULL_LOOK),
        ("no-color-80x24", (80, 24), replace(FULL_LOOK, colors=0, ascii=True)),
    ],
)
async def test_pictures_of_looks(demo: Demo, name: str, size: tuple[int, int], look: Look) -> None:
    demo.fill_book(*LOCKS)
    async with demo(look=look, size=size) as pilot:
        left = replace(add(1001, 7), number=5, state=StepState.NOT_SENT, message="No answer.")
        await plan_shown(pilot, one_of_each(demo.service), [left] if name == "120x40" else [])
        assert_picture(pilot.app, f"plan-{name}")
