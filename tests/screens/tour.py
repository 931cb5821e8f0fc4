"""A tour of every screen and dialog, for tests of what holds on all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from rich.style import Style
from textual.pilot import Pilot

from lockterm.screens.remotes import RemotesScreen
from tests.screens.running_app import settled, shown, strips
from tests.screens.site import MAIN_GATE

STOPS: tuple[tuple[str, str, str, str], ...] = (
    ("remotes", "j", "page 1 of", ""),
    ("find", "slash w e b e r", "Find", "escape"),
    ("remote detail", "enter", "Created", "escape"),
    ("user number", "u", "ser number", "escape"),
    ("renew", "w", "Edit", "escape"),
    ("delete", "d", "Delete ", "escape"),
    ("clear", "C", "Delete", "escape"),
    ("copy", "y", "Copy", "escape"),
    ("page size", "number_sign", "How many", "escape"),
    ("go to page", "colon", "page", "escape"),
    ("columns", "t", "olumns", "escape"),
    ("a notice", "greater_than_sign n", "This is the last page", "less_than_sign"),
    ("empty form", "a", "for example: Anna", "escape"),
    ("refused form", "a ctrl+s", "for example: Anna", "escape"),
    ("form", "e", "Anna|Number", "escape"),
    ("voice", "v", "Voice", ""),
    ("vendor and model", "e", "Vendor", "escape"),
    ("download", "tab E", "MD5|pack", "escape"),
    ("back from voice", "escape", "page 1 of", ""),
    ("history", "H", "History", "escape"),
    ("everywhere", "F", "All locks", "escape"),
    ("what ends", "W", "Expiring", "escape"),
    ("messages", "M", "essages", "escape"),
    ("help", "question_mark", "Help", "escape"),
    ("palette", "ctrl+p", "Find an action", "escape"),
    ("themes", "T", "heme", "escape"),
    ("locks", "escape", "Main gate", ""),
    ("lock form", "a", "Vendor", "escape"),
    ("lock by its ID", "o", "lock", "escape"),
    ("take a lock out", "x", "Main gate", "escape"),
)
"""Name; the keys that lead to it from the one before; what it shows; the keys that lead back."""


async def tour(pilot: Pilot[Any]) -> AsyncIterator[str]:
    """Go from screen to screen, giving the name of each while it is shown.

    The app has been started on its lock book, at a service with sample data.
    """
    await pilot.app.operations.locks.save(MAIN_GATE)
    pilot.app.push_screen(RemotesScreen(pilot.app.operations, MAIN_GATE))
    await settled(pilot)
    for name, keys, words, back in STOPS:
        await _press(pilot, keys)
        text = shown(pilot)
        assert any(word in text for word in words.split("|")), f"{name}:\n{text}"
        yield name
        await _press(pilot, back)


async def _press(pilot: Pilot[Any], keys: str) -> None:
    for key in keys.split():
        await pilot.press(key)
        await settled(pilot)


def cells(pilot: Pilot[Any]) -> list[tuple[str, Style]]:
    """What stands in each cell that is not blank, and its style."""
    return [
        (character, segment.style or Style.null())
        for strip in strips(pilot.app.screen)
        for segment in strip
        for character in segment.text
        if not character.isspace()
    ]
