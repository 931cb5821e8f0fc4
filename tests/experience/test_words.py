"""Points 10 to 13 and 15: it explains itself, is quiet, has states, errors to read again, zones."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from lockterm.keymap.keys import is_by_hand
from lockterm.screens.help import HelpScreen
from lockterm.screens.messages import MessagesScreen
from lockterm.screens.palette import Palette
from lockterm.screens.remotes.table import RemotesTable
from lockterm.service.running import RunningService
from lockterm.widgets.actions import actions_of, titled
from tests.screens import someone_else
from tests.screens.running_app import Clock, Starter, notices, settled, shown, until
from tests.screens.site import press
from tests.servers import port_of
from tests.terminal.pty_session import PATIENCE_S, Start

IDLE_S = 10.0
TYPED = {"-": "minus", " ": "space", ":": "colon"}


def on_one_line(pilot: Pilot[Any]) -> str:
    return " ".join(shown(pilot).split())


@pytest.mark.long
async def test_point_10_it_explains_itself(service: RunningService, lockterm_app: Starter) -> None:
    """Key line, help and palette are one list; a disabled action says why when it is pressed."""
    async with lockterm_app(service, 1004, size=(200, 90)) as pilot:
        app, screen = pilot.app, pilot.app.screen
        actions = [action for action in actions_of(screen) if action.binding.id]
        unable = [action for action in actions if not action.enabled and action.node is screen]
        assert {"delete", "edit", "next_page"} <= {action.action for action in unable}
        line = shown(pilot).splitlines()[-1]
        for action in actions:
            if action.binding.show and action.node is screen:
                word = f"{action.keys[0]} {action.binding.description}"
                assert (f"({word})" if not action.enabled else f"{word} ") in line
        for action in unable:
            key = action.binding.key
            told = len(app.messages)
            await press(pilot, key)
            assert app.messages[told].text == action.reason != "", action.action
            if app.screen is not screen:  # what would have opened something says so in its place
                await press(pilot, "escape")

        await press(pilot, "question_mark")
        assert isinstance(app.screen, HelpScreen)
        helped = on_one_line(pilot).lower()
        for action in actions:
            keys = ", ".join(action.keys).lower()
            keys = keys if action.enabled else f"({keys})"
            assert f"{keys} {action.binding.description.lower()}" in helped
        await press(pilot, "escape", "ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, Palette))
        await until(pilot, lambda: app.screen.query_one(OptionList).option_count > 5)
        options = app.screen.query_one(OptionList).options
        offered = {str(option.prompt).partition("  ")[0] for option in options}
        for action in actions:
            verb = titled(action.binding)
            if not is_by_hand(str(action.binding.id)) and action.binding.id != "app.palette":
                assert (verb if action.enabled else f"({verb})") in offered


@pytest.mark.long
def test_point_11_it_is_quiet(lockterm: Start, service: RunningService) -> None:
    """Not a byte in ten seconds, also in a form with a cursor; the frame waits for nobody."""
    arguments = ("--base-url", service.base_url, "--lock", "1003")
    table, form = lockterm(*arguments), lockterm(*arguments)
    table.wait_for("9 remotes")
    form.wait_for("9 remotes")
    form.press("a", seen="Required: Name")
    quiet_since = time.monotonic()
    end = quiet_since + PATIENCE_S
    while time.monotonic() - quiet_since < IDLE_S:
        # What follows a start, such as the neighbors of the page, ends some time.
        if table.pump(0.1) or form.pump(0.1):
            assert time.monotonic() < end, "bytes from an idle screen"
            quiet_since = time.monotonic()

    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, answers nothing
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        waiting = lockterm("--base-url", url, "--lock", "1003", seen=r"Name +Number +Valid")
        waiting.wait_for("Loading the remotes of lock 1003")
        waiting.wait_for(r"\? help")


@pytest.mark.long
async def test_point_12_a_table_has_five_states(
    running_service: Callable[..., RunningService], lockterm_app: Starter
) -> None:
    """Loading, empty, nothing matches, error, stale: each with its words and its next key."""
    service = running_service()
    port = port_of(service)

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as nobody:
        url = f"http://127.0.0.1:{nobody.sockets[0].getsockname()[1]}"
        app = lockterm_app.app(url, 1003, timeout_s=60)
        async with app.run_test(notifications=True) as pilot:
            await until(pilot, lambda: "Loading the remotes of lock 1003 ..." in shown(pilot))
            assert "Esc  back to the locks" in shown(pilot)

    async with lockterm_app(service, 1004) as pilot:
        assert "No remotes on this lock yet. Press a to add one." in shown(pilot)

    async with lockterm_app(service, 1003) as pilot:
        await press(pilot, "slash", *"nobody of that name")
        assert "No match for" in shown(pilot) and "Esc  show all" in shown(pilot)
        await press(pilot, "escape", "j", "j")
        table = pilot.app.screen.query_one(RemotesTable)
        stood_on = table.selected
        assert stood_on is not None
        someone_else.post(service, "delete", remoteId=someone_else.page(service, 1003)[0]["id"])
        await press(pilot, "r")
        assert table.row_count == 8 and table.selected is not None
        assert table.selected.id == stood_on.id  # the cursor has stayed on its remote
        service.stop()
        await press(pilot, "r")
        assert "STALE" in shown(pilot) and "r to try again" in shown(pilot)
        assert table.row_count == 8

    async with lockterm_app(f"http://127.0.0.1:{port}", 1002) as pilot:
        assert "Service unreachable" in shown(pilot) and "r  try again" in shown(pilot)


async def test_point_13_errors_can_be_read_again(
    running_service: Callable[..., RunningService], lockterm_app: Starter, clock: Clock
) -> None:
    """What happened, what it means, what to do; when the notice has gone it is in the log."""
    service = running_service()
    async with lockterm_app(service, 1003) as pilot:
        service.stop()
        await press(pilot, "r")
        await press(pilot, "d")
        last = pilot.app.messages[-1]
        assert last.title and last.text.count(".") >= 1 and "nothing can be sent" in last.text
        await press(pilot, "escape")
        await press(pilot, "M")
        assert isinstance(pilot.app.screen, MessagesScreen)
        logged = on_one_line(pilot)
        assert last.title in logged and last.text in logged
        assert "09:00" in logged  # when, in the zone that the title of the column names


@pytest.mark.long
async def test_point_15_every_time_has_its_zone(
    service: RunningService, lockterm_app: Starter
) -> None:
    """The form shows the zone's time and UTC; the detail says until when in the lock's zone."""
    december_ms = 1_798_736_400_000  # 2026-12-31 17:00 UTC
    remote_id = someone_else.add(
        service,
        1004,
        "Roof crew",
        remoteType=4,
        startDate=december_ms - 60 * 86_400_000,
        endDate=december_ms,
        weekDay=[1, 2, 3, 4, 5],
    )
    async with lockterm_app(service, 1004) as pilot:
        assert "Mon-Fri to 31 Dec 2026" in shown(pilot)
        await press(pilot, "enter")
        assert "Mon-Fri, until 31 Dec 2026 18:00 +01:00, in 41 days" in on_one_line(pilot)
        assert str(remote_id) in shown(pilot)
        await press(pilot, "escape", "w")
        await pilot.press(*(TYPED.get(char, char) for char in "2027-07-01 12:00"))
        await settled(pilot)
        told = on_one_line(pilot)
        assert "Thu 1 Jul 2027 12:00 +02:00, 10:00 UTC, in 223 days" in told, told
        assert notices(pilot) == ""
