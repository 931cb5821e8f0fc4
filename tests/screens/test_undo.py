"""Undo: the inverse of a change as a plan, carried out against the real service."""

from __future__ import annotations

import asyncio
from typing import Any

from textual.pilot import Pilot

from lockterm.domain.plan import Action, StepState
from lockterm.screens.base import RefusedModal
from lockterm.screens.history.restore import RestoreScreen
from lockterm.screens.plan.screen import PlanScreen
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from tests.screens import someone_else
from tests.screens.running_app import Starter, settled, shown


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
    plan = screen.drawn.plan
    ended = await operations.runs.carry_out(plan, on_step=lambda _: None, stop=asyncio.Event())
    await press(pilot, "escape")
    return [step.state for step in ended.steps]


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


async def test_what_was_added_is_deleted_again_unless_somebody_has_changed_it(
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
        assert "It was changed since: Coerced" in left.message
    assert detail(service, first)["isCoerced"] == 1


async def test_a_delete_is_undone_by_its_restore(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        name = pilot.app.screen.current.remote_name  # type: ignore[attr-defined]
        await press(pilot, "d")
        await press(pilot, "D")
        assert name not in names(service)
        await press(pilot, "z")
        assert isinstance(pilot.app.screen, RestoreScreen)
        assert "It gets a new id" in " ".join(shown(pilot).split())


async def test_what_cannot_be_undone_says_why(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        await press(pilot, "z")
        assert isinstance(pilot.app.screen, RefusedModal)
        assert "Nothing was changed on this lock from here." in shown(pilot)
        await press(pilot, "escape", "u")
        await press(pilot, "7", "enter")
        await press(pilot, "z")
        assert "The service never tells a user number" in " ".join(shown(pilot).split())
