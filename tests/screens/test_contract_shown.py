"""What the contract says is shown: a pack's whole name, JSON that differs, examples as such."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.widgets import Input

from lockterm.config.look import FULL_LOOK
from lockterm.screens.voice.packs import PackDetail
from lockterm.widgets.choice import OptionLine
from tests.screens.running_app import Demo, Starter, settled
from tests.screens.site import MAIN_GATE, canned, fill_book, page_of, press, shown, words
from tests.screens.test_refusals_told import REMOTE


@pytest.mark.long
@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
async def test_the_whole_name_of_a_pack_is_in_its_detail(
    lockterm_app: Starter, size: tuple[int, int]
) -> None:
    name = "de-DE " + "x" * 100 + " the end"
    pack = {"name": name, "label": "Anna", "updated_at": 1_795_161_600_000}
    more = {"timbrePackUrl": "https://p.example/a", "fileSize": 1, "fileMd5": "0" * 32}
    answers = {
        "/voice/list": [pack],
        "/voice/detail": {**pack, **more},
        "/voice/packs": lambda _: {"errorCode": 0, "errorMsg": "ok", "data": []},
    }
    fill_book(lockterm_app, MAIN_GATE)
    async with canned(answers) as server, lockterm_app(server, size=size) as pilot:
        await press(pilot, "v", "tab")
        lines = str(pilot.app.screen.query_one(PackDetail).render()).splitlines()
        lines = lines[: next(at for at, line in enumerate(lines) if line.startswith("Size"))]
        assert all(line.strip() in shown(pilot.app) for line in lines), "nothing is cut off"
        assert name == "".join(line[5:] for line in lines)


@pytest.mark.long
@pytest.mark.parametrize("colors", [0, 256])
async def test_without_colors_an_example_does_not_look_like_a_value(
    demo: Demo, colors: int
) -> None:
    look = replace(FULL_LOOK, colors=colors)
    async with demo(1004, look) as pilot:
        await press(pilot, "a")
        examples = [field.placeholder for field in pilot.app.screen.query(Input)]
        assert examples and pilot.app.screen.query(OptionLine)
        assert all(text.startswith("(") == (colors == 0) for text in examples)
        assert ("(for example: A-2041)" in words(pilot.app)) == (colors == 0)
        await settled(pilot)


HIDDEN = {
    "mac": "AA:BB:CC:DD:EE:FF",
    "electricQuantity": 80,
    "firmwareInfo": {"v": 1},
    "remoteUserNo": 7,
    "businessId": 9,
    "remoteRight": 1,
}


@pytest.mark.parametrize("told", [(), ("mac", "remoteUserNo"), tuple(HIDDEN)])
async def test_losses_are_named_only_where_there_are_any(
    lockterm_app: Starter, told: tuple[str, ...]
) -> None:
    """Whether a service keeps the six fields to itself, tells some of them, or all."""
    record = {**REMOTE, "addType": 1, **{name: HIDDEN[name] for name in told}}
    answers = {"/list": page_of([record]), "/detail": record}
    async with canned(answers) as server, lockterm_app(server, 1001) as pilot:
        for key in ("d", "C"):
            losses = await press(pilot, key)
            assert "lockterm keeps a backup" in losses
            assert ("It lacks" in losses) == (len(told) < 6)
            assert ("MAC" in losses) == ("mac" not in told)
            assert ("battery level" in losses) == ("electricQuantity" not in told)
            await press(pilot, "escape")
