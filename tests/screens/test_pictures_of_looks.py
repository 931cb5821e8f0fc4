"""The main screens as they look in a light theme, without colours, and at 60x20."""

from __future__ import annotations

import json
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.config.look import EVERYTHING, Look
from lockterm.paths import Paths
from lockterm.service.running import RunningService
from tests.screens.running_app import Starter, notices, settled, until
from tests.screens.site import LOCKS, fill_book
from tests.screens.snapshots import assert_picture

HOME, SMALL = (80, 24), (60, 20)
LOOKS = {
    "light-80x24": (EVERYTHING, "textual-light", HOME),
    "no-color-80x24": (Look(colours=0), "", HOME),
    "60x20": (EVERYTHING, "", SMALL),
}
SCREENS = {
    "locks": "j",
    "remotes": "enter j j",
    "remote-detail": "enter j enter",
    "remote-form": "enter a",
    "delete": "enter j d",
    "voice": "v down",
    "history": "H",
}
ELSEWHERE = {"remotes", "remote-detail", "remote-form", "delete", "voice", "history"}
"""Screens whose pictures at 60x20 other tests take."""

PICTURES = [
    (screen, look)
    for screen in SCREENS
    for look in LOOKS
    if look != "60x20" or screen not in ELSEWHERE
]


async def press(pilot: Pilot[Any], keys: str) -> None:
    for key in keys.split():
        await pilot.press(key)
        await settled(pilot)


@pytest.mark.parametrize(("screen", "look"), PICTURES)
async def test_picture(
    screen: str, look: str, service: RunningService, lockterm_app: Starter
) -> None:
    appearance, theme, size = LOOKS[look]
    fill_book(lockterm_app, *LOCKS)
    choices = Paths.below(lockterm_app.directory).choices
    choices.write_text(json.dumps({"theme": theme} if theme else {}))
    async with lockterm_app(service, None, appearance, size=size) as pilot:
        if screen == "history":
            await press(pilot, "enter j u 7 enter")
            await until(pilot, lambda: "ecorded by the service" in notices(pilot))
            pilot.app.clear_notifications()
            await press(pilot, "escape")
            await until(pilot, lambda: not pilot.app.screen.query("Toast"))
        await press(pilot, SCREENS[screen])
        assert_picture(pilot.app, f"{screen}-{look}")
