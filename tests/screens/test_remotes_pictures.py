"""Pictures of the remotes of a lock, their details and dialogs; see ``snapshots``."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lockterm.domain.locks import Lock
from lockterm.screens.remotes import RemotesScreen
from tests.screens.demo import Demo, press
from tests.screens.demo import demo as demo
from tests.screens.running_app import settled
from tests.screens.snapshots import assert_picture

HOME, WIDE = (80, 24), (120, 40)
MAIN_GATE = Lock(1001, name="Main gate", alias="North campus, gate 1", zone="Europe/Berlin")

PICTURES: list[tuple[str, tuple[int, int], list[str]]] = [
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


MORE = [
    ("marks-renew-120x40", WIDE, ["j", "space", "n", "space", "space", "w", *"+30d"]),
    ("marks-more-120x40", WIDE, ["j", "space", "space", "m"]),
    ("marks-type-80x24", HOME, ["j", "space", "space", "m", "enter", "4"]),
]
"""What the run of all tests looks at as well."""


@pytest.mark.parametrize(
    ("name", "size", "keys"),
    [pytest.param(*one, id=one[0]) for one in PICTURES]
    + [pytest.param(*one, id=one[0], marks=pytest.mark.long) for one in MORE],
)
async def test_picture(demo: Demo, name: str, size: tuple[int, int], keys: list[str]) -> None:
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
