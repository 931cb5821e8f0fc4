"""Undo: the inverse of a change as a plan, carried out against the real service."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.domain.locks import VoiceChoice
from lockterm.domain.plan import Action, StepState
from lockterm.domain.text.plan import has_work
from lockterm.errors import MalformedAnswer
from lockterm.screens.modal import RefusedModal
from lockterm.screens.plan.screen import PlanScreen
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from tests.operations.runs import planning
from tests.screens import someone_else
from tests.screens.running_app import Starter, settled, shown
from tests.screens.snapshots import assert_picture


async def press(pilot: Pilot[Any], *keys: str) -> None:
    await pilot.press(*keys)
    await settled(pilot)


def detail(service: RunningService, remote_id: int) -> dict[str, Any]:
    found: dict[str, Any] = someone_else.post(service, "detail", remoteId=remote_id)
    return found


def names(service: RunningService) -> list[str]:
    return [one["remoteName"] for one in someone_else.page(service, 1003)]


async def carried_out(pilot: Pilot[Any]) -> list[StepState]:
    """What becomes of the steps of the plan that is shown; then back to the screen below."""
    screen, operations = pilot.app.screen, pilot.app.operations  # type: ignore[attr-defined]
    assert isinstance(screen, PlanScreen)
    ended = await planning.carry_out(operations, screen.drawn.plan)
    await press(pilot, "escape")
    return [step.state for step in ended.steps]


@pytest.mark.long
async def test_a_renewed_remote_gets_its_own_end_back(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        assert isinstance(pilot.app.screen, RemotesScreen)
        remote_id = pilot.app.screen.current.id
        before = detail(service, remote_id)
        await press(pilot, "w")
        await press(pilot, *"+30d", "ctrl+s")
        await press(pilot, "right", "enter")
        assert detail(service, remote_id)["endDate"] != before["endDate"]
        await press(pilot, "z")
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen) and not screen.drawn.left
        assert "undo: change" in shown(pilot)
        assert someone_else.counted(service, "update") == 1, "it was sent before it was asked for"
        assert await carried_out(pilot) == [StepState.RECORDED]
        now = detail(service, remote_id)
        fields = ("remoteName", "remoteType", "startDate", "endDate", "weekDay", "isCoerced")
        assert [now[name] for name in fields] == [before[name] for name in fields]


async def test_undo_deletes_an_added_remote_unless_it_was_changed(
    service: RunningService, lockterm_app: Starter
) -> None:
    before = names(service)
    async with lockterm_app(service, 1003) as pilot:
        for _ in range(2):
            await press(pilot, "+")
            await press(pilot, "ctrl+s")
            await press(pilot, "right", "enter")
        added = [one for one in someone_else.page(service, 1003) if one["remoteName"] not in before]
        first, second = sorted(one["id"] for one in added)
        await press(pilot, "z")
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen)
        (step,) = screen.drawn.plan.steps
        assert (step.action, step.remote_id) == (Action.DELETE, second)
        assert await carried_out(pilot) == [StepState.RECORDED]
        someone_else.post(service, "update", lockId=1003, remoteId=first, isCoerced=1)
        await press(pilot, "H")
        await press(pilot, "down", "down", "z")  # the delete, the second add, the first add
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen)
        (left,) = screen.drawn.plan.steps
        assert not left.is_planned
        assert left.remote_id == first and left.state is StepState.SKIPPED
        assert "The remote was changed since then: Coerced" in left.message
    assert detail(service, first)["isCoerced"] == 1


@pytest.mark.long
async def test_a_voice_is_set_back_to_the_one_that_was_set_from_here_before(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        operations = pilot.app.operations  # type: ignore[attr-defined]
        lock = await operations.locks.find(1001)
        await operations.writes.set_voice(lock, VoiceChoice("de-DE", "anna"))
        await press(pilot, "z")
        assert isinstance(pilot.app.screen, RefusedModal)
        assert "lockterm did not set the previous" in pilot.app.messages[-1].text  # type: ignore[attr-defined]
        await press(pilot, "escape")
        await operations.writes.set_voice(lock, VoiceChoice("fr-FR", "marc"))
        await press(pilot, "z")
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen)
        (step,) = screen.drawn.plan.steps
        assert step.action is Action.VOICE
        assert "fr-FR marc -> de-DE anna" in shown(pilot)
        assert await carried_out(pilot) == [StepState.RECORDED]
        last = (await operations.journal.history())[-1]
        assert last.body["currentVoiceTimbre"] == {"lang": "de-DE", "timbre": "anna"}


@pytest.mark.long
async def test_a_delete_is_undone_by_its_restore(
    service: RunningService, lockterm_app: Starter
) -> None:
    before = names(service)
    async with lockterm_app(service, 1003) as pilot:
        name = pilot.app.screen.current.remote_name  # type: ignore[attr-defined]
        await press(pilot, "d")
        await press(pilot, "D")
        assert name not in names(service)
        await press(pilot, "z")
        assert "restore: delete" in shown(pilot)
        await press(pilot, "enter")
        said = " ".join(shown(pilot).split())
        assert "The remote gets a new ID" in said
        assert f"Note for {name}" in said
        await press(pilot, "escape")
        assert await carried_out(pilot) == [StepState.RECORDED]
        assert sorted(names(service)) == sorted(before)


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_it_looks_like(
    service: RunningService, lockterm_app: Starter, size: tuple[int, int]
) -> None:
    async with lockterm_app(service, 1003, size=size) as pilot:
        operations = pilot.app.operations  # type: ignore[attr-defined]
        await operations.writes.delete_remote(1003, pilot.app.screen.current)  # type: ignore[attr-defined]
        await press(pilot, "z")
        assert isinstance(pilot.app.screen, PlanScreen)
        assert_picture(pilot.app, f"undo-{size[0]}x{size[1]}")


@pytest.mark.long
async def test_what_cannot_be_undone_says_why(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await press(pilot, "z")
        assert isinstance(pilot.app.screen, RefusedModal)
        assert "lockterm has changed nothing on this lock." in shown(pilot)
        await press(pilot, "escape", "u")
        await press(pilot, "7", "enter")
        await press(pilot, "z")
        assert "The service does not report user numbers" in " ".join(shown(pilot).split())


@pytest.mark.long
async def test_a_user_number_that_was_set_from_here_comes_back(
    service: RunningService, lockterm_app: Starter
) -> None:
    def number(remote_id: int) -> int:
        with service.app.state.site.database.reading() as db:
            query = "SELECT user_no FROM remote WHERE id = ?"
            return int(db.execute(query, [remote_id]).fetchone()[0])

    async with lockterm_app(service, 1003) as pilot:
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
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen) and not has_work(screen.drawn.plan)
        assert "the user number is now 7" in screen.drawn.left[0].message


@pytest.mark.long
async def test_a_run_is_undone_as_a_whole_and_a_step_of_it_on_its_own(
    service: RunningService, lockterm_app: Starter
) -> None:
    before = {one["id"]: one for one in someone_else.page(service, 1003)}
    names_before = sorted(one["remoteName"] for one in before.values())
    async with lockterm_app(service, 1003) as pilot:
        operations = pilot.app.operations  # type: ignore[attr-defined]
        first, second, third = (await operations.remotes.all(1003))[:3]
        steps = [
            planning.add(1003, 1),
            planning.update(1003, first, remoteName="Renamed"),
            planning.delete(1003, second),
            planning.add(1003, 2, remoteName=second.remote_name),
            planning.update(1003, third, isCoerced=2),
        ]
        await planning.carry_out(operations, steps)
        await press(pilot, "z")
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen) and not screen.drawn.left
        said = " ".join(shown(pilot).split())
        assert (
            "undo the run: a test" in said
            and "belongs to this run. The plan undoes the whole run" in said
        )
        actions = [step.action for step in screen.drawn.plan.steps]
        assert actions == [Action.DELETE, Action.DELETE, Action.UPDATE, Action.UPDATE, Action.ADD]
        assert await carried_out(pilot) == [StepState.RECORDED] * 5
        now = someone_else.page(service, 1003)
        assert sorted(one["remoteName"] for one in now) == names_before
        assert {one["id"]: one["isCoerced"] for one in now if one["id"] in before} == {
            key: one["isCoerced"] for key, one in before.items() if key != second.id
        }
        await press(pilot, "H")
        assert "@ all locks" in shown(pilot)
        await press(pilot, "at", "g", "down")  # the run, below the one that has undone it
        await press(pilot, "z")
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen)
        assert screen.drawn.plan.title == "undo the run: a test"
        assert not has_work(screen.drawn.plan)
        await press(pilot, "escape", "g", "z")  # the run that has undone it
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen)
        assert screen.drawn.plan.title == "redo the run: a test"
        await press(pilot, "escape", "g")
        await press(pilot, "enter")  # the run that has undone it
        await press(pilot, "G", "z")  # its last step has added the second again
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen)
        (step,) = screen.drawn.plan.steps
        assert (step.action, step.remote_name) == (Action.DELETE, second.remote_name)
        assert screen.drawn.plan.title.startswith("undo one step: restore ")
        assert "Only this change, not the whole run of 5 changes." in " ".join(shown(pilot).split())


async def test_nothing_of_a_run_is_deleted_where_one_of_its_locks_cannot_be_read(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        operations = pilot.app.operations  # type: ignore[attr-defined]
        other = (await operations.remotes.all(1001))[0]
        steps = [planning.add(1003, 1), planning.update(1001, other, remoteName="Renamed")]
        await planning.carry_out(operations, steps)
        whole = operations.remotes.whole

        async def unreadable(lock_id: int) -> Any:
            if lock_id == 1001:
                raise MalformedAnswer("cut")
            return await whole(lock_id)

        operations.remotes.whole = unreadable
        await press(pilot, "z")
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen) and not has_work(screen.drawn.plan)
        assert "lock 1001 could not be read completely" in " ".join(
            step.message for step in screen.drawn.left
        )
