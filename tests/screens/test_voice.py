"""Choosing a lock's voice: the tree, the packs, the setting, and what is said when it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.text.amount import format_size
from lockterm.domain.voices import Timbre, VoicePack, find_listed_pack
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.voice import VoiceScreen
from lockterm.screens.voice import screen as voice_screen
from lockterm.screens.voice.packs import PackDetail, PacksTable
from lockterm.screens.voice.screen import VendorModelModal
from lockterm.screens.voice.voices import VoiceTree
from lockterm.service.running import RunningService
from tests.screens.running_app import Demo, Starter, notices, settled, until
from tests.screens.site import (
    HOSTILE,
    LOCKS,
    MAIN_GATE,
    answered,
    book_of,
    canned,
    fill_book,
    press,
    press_to,
    settled_when,
    shown,
    words,
)
from tests.screens.snapshots import assert_picture

SETTING = ("POST", "/api/v1/lockSetting/updateLockSetting")


async def open_voice(pilot: Pilot[int]) -> VoiceScreen:
    await press_to(pilot, VoiceScreen, "v")
    screen = pilot.app.screen
    assert isinstance(screen, VoiceScreen)
    return screen


async def go_to(pilot: Pilot[int], *what: str) -> None:
    """Search; the cursor goes to the first timbre that was found."""
    await press(pilot, "slash", *" ".join(what), "enter")


async def agree(pilot: Pilot[int], *keys: str) -> None:
    """Press the key that sets a voice, and answer the question."""
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
    await pilot.pause()
    await pilot.press(*(keys or ("tab", "enter")))


def voices(set_voice: Callable[..., Any], **timbre: Any) -> Any:
    """A service with one voice, French unless said otherwise."""
    languages = [{"lang": timbre.pop("lang", "fr-FR"), "timbres": [timbre]}]
    answers = {"/packs": packed(languages), "/voice/list": []}
    return canned({**answers, "/updateLockSetting": set_voice})


def packed(data: Any) -> Callable[[Any], dict[str, Any]]:
    """Return the answer of a call about packs, which spells its envelope otherwise (2.1)."""
    return lambda _: {"errorCode": 0, "errorMsg": "", "description": "", "data": data}


async def test_looking_at_the_voices_counts_as_a_view_of_the_lock(demo: Demo) -> None:
    demo.fill_book(MAIN_GATE)
    async with demo() as pilot:
        await open_voice(pilot)
        assert_picture(pilot.app, "voice-80x24")
    lock, before_ms = book_of(demo.starter)[1001], MAIN_GATE.opened_ms
    assert before_ms is not None and lock.opened_ms is not None and lock.opened_ms > before_ms
    assert lock.remotes == MAIN_GATE.remotes


@pytest.mark.long
async def test_the_tree_names_languages_and_timbres(demo: Demo) -> None:
    demo.fill_book(MAIN_GATE)
    async with demo(size=(120, 50)) as pilot:
        screen = await open_voice(pilot)
        entry = screen.query_one(VoiceTree).entry
        assert entry is not None
        assert entry.choice == MAIN_GATE.voice, "the cursor begins on the voice that was set"
        rows = [line.split("│") for line in shown(pilot.app).splitlines()]
        lines = [" ".join(row[1].split()) for row in rows if len(row) > 1]
        assert "- de-DE German Deutsch" in lines
        assert "- ja-JP Japanese 日本語" in lines
        assert "- ar-SA Arabic العربية" in lines
        assert "- zz-FACTORY" in lines, "a code that nobody knows stays as it is"
        assert "Chime unstated chime" in lines, "a timbre without isFemale is neither"
        assert "Jonas male jonas" in lines
        assert "Anna female [set by you] anna" in lines
        await go_to(pilot, "factory")
        assert "Chime unstated voice ID chime" in words(pilot.app)
        tree = screen.query_one(VoiceTree)
        tree.display = False
        await settled(pilot)
        assert pilot.app.screen.focused is tree, "while there are no voices"


async def test_setting_shows_from_and_to_and_marks_the_voice(demo: Demo) -> None:
    demo.fill_book(MAIN_GATE)
    async with demo() as pilot:
        await open_voice(pilot)
        await go_to(pilot, "french marc")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        text = words(pilot.app)
        assert "Set the voice of Main gate (lock 1001)?" in text
        assert "From de-DE Anna (anna), female, set by you" in text
        assert "To fr-FR Marc (marc), male" in text
        await pilot.pause()
        await pilot.press("enter")  # "Keep" has the focus
        await settled(pilot)
        assert SETTING not in demo.service.requests
        await agree(pilot)
        await settled_when(pilot, lambda: "Marc male [set by you] marc" in words(pilot.app))
        assert demo.service.requests.count(SETTING) == 1
        message = pilot.app.messages[-1]  # type: ignore[attr-defined]
        assert "Recorded by the service" in message.text
        assert book_of(demo.starter)[1001].voice == VoiceChoice("fr-FR", "marc")
        await pilot.press("escape")
        await until(pilot, lambda: "Marc male [set by you] marc" in words(pilot.app))
        with demo.service.app.state.site.database.reading() as db:
            stored = db.execute("SELECT lock_id, lang, timbre FROM voice_setting").fetchall()
        assert [tuple(row) for row in stored] == [(1001, "fr-FR", "marc")]


@pytest.mark.long
async def test_without_vendor_and_model_they_are_asked_for_and_kept(demo: Demo) -> None:
    demo.fill_book(Lock(1003, name="Server room"))
    async with demo() as pilot:
        await pilot.press("v")
        await until(pilot, lambda: isinstance(pilot.app.screen, VendorModelModal))
        await until(pilot, lambda: pilot.app.screen.query_one("#vendor", Input).has_focus)
        await pilot.press("escape")
        await until(pilot, lambda: "e set vendor and model" in words(pilot.app))
        await until(pilot, lambda: "zh-CN-xiaoyan" in words(pilot.app))  # the packs need neither
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, VendorModelModal))
        await pilot.pause()
        await pilot.press(*"lumenlock", "enter", "enter")
        await until(pilot, lambda: "Vendor and model are required" in words(pilot.app))
        await pilot.press(*"L7", "enter")
        await until(pilot, lambda: "Voices of lumenlock L7" in words(pilot.app))
        await settled_when(pilot, lambda: "- zh-CN Chinese" in words(pilot.app))
        assert pilot.app.screen.query_one(VoiceTree).has_focus
        saved = book_of(demo.starter)[1003]
        assert (saved.vendor, saved.model) == ("lumenlock", "L7")


@pytest.mark.long
async def test_pack_under_the_cursor_is_read(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voice_screen, "SETTLE_S", 1.0)  # longer than five keys on a busy machine
    demo.fill_book(MAIN_GATE)
    async with demo() as pilot:
        screen = await open_voice(pilot)
        before = len(demo.service.requests)
        await pilot.press("tab", "g", *["down"] * 6)
        await settled_when(pilot, lambda: "de-DE-jonas" in screen.details)
        details = [
            path for _, path in list(demo.service.requests)[before:] if path.endswith("detail")
        ]
        assert len(details) == 1, "packs that the cursor only passed are not asked for"
        pack = await screen.operations.voices.pack(1001, "de-DE-jonas")
        text = words(pilot.app)
        assert "bytes)" not in text and format_size(pack.file_size) in text
        assert f"MD5 {pack.file_md5}" in text
        assert "Date 27 Dec 2024 11:00 +01:00" in text
        await pilot.press("enter")
        await until(pilot, lambda: "This list shows packs" in words(pilot.app))


async def test_details_of_a_pack_wrap_again_when_the_terminal_is_resized(demo: Demo) -> None:
    demo.fill_book(MAIN_GATE)
    async with demo() as pilot:
        screen = await open_voice(pilot)
        await settled_when(pilot, lambda: screen.details)
        (pack,) = screen.details.values()
        assert isinstance(pack, VoicePack) and pack.timbre_pack_url
        detail = screen.query_one(PackDetail)
        assert pack.timbre_pack_url not in str(detail.content)
        await pilot.resize_terminal(160, 48)
        await settled(pilot)
        assert pack.timbre_pack_url in str(detail.content)


@pytest.mark.long
async def test_url_md5_and_file_are_those_of_one_pack(demo: Demo) -> None:
    demo.fill_book(MAIN_GATE)
    async with demo() as pilot:
        app, screen = pilot.app, await open_voice(pilot)
        await until(pilot, lambda: "de-DE-anna" in screen.details)
        await go_to(pilot, "grace")
        await until(pilot, lambda: "en-US-grace" in screen.details)
        grace = await screen.operations.voices.pack(1001, "en-US-grace")
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard == grace.timbre_pack_url)
        await pilot.press("ctrl+y")
        await until(pilot, lambda: app.clipboard == grace.file_md5)
        await pilot.press("E")
        await until(pilot, lambda: "Size and MD5 match." in words(app))
        (file,) = screen.operations.voices.packs_dir.iterdir()
        assert file.name.startswith("Main-gate_1001_en-US_grace_")


@pytest.mark.long
async def test_each_half_says_why_it_has_nothing(lockterm_app: Starter) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    refused = {"errcode": -7, "errmsg": "out of order", "description": "", "data": {}}
    answers = {"/packs": packed([]), "/voice/list": lambda _: refused}
    # Narrow, so that the halves stand below each other and can be read line by line.
    async with canned(answers) as server, lockterm_app(server, size=(60, 24)) as pilot:
        await open_voice(pilot)
        assert "The service has no voices for nordriegel NR-450" in words(pilot.app)
        assert "out of order" in words(pilot.app)
        assert "r try again" in words(pilot.app)
        await pilot.press("enter")
        await until(pilot, lambda: "Select a voice in" in words(pilot.app))


@pytest.mark.long
async def test_a_refused_model_is_asked_for_again_by_the_key_alone(demo: Demo) -> None:
    demo.fill_book(replace(MAIN_GATE, vendor="nobody", model="N-0"))

    def asked() -> int:
        return sum(path.endswith("/voice/packs") for _, path in demo.service.requests)

    async with demo() as pilot:
        screen = await open_voice(pilot)
        await until(pilot, lambda: screen.voices.error)
        told = len(pilot.app.messages)  # type: ignore[attr-defined]
        for key in ("question_mark", "escape", "M", "escape"):
            await press(pilot, key)
        assert pilot.app.screen is screen
        assert asked() == 1
        assert len(pilot.app.messages) == told  # type: ignore[attr-defined]
        await press(pilot, "r")
        assert asked() == 2


@pytest.mark.long
async def test_a_failed_refresh_keeps_the_old_rows_and_says_stale(
    lockterm_app: Starter, running_service: Callable[..., RunningService]
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    service = running_service()
    async with lockterm_app(service, size=(60, 24)) as pilot:
        screen = await open_voice(pilot)
        service.stop()
        await pilot.press("r")
        await settled_when(pilot, lambda: screen.voices.error and screen.packs.error)
        assert words(pilot.app).count("STALE, read at 20 Nov 2026 09:00 +01:00") == 2
        assert "Anna female" in words(pilot.app)
        assert "de-DE-anna" in words(pilot.app)


async def test_a_lost_answer_is_neither_success_nor_failure(lockterm_app: Starter) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    marc = {"timbre": "marc", "name": "Marc", "isFemale": 0}
    async with (
        voices(lambda _: "no envelope", **marc) as server,
        lockterm_app(server) as pilot,
    ):
        await open_voice(pilot)
        await pilot.press("down")
        await agree(pilot)
        line = pilot.app.screen.query_one("#voice-now", Static)
        await settled_when(pilot, lambda: "perhaps fr-FR Marc (marc), male" in str(line.content))
        assert "Before: de-DE anna, set by you" in str(line.content)
        assert book_of(lockterm_app)[1001].voice == MAIN_GATE.voice


@pytest.mark.long
async def test_leaving_does_not_cut_off_a_request(lockterm_app: Starter) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    arrived, left = list[dict[str, Any]](), asyncio.Event()

    async def set_voice(body: dict[str, Any]) -> Any:
        arrived.append(body)
        await left.wait()
        return {"errorCode": 0, "errorMsg": "", "description": ""}

    async with (
        voices(set_voice, timbre="marc", name="Marc") as server,
        lockterm_app(server) as pilot,
    ):
        screen = await open_voice(pilot)
        await agree(pilot)
        await until(pilot, lambda: arrived)
        sending = "Sending fr-FR Marc (marc), unstated ..."
        await until(pilot, lambda: sending in words(pilot.app))
        await pilot.press("enter")
        await until(pilot, lambda: "still sending the voice" in words(pilot.app))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: not screen.is_attached)
        left.set()
        await settled_when(pilot, lambda: "Set voice fr-FR marc on Main gate" in notices(pilot))
        voice = {"lang": "fr-FR", "timbre": "marc"}
        assert arrived == [{"lockId": 1001, "currentVoiceTimbre": voice}]
        assert book_of(lockterm_app)[1001].voice == VoiceChoice("fr-FR", "marc")


@pytest.mark.long
async def test_odd_and_hostile_voices(lockterm_app: Starter) -> None:
    languages: list[Any] = [
        {"lang": text, "timbres": [{"timbre": text, "name": text, "timbrePackUrl": text}]}
        for text in HOSTILE
    ]
    languages += [
        {"lang": "de-DE", "timbres": [{"name": "No id", "isFemale": 7}, {"timbre": 5}, "odd"]},
        {"lang": "de-DE", "timbres": [{"timbre": "a", "isFemale": "yes"}] * 2},
        {"lang": None, "timbres": None},
        {},
    ]
    packs: list[Any] = [{"name": text, "label": text, "updated_at": 10**17} for text in HOSTILE]
    packs += [{"name": "same", "label": 5, "updated_at": "soon"}] * 2 + [{}]
    detail = {"name": "x", "fileSize": "big", "fileMd5": 5, "timbrePackUrl": "\x1b[2J[/]"}
    answers = {
        "/packs": packed(languages),
        "/voice/list": packs,
        "/voice/detail": detail,
    }
    for size in ((80, 24), (60, 20)):
        fill_book(lockterm_app, MAIN_GATE)
        async with canned(answers) as server, lockterm_app(server, size=size) as pilot:
            screen = await open_voice(pilot)
            tree, table = screen.query_one(VoiceTree), screen.query_one(PacksTable)
            assert len(screen.voices.value or ()) == len(languages)
            for line in range(tree.last_line + 1):
                tree.cursor_line = line
                await pilot.pause()
                assert all(
                    char.isprintable() or char in "\n\u200d\u200c" for char in shown(pilot.app)
                )
            assert tree.cursor_line == tree.last_line
            await pilot.press("home", "down", "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
            await pilot.pause()
            await pilot.press("escape", "end", "up", "up", "up", "tab")
            for row in range(table.row_count):
                table.move_cursor(row=row)
                await pilot.pause()
            await settled(pilot)
            assert all(char.isprintable() or char in "\n\u200d\u200c" for char in shown(pilot.app))
            assert pilot.app.is_running
            line = tree.cursor_line
            await press(pilot, "r")
            assert tree.cursor_line == line == tree.last_line - 3, "on the first of two alike"


@pytest.mark.long
async def test_the_setting_carries_the_raw_strings(lockterm_app: Starter) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    arrived, odd = list[dict[str, Any]](), "\u202ex[/]"

    def set_voice(body: dict[str, Any]) -> Any:
        arrived.append(body)
        return {"errorCode": 0, "errorMsg": "", "description": ""}

    async with voices(set_voice, lang=odd, timbre=odd) as server, lockterm_app(server) as pilot:
        await open_voice(pilot)
        await pilot.press("down")
        await agree(pilot)
        await settled_when(pilot, lambda: arrived)
        assert arrived[0]["currentVoiceTimbre"] == {"lang": odd, "timbre": odd}


@pytest.mark.long
async def test_a_whole_book_of_locks_offers_its_vendors(demo: Demo) -> None:
    demo.fill_book(*LOCKS)
    async with demo() as pilot:
        await pilot.press("down")
        await pilot.press("v")
        await until(pilot, lambda: isinstance(pilot.app.screen, VendorModelModal))
        await pilot.pause()
        await pilot.press(*"lum")
        vendor = pilot.app.screen.query_one("#vendor", Input)
        await until(pilot, lambda: "lumenlock" in vendor.render_line(0).text)


# --- the pack of a voice -------------------------------------------------------------------------

SIZE = (100, 30)


def detail(pilot: Pilot[int]) -> str:
    """Return the details of the pack, as one line."""
    return " ".join(str(pilot.app.screen.query_one(PackDetail).content).split())


def pack_name(pilot: Pilot[int]) -> str | None:
    pack = pilot.app.screen.query_one(PacksTable).pack
    return None if pack is None else pack.name


async def test_pack_follows_the_voice_under_the_cursor(demo: Demo) -> None:
    demo.fill_book(MAIN_GATE)
    async with demo(size=SIZE) as pilot:
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
        return answered({"name": asked["name"], "timbrePackUrl": url, "fileSize": 9})

    answers = {
        "/voice/packs": packed([{"lang": "de-DE", "timbres": timbres}]),
        "/voice/list": listed,
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
async def test_pack_follows_voice_in_small_terminal(demo: Demo, size: tuple[int, int]) -> None:
    demo.fill_book(MAIN_GATE)
    async with demo(size=size) as pilot:
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
        await press(pilot, "tab")
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
