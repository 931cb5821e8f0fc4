"""Only the first screen ends lockterm with ``q``; every other one goes back, as with escape."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from lockterm.config.profiles import Profiles
from lockterm.config.settings import Options
from lockterm.screens.locks import LocksScreen
from lockterm.screens.locks.table import LocksTable
from lockterm.screens.remotes import RemotesScreen
from tests.long import telling
from tests.screens.running_app import Clock, Demo, notices, settled, until
from tests.screens.site import LOCKS, MAIN_GATE, settled_when

WAYS = {
    "remotes": ("enter",),
    "detail": ("enter", "enter"),
    "voice": ("v",),
    "history": ("H",),
    "operation": ("H", "enter"),
    "history of a lock": ("enter", "H"),
    "messages": ("M",),
    "help": ("question_mark",),
    "profiles": ("P",),
    "found everywhere": ("F", "n", "enter"),
    "ends": ("W",),
    "copies": ("enter", "Y"),
    "plan of the marked": ("enter", "space", "d"),
    "file": ("I", "tab"),
    "lock form": ("a", "tab", "tab", "tab", "tab", "tab", "tab"),
}


async def press(pilot: Pilot[int], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


@pytest.mark.parametrize("way", telling(("detail", "help", "lock form"), WAYS))
async def test_q_goes_back_and_ends_on_the_first(demo: Demo, tmp_path: Path, way: str) -> None:
    demo.fill_book(MAIN_GATE)
    file = tmp_path / "config.toml"
    file.write_text('[profiles.other]\nbase_url = "http://127.0.0.1:9"\n')
    profiles = Profiles(file, Options(), {})
    async with demo(profiles=profiles) as pilot:
        app = pilot.app
        lock = await app.operations.locks.find(1001)  # type: ignore[attr-defined]
        remote = (await app.operations.remotes.page(1001, 1, 1)).value.remotes[0]  # type: ignore[attr-defined]
        await app.operations.writes.delete_remote(lock.lock_id, remote)  # type: ignore[attr-defined]
        await press(pilot, *WAYS[way])
        deep = len(app.screen_stack)
        assert deep > 1
        await press(pilot, "q")
        assert app.return_code is None
        assert len(app.screen_stack) == deep - 1
        while len(app.screen_stack) > 1:
            await press(pilot, "q")
        assert isinstance(app.screen, LocksScreen)
        await pilot.press("q")
        await until(pilot, lambda: app.return_code is not None)


async def test_q_ends_on_the_lock_that_was_asked_for(demo: Demo) -> None:
    async with demo(1001) as pilot:
        assert isinstance(pilot.app.screen, RemotesScreen)
        await pilot.press("q")
        await until(pilot, lambda: pilot.app.return_code is not None)


@pytest.mark.long
async def test_a_walk_down_the_book_opens_every_lock_once(demo: Demo, clock: Clock) -> None:
    demo.fill_book(*LOCKS)
    async with demo() as pilot:
        opened = []
        for _ in LOCKS:
            clock.now_s += 60
            await press(pilot, "enter")
            opened.append(pilot.app.screen.lock_entry.lock_id)  # type: ignore[attr-defined]
            await press(pilot, "escape", "j")
        assert sorted(opened) == sorted(lock.lock_id for lock in LOCKS)
        table = pilot.app.screen.query_one(LocksTable)
        assert table.selected.lock_id == opened[-1]
        await press(pilot, "r", "g")  # sorted anew when asked for: the last opened comes first
        assert table.selected.lock_id == opened[-1]


@pytest.mark.long
async def test_what_a_search_found_stays_under_the_cursor_when_it_was_renewed(demo: Demo) -> None:
    middle = demo.page(1001, 4)
    number = next(one["remoteNumber"] for one in middle if one["remoteType"] == 2)
    async with demo(1001) as pilot:
        await press(pilot, "slash")
        await pilot.press(*number[2:], "enter")
        await settled(pilot)
        await press(pilot, "down")
        screen = pilot.app.screen
        assert isinstance(screen, RemotesScreen)
        wanted = screen.current
        assert wanted is not None
        await press(pilot, "w", *"+2d", "ctrl+s")
        await press(pilot, "right", "enter")
        await settled_when(pilot, lambda: pilot.app.screen is screen)
        assert "recorded by the service" in notices(pilot).lower()
        assert "was not on the pages" not in notices(pilot)
        now = screen.current
        assert now is not None and now.id == wanted.id
        assert now.raw["endDate"] != wanted.raw["endDate"], "the rows are read again"
