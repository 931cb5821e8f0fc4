"""What a key leads to is painted once; what takes long is not waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from lockterm.app import LocktermApp
from lockterm.domain.history import HistoryLine
from lockterm.operations.journal_store import JournalStore
from lockterm.service.running import RunningService
from lockterm.terminal import held_refresh
from tests.faults.calls import new_remote
from tests.screens.running_app import Starter, settled, until
from tests.screens.site import shown


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was painted."""
    found: list[object] = []
    to_send = LocktermApp.to_send

    def note(self: LocktermApp, painted: Any) -> Any:
        if painted is not None:
            found.append(painted)
        return to_send(self, painted)

    monkeypatch.setattr(LocktermApp, "to_send", note)
    return found


async def test_what_a_key_leads_to_is_painted_once(
    lockterm_app: Starter,
    service: RunningService,
    pictures: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(held_refresh, "HELD_S", 60.0)
    async with lockterm_app(service, size=(80, 24)) as pilot:
        for name in ("Anna", "Zoe"):
            await pilot.app.operations.writes.add_remote(new_remote(1001, name))
        for key, seen in (
            ("H", "2 operations"),
            ("/", "Find:"),
            ("z", "1 of 2 operations"),
            ("escape", "2 operations   times"),
        ):
            del pictures[:]
            await pilot.press(key)
            await until(pilot, lambda seen=seen: seen in shown(pilot.app))
            await settled(pilot)
            assert len(pictures) == 1, key


async def test_what_takes_long_is_not_waited_for(
    lockterm_app: Starter,
    service: RunningService,
    pictures: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    let_go, lines = asyncio.Event(), JournalStore.lines

    async def later(self: JournalStore, *args: Any) -> Sequence[HistoryLine]:
        await let_go.wait()
        return await lines(self, *args)

    monkeypatch.setattr(JournalStore, "lines", later)
    async with lockterm_app(service, size=(80, 24)) as pilot:
        del pictures[:]
        await pilot.press("H")
        await until(pilot, lambda: pictures)
        assert "Reading the history ..." in shown(pilot.app)
        let_go.set()
        await until(pilot, lambda: "Nothing was changed from here yet" in shown(pilot.app))
