"""What was added or deleted just now is shown, marked, as long as the service's list is behind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from lockterm.domain.requests import RemoteChanges
from lockterm.errors import NameTakenError, ResultUnknownError
from lockterm.screens.modal import RefusedModal
from lockterm.service.running import RunningService
from tests.faults.calls import new_remote
from tests.faults.catalogue import close
from tests.faults.proxy import Exchange, FaultProxy
from tests.screens.running_app import Demo, Starter, settled, until
from tests.screens.site import press, shown, words
from tests.servers import port_of


def behind(proxy: FaultProxy, *calls: str) -> None:
    """Have calls answered with what they answer the first time, whatever comes."""
    kept: dict[str, bytes] = {}

    async def play(exchange: Exchange) -> None:
        asked = f"{exchange.target} {exchange.body.decode()}"
        if asked not in kept:
            said = await exchange.apply()
            kept[asked] = said.head + b"\r\n\r\n" + said.body
        exchange.keep = True
        await exchange.send(kept[asked])

    for call in calls:
        proxy.arm(call, play)


@asynccontextmanager
async def lagging(
    service: RunningService, starter: Starter, *calls: str
) -> AsyncIterator[tuple[FaultProxy, Pilot[int]]]:
    """An app on a service whose answers to these calls stay behind from now on."""
    async with (
        FaultProxy(port_of(service)).running() as proxy,
        starter(proxy, 1002, page_size=50, size=(120, 60)) as pilot,
    ):
        behind(proxy, *calls)
        await press(pilot, "r")
        yield proxy, pilot


async def applied(exchange: Exchange) -> None:
    """Carry it out, and answer nothing."""
    await exchange.apply()


async def test_the_table_shows_what_the_list_does_not_yet(demo: Demo) -> None:
    async with lagging(demo.service, demo.starter, "list", "checkRemoteName") as (proxy, pilot):
        operations = pilot.app.operations
        usual = shown(pilot.app)
        assert "LIST BEHIND" not in usual
        remotes = await operations.remotes.all(1002)
        await operations.remotes.is_name_free(1002, "New fob")

        new_id = await operations.writes.add_remote(new_remote(1002))
        await operations.writes.delete_remote(1002, remotes[0])
        renamed = RemoteChanges(remote_name="Renamed fob")
        await operations.writes.update_remote(1002, remotes[1].id or 0, renamed, remotes[1])
        await pilot.press("r")
        await until(pilot, lambda: "LIST BEHIND, page 1" in shown(pilot.app))
        lines = [line.removeprefix("│").partition("│")[0] for line in shown(pilot.app).splitlines()]
        (added,) = [line for line in lines if line.rstrip().endswith(" added")]
        (changed,) = [line for line in lines if line.rstrip().endswith(" changed")]
        (deleted,) = [line for line in lines if line.rstrip().endswith(" deleted")]
        assert "New fob" in added and str(remotes[0].remote_name) in deleted
        assert "Renamed fob" in changed and str(remotes[1].remote_number) in changed

        asked, screen = len(demo.service.requests), pilot.app.screen
        await pilot.press("home")
        await until(pilot, lambda: "d delete  " not in shown(pilot.app))  # dimmed, or left out
        for key in ("d", "e", "u", "w"):
            await pilot.press(key)
            await until(pilot, lambda: "This remote is already deleted" in words(pilot.app))
            assert isinstance(pilot.app.screen, RefusedModal), "nothing is asked"
            await pilot.press("escape")
            await until(pilot, lambda: pilot.app.screen is screen)
        assert len(demo.service.requests) == asked

        assert not await operations.remotes.is_name_free(1002, "New fob")
        with pytest.raises(NameTakenError, match=f"as remote {new_id}"):
            await operations.writes.add_remote(new_remote(1002))
        assert proxy.asked.count("add") == 1

        await proxy.heal()
        await pilot.press("r")
        await until(pilot, lambda: "LIST BEHIND" not in shown(pilot.app))
        (added,) = [line for line in shown(pilot.app).splitlines() if "New fob" in line]
        assert " changed" not in shown(pilot.app)
        assert " added" not in added and str(remotes[0].remote_name) not in shown(pilot.app)


@pytest.mark.long
async def test_a_second_change_is_said_to_wait_before_anything_is_typed(demo: Demo) -> None:
    port = port_of(demo.service)
    async with FaultProxy(port).running() as proxy, demo.starter(proxy, 1002) as pilot:
        operations, screen = pilot.app.operations, pilot.app.screen
        remotes = await operations.remotes.all(1002)
        proxy.arm("delete", close, 1)
        with pytest.raises(ResultUnknownError):
            await operations.writes.delete_remote(1002, remotes[0])
        await until(pilot, lambda: "UNCONFIRMED" in shown(pilot.app))
        for key in ("e", "d", "u"):
            told = len(pilot.app.messages)
            await pilot.press(key)
            await until(pilot, lambda told=told: len(pilot.app.messages) > told)
            assert (
                "An earlier change of this remote is unconfirmed: delete"
                in pilot.app.messages[-1].text
            )
            assert isinstance(pilot.app.screen, RefusedModal)
            await pilot.press("escape")
            await until(pilot, lambda: pilot.app.screen is screen)
        await pilot.press("down", "e")
        await until(pilot, lambda: pilot.app.screen is not screen)


@pytest.mark.long
async def test_unanswered_change_shows_its_values_and_its_result(demo: Demo) -> None:
    port = port_of(demo.service)
    async with (
        FaultProxy(port).running() as proxy,
        demo.starter(proxy, 1002, size=(60, 20)) as pilot,
    ):
        operations, app = pilot.app.operations, pilot.app
        remote = (await operations.remotes.all(1002))[0]
        proxy.arm("update", applied, 1)
        proxy.arm("detail", close)
        changes = RemoteChanges(remote_name="Renamed fob", is_coerced=1)
        with pytest.raises(ResultUnknownError):
            await operations.writes.update_remote(
                1002, remote.id or 0, changes, remote, just_read=True
            )
        await until(pilot, lambda: "UNCONFIRMED" in shown(app))
        for wide in range(60, 100, 3):
            await pilot.resize_terminal(wide, 20)
            await settled(pilot)
            lines = shown(app).splitlines()
            for command in ("c check", "A send again", "X dismiss"):
                assert [command in line for line in lines].count(True) == 1, (wide, *lines[:6])

        await pilot.press("A")
        await until(pilot, lambda: " again?" in words(app))
        assert f"Name: {remote.remote_name} -> Renamed fob" in words(app)
        assert "Coerced: " in words(app) and "-> yes" in words(app)
        await press(pilot, "escape")

        said = len(app.messages)
        await proxy.heal()
        operations.watch.start()
        await until(pilot, lambda: "UNCONFIRMED" not in shown(app))
        await until(pilot, lambda: len(app.messages) > said)
        told = [one for one in [*app.messages][said:] if "Resolved" in one.title]
        assert [one.title for one in told] == [f"Resolved: Change {remote.remote_name}"], told
        assert "The service shows the change" in told[0].text
