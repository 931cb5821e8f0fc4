"""Beside the voices of a large terminal: the pack of the voice under the cursor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.domain.text.amount import format_size
from lockterm.domain.voices import Timbre, VoicePack, find_listed_pack
from lockterm.screens.voice.panels import PackDetail, PacksTable
from lockterm.screens.voice.voice_tree import VoiceTree
from lockterm.service.running import RunningService
from tests.screens.running_app import Starter, settled, until
from tests.screens.site import LOCKS, MAIN_GATE, canned, fill_book, shown, words
from tests.screens.test_voice import fake, go_to, open_voice

SIZE = (100, 30)


def detail(pilot: Pilot[int]) -> str:
    """Return the details of the pack, as one line."""
    return " ".join(str(pilot.app.screen.query_one(PackDetail).content).split())


def pack_name(pilot: Pilot[int]) -> str | None:
    pack = pilot.app.screen.query_one(PacksTable).pack
    return None if pack is None else pack.name


async def test_pack_follows_the_voice_under_the_cursor(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service, size=SIZE) as pilot:
        screen = await open_voice(pilot)
        await until(pilot, lambda: "Name de-DE-anna" in detail(pilot))
        pack = await screen.operations.voices.pack(1001, "de-DE-anna")
        assert pack.file_size is not None
        for part in (f"Size {format_size(pack.file_size)}", f"MD5 {pack.file_md5}", "Date 10 Dec"):
            assert part in detail(pilot)
        assert "Get press E to fetch this pack URL http" in detail(pilot)
        await pilot.press("down")
        await until(pilot, lambda: "Name de-DE-jonas" in detail(pilot))
        assert pack_name(pilot) == "de-DE-jonas"
        await go_to(pilot, "grace")
        await until(pilot, lambda: "Name en-US-grace" in detail(pilot))
        await pilot.press("ctrl+y")
        await until(pilot, lambda: "Copied the MD5" in words(pilot.app))
        await pilot.press("tab", "down")
        await until(pilot, lambda: "Name en-US-walter" in detail(pilot))
        await pilot.press("shift+tab")
        await until(pilot, lambda: "Name en-US-grace" in detail(pilot))


async def test_set_voice_is_a_badge_in_the_tree(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service, size=SIZE) as pilot:
        screen = await open_voice(pilot)
        tree = screen.query_one(VoiceTree)
        assert tree.cursor_node is not None
        (label,) = [tree.cursor_node.label]
        badge = next(span for span in label.spans if "bold" in str(span.style))
        assert label.plain[badge.start : badge.end] == "[set by you]"


async def test_a_voice_without_a_pack_shows_that_until_the_packs_have_the_focus(
    lockterm_app: Starter,
) -> None:
    timbres = [
        {"timbre": "anna", "name": "Anna", "isFemale": 1, "timbrePackUrl": "http://x/anna"},
        {"timbre": "ben", "name": "Ben", "isFemale": 0, "timbrePackUrl": "http://x/ben"},
    ]
    listed = [{"name": "ANNA old"}, {"name": "Anna new"}]

    def told(asked: dict[str, Any]) -> Any:
        url = "http://x/anna" if asked["name"] == "Anna new" else "http://x/other"
        return fake({"name": asked["name"], "timbrePackUrl": url, "fileSize": 9})(asked)

    answers = {
        "/voice/packs": fake([{"lang": "de-DE", "timbres": timbres}], "error"),
        "/voice/list": fake(listed),
        "/voice/detail": told,
    }
    fill_book(lockterm_app, *LOCKS)
    async with canned(answers) as service, lockterm_app(service, size=SIZE) as pilot:
        screen = await open_voice(pilot)
        await go_to(pilot, "anna")
        await until(pilot, lambda: "Name Anna new" in detail(pilot))
        assert "ANNA old" in screen.details, "its address is that of another voice"
        await pilot.press("escape", "down")
        await until(
            pilot, lambda: detail(pilot) == "The service lists no pack of this voice for the lock."
        )
        await pilot.press("tab")
        await until(pilot, lambda: "Name Anna new" in detail(pilot))


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_pack_follows_the_voice_in_a_small_terminal(
    lockterm_app: Starter, service: RunningService, size: tuple[int, int]
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service, size=size) as pilot:
        screen = await open_voice(pilot)
        await until(pilot, lambda: "de-DE-anna" in screen.details)
        seen = shown(pilot.app)
        assert "[set by you]" in seen, "the tree has scrolled to the voice"
        assert "de-DE-anna" in seen and "Label" not in seen and "to fetch" not in detail(pilot)
        await pilot.press("down")
        await until(pilot, lambda: "de-DE-jonas" in screen.details)
        assert pack_name(pilot) == "de-DE-jonas" and "de-DE-jonas" in shown(pilot.app)
        table = screen.query_one(PacksTable)
        height = table.size.height
        await pilot.press("tab")
        await settled(pilot)
        assert (table.size.height > height) == (size[0] < 80), "narrow: one pack until then"


@pytest.mark.parametrize(
    ("packs", "details", "place"),
    [
        ([{"name": "de-anna"}, {"name": "x", "timbrePackUrl": "u"}], {}, 1),
        ([{"name": "en-anna"}, {"name": "de-anna"}, {"name": "x"}], {}, 1),
        ([{"name": "en-ANNA"}, {"name": "de-ben"}], {}, 0),
        ([{"name": "de-anna"}, {"name": "anna"}], {"de-anna": "other"}, 1),
        ([{"name": "de-anna"}, {"name": "x"}], {"x": "u"}, 1),
        ([{"name": f"anna {n}"} for n in range(9)], {f"anna {n}": "o" for n in range(5)}, None),
        ([{"name": "ben"}, {}], {}, None),
    ],
)
def test_address_decides_which_pack_belongs_to_a_voice(
    packs: list[Mapping[str, Any]], details: Mapping[str, str], place: int | None
) -> None:
    voice = Timbre.read({"timbre": "anna", "timbrePackUrl": "u"})
    listed = [VoicePack.read(pack) for pack in packs]
    read = {
        name: VoicePack.read({"name": name, "timbrePackUrl": url}) for name, url in details.items()
    }
    assert find_listed_pack(voice, "de", listed, read) == place
