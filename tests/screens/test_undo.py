"""Undo: the inverse of a change as a plan, carried out against the real service."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.domain.plan import Action, StepState
from lockterm.domain.text.plan import has_work
from lockterm.errors import MalformedAnswerError
from lockterm.operations.planner import PlanDraft
from lockterm.screens.dialogs.choice import ChoiceModal
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.history.table import HistoryTable
from lockterm.screens.modal import RefusedModal
from lockterm.screens.plan.screen import PlanScreen
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from tests.long import telling
from tests.operations.runs import planning
from tests.screens import someone_else
from tests.screens.running_app import Demo, settled, shown, until
from tests.screens.site import LOCKS, press, settled_when, words
from tests.screens.snapshots import assert_picture


def detail(service: RunningService, remote_id: int) -> dict[str, Any]:
    found: dict[str, Any] = someone_else.post(service, "detail", remoteId=remote_id)
    return found


def names(service: RunningService) -> list[str]:
    return [one["remoteName"] for one in someone_else.page(service, 1003)]


def undoing(pilot: Pilot[Any]) -> PlanDraft:
    """Return the plan that is shown."""
    assert isinstance(pilot.app.screen, PlanScreen)
    return pilot.app.screen.drawn


async def carried_out(pilot: Pilot[Any]) -> list[StepState]:
    """What becomes of the steps of the plan that is shown; then back to the screen below."""
    operations = pilot.app.operations  # type: ignore[attr-defined]
    ended = await planning.execute(operations, undoing(pilot).plan)
    await press(pilot, "escape")
    return [step.state for step in ended.steps]


@pytest.mark.long
async def test_a_renewed_remote_gets_its_own_end_back(demo: Demo) -> None:
    async with demo(1003) as pilot:
        assert isinstance(pilot.app.screen, RemotesScreen)
        remote_id = pilot.app.screen.current.id
        before = detail(demo.service, remote_id)
        await press(pilot, "w")
        await press(pilot, *"+30d", "ctrl+s")
        await press(pilot, "right", "enter")
        assert detail(demo.service, remote_id)["endDate"] != before["endDate"]
        await press(pilot, "z")
        assert not undoing(pilot).left
        assert "undo: change" in shown(pilot)
        assert demo.counted("update") == 1, "it was sent before it was asked for"
        assert await carried_out(pilot) == [StepState.RECORDED]
        now = detail(demo.service, remote_id)
        fields = ("remoteName", "remoteType", "startDate", "endDate", "weekDay", "isCoerced")
        assert [now[name] for name in fields] == [before[name] for name in fields]


async def test_undo_deletes_an_added_remote_unless_it_was_changed(demo: Demo) -> None:
    before = names(demo.service)
    async with demo(1003) as pilot:
        for _ in range(2):
            await press(pilot, "+")
            await press(pilot, "ctrl+s")
            await press(pilot, "right", "enter")
        added = [one for one in demo.page(1003) if one["remoteName"] not in before]
        first, second = sorted(one["id"] for one in added)
        await press(pilot, "z")
        (step,) = undoing(pilot).plan.steps
        assert (step.action, step.remote_id) == (Action.DELETE, second)
        assert await carried_out(pilot) == [StepState.RECORDED]
        demo.post("update", lockId=1003, remoteId=first, isCoerced=1)
        await press(pilot, "H")
        await press(pilot, "down", "down", "z")  # the delete, the second add, the first add
        (left,) = undoing(pilot).plan.steps
        assert not left.is_planned
        assert left.remote_id == first and left.state is StepState.SKIPPED
        assert "The remote was changed since then: Coerced" in left.message
    assert detail(demo.service, first)["isCoerced"] == 1


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_it_looks_like(demo: Demo, size: tuple[int, int]) -> None:
    async with demo(1003, size=size) as pilot:
        operations = pilot.app.operations  # type: ignore[attr-defined]
        await operations.writes.delete_remote(1003, pilot.app.screen.current)  # type: ignore[attr-defined]
        await press(pilot, "z")
        assert isinstance(pilot.app.screen, PlanScreen)
        assert_picture(pilot.app, f"undo-{size[0]}x{size[1]}")


@pytest.mark.long
async def test_what_cannot_be_undone_says_why(demo: Demo) -> None:
    async with demo(1003) as pilot:
        await press(pilot, "z")
        assert isinstance(pilot.app.screen, RefusedModal)
        assert "lockterm has changed nothing on this lock." in shown(pilot)
        await press(pilot, "escape", "u")
        await press(pilot, "7", "enter")
        await press(pilot, "z")
        assert "The service does not report user numbers" in " ".join(shown(pilot).split())


@pytest.mark.long
async def test_a_user_number_that_was_set_from_here_comes_back(demo: Demo) -> None:
    def number(remote_id: int) -> int:
        with demo.service.app.state.site.database.reading() as db:
            query = "SELECT user_no FROM remote WHERE id = ?"
            return int(db.execute(query, [remote_id]).fetchone()[0])

    async with demo(1003) as pilot:
        remote_id = pilot.app.screen.current.id  # type: ignore[attr-defined]
        for digit in "78":
            await press(pilot, "u")
            await press(pilot, digit, "enter")
        await press(pilot, "z")
        assert "User number: 8 -> 7" in " ".join(shown(pilot).split())
        assert await carried_out(pilot) == [StepState.RECORDED]
        assert number(remote_id) == 7
        await press(pilot, "H")
        await press(pilot, "down", "z")  # the second of the two, which is not the last any more
        assert not has_work(undoing(pilot).plan)
        assert "the user number is now 7" in undoing(pilot).left[0].message


@pytest.mark.long
async def test_a_run_is_undone_as_a_whole_and_a_step_of_it_on_its_own(demo: Demo) -> None:
    before = {one["id"]: one for one in demo.page(1003)}
    names_before = sorted(one["remoteName"] for one in before.values())
    async with demo(1003) as pilot:
        operations = pilot.app.operations  # type: ignore[attr-defined]
        first, second, third = (await operations.remotes.all(1003))[:3]
        steps = [
            planning.add(1003, 1),
            planning.update(1003, first, remoteName="Renamed"),
            planning.delete(1003, second),
            planning.add(1003, 2, remoteName=second.remote_name),
            planning.update(1003, third, isCoerced=2),
        ]
        await planning.execute(operations, steps)
        await press(pilot, "z")
        assert not undoing(pilot).left
        said = " ".join(shown(pilot).split())
        assert (
            "undo the run: a test" in said
            and "belongs to this run. The plan undoes the whole run" in said
        )
        actions = [step.action for step in undoing(pilot).plan.steps]
        assert actions == [Action.DELETE, Action.DELETE, Action.UPDATE, Action.UPDATE, Action.ADD]
        assert await carried_out(pilot) == [StepState.RECORDED] * 5
        now = demo.page(1003)
        assert sorted(one["remoteName"] for one in now) == names_before
        assert {one["id"]: one["isCoerced"] for one in now if one["id"] in before} == {
            key: one["isCoerced"] for key, one in before.items() if key != second.id
        }
        await press(pilot, "H")
        assert "@ all locks" in shown(pilot)
        await press(pilot, "at", "g", "down")  # the run, below the one that has undone it
        await press(pilot, "z")
        assert undoing(pilot).plan.title == "undo the run: a test"
        assert not has_work(undoing(pilot).plan)
        await press(pilot, "escape", "g", "z")  # the run that has undone it
        assert undoing(pilot).plan.title == "redo the run: a test"
        await press(pilot, "escape", "g")
        await press(pilot, "enter")  # the run that has undone it
        await press(pilot, "G", "z")  # its last step has added the second again
        (step,) = undoing(pilot).plan.steps
        assert (step.action, step.remote_name) == (Action.DELETE, second.remote_name)
        assert undoing(pilot).plan.title.startswith("undo one step: restore ")
        assert "Only this change, not the whole run of 5 changes." in " ".join(shown(pilot).split())


async def test_undo_deletes_nothing_when_a_lock_cannot_be_read(demo: Demo) -> None:
    async with demo(1003) as pilot:
        operations = pilot.app.operations  # type: ignore[attr-defined]
        other = (await operations.remotes.all(1001))[0]
        steps = [planning.add(1003, 1), planning.update(1001, other, remoteName="Renamed")]
        await planning.execute(operations, steps)
        whole = operations.remotes.whole

        async def unreadable(lock_id: int) -> Any:
            if lock_id == 1001:
                raise MalformedAnswerError("cut")
            return await whole(lock_id)

        operations.remotes.whole = unreadable
        await press(pilot, "z")
        assert not has_work(undoing(pilot).plan)
        assert "lock 1001 could not be read completely" in " ".join(
            step.message for step in undoing(pilot).left
        )


# --- restoring -----------------------------------------------------------------------------------


async def restoring(pilot: Pilot[int]) -> None:
    """Go from the history's newest operation to the plan that restores it."""
    await press(pilot, "H")
    await press(pilot, "g", "R")


async def restored(pilot: Pilot[int]) -> None:
    """Have the plan carried out, after its question."""
    screen = pilot.app.screen
    assert isinstance(screen, PlanScreen)
    await press(pilot, "enter")
    assert isinstance(pilot.app.screen, ConfirmModal)
    await pilot.press("right", "enter")
    await until(pilot, lambda: screen.run_here is not None and screen.run_here.is_finished)
    await settled_when(pilot, lambda: screen.table.is_at_rest)


def name_counts(service: RunningService, lock_id: int) -> Counter[str]:
    records = someone_else.page(service, lock_id, size=200)
    return Counter(record["remoteName"] for record in records)


@pytest.mark.parametrize("size", telling([(80, 24)], [(80, 24), (120, 40)]))
async def test_cleared_lock_is_restored_after_a_question(demo: Demo, size: tuple[int, int]) -> None:
    demo.fill_book(*LOCKS)
    before = name_counts(demo.service, 1003)
    async with demo(open_lock=1003, size=size) as pilot:
        await pilot.app.operations.writes.clear_remotes(1003)
        await press(pilot, "r")
        await restoring(pilot)
        assert "9 to add" in words(pilot.app)
        await press(pilot, "enter")
        said = " ".join(words(pilot.app).replace("│", "").split())
        assert "Add 9 remotes on Server room?" in said
        assert "a new ID" in said and "battery level" in said and "gets access again" in said
        assert "Ines Duarte" in said and "will not open the lock" in said
        assert_picture(pilot.app, f"restore-{size[0]}x{size[1]}")
        assert name_counts(demo.service, 1003) == Counter()
        await pilot.press("enter")  # the button that does nothing has the focus
        await settled(pilot)
        await restored(pilot)
        assert name_counts(demo.service, 1003) == before
        assert "9 steps recorded" in words(pilot.app)
        await press(pilot, "escape")
        assert pilot.app.screen.query_one(HistoryTable).row_count == 10
        await press(pilot, "escape")
        assert "Ines Duarte" in words(pilot.app) and "9 remotes" in words(pilot.app)


@pytest.mark.long
@pytest.mark.parametrize("renames", [False, True])
async def test_a_taken_name_is_left_out_or_changed_as_chosen(demo: Demo, renames: bool) -> None:
    demo.fill_book(*LOCKS)
    async with demo() as pilot:
        operations = pilot.app.operations
        remote = (await operations.remotes.all(1003))[0]
        name = remote.remote_name or ""
        await operations.writes.delete_remote(1003, remote)
        demo.add(1003, name)
        await restoring(pilot)
        assert isinstance(pilot.app.screen, ChoiceModal)
        assert "The name of 1 remote is already taken" in words(pilot.app)
        await press(pilot, *(["down"] if renames else []), "enter")
        if renames:
            await restored(pilot)
        else:
            assert "1 skipped (name taken)" in words(pilot.app)
    assert name_counts(demo.service, 1003)[f"{name} (2)"] == renames
    assert name_counts(demo.service, 1003)[name] == 1
