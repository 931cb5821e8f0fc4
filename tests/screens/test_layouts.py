"""A screen is laid out where something comes, goes or changes its size, and not more often."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from lockterm.screens.remotes.table import RemotesTable
from tests.screens.running_app import Demo, settled, shown, until
from tests.screens.site import press


@contextmanager
def layouts(pilot: Pilot[Any]) -> Iterator[list[str]]:
    """Tells of each layout of the screens that are open now, by their names."""
    found: list[str] = []
    is_over = False

    def note(screen: Screen[Any]) -> None:
        if not is_over:
            found.append(type(screen).__name__)

    for screen in pilot.app.screen_stack:
        screen.screen_layout_refresh_signal.subscribe(screen, note, immediate=True)
    yield found
    is_over = True


async def test_letters_lay_nothing_out(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await press(pilot, "a")
        field = pilot.app.screen.query_one(Input)
        await pilot.press("a")  # whose status has a name less in it
        await settled(pilot)
        with layouts(pilot) as found:
            for letter in " name that is longer than the room there is for it in 80 columns":
                await pilot.press(letter if letter != " " else "space")
            await until(pilot, lambda: "80 columns" in shown(pilot))
            assert "a name" not in shown(pilot) and field.scroll_x > 0
            await pilot.press("home")
            await until(pilot, lambda: "a name" in shown(pilot))
        assert found == []


async def test_a_page_in_place_of_another_lays_nothing_out(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await settled(pilot)
        with layouts(pilot) as found:
            for page in (2, 3, 4, 5, 6, 7):
                await pilot.press("n")
                await until(pilot, lambda page=page: f"page {page} of 7" in shown(pilot))
            await settled(pilot)
            assert pilot.app.screen.query_one(RemotesTable).row_count == 17
        assert found == []
