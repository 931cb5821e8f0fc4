"""Points 1 to 4: the right remote, asked by name, nothing typed is lost, the network may go."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Button

from lockterm.operations import connection
from lockterm.screens.modal import LocktermModal
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.table import RemotesTable
from lockterm.service.running import RunningService
from tests.screens import someone_else
from tests.screens.running_app import Clock, Starter, notices, settled, shown, until
from tests.screens.site import settled_when
from tests.servers import port_of
from tests.terminal.pty_session import Start
from tests.terminal.test_killed import name_on_disk

CTRL_S = b"\x13"


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys, once a dialog in front can take them."""
    screen = pilot.app.screen
    if isinstance(screen, LocktermModal):
        await until(pilot, lambda: screen.painted_s is not None)
    await pilot.press(*keys)
    await settled(pilot)


def the_table(pilot: Pilot[Any]) -> RemotesTable:
    below = [screen for screen in pilot.app.screen_stack if isinstance(screen, RemotesScreen)]
    return below[-1].query_one(RemotesTable)


@pytest.mark.parametrize(
    "opening, answers",
    [
        ("d", [("D",)]),
        pytest.param("u", [("7", "enter")], marks=pytest.mark.long),
        pytest.param("e", [("X", "ctrl+s"), ("right", "enter")], marks=pytest.mark.long),
        pytest.param(
            "w", [("plus", "9", "d", "ctrl+s"), ("right", "enter")], marks=pytest.mark.long
        ),
    ],
)
async def test_point_01_it_acts_on_the_row_shown(
    opening: str, answers: list[tuple[str, ...]], service: RunningService, lockterm_app: Starter
) -> None:
    """The rows move under an open dialog: the request carries the id it was opened for."""
    async with lockterm_app(service, 1003) as pilot:
        has_end = [row.remote.end_ms is not None for row in the_table(pilot).rows]
        row = next(i for i, ends in enumerate(has_end) if ends and i >= 2)
        await press(pilot, *"j" * row)
        target = the_table(pilot).selected
        assert target is not None and target.id is not None
        await press(pilot, opening)
        for gone in someone_else.page(service, 1003)[:2]:
            someone_else.post(service, "delete", remoteId=gone["id"])
        someone_else.add(service, 1003, "Aaa, just added")
        below = next(s for s in pilot.app.screen_stack if isinstance(s, RemotesScreen))
        below.action_refresh()
        await settled(pilot)
        the_table(pilot).move_cursor(row=0)
        before = {record["id"]: record for record in someone_else.page(service, 1003)}
        for keys in answers:
            await press(pilot, *keys)
        after = {record["id"]: record for record in someone_else.page(service, 1003)}
        touched = {key for key in before if before[key] != after.get(key)}
        assert touched == {target.id}, notices(pilot)


async def test_point_02_destructive_actions_are_confirmed_by_name(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        target = the_table(pilot).selected
        assert target is not None
        for key in ("d", "tab", "D"):  # typed before the dialog was painted
            pilot.app.post_message(events.Key(key, None))
        await settled_when(pilot, lambda: isinstance(pilot.app.screen, LocktermModal))
        question = " ".join(shown(pilot).split())
        assert f"Delete {target.remote_name} ({target.remote_number}) from lock 1003?" in question
        assert pilot.app.screen.query_one("#keep", Button).has_focus
        await press(pilot, "enter")
        assert someone_else.counted(service, "delete") == 0

        await press(pilot, "C")
        assert "Delete all 9 remotes of lock 1003?" in shown(pilot)
        act = pilot.app.screen.query_one("#act", Button)
        await press(pilot, *"100", "tab", "D")  # not yet what the lock is called
        assert act.disabled and someone_else.counted(service, "clear") == 0
        assert len(someone_else.page(service, 1003)) == 9


@pytest.mark.long
def test_point_03_typed_input_survives(
    lockterm: Start, service: RunningService, tmp_path: Path
) -> None:
    """A refused save leaves the form filled; after kill -9 the next start offers the draft."""
    arguments = ("--base-url", service.base_url, "--lock", "1003")
    someone_else.add(service, 1003, "Roof crew")
    first = lockterm(*arguments, seen="10 remotes")
    first.press("a", seen="Add a remote")
    first.press("Roof crew", "tab", "A-77", "tab", "space")
    first.send(CTRL_S)
    first.wait_for("Fix: Name")
    first.wait_for("already has a remote with this name")
    assert "Roof crew" in first.text and "A-77" in first.text
    # the focus has gone to what is wrong
    first.press("end", " by night", seen="Roof crew by night")
    first.wait_until(lambda: name_on_disk(tmp_path) == "Roof crew by night", "the draft")
    first.kill(signal.SIGKILL)
    first.wait_exit()

    second = lockterm(*arguments, seen="was not finished")
    second.choose("Open the form")
    second.wait_for("Roof crew by night")
    second.wait_for("A-77")


async def test_point_04_it_survives_the_network(
    running_service: Callable[..., RunningService],
    lockterm_app: Starter,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Five minutes without it: rows kept, a banner, keys that work, recovery by itself."""
    monkeypatch.setattr(connection, "FIRST_RETRY_S", 0.05)
    monkeypatch.setattr(connection, "LAST_RETRY_S", 0.05)
    service = running_service()
    port = port_of(service)
    async with lockterm_app(service, 1003) as pilot:
        names = [row.remote.remote_name for row in the_table(pilot).rows]
        service.stop()
        await press(pilot, "r")
        for _ in range(5):
            clock.now_s += 60
            await press(pilot, "j", "k")
        assert [row.remote.remote_name for row in the_table(pilot).rows] == names
        assert "OFFLINE  since 09:00" in shown(pilot)
        assert "STALE" in shown(pilot) and "5 min ago" in shown(pilot)
        running_service(port=port)
        await until(pilot, lambda: "OFFLINE" not in shown(pilot) and "just now" in shown(pilot))
        await settled(pilot)
        assert "STALE" not in shown(pilot)


def test_point_04_quitting_waits_for_no_network(lockterm: Start, service: RunningService) -> None:
    session = lockterm("--base-url", service.base_url, "--lock", "1003", seen="9 remotes")
    service.stop()
    session.press("r", seen="OFFLINE")
    session.quit()
