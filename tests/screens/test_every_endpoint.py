"""All twelve calls of the contract, reached by keys alone from the lock book."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from lockterm.domain.locks import Lock
from lockterm.screens.modal import LocktermModal
from tests.screens.running_app import Demo, notices, settled, shown, until
from tests.screens.site import fill_book

TWELVE = {
    "/api/v1/bluetooth-remote/add",
    "/api/v1/bluetooth-remote/checkRemoteName",
    "/api/v1/bluetooth-remote/list",
    "/api/v1/bluetooth-remote/update",
    "/api/v1/bluetooth-remote/detail",
    "/api/v1/bluetooth-remote/delete",
    "/api/v1/bluetooth-remote/clear",
    "/api/v1/bluetooth-remote/updateRemoteUserNo",
    "/api/v1/voice/list",
    "/api/v1/voice/packs",
    "/api/v1/voice/detail",
    "/api/v1/lockSetting/updateLockSetting",
}


async def press(pilot: Pilot[int], *keys: str) -> None:
    """Press keys; ``'text`` types a text."""
    for key in keys:
        await pilot.press(*key[1:] if key.startswith("'") else [key])
    await settled(pilot)


async def agree(pilot: Pilot[int], *keys: str, said: str) -> None:
    """Answer the dialog, and wait until the change is told as done."""
    seen = notices(pilot).count(said)

    def is_asked() -> bool:
        screen = pilot.app.screen
        return isinstance(screen, LocktermModal) and screen.painted_s is not None

    await until(pilot, is_asked)
    await settled(pilot)
    await press(pilot, *keys)
    await until(pilot, lambda: notices(pilot).count(said) > seen)
    await settled(pilot)


@pytest.mark.long
async def test_every_endpoint_is_reached_from_the_keyboard(demo: Demo) -> None:
    fill_book(demo, Lock(1001, name="Main gate", vendor="nordriegel", model="NR-450"))
    app = demo.app()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "Main gate" in shown(pilot))
        await press(pilot, "enter")
        await until(pilot, lambda: "Amelia Hart" in shown(pilot))
        done = "ecorded by the service"
        await press(pilot, "a", "'Roof", "tab", "'A-9001", "tab", "space", "ctrl+s")
        await agree(pilot, "right", "enter", said=done)
        await press(pilot, "enter")
        await until(pilot, lambda: "permanent" in shown(pilot) and "Lock alias" in shown(pilot))
        await press(pilot, "escape", "e", "home", "'X", "ctrl+s")
        await agree(pilot, "right", "enter", said=done)
        await press(pilot, "u")
        await agree(pilot, "'7", "enter", said=done)
        await press(pilot, "d")
        await agree(pilot, "D", said=done)
        await press(pilot, "v")
        await until(pilot, lambda: "Deutsch" in shown(pilot))
        await press(pilot, "/", *"anna", "enter", "enter")
        await agree(pilot, "right", "enter", said=done)
        await press(pilot, "tab")
        await until(pilot, lambda: "MD5" in shown(pilot))
        await press(pilot, "escape", "escape")
        await until(pilot, lambda: "137 remotes" in shown(pilot))
        await press(pilot, "C")
        await agree(pilot, "'1001", "enter", "D", said="Deleted 137")
        await until(pilot, lambda: "This lock has no remotes now" in shown(pilot))
        assert {path for _, path in demo.service.requests} == TWELVE
