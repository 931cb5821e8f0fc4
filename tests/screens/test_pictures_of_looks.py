"""The main screens as they look in a light theme, without colors, in quiet, and wide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.app.first_run_app import FirstRunApp
from lockterm.config import Options
from lockterm.config.look import FULL_LOOK, Look
from lockterm.config.preferences import Preferences
from lockterm.config.profiles import Profiles
from lockterm.paths import Paths
from tests.long import telling
from tests.screens.demo import Demo
from tests.screens.demo import demo as demo
from tests.screens.running_app import notices, settled, until
from tests.screens.site import LOCKS
from tests.screens.snapshots import assert_picture

HOME = (80, 24)
LOOKS = {
    "80x24": (FULL_LOOK, "", HOME),
    "light-80x24": (FULL_LOOK, "lockterm-light", HOME),
    "no-color-80x24": (Look(colors=0), "", HOME),
    "quiet-80x24": (Look(quiet=True), "", HOME),
    "high-contrast-80x24": (FULL_LOOK, "high-contrast-dark", HOME),
    "120x40": (FULL_LOOK, "", (120, 40)),
}
SCREENS = {
    "locks": "W ctrl+r escape j",  # what ends is told on wide terminals
    "remotes": "enter j j",
    "marks": "enter space j space space up",
    "remote-detail": "enter j enter",
    "remote-form": "enter a",
    "delete": "enter j d",
    "voice": "v down",
    "history": "H",
}
SIZES = ("80x24", "120x40")
OTHERS = {
    "help": ("enter question_mark", ("120x40",)),
    "lock-form": ("j e", ("120x40",)),
    "remote-form-edit": ("enter j e", ("120x40",)),
    "columns": ("enter t", ("120x40",)),
    "page-size": ("enter number_sign", ("120x40",)),
    "clear": ("enter C", ("120x40",)),
    "palette": ("enter ctrl+p", SIZES),
    "themes": ("T", SIZES),
    "locks-empty": ("", SIZES),
}
"""Screens that other tests take in the looks that are not here."""

IN_EVERY_LOOK = {"locks", "remotes", "remote-form", "delete"}
"""A list, a table, a form and a dialog: what the other screens are made of."""

WITHOUT_TABLE = {"remote-form", "delete"}
"""Screens that quiet shows as every terminal of few colors does."""

PICTURES = [
    (screen, look)
    for screen in SCREENS
    for look in LOOKS
    if look != "80x24"
    and (look == "120x40" or screen in IN_EVERY_LOOK)
    and (look != "120x40" or screen not in {"remotes", "marks"})  # other tests take them
    and (look != "quiet-80x24" or screen not in WITHOUT_TABLE)
] + [(screen, look) for screen, (_, looks) in OTHERS.items() for look in looks]


async def press(pilot: Pilot[Any], keys: str) -> None:
    for key in keys.split():
        await pilot.press(key)
        await settled(pilot)


TELLING = [
    *(("locks", "120x40"), ("locks", "quiet-80x24"), ("history", "120x40")),
    *(("remotes", "high-contrast-80x24"), ("delete", "light-80x24")),
    *(("remote-form", "no-color-80x24"), ("voice", "120x40")),
]
"""Each screen, and each look."""


@pytest.mark.long
@pytest.mark.parametrize("case", telling(TELLING, PICTURES), ids="-".join)
async def test_picture(demo: Demo, case: tuple[str, str]) -> None:
    screen, look = case
    appearance, theme, size = LOOKS[look]
    demo.fill_book(*(() if screen == "locks-empty" else LOCKS))
    choices = Paths.below(demo.starter.directory).choices
    choices.parent.mkdir(parents=True, exist_ok=True)
    choices.write_text(json.dumps({"theme": theme} if theme else {}))
    async with demo(None, appearance, size=size, page_size="auto") as pilot:
        if screen == "history":
            await press(pilot, "enter j u 7 enter")
            await until(pilot, lambda: "ecorded by the service" in notices(pilot))
            pilot.app.clear_notifications()
            await press(pilot, "escape")
        await press(pilot, SCREENS[screen] if screen in SCREENS else OTHERS[screen][0])
        assert_picture(pilot.app, f"{screen}-{look}")


@pytest.mark.long
@pytest.mark.parametrize("at", SIZES)
async def test_the_first_run(at: str, tmp_path: Path) -> None:
    file = Path("/home/anna/.config/lockterm/config.toml")
    profiles = Profiles(file, Options(), {})
    app = FirstRunApp(profiles, Preferences(tmp_path / "choices"), FULL_LOOK)
    app.animation_level = "none"
    async with app.run_test(size=LOOKS[at][2]) as pilot:
        await pilot.pause()
        assert_picture(app, f"welcome-{at}")
