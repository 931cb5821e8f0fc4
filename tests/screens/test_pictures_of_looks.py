"""The main screens as they look in a light theme, without colors, in quiet, and wide."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.app.first_run_app import FirstRunApp
from lockterm.config import Options
from lockterm.config.look import FULL_LOOK, Look
from lockterm.config.preferences import Preferences
from lockterm.config.profiles import Profiles
from lockterm.domain.locks import Lock
from lockterm.paths import Paths
from lockterm.screens.remotes import RemotesScreen
from tests.long import telling
from tests.screens.running_app import Demo, notices, settled, until
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


# --- the remotes of a lock -----------------------------------------------------------------------

WIDE = (120, 40)
MAIN_GATE = Lock(1001, name="Main gate", alias="North campus, gate 1", zone="Europe/Berlin")

OF_REMOTES: list[tuple[str, tuple[int, int], list[str]]] = [
    ("remotes-80x24", HOME, ["j", "j"]),
    ("remotes-60x20", (60, 20), ["j", "j"]),
    ("remotes-120x40", (120, 40), ["n", "j"]),
    ("marks-80x24", HOME, ["j", "space", "j", "space", "n", "space"]),
    ("marks-120x40", (120, 40), ["space", "j", "space"]),
    ("marks-renew-80x24", HOME, ["j", "space", "n", "space", "space", "w", *"+30d"]),
    ("marks-more-80x24", HOME, ["j", "space", "space", "m"]),
    ("remotes-find-80x24", HOME, ["slash", *"weber", "enter"]),
    ("remote-detail-80x24", HOME, ["j", "enter"]),
    ("delete-80x24", HOME, ["j", "d"]),
    ("clear-80x24", HOME, ["C"]),
    ("user-number-80x24", HOME, ["j", "u"]),
    ("go-to-page-80x24", HOME, ["colon"]),
    ("page-size-80x24", HOME, ["number_sign"]),
    ("copy-80x24", HOME, ["j", "y"]),
]


MORE_OF_REMOTES = [
    ("marks-renew-120x40", WIDE, ["j", "space", "n", "space", "space", "w", *"+30d"]),
    ("marks-more-120x40", WIDE, ["j", "space", "space", "m"]),
    ("marks-type-80x24", HOME, ["j", "space", "space", "m", "enter", "4"]),
]
"""What the run of all tests looks at as well."""


@pytest.mark.parametrize(
    ("name", "size", "keys"),
    [pytest.param(*one, id=one[0]) for one in OF_REMOTES]
    + [pytest.param(*one, id=one[0], marks=pytest.mark.long) for one in MORE_OF_REMOTES],
)
async def test_picture_of_remotes(
    demo: Demo, name: str, size: tuple[int, int], keys: list[str]
) -> None:
    async with demo(size=size, page_size="auto") as pilot:
        await pilot.app.operations.locks.save(MAIN_GATE)
        pilot.app.push_screen(RemotesScreen(pilot.app.operations, MAIN_GATE))
        await settled(pilot)
        for key in keys:
            await press(pilot, key)
        assert_picture(pilot.app, name)


@pytest.mark.long
async def test_picture_of_an_empty_lock(demo: Demo) -> None:
    async with demo(1004) as pilot:
        assert_picture(pilot.app, "remotes-empty-80x24")


def test_the_first_frame_needs_neither_httpx_nor_pydantic() -> None:
    code = (
        "import sys, lockterm.screens.remotes, lockterm.screens.remotes.detail;"
        "print([name for name in ('httpx', 'pydantic', 'babel')"
        " if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
