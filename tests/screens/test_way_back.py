"""Only the first screen ends lockterm with ``q``; every other one goes back, as with escape."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.config.profiles import Profiles
from lockterm.config.settings import Options
from lockterm.screens.locks import LocksScreen
from lockterm.screens.locks.form import LockForm
from lockterm.screens.locks.table import LocksTable
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from lockterm.store.drafts import Drafts
from tests.long import telling
from tests.screens import someone_else
from tests.screens.running_app import Clock, Starter, notices, settled, shown, until
from tests.screens.site import LOCKS, MAIN_GATE, fill_book

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
async def test_q_goes_back_from_every_screen_but_the_first(
    service: RunningService, lockterm_app: Starter, tmp_path: Path, way: str
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    file = tmp_path / "config.toml"
    file.write_text('[profiles.other]\nbase_url = "http://127.0.0.1:9"\n')
    profiles = Profiles(file, Options(), {})
    async with lockterm_app(service, profiles=profiles) as pilot:
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


async def test_q_ends_on_the_lock_that_was_asked_for(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        assert isinstance(pilot.app.screen, RemotesScreen)
        await pilot.press("q")
        await until(pilot, lambda: pilot.app.return_code is not None)


@pytest.mark.long
async def test_a_walk_down_the_book_opens_every_lock_once(
    service: RunningService, lockterm_app: Starter, clock: Clock
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
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
async def test_a_lock_that_was_saved_leaves_no_draft(
    service: RunningService, lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was on its way to the disk, and whatever its fields still tell as they go."""
    async with lockterm_app(service) as pilot:
        operations = pilot.app.operations  # type: ignore[attr-defined]
        save, gate = Drafts.save, threading.Event()

        def late(*arguments: Any, **options: Any) -> None:
            assert gate.wait(20)
            save(*arguments, **options)

        def finished() -> None:
            finish()
            form.drafts.note_change()
            form.soon.end()

        monkeypatch.setattr(Drafts, "save", late)
        await press(pilot, "a")
        await pilot.press(*"1001", "tab", *"Hof")  # and not until what it keeps is kept
        form = pilot.app.screen
        assert isinstance(form, LockForm)
        finish = form.drafts.finish
        monkeypatch.setattr(form.drafts, "finish", finished)
        form.drafts.keep()
        await pilot.press("ctrl+s")
        gate.set()
        await until(pilot, lambda: isinstance(pilot.app.screen, LocksScreen))
        await operations.drafts.flush()
        await settled(pilot)
        assert await operations.drafts.find("lock", 0, None) is None
        await press(pilot, "a")
        assert not pilot.app.screen.is_modal, shown(pilot)


@pytest.mark.long
async def test_what_a_search_found_stays_under_the_cursor_when_it_was_renewed(
    service: RunningService, lockterm_app: Starter
) -> None:
    middle = someone_else.page(service, 1001, 4)
    number = next(one["remoteNumber"] for one in middle if one["remoteType"] == 2)
    async with lockterm_app(service, 1001) as pilot:
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
        await until(pilot, lambda: pilot.app.screen is screen)
        await settled(pilot)
        assert "recorded by the service" in notices(pilot).lower()
        assert "on none of the pages" not in notices(pilot)
        now = screen.current
        assert now is not None and now.id == wanted.id
        assert now.raw["endDate"] != wanted.raw["endDate"], "the rows are read again"
