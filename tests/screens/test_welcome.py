"""The first screen: what lockterm does, two choices as cards, and what the terminal can do."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import messages
from textual.pilot import Pilot

from lockterm.app.first_run_app import FirstRunApp
from lockterm.config import Options
from lockterm.config.look import FULL_LOOK, Look
from lockterm.config.preferences import Preferences
from lockterm.config.profiles import Profiles
from lockterm.screens.profiles.form import ProfileForm
from lockterm.screens.welcome import Card, WelcomeScreen
from tests.screens.running_app import shown, strips, until


@asynccontextmanager
async def welcome(
    folder: Path, look: Look = FULL_LOOK, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Pilot[Any]]:
    """The app of the first run, on its first screen."""
    profiles = Profiles(folder / "config.toml", Options(), {})
    app = FirstRunApp(profiles, Preferences(folder / "choices"), look)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.focused, Card))
        await pilot.pause()
        yield pilot


def reversed_words(pilot: Pilot[Any]) -> str:
    return " ".join(
        segment.text.strip()
        for strip in strips(pilot.app.screen)
        for segment in strip
        if segment.style is not None and segment.style.reverse
    )


async def test_keys_and_clicks_choose_a_card(tmp_path: Path) -> None:
    async with welcome(tmp_path) as pilot:
        assert reversed_words(pilot) == "1  Try the demo", "the focus, without color"
        await pilot.press("right")
        assert reversed_words(pilot) == "2  Connect to a service"
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ProfileForm))
    async with welcome(tmp_path) as pilot:
        await pilot.press("j", "k", "enter")
        await until(pilot, lambda: not pilot.app.is_running)
        assert isinstance(pilot.app.return_value, WelcomeScreen.Chosen)
        assert pilot.app.return_value.profile is None
    async with welcome(tmp_path) as pilot:
        await pilot.click("#connect")
        await until(pilot, lambda: isinstance(pilot.app.screen, ProfileForm))


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
@pytest.mark.parametrize("look", [FULL_LOOK, Look(quiet=True), Look(colors=0, ascii=True)])
async def test_all_of_it_fits_and_cards_have_frames_where_there_is_room(
    tmp_path: Path, size: tuple[int, int], look: Look
) -> None:
    async with welcome(tmp_path, look, size) as pilot:
        text = shown(pilot)
        for words in (
            "lockterm manages the remotes (key fobs) of smart locks.",
            "Undo what you changed, and set the voice of each lock.",
            "1  Try the demo",
            "A made-up site on this machine",
            "2  Connect to a service",
            "Enter its address and test it",
            "Features of this terminal",
            f"Size        {size[0]}x{size[1]}",
            "No service is configured yet.",
        ):
            assert words in text, words
        corner = "+--" if look.ascii else "╭──"
        assert (corner in text) is (size[0] >= 80 and not look.quiet)


@pytest.mark.parametrize(
    ("look", "found"),
    [
        (FULL_LOOK, ["16.7 million", "Unicode", "handled by lockterm"]),
        (Look(colors=16, mouse=False), ["16", "Unicode", "handled by the terminal"]),
        (Look(quiet=True), ["16", "ASCII", "handled by lockterm"]),
        (
            Look(colors=0, utf8=False),
            ["none; lockterm shows states as words", "ASCII", "handled by lockterm"],
        ),
    ],
)
async def test_the_features_of_the_terminal_are_shown(
    tmp_path: Path, look: Look, found: list[str]
) -> None:
    async with welcome(tmp_path, look) as pilot:

        def features() -> list[str]:
            labels = "Colors|Characters|Mouse|Updates|Size"
            return re.findall(rf"^ +(?:{labels}) +(.+)$", shown(pilot), re.MULTILINE)

        assert features() == [*found, "line by line", "80x24"]
        pilot.app.post_message(messages.TerminalSupportsSynchronizedOutput())
        await until(pilot, lambda: features()[3] == "all at once")
        await pilot.press("f4")
        pilot.app.clear_notifications()
        await until(pilot, lambda: features()[2] != found[2])
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: features()[4] == "100x30")
