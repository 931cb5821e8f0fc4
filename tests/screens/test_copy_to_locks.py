"""Copying remotes to other locks of the book: chosen, what gets lost named, then a plan."""

from __future__ import annotations

from textual.pilot import Pilot

from lockterm.domain.plan import Action
from lockterm.screens.base import RefusedModal
from lockterm.screens.copy import CopyScreen
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.plan.screen import PlanScreen
from lockterm.service.running import RunningService
from tests.screens import someone_else
from tests.screens.running_app import Starter, settled, shown, until
from tests.screens.site import LOCKS, fill_book, words
from tests.screens.snapshots import assert_picture


async def opened(pilot: Pilot[int]) -> None:
    await pilot.press("Y")
    await until(pilot, lambda: isinstance(pilot.app.screen, CopyScreen))
    await settled(pilot)


async def plan_of(pilot: Pilot[int]) -> list[tuple[Action, int, str, str]]:
    """Agree to what gets lost, and read the plan."""
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
    await settled(pilot)
    assert "The service does not tell, and so it is not copied: " in words(pilot.app)
    await pilot.press("right", "enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, PlanScreen))
    await settled(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, PlanScreen)
    steps = screen.drawn.plan.steps
    return [(step.action, step.lock_id, step.remote_name, step.message) for step in steps]


async def test_marked_locks_get_what_the_lock_has(
    service: RunningService, lockterm_app: Starter
) -> None:
    fill_book(lockterm_app, *LOCKS)
    someone_else.add(service, 1004, "Anna", remoteNumber="R-1")
    someone_else.add(service, 1004, "Paul", remoteNumber="R-2")
    someone_else.add(service, 1003, "Anna", remoteNumber="C-900")
    async with lockterm_app(service, 1004) as pilot:
        await opened(pilot)
        assert "lock 1004" not in shown(pilot).partition("\n")[2].partition("Id")[2]
        rows = [line for line in shown(pilot).splitlines() if "[ ]" in line]
        server_room = next(at for at, line in enumerate(rows) if "Server room" in line)
        await pilot.press(*["down"] * server_room, "space")
        assert "1 lock marked" in shown(pilot)
        await pilot.press("enter")
        taken = "The name is taken."
        assert await plan_of(pilot) == [
            (Action.KEEP, 1003, "Anna", taken),
            (Action.ADD, 1003, "Paul", ""),
        ]
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, CopyScreen))
        await settled(pilot)
        await pilot.press("t", "enter")
        assert [step[:3] for step in await plan_of(pilot)] == [
            (Action.ADD, 1003, "Anna (2)"),
            (Action.ADD, 1003, "Paul"),
        ]
        assert someone_else.counted(service, "add") == 3


async def test_from_the_book_to_all_others(service: RunningService, lockterm_app: Starter) -> None:
    fill_book(lockterm_app, *LOCKS)
    for size, name in (((80, 24), "copy-to-locks"), ((60, 20), "copy-to-locks-60x20")):
        async with lockterm_app(service, size=size) as pilot:
            await opened(pilot)
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, RefusedModal))
            assert "No lock is marked: space marks" in words(pilot.app)
            await pilot.press("escape")
            await settled(pilot)
            await pilot.press("asterisk", "space")
            await settled(pilot)
            assert_picture(pilot.app, name)


async def test_a_lock_that_is_not_reached_gets_nothing(
    service: RunningService, lockterm_app: Starter
) -> None:
    fill_book(lockterm_app, LOCKS[2], LOCKS[0].__class__(9999, name="No such lock"))
    async with lockterm_app(service, 1003) as pilot:
        await opened(pilot)
        await pilot.press("space", "enter")
        steps = await plan_of(pilot)
        assert steps
        assert {(step[0], step[1]) for step in steps} == {(Action.ADD, 9999)}
        assert all(step[3] for step in steps)


async def test_a_lock_that_has_all_of_it_is_no_longer_marked(
    service: RunningService, lockterm_app: Starter
) -> None:
    fill_book(lockterm_app, *LOCKS)
    someone_else.add(service, 1004, "Paul", remoteNumber="R-2")
    async with lockterm_app(service, open_lock=1004) as pilot:
        await opened(pilot)
        await pilot.press("asterisk", "ctrl+s")
        await plan_of(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        await settled(pilot)
        await pilot.press("right", "enter")
        await until(pilot, lambda: "4 recorded." in words(pilot.app))
        await pilot.press("escape")
        await until(pilot, lambda: "0 locks marked" in words(pilot.app))


async def test_what_cannot_be_copied_takes_what_is_typed_behind_it(
    service: RunningService, lockterm_app: Starter
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service, 1004) as pilot:  # it has no remote
        await opened(pilot)
        await pilot.press("space", "enter", "space", "t")
        await until(pilot, lambda: isinstance(pilot.app.screen, RefusedModal))
        await settled(pilot)
        assert "lock 1004 has no remote that could be copied." in words(pilot.app)
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(pilot.app.screen, CopyScreen)
        assert "1 lock marked. A name that is taken: left out." in words(pilot.app)
