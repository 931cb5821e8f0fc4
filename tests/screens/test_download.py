"""Fetching a voice pack from the voice screen: bar, rate, stop, resume, and what was checked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import md5
from pathlib import Path
from random import Random
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Label, ProgressBar, Static

from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.voice import VoiceScreen, packs
from lockterm.screens.voice.packs import DownloadModal
from lockterm.service.packs import PACKS, PACKS_BY_PATH, content_of
from tests.api.fault_server import FaultServer, answers, http
from tests.screens.running_app import Demo, Starter, settled, until
from tests.screens.site import MAIN_GATE, canned, fill_book, page_of, press, shown, words
from tests.servers import Line

PACK = Random(2).randbytes(400_000)
HALF = 200_000


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "PAINT_S", 0.01)


async def open_packs(pilot: Pilot[int], *keys: str) -> VoiceScreen:
    """Stand on the first pack of the lock, its detail read."""
    await press(pilot, "v", *keys)
    screen = pilot.app.screen
    assert isinstance(screen, VoiceScreen)
    await pilot.press("tab")
    await until(pilot, lambda: not screen.disabled_reason("fetch_pack"))
    return screen


def said(pilot: Pilot[int]) -> str:
    """The words of the dialog; empty where there is none."""
    modal = pilot.app.screen
    if not isinstance(modal, DownloadModal):
        return ""
    percent = modal.query_one(ProgressBar).query_one("#percentage", Label)
    return f"{percent.render()} {modal.query_one('#words', Static).content}"


async def agree_to(pilot: Pilot[int]) -> None:
    """Fetch the pack under the cursor, which is on another server."""
    await press(pilot, "E")
    assert isinstance(pilot.app.screen, ConfirmModal)
    await pilot.press("right", "enter")


async def fetched(pilot: Pilot[int], says: str) -> str:
    """Wait until the dialog has come to an end; its words."""
    await until(pilot, lambda: isinstance(pilot.app.screen, DownloadModal))
    await until(pilot, lambda: str(pilot.app.screen.query_one(Button).label) == "Close")
    await settled(pilot)
    assert says in said(pilot), said(pilot)
    assert "Voice pack" in words(pilot.app) and "Close" in words(pilot.app)
    return said(pilot)


def files(starter: Starter) -> list[Path]:
    return sorted((starter.directory / "data" / "packs").iterdir())


@asynccontextmanager
async def site(
    detail: Callable[[str], dict[str, Any]],
) -> AsyncIterator[tuple[FaultServer, FaultServer]]:
    """A service with one pack, and the server of its file."""
    async with FaultServer().running() as server:
        one = {"name": "one", "label": "One", "updated_at": 1_700_000_000}
        documents = {
            "/voice/list": [one],
            "/voice/packs": [],
            "/voice/detail": one | detail(f"{server.base_url}/one.bin"),
            "/list": page_of([]),
        }
        async with canned(documents) as service:
            yield service, server


@pytest.mark.long
async def test_a_pack_of_the_lock(demo: Demo) -> None:
    fill_book(demo, MAIN_GATE)
    pack = PACKS["nordriegel", "NR-450"][5]  # of the voice under the cursor
    async with demo() as pilot:
        await open_packs(pilot)
        await pilot.press("E")
        text = await fetched(pilot, "Size and MD5 match.")
        assert pack.label in words(pilot.app)
        assert "100%" in text and "100%" in shown(pilot.app)
        assert "detect transmission errors, not forgery" in text
        (file,) = files(demo)
        assert file.read_bytes() == content_of(pack)
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, VoiceScreen)
        served = [path for _, path in demo.service.requests if path.startswith("/packs/")]
        await pilot.press("E")  # it is there already
        await fetched(pilot, "Size and MD5 match.")
        assert [path for _, path in demo.service.requests if path.startswith("/packs/")] == served


@pytest.mark.long
async def test_a_timbre_of_the_tree(demo: Demo) -> None:
    fill_book(demo, MAIN_GATE)
    pack = PACKS_BY_PATH["/packs/nordriegel/nr-450/en-us-grace.wav"]
    async with demo() as pilot:
        await press(pilot, "v")
        await pilot.press("home", "E")  # a language has no pack
        await until(pilot, lambda: "The selected row has no pack URL." in words(pilot.app))
        await pilot.press(
            "escape", "slash", *"grace", "enter"
        )  # the detail of its pack was not read before
        await settled(pilot)
        await pilot.press("E")
        await fetched(pilot, "Size and MD5 match.")
        (file,) = files(demo)
        assert file.suffix == ".wav"
        assert file.read_bytes() == content_of(pack)


@pytest.mark.long
async def test_stop_and_resume(lockterm_app: Starter) -> None:
    fill_book(lockterm_app, MAIN_GATE)

    async def slow(line: Line) -> None:
        await line.send(http(b"", 200, 'ETag: "1"', length=len(PACK)))
        for start in range(0, HALF, 20_000):
            await line.send(PACK[start : start + 20_000])
            await asyncio.sleep(0.03)
        await asyncio.sleep(60)

    def told(url: str) -> dict[str, Any]:
        size, digest = len(PACK), md5(PACK).hexdigest()
        return {"timbrePackUrl": url, "fileSize": size, "fileMd5": digest}

    async with site(told) as (service, server), lockterm_app(service) as pilot:
        server.play(slow)
        await open_packs(pilot)
        await press(pilot, "E")
        assert isinstance(pilot.app.screen, ConfirmModal)
        question = words(pilot.app)
        assert (
            f"from 127.0.0.1:{server.port}?" in question and "lockterm sends no header" in question
        )
        await pilot.press("enter")  # it has the focus on the way out
        await until(pilot, lambda: isinstance(pilot.app.screen, VoiceScreen))
        assert server.asked == []
        await agree_to(pilot)
        await until(pilot, lambda: "50%" in said(pilot))
        text = said(pilot)
        assert (
            "195.3 KiB of 390.6 KiB, " in text and " KiB per second, " in text and " s left" in text
        )
        await pilot.press("enter")  # Stop
        await until(pilot, lambda: isinstance(pilot.app.screen, VoiceScreen))
        await settled(pilot)
        assert sorted(file.suffix for file in files(lockterm_app)) == [".etag", ".partial"]

        server.play(answers(PACK[HALF:], 206, f"Content-Range: bytes {HALF}-399999/400000"))
        await agree_to(pilot)
        await fetched(pilot, "Size and MD5 match.")
        assert server.asked[-1].headers["range"] == f"bytes={HALF}-"
        (file,) = files(lockterm_app)
        assert file.read_bytes() == PACK


@pytest.mark.long
async def test_nothing_moves_while_the_size_is_not_known(lockterm_app: Starter) -> None:
    """An indeterminate bar of Textual's is painted 15 times a second: too much for a thin link."""
    fill_book(lockterm_app, MAIN_GATE)
    go_on = asyncio.Event()

    async def unsized(line: Line) -> None:
        await line.send(b"HTTP/1.1 200 OK\r\n\r\n" + PACK[:1000])
        await go_on.wait()

    async with (
        site(lambda url: {"timbrePackUrl": url}) as (service, server),
        lockterm_app(service) as pilot,
    ):
        server.play(unsized)
        await open_packs(pilot)
        await agree_to(pilot)
        await until(pilot, lambda: "1000 bytes" in said(pilot))
        bar = pilot.app.screen.query_one(ProgressBar).query_one("#bar")
        assert bar.auto_refresh is None and "0%" in said(pilot)
        go_on.set()
        await fetched(pilot, "neither size nor MD5")


@pytest.mark.long
async def test_what_goes_wrong_is_said(lockterm_app: Starter) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    hostile = "\x1b]0;x\x07\u202e[/]"

    def told(url: str) -> dict[str, Any]:
        return {"timbrePackUrl": url, "fileSize": 5, "fileMd5": hostile, "label": hostile}

    async with site(told) as (service, server), lockterm_app(service) as pilot:
        await open_packs(pilot)
        for script, sentence in (
            (answers(b"12345"), "Pack damaged. MD5 mismatch. The file was deleted."),
            (answers(b"", 404), "The server answered HTTP 404 instead of a pack."),
            (answers(b"1", length=5), "cannot resume a download"),
        ):
            server.play(script)
            await agree_to(pilot)
            text = await fetched(pilot, sentence)
            assert text.isprintable() and words(pilot.app).isprintable()
            await press(pilot, "enter")
            assert isinstance(pilot.app.screen, VoiceScreen)
