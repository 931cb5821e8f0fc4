"""Closed screens do not stay in memory, and screens that are closing do not end the app."""

from __future__ import annotations

import asyncio
import gc
import heapq
from collections.abc import Iterator
from typing import Any
from weakref import ref

import pytest
from textual._styles_cache import StylesCache
from textual.screen import Screen

from lockterm.screens.all_locks import AllLocksSearchScreen
from lockterm.screens.all_locks.people import PeopleScreen
from lockterm.terminal import startup
from tests.screens.running_app import Demo, settled
from tests.screens.site import LOCKS, MAIN_GATE, fill_book, press, press_to

TIMES = 3


def caches(screen: Screen[object]) -> Iterator[ref[StylesCache]]:
    """The rendered lines of a screen, but of its pager: a timer keeps that for a minute."""
    widgets = screen.query("*").exclude("Pager")
    return (ref(widget._styles_cache) for widget in widgets)


def forget_timeouts(timeout_s: float) -> None:
    """Drop what the event loop keeps of finished reads: each is dropped once it would time out."""
    loop: Any = asyncio.get_running_loop()
    until_s = loop.time() + timeout_s
    loop._scheduled = [
        one for one in loop._scheduled if one.when() > until_s or not one.cancelled()
    ]
    heapq.heapify(loop._scheduled)


async def test_closed_screens_are_freed_when_garbage_is_collected(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(startup, "finish", lambda: None)  # it freezes the garbage of that moment
    async with demo(1001, locks=(MAIN_GATE,)) as pilot:
        below = pilot.app.screen
        for key in ("a", "enter", "ctrl+p", "d", "v", "H", "M"):
            opened, lines = list[ref[Screen[object]]](), list[ref[StylesCache]]()
            for turn in range(TIMES + 1):  # the last one closed may live on
                await press(pilot, key)
                assert pilot.app.screen is not below
                if turn < TIMES:
                    opened.append(ref(pilot.app.screen))
                    lines += caches(pilot.app.screen)
                await press(pilot, "escape")
                assert pilot.app.screen is below
            forget_timeouts(pilot.app.operations.profile.timeout_s)
            gc.collect()
            assert [screen() for screen in opened] == [None] * TIMES, key
            assert [cache() for cache in lines if cache() is not None] == [], key


@pytest.mark.parametrize(
    ("screen_class", "keys"),
    [(AllLocksSearchScreen, ["F"]), (PeopleScreen, ["F", "enter", "o"])],
)
async def test_app_continues_when_closing_screen_starts_to_read(
    demo: Demo, screen_class: type[AllLocksSearchScreen | PeopleScreen], keys: list[str]
) -> None:
    fill_book(demo, *LOCKS)
    async with demo() as pilot:
        screen = await press_to(pilot, screen_class, *keys)
        pilot.app.pop_screen()
        while screen.is_attached:  # its widgets are removed before the screen
            screen.read()
            await asyncio.sleep(0)
        await settled(pilot)
        assert pilot.app.is_running
