"""Choosing a lock's voice: the tree, the packs, the setting, and what is said when it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from lockterm.domain.locks import Lock, VoiceChoice
from lockterm.domain.text.amount import format_size
from lockterm.domain.voices import VoicePack
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.voice import VoiceScreen
from lockterm.screens.voice import screen as voice_screen
from lockterm.screens.voice.dialogs import VendorModelModal
from lockterm.screens.voice.panels import PackDetail, PacksTable
from lockterm.screens.voice.voice_tree import VoiceTree
from lockterm.service.running import RunningService
from tests.screens.running_app import Starter, notices, settled, until
from tests.screens.site import HOSTILE, LOCKS, MAIN_GATE, book_of, canned, fill_book, shown, words
from tests.screens.snapshots import assert_picture

SETTING = ("POST", "/api/v1/lockSetting/updateLockSetting")


async def open_voice(pilot: Pilot[int]) -> VoiceScreen:
    await pilot.press("v")
    await until(pilot, lambda: isinstance(pilot.app.screen, VoiceScreen))
    await settled(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, VoiceScreen)
    return screen


async def go_to(pilot: Pilot[int], *what: str) -> None:
    """Search; the cursor goes to the first timbre that was found."""
    await pilot.press("slash", *" ".join(what), "enter")
    await settled(pilot)


def fake(data: Any, spelling: str = "err") -> Callable[[dict[str, Any]], Any]:
    """An answer of the service, in the spelling of its envelope (2.1)."""
    code, text = ("errcode", "errmsg") if spelling == "err" else ("errorCode", "errorMsg")
    return lambda _: {code: 0, text: "", "description": "", "data": data}


@pytest.mark.long
async def test_a_picture(lockterm_app: Starter, service: RunningService) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service) as pilot:
        await open_voice(pilot)
        assert_picture(pilot.app, "voice-80x24")


async def test_looking_at_the_voices_counts_as_a_view_of_the_lock(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service) as pilot:
        await open_voice(pilot)
        await settled(pilot)
    lock, before_ms = book_of(lockterm_app)[1001], MAIN_GATE.opened_ms
    assert before_ms is not None and lock.opened_ms is not None and lock.opened_ms > before_ms
    assert lock.remotes == MAIN_GATE.remotes


@pytest.mark.long
async def test_the_tree_names_languages_and_timbres(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service, size=(120, 50)) as pilot:
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


async def test_setting_shows_from_and_to_and_marks_the_voice(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service) as pilot:
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
        assert SETTING not in service.requests
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        await pilot.pause()
        await pilot.press("tab", "enter")
        await until(pilot, lambda: "Marc male [set by you] marc" in words(pilot.app))
        await settled(pilot)
        assert service.requests.count(SETTING) == 1
        message = pilot.app.messages[-1]  # type: ignore[attr-defined]
        assert "Recorded by the service" in message.text
        assert book_of(lockterm_app)[1001].voice == VoiceChoice("fr-FR", "marc")
        await pilot.press("escape")
        await until(pilot, lambda: "Marc male [set by you] marc" in words(pilot.app))
        with service.app.state.site.database.reading() as db:
            stored = db.execute("SELECT lock_id, lang, timbre FROM voice_setting").fetchall()
        assert [tuple(row) for row in stored] == [(1001, "fr-FR", "marc")]


@pytest.mark.long
async def test_without_vendor_and_model_they_are_asked_for_and_kept(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, Lock(1003, name="Server room"))
    async with lockterm_app(service) as pilot:
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
        await until(pilot, lambda: "- zh-CN Chinese" in words(pilot.app))
        await settled(pilot)
        assert pilot.app.screen.query_one(VoiceTree).has_focus
        saved = book_of(lockterm_app)[1003]
        assert (saved.vendor, saved.model) == ("lumenlock", "L7")


@pytest.mark.long
async def test_the_tree_keeps_the_focus_while_there_are_no_voices(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service) as pilot:
        tree = (await open_voice(pilot)).query_one(VoiceTree)
        assert tree.display and tree.has_focus
        tree.display = False
        await settled(pilot)
        assert pilot.app.screen.focused is tree


@pytest.mark.long
async def test_the_detail_of_the_pack_under_the_cursor(
    lockterm_app: Starter, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(voice_screen, "SETTLE_S", 1.0)  # longer than five keys on a busy machine
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service) as pilot:
        screen = await open_voice(pilot)
        before = len(service.requests)
        await pilot.press("tab", "g", *["down"] * 6)
        await until(pilot, lambda: "de-DE-jonas" in screen.details)
        await settled(pilot)
        details = [path for _, path in list(service.requests)[before:] if path.endswith("detail")]
        assert len(details) == 1, "packs that the cursor only passed are not asked for"
        pack = await screen.operations.voices.pack(1001, "de-DE-jonas")
        text = words(pilot.app)
        assert "bytes)" not in text and format_size(pack.file_size) in text
        assert f"MD5 {pack.file_md5}" in text
        assert "Date 27 Dec 2024 11:00 +01:00" in text
        await pilot.press("ctrl+y")
        message = pilot.app.messages[-1]  # type: ignore[attr-defined]
        assert (message.title, str(pack.file_md5) in message.text) == ("Copied the MD5", True)
        await pilot.press("y")
        assert pilot.app.clipboard == pack.timbre_pack_url
        await pilot.press("enter")
        await until(pilot, lambda: "This list shows packs" in words(pilot.app))


async def test_details_of_a_pack_wrap_again_when_the_terminal_is_resized(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service) as pilot:
        screen = await open_voice(pilot)
        await until(pilot, lambda: screen.details)
        await settled(pilot)
        (pack,) = screen.details.values()
        assert isinstance(pack, VoicePack) and pack.timbre_pack_url
        detail = screen.query_one(PackDetail)
        assert pack.timbre_pack_url not in str(detail.content)
        await pilot.resize_terminal(160, 48)
        await settled(pilot)
        assert pack.timbre_pack_url in str(detail.content)


@pytest.mark.long
async def test_url_md5_and_file_are_those_of_one_pack(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service) as pilot:
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
    answers = {"/packs": fake([], "error"), "/voice/list": lambda _: refused}
    # Narrow, so that the halves stand below each other and can be read line by line.
    async with canned(answers) as server, lockterm_app(server, size=(60, 24)) as pilot:
        await open_voice(pilot)
        assert "The service has no voices for nordriegel NR-450" in words(pilot.app)
        assert "out of order" in words(pilot.app)
        assert "r try again" in words(pilot.app)
        await pilot.press("enter")
        await until(pilot, lambda: "Select a voice in" in words(pilot.app))


@pytest.mark.long
async def test_a_refused_model_is_asked_for_again_by_the_key_alone(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, replace(MAIN_GATE, vendor="nobody", model="N-0"))

    def asked() -> int:
        return sum(path.endswith("/voice/packs") for _, path in service.requests)

    async with lockterm_app(service) as pilot:
        screen = await open_voice(pilot)
        await until(pilot, lambda: screen.voices.error)
        told = len(pilot.app.messages)  # type: ignore[attr-defined]
        for key in ("question_mark", "escape", "M", "escape"):
            await pilot.press(key)
            await settled(pilot)
        assert pilot.app.screen is screen
        assert asked() == 1
        assert len(pilot.app.messages) == told  # type: ignore[attr-defined]
        await pilot.press("r")
        await settled(pilot)
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
        await until(pilot, lambda: screen.voices.error and screen.packs.error)
        await settled(pilot)
        assert words(pilot.app).count("STALE, read at 20 Nov 2026 09:00 +01:00") == 2
        assert "Anna female" in words(pilot.app)
        assert "de-DE-anna" in words(pilot.app)


async def test_a_lost_answer_is_neither_success_nor_failure(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    languages = [{"lang": "fr-FR", "timbres": [{"timbre": "marc", "name": "Marc", "isFemale": 0}]}]

    def broken(_: dict[str, Any]) -> Any:
        return "no envelope"

    answers = {
        "/packs": fake(languages, "error"),
        "/voice/list": fake([]),
        "/updateLockSetting": broken,
    }
    async with canned(answers) as server, lockterm_app(server) as pilot:
        await open_voice(pilot)
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        await pilot.pause()
        await pilot.press("tab", "enter")
        line = pilot.app.screen.query_one("#voice-now", Static)
        await until(pilot, lambda: "perhaps fr-FR Marc (marc), male" in str(line.content))
        await settled(pilot)
        assert "Before: de-DE anna, set by you" in str(line.content)
        assert book_of(lockterm_app)[1001].voice == MAIN_GATE.voice


@pytest.mark.long
async def test_leaving_does_not_cut_off_a_request(lockterm_app: Starter) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    arrived, left = [], asyncio.Event()
    languages = [{"lang": "fr-FR", "timbres": [{"timbre": "marc", "name": "Marc"}]}]

    async def set_voice(body: dict[str, Any]) -> Any:
        arrived.append(body)
        await left.wait()
        return {"errorCode": 0, "errorMsg": "", "description": ""}

    answers = {
        "/packs": fake(languages, "error"),
        "/voice/list": fake([]),
        "/updateLockSetting": set_voice,
    }
    async with canned(answers) as server, lockterm_app(server) as pilot:
        screen = await open_voice(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        await pilot.pause()
        await pilot.press("tab", "enter")
        await until(pilot, lambda: arrived)
        sending = "Sending fr-FR Marc (marc), unstated ..."
        await until(pilot, lambda: sending in words(pilot.app))
        await pilot.press("enter")
        await until(pilot, lambda: "still being sent" in words(pilot.app))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: not screen.is_attached)
        left.set()
        await until(pilot, lambda: "Set voice fr-FR marc on Main gate" in notices(pilot))
        await settled(pilot)
        voice = {"lang": "fr-FR", "timbre": "marc"}
        assert arrived == [{"lockId": 1001, "currentVoiceTimbre": voice}]
        assert book_of(lockterm_app)[1001].voice == VoiceChoice("fr-FR", "marc")


@pytest.mark.long
async def test_read_only_and_headings_say_why_nothing_is_set(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service, read_only=True) as pilot:
        await open_voice(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "is read-only" in words(pilot.app))
    async with lockterm_app(service) as pilot:
        await open_voice(pilot)
        await pilot.press("home", "enter")
        await until(pilot, lambda: "Select a voice in" in words(pilot.app))
    assert SETTING not in service.requests


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
        "/packs": fake(languages, "error"),
        "/voice/list": fake(packs),
        "/voice/detail": fake(detail),
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
            await pilot.press("r")
            await settled(pilot)
            assert tree.cursor_line == line == tree.last_line - 3, "on the first of two alike"


@pytest.mark.long
async def test_the_setting_carries_the_raw_strings(lockterm_app: Starter) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    arrived: list[dict[str, Any]] = []
    odd = "\u202ex[/]"

    def set_voice(body: dict[str, Any]) -> Any:
        arrived.append(body)
        return {"errorCode": 0, "errorMsg": "", "description": ""}

    answers = {
        "/packs": fake([{"lang": odd, "timbres": [{"timbre": odd}]}], "error"),
        "/voice/list": fake([]),
        "/updateLockSetting": set_voice,
    }
    async with canned(answers) as server, lockterm_app(server) as pilot:
        await open_voice(pilot)
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmModal))
        await pilot.pause()
        await pilot.press("tab", "enter")
        await until(pilot, lambda: arrived)
        await settled(pilot)
        assert arrived[0]["currentVoiceTimbre"] == {"lang": odd, "timbre": odd}


@pytest.mark.long
async def test_a_whole_book_of_locks_offers_its_vendors(
    lockterm_app: Starter, service: RunningService
) -> None:
    fill_book(lockterm_app, *LOCKS)
    async with lockterm_app(service) as pilot:
        await pilot.press("down")
        await pilot.press("v")
        await until(pilot, lambda: isinstance(pilot.app.screen, VendorModelModal))
        await pilot.pause()
        await pilot.press(*"lum")
        vendor = pilot.app.screen.query_one("#vendor", Input)
        await until(pilot, lambda: "lumenlock" in vendor.render_line(0).text)
