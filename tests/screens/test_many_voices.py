"""Languages, timbres and packs without end: some lines are shown, and a search finds the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Tree

from lockterm.domain.locks import Lock
from lockterm.screens.voice import VoiceScreen
from lockterm.screens.voice.packs import MOST_SHOWN as MOST_PACKS
from lockterm.screens.voice.packs import PacksTable
from lockterm.screens.voice.voices import MOST_SHOWN
from tests.screens.running_app import Clock, Starter, settled, shown
from tests.screens.site import canned, press

TIMBRES = [{"timbre": f"t{number}"} for number in range(40_000)]
GATE = Lock(1, vendor="v", model="m")


@pytest.mark.long
@pytest.mark.parametrize(
    "languages",
    [
        [{"lang": f"x{number}"} for number in range(40_000)],
        [{"lang": "xx", "timbres": TIMBRES}],
        [{"lang": f"x{number}", "timbres": TIMBRES[:20]} for number in range(1500)],
    ],
    ids=["languages", "timbres", "both"],
)
async def test_voices_and_packs_without_end(tmp_path: Path, languages: list[Any]) -> None:
    packs = [{"name": "same"} for _ in range(40_000)]
    answers = {
        "/voice/packs": lambda _: {"errorCode": 0, "data": languages},
        "/voice/list": packs,
        "/voice/detail": packs[0],
    }
    async with canned(answers) as service, Starter(tmp_path, Clock())(service) as pilot:
        await pilot.app.push_screen(VoiceScreen(pilot.app.operations, GATE))
        await settled(pilot)
        tree = pilot.app.screen.query_one(Tree)
        lines = sum(1 + len(node.children) for node in tree.root.children)
        assert 0 < lines <= MOST_SHOWN
        assert pilot.app.screen.query_one(PacksTable).row_count == MOST_PACKS
        assert "the first 500 of 40,000" in shown(pilot)
        assert "/ finds the others" in shown(pilot)
        if "timbres" in languages[0]:
            await press(pilot, "slash", *"t19")
            found = [leaf for node in tree.root.children for leaf in node.children]
            assert 0 < len(found) < MOST_SHOWN
