"""Restoring by keys: a plan, its losses said in the question, names that are taken as chosen."""

from __future__ import annotations

from collections import Counter

import pytest
from textual.pilot import Pilot

from lockterm.screens.dialogs.choice import ChoiceModal
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.history.table import HistoryTable
from lockterm.screens.modal import RefusedModal
from lockterm.screens.plan.screen import PlanScreen
from lockterm.service.running import RunningService
from tests.long import telling
from tests.screens import someone_else
from tests.screens.running_app import Starter, settled, until
from tests.screens.site import LOCKS, fill_book, words
from tests.screens.snapshots import assert_picture


async def restoring(pilot: Pilot[int]) -> None:
    """Go from the history's newest operation to the plan that restores it."""
    await pilot.press("H")
    await settled(pilot)
    await pilot.press("g", "R")
    await settled(pilot)


async def agreed(pilot: Pilot[int]) -> None:
    """Have the plan carried out, after its question."""
    screen = pilot.app.screen
    assert isinstance(screen, PlanScreen)
    await pilot.press("enter")
    await settled(pilot)
    assert isinstance(pilot.app.screen, ConfirmModal)
    await pilot.press("right", "enter")
    await until(pilot, lambda: screen.run_here is not None and screen.run_here.is_over)
    await until(pilot, lambda: screen.is_painted)
    await settled(pilot)


def names(service: RunningService, lock_id: int) -> Counter[str]:
    records = someone_else.page(service, lock_id, size=200)
    return Counter(record["remoteName"] for record in records)


@pytest.mark.parametrize("size", telling([(80, 24)], [(80, 24), (120, 40)]))
async def test_a_cleared_lock_comes_back_after_its_losses_were_said(
    lockterm_app: Starter, service: RunningService, size: tuple[int, int]
) -> None:
    fill_book(lockterm_app, *LOCKS)
    before = names(service, 1003)
    async with lockterm_app(service, open_lock=1003, size=size) as pilot:
        await pilot.app.operations.writes.clear_remotes(1003)
        await pilot.press("r")
        await settled(pilot)
        await restoring(pilot)
        assert "9 to add" in words(pilot.app)
        await pilot.press("enter")
        await settled(pilot)
        said = words(pilot.app)
        assert "Add 9 remotes on Server room?" in said
        assert "a new ID" in said and "battery level" in said and "gets access again" in said
        assert "Ines Duarte" in said and "will not open the lock" in said
        assert_picture(pilot.app, f"restore-{size[0]}x{size[1]}")
        assert names(service, 1003) == Counter()
        await pilot.press("enter")  # the button that does nothing has the focus
        await settled(pilot)
        await agreed(pilot)
        assert names(service, 1003) == before
        assert "9 steps recorded" in words(pilot.app)
        await pilot.press("escape")
        await settled(pilot)
        assert pilot.app.screen.query_one(HistoryTable).row_count == 10
        await pilot.press("escape")
        await settled(pilot)
        assert "Ines Duarte" in words(pilot.app) and "9 remotes" in words(pilot.app)


@pytest.mark.long
async def test_it_fits_a_small_terminal(lockterm_app: Starter, service: RunningService) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service, size=(60, 20)) as pilot:
        await pilot.app.operations.writes.clear_remotes(1003)
        await restoring(pilot)
        assert "Ines Duarte" in words(pilot.app) and "9 to add" in words(pilot.app)
        await pilot.press("enter")
        await settled(pilot)
        assert "Each remote gets a new ID" in words(pilot.app) and "Cancel" in words(pilot.app)


@pytest.mark.long
@pytest.mark.parametrize("renames", [False, True])
async def test_a_taken_name_is_left_out_or_changed_as_chosen(
    lockterm_app: Starter, service: RunningService, renames: bool
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
        operations = pilot.app.operations
        remote = (await operations.remotes.all(1003))[0]
        name = remote.remote_name or ""
        await operations.writes.delete_remote(1003, remote)
        someone_else.add(service, 1003, name)
        await restoring(pilot)
        assert isinstance(pilot.app.screen, ChoiceModal)
        assert "The name of 1 remote is already taken" in words(pilot.app)
        await pilot.press(*(["down"] if renames else []), "enter")
        await settled(pilot)
        if renames:
            await agreed(pilot)
        else:
            assert "1 skipped (name taken)" in words(pilot.app)
    assert names(service, 1003)[f"{name} (2)"] == renames
    assert names(service, 1003)[name] == 1


@pytest.mark.long
async def test_a_change_cannot_be_restored_and_says_so(
    lockterm_app: Starter, service: RunningService
) -> None:
    async with lockterm_app(service) as pilot:
        operations = pilot.app.operations
        remote = (await operations.remotes.all(1003))[0]
        await operations.writes.set_user_no(1003, remote, 5)
        await pilot.press("H")
        await settled(pilot)
        await pilot.press("R")
        await settled(pilot)
        assert isinstance(pilot.app.screen, RefusedModal)
        assert "Only remotes that a delete or a clear removed" in pilot.app.messages[-1].text
