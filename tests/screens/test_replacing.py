"""Replacing the fob of a remote, from the remotes and from the detail screen."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lockterm.domain.locks import Lock
from lockterm.domain.plan import Action
from lockterm.screens.all_locks import AllLocksSearchScreen
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.screens.modal import RefusedModal
from lockterm.screens.plan.screen import PlanScreen
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.dialogs import ReplaceModal
from lockterm.service.running import RunningService
from tests.long import telling
from tests.screens import someone_else
from tests.screens.running_app import Demo, settled, until
from tests.screens.site import words

GARAGE = 1004


async def press(pilot: Pilot[int], *keys: str) -> str:
    """Press keys, each after the effect of the one before; return the text on the screen."""
    for key in keys:
        await pilot.press({"-": "minus", ":": "colon", " ": "space"}.get(key, key))
        await settled(pilot)
    return " ".join(words(pilot.app).replace("│", "").split())


def anna(service: RunningService) -> list[Any]:
    return [one for one in someone_else.page(service, GARAGE) if one["remoteName"] == "Anna"]


@pytest.mark.parametrize("size", telling([(80, 24)], [(80, 24), (60, 20), (120, 40)]))
async def test_fob_is_replaced_as_one_change_and_undone(demo: Demo, size: tuple[int, int]) -> None:
    demo.add(GARAGE, "Anna", remoteNumber="A-1")
    demo.add(GARAGE, "Ben", remoteNumber="N-7")
    async with demo(GARAGE, size=size) as pilot:
        text = await press(pilot, "equals_sign")
        assert isinstance(pilot.app.screen, ReplaceModal)
        assert "Replace the fob of Anna on" in text and "Number: A-1" in text
        await press(pilot, *"B-2", "tab", *"C4", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen)
        delete, add = screen.drawn.plan.steps
        assert (delete.action, add.action) == (Action.DELETE, Action.ADD)
        assert add.wanted["mac"] == "C4"
        text = await press(pilot, "enter")
        assert isinstance(pilot.app.screen, DestroyModal)
        assert "Replace the fob of Anna on" in text and "therefore deletes the old" in text
        assert "Old fob: A-1 New fob: B-2" in text
        assert demo.counted("delete") == 0
        await press(pilot, "D")
        await until(pilot, lambda: "2 steps recorded." in words(pilot.app))
        assert [one["remoteNumber"] for one in anna(demo.service)] == ["B-2"]

        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, RemotesScreen)
        current = pilot.app.screen.current
        assert current is not None and current.remote_number == "B-2"
        text = await press(pilot, "H", "at")
        assert "replace fob" in text and "delete Anna" not in text, "one row for the run"
        await press(pilot, "z")
        assert isinstance(pilot.app.screen, PlanScreen)
        await press(pilot, "enter", "D")
        await until(pilot, lambda: "2 steps recorded." in words(pilot.app))
        assert [one["remoteNumber"] for one in anna(demo.service)] == ["A-1"]


async def test_dialog_keeps_the_text_when_the_number_is_in_use(demo: Demo) -> None:
    demo.add(GARAGE, "Anna", remoteNumber="A-1")
    demo.add(GARAGE, "Ben", remoteNumber="N7")
    async with demo(GARAGE) as pilot:
        await press(pilot, "enter")  # the detail screen has the key, too
        await press(pilot, "equals_sign", "enter")
        dialog = pilot.app.screen
        assert isinstance(dialog, ReplaceModal)
        assert "A number is required." in words(pilot.app)
        text = await press(pilot, *"N7", "enter")
        assert pilot.app.screen is dialog
        assert "Ben on this lock has the same number." in text
        field = dialog.query_one("#number", Input)
        assert (field.value, field.has_focus) == ("N7", True)
        await press(pilot, "8", "enter")
        assert isinstance(pilot.app.screen, PlanScreen)
        assert demo.counted("delete") == 0
        await press(pilot, "escape")
        await pilot.press("equals_sign", *"B2", "enter")  # typed ahead
        await settled(pilot)
        await press(pilot, "enter", "D")
        await until(pilot, lambda: "2 steps recorded." in words(pilot.app))
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, RemotesScreen), "the detail screen has closed"
        assert "B2" in words(pilot.app)


async def test_read_only_profile_opens_no_dialog(demo: Demo) -> None:
    demo.add(GARAGE, "Anna Q", remoteNumber="A-1")
    demo.fill_book(Lock(GARAGE, "Garage"))
    async with demo(read_only=True) as pilot:
        assert "read-only" in await all_of_anna(pilot)
        assert isinstance(pilot.app.screen, RefusedModal)


# --- one person on all locks -------------------------------------------------------------------


async def all_of_anna(pilot: Pilot[int]) -> str:
    return await press(pilot, "F", *"anna q", "ctrl+r", "enter", "asterisk", "equals_sign")


@pytest.mark.parametrize("size", telling([(80, 24)], [(80, 24), (60, 20), (120, 40)]))
async def test_marked_fobs_are_replaced_on_all_locks(demo: Demo, size: tuple[int, int]) -> None:
    for lock_id in (GARAGE, 1003):
        demo.add(lock_id, "Anna Q", remoteNumber=f"A-{lock_id}")
    demo.fill_book(Lock(GARAGE, "Garage"), Lock(1003, "Yard"))
    async with demo(size=size) as pilot:
        text = await all_of_anna(pilot)
        assert isinstance(pilot.app.screen, ReplaceModal)
        assert "Replace the fob of Anna Q on 2 locks?" in text
        assert "Old numbers: A-1004, A-1003" in text
        text = await press(pilot, *"B-2", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, PlanScreen)
        assert len(screen.drawn.plan.steps) == 4
        text = await press(pilot, "enter")
        assert isinstance(pilot.app.screen, DestroyModal)
        assert "Replace the fob of Anna Q on 2 locks?" in text
        assert "Old fobs: A-1004, A-1003" in text and "New fob: B-2" in text
        assert demo.counted("delete") == 0
        await press(pilot, "D")
        said = "4 steps recorded. Replaced 2 fobs on 2 locks."
        await until(pilot, lambda: said in words(pilot.app))
        assert "Deleted" not in words(pilot.app), "their owner has the new fob"
        await press(pilot, "escape")
        everywhere = pilot.app.screen
        assert isinstance(everywhere, AllLocksSearchScreen)
        await until(pilot, lambda: not everywhere.marks)
        await until(pilot, lambda: words(pilot.app).count(" B-2 ") == 2)
    for lock_id in (GARAGE, 1003):
        found = [one for one in demo.page(lock_id) if "Anna" in one["remoteName"]]
        assert [one["remoteNumber"] for one in found] == ["B-2"]


async def test_selected_remote_is_replaced_on_all_locks_when_none_is_marked(demo: Demo) -> None:
    demo.add(GARAGE, "Anna Q", remoteNumber="A-1")
    demo.fill_book(Lock(GARAGE, "Garage"))
    async with demo() as pilot:
        text = await press(pilot, "F", *"anna q", "ctrl+r", "enter", "equals_sign")
        assert "Replace the fob of Anna Q on Garage?" in text and "Number: A-1" in text
        await press(pilot, *"B-2", "enter", "enter", "D")
        await until(pilot, lambda: "2 steps recorded." in words(pilot.app))
        await press(pilot, "escape")
        await until(pilot, lambda: " B-2 " in words(pilot.app))
