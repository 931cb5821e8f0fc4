"""Keys that wait for what was asked for: they are never applied to anything else, nor for ever."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from lockterm.domain.locks import Lock
from lockterm.errors import ResultUnknownError, UnreachableError
from lockterm.keymap.check import check
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.dialogs.destroy import DestroyModal
from lockterm.screens.locks import LocksScreen
from lockterm.screens.remote_form import RemoteForm
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.table import RemotesTable
from lockterm.screens.voice.screen import VendorModelModal
from lockterm.service.running import RunningService
from lockterm.terminal import key_queue
from tests.faults.calls import new_remote
from tests.operations.forwarder import Forwarder
from tests.screens.running_app import Clock, Starter, notices, settled, until
from tests.screens.site import fill_book, press, settled_when


@pytest.fixture
def starter(tmp_path: Path) -> Starter:
    return Starter(tmp_path / "lockterm", Clock())


def waits(app: Any) -> bool:
    """Whether a key waits for a screen that is opening, once nothing else is to be done."""
    return app.key_queue.is_dealing and app.key_queue.is_opening


async def hung(*_: object, **__: object) -> Any:
    await asyncio.Event().wait()


async def test_keys_wait_for_a_page_and_then_act_on_it(
    service: RunningService, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_queue, "TIMEOUT_S", 3600.0)  # the end of the read releases them
    async with starter(service, 1001) as pilot:
        operations, go = pilot.app.operations, asyncio.Event()
        read = operations.remotes.page

        async def slow(*args: Any, **options: Any) -> Any:
            await go.wait()
            return await read(*args, **options)

        monkeypatch.setattr(operations.remotes, "page", slow)
        first = pilot.app.screen.current.id  # type: ignore[attr-defined]
        await pilot.press("n", "e")
        assert isinstance(pilot.app.screen, RemotesScreen)
        go.set()
        await until(pilot, lambda: isinstance(pilot.app.screen, RemoteForm))
        assert pilot.app.screen.fields.before.id != first  # type: ignore[attr-defined]


async def test_the_way_out_goes_before_keys_that_wait(
    service: RunningService, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_queue, "WAY_OUT_S", 0.0)
    async with starter(service, 1001) as pilot:
        monkeypatch.setattr(pilot.app.operations.remotes, "page", hung)
        await pilot.press("n", "e", "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, LocksScreen))
        assert "1 key that you typed before page 2 appeared" in notices(pilot)


async def lost(*_: object, **__: object) -> Any:
    await asyncio.sleep(0)
    raise UnreachableError("The line is down.")


@pytest.mark.parametrize("read", [hung, lost])
async def test_keys_are_dropped_when_what_they_are_for_does_not_come(
    service: RunningService, starter: Starter, monkeypatch: pytest.MonkeyPatch, read: Any
) -> None:
    if read is hung:
        monkeypatch.setattr(key_queue, "TIMEOUT_S", 0.05)
    async with starter(service, 1001) as pilot:
        monkeypatch.setattr(pilot.app.operations.remotes, "page", read)
        for key in ("n", "e", "d"):
            await pilot.app.key_queue.take(key_queue.events.Key(key, key))
        await until(pilot, lambda: "2 keys that you typed before page 2 appeared" in notices(pilot))
        assert isinstance(pilot.app.screen, RemotesScreen)
        await pilot.press("u")  # nobody waits for that page any more
        await until(pilot, lambda: pilot.app.screen.is_modal)


async def test_the_cursor_moves_while_its_page_is_asked_for_again(
    service: RunningService, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that hangs holds no cursor; what acts on a remote waits for how it is now."""
    async with starter(service, 1001) as pilot:
        table = pilot.app.screen.query_one(RemotesTable)
        queue = pilot.app.key_queue
        monkeypatch.setattr(pilot.app.operations.remotes, "page", hung)
        for key in ("r", "j", "down", "e"):
            await queue.take(key_queue.events.Key(key, key))
        await until(pilot, lambda: table.cursor_row == 2)
        await pilot.pause()
        await until(pilot, lambda: waits(pilot.app))
        assert isinstance(pilot.app.screen, RemotesScreen)


async def test_keys_go_to_a_question_as_soon_as_it_is_there(
    service: RunningService, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though what was asked for goes on until the question is answered."""
    monkeypatch.setattr(key_queue, "TIMEOUT_S", 3600.0)
    fill_book(starter, Lock(1003, vendor="lumenlock", model="L7"))
    async with starter(service) as pilot:
        await press(pilot, "v")
        operations = pilot.app.operations  # type: ignore[attr-defined]
        read, go = operations.locks.all, asyncio.Event()

        async def slow() -> Any:
            await go.wait()
            return await read()

        monkeypatch.setattr(operations.locks, "all", slow)
        for key in ("e", "o"):
            await pilot.app.key_queue.take(key_queue.events.Key(key, key))  # type: ignore[attr-defined]
        await pilot.pause()
        await until(pilot, lambda: waits(pilot.app))
        go.set()
        await until(pilot, lambda: isinstance(pilot.app.screen, VendorModelModal))
        vendor = pilot.app.screen.query_one("#vendor", Input)
        await until(pilot, lambda: vendor.value == "lumenlocko")


async def test_the_key_that_deletes_can_be_another(
    service: RunningService, starter: Starter
) -> None:
    app = starter.app(service, 1003)
    app.use_keys(check({"dialog.destroy": "Z"}))
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            await settled(pilot)
            await press(pilot, "d")
            modal = app.screen
            assert isinstance(modal, DestroyModal)
            assert str(modal.query_one("#act").label).startswith("Z  ")  # type: ignore[attr-defined]
            await press(pilot, "D")
            assert app.screen is modal
            await pilot.press("Z")  # too late: another key was the first
            await settled(pilot)
            assert app.screen is modal
            await press(pilot, "escape", "d")
            modal = app.screen
            await pilot.press("Z")
            await settled_when(pilot, lambda: app.screen is not modal)
            assert [one.call for one in await app.operations.journal.history()] == ["delete"]
    finally:
        app.use_keys({})


async def test_an_added_remote_is_recognized_only_by_who_could_read_the_question(
    service: RunningService, starter: Starter
) -> None:
    """Not every check leads to a question: keys behind it may be meant for the list."""
    way = Forwarder(service, lose_answer_to=1, hold="/list")
    async with way.running(), starter(way, 1003) as pilot:
        operations = pilot.app.operations
        with pytest.raises(ResultUnknownError):
            await operations.writes.add_remote(new_remote(1003))
        await until(pilot, lambda: pilot.app.outcomes.unconfirmed)
        way.hold_from = 1
        for key in ("c", "right", "enter"):
            await pilot.app.key_queue.take(key_queue.events.Key(key, key))
        await until(pilot, lambda: way.held)
        way.hold_from = 0
        way.release.set()
        await settled_when(pilot, lambda: "before the dialog appeared" in notices(pilot))
        assert isinstance(pilot.app.screen, ConfirmModal)
        assert await operations.journal.list_unconfirmed()
        await pilot.press("right", "enter")
        await until(pilot, lambda: not pilot.app.outcomes.unconfirmed)
