"""The five states of the table, each with its words and its next key; and finding."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from lockterm.domain.validity import RemoteState, state_of
from lockterm.operations.list_walk import PAGES_AT_ONCE
from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from tests.screens.running_app import Clock, Demo, Starter, settled, shown, until
from tests.screens.site import (
    answered,
    canned,
    page_of,
    press,
    remote_names,
    remotes_table,
    settled_when,
)
from tests.servers import port_of


async def test_loading_is_said_while_the_first_page_is_on_its_way(demo: Demo) -> None:
    app = demo.starter.app(demo.service, 1001)
    async with app.run_test(notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, RemotesScreen))
        seen = app.screen.remotes.state.load.seen  # type: ignore[attr-defined]
        assert seen is not None or "Loading the remotes of lock 1001 ..." in shown(pilot)
        await settled(pilot)


@pytest.mark.long
async def test_a_slow_page_leaves_the_old_one_in_sight(demo: Demo) -> None:
    async with demo.held(1001, hold="/list", hold_from=3) as (way, pilot):
        names = remote_names(pilot)
        await pilot.press("greater_than_sign")
        await until(pilot, lambda: way.held and "loading page 7 ..." in shown(pilot))
        assert remote_names(pilot) == names
        way.release.set()
        await settled_when(pilot, lambda: "page 7 of 7 · 137 remotes" in shown(pilot))


async def test_an_error_says_what_to_do_and_r_tries_again(
    running_service: Callable[..., RunningService], lockterm_app: Starter
) -> None:
    service = running_service()
    port = port_of(service)
    service.stop()
    async with lockterm_app(service, 1003) as pilot:
        await settled_when(pilot, lambda: "Service unreachable" in shown(pilot))
        assert "r  try again" in shown(pilot)
        running_service(port=port)
        await press(pilot, "r")
        await settled_when(pilot, lambda: "page 1 of 1 · 9 remotes" in shown(pilot))


async def test_without_the_service_the_rows_stay_and_are_called_stale(
    running_service: Callable[..., RunningService], lockterm_app: Starter, clock: Clock
) -> None:
    service = running_service()
    port = port_of(service)
    async with lockterm_app(service, 1001) as pilot:
        names = remote_names(pilot)
        service.stop()
        clock.now_s += 180
        await press(pilot, "r")
        assert "STALE, page 1 of 7 · service unreachable · r to try again" in shown(pilot)
        assert remote_names(pilot) == names
        await press(pilot, "d")
        assert "nothing can be sent" in pilot.app.messages[-1].text
        running_service(port=port)
        await press(pilot, "r")
        await settled_when(pilot, lambda: "page 1 of 7 · 137 remotes" in shown(pilot))


@pytest.mark.long
async def test_a_page_that_cannot_be_had_leaves_the_one_before(
    running_service: Callable[..., RunningService], lockterm_app: Starter
) -> None:
    service = running_service()
    async with lockterm_app(service, 1001) as pilot:
        service.stop()
        await press(pilot, "greater_than_sign")
        assert "STALE, page 1 of 7 · page 7 not loaded: service unreachable" in shown(pilot)
        await press(pilot, "n")  # from the page that is shown; it was fetched ahead
        assert "page 2 of 7 · 137 remotes" in shown(pilot)


@pytest.mark.long
async def test_finding_says_how_much_was_searched(demo: Demo) -> None:
    async with demo(1001) as pilot:
        everyone = demo.page(1001, size=200)
        webers = [record["remoteName"] for record in everyone if "Weber" in record["remoteName"]]
        await press(pilot, "slash", *"hart")
        assert remote_names(pilot) == ["Amelia Hart"]
        assert "1 match in the first 20 of 137 · Enter: rest" in shown(pilot)
        await press(pilot, *["backspace"] * 4, *"weber")
        assert "No match for “weber” on this page." in shown(pilot)
        assert "Enter  search the other 117" in shown(pilot)
        await press(pilot, "enter")
        assert remote_names(pilot) == webers and len(webers) > 1
        assert f"{len(webers)} of 137 match" in shown(pilot)
        await press(pilot, "n")
        assert "come from all pages" in pilot.app.messages[-1].text
        await press(pilot, "escape")
        assert len(remote_names(pilot)) == 20
        pilot.app.clear_notifications()  # the message about the pages has the pager's line
        await until(pilot, lambda: "page 1 of 7" in shown(pilot))
        await press(pilot, "slash", *"zzz", "enter")
        assert "No match for “zzz”. 137 of 137 remotes searched." in shown(pilot)


async def test_escape_stops_a_search_and_keeps_what_it_has_found(lockterm_app: Starter) -> None:
    records = [{"id": n, "remoteName": f"Anna {n}", "remoteType": 1} for n in range(1, 2001)]
    gate, asked = asyncio.Event(), list[str]()

    async def answer(query: dict[str, str]) -> Any:
        if query["pageSize"] == "200":
            asked.append(query["pageNo"])
            if query["pageNo"] == "2":
                await gate.wait()
        return answered(page_of(records, query))

    async with canned({"/list": answer}) as server, lockterm_app(server, 7) as pilot:
        await pilot.press("slash", *"anna", "enter")
        await until(pilot, lambda: "200 matches in the first 200 of 2,000 ..." in shown(pilot))
        begun = [str(page_no) for page_no in range(1, 2 + PAGES_AT_ONCE)]
        await until(pilot, lambda: sorted(asked) == begun)  # with the second those after it
        await pilot.press("escape")
        await until(pilot, lambda: "200 of 2,000, stopped" in shown(pilot))
        gate.set()
        await settled(pilot)
        assert len(remote_names(pilot)) == 200
        assert sorted(asked) == begun


@pytest.mark.long
async def test_extra_data_is_found_and_so_are_the_words_of_the_columns(demo: Demo) -> None:
    extra = {"crew": {"boss": "Zenobia"}}
    demo.add(1004, "Fob", extraData=extra)
    demo.add(1004, "Other")
    async with demo(1004) as pilot:
        await press(pilot, "slash", *"zenobia")
        assert remote_names(pilot) == ["Fob"]
        await press(pilot, *["backspace"] * 7, *"other permanent")
        assert remote_names(pilot) == ["Other"]


@pytest.mark.long
async def test_remotes_of_a_state_are_shown_alone_from_the_whole_lock(demo: Demo) -> None:
    async with demo(1001) as pilot:
        table = remotes_table(pilot)
        now_ms = pilot.app.operations.now_ms()
        every = await pilot.app.operations.remotes.all(1001)
        ended = [one.id for one in every if state_of(one, now_ms) is RemoteState.ENDED]
        on_page = sum(row.valid.state is RemoteState.ENDED for row in table.rows)
        assert f"20 read: {on_page} expired" in shown(pilot)

        await pilot.press("i", "down", "enter")  # in one burst
        told = f"expired: {len(ended)} of 137 match"
        await until(pilot, lambda: told in shown(pilot) and " ..." not in shown(pilot))
        await press(pilot, "asterisk")
        assert [row.remote.id for row in table.rows] == ended
        assert f"{len(ended)} marked" in shown(pilot), "what was found, on no other page"

        await press(pilot, "slash", *"zzz")
        assert "No match for expired and “zzz” on this page" in shown(pilot)
        await press(pilot, "escape", "escape")
        assert len(table.rows) == 20 and f"{len(ended)} marked" in shown(pilot)

        await pilot.press("i", "end", "enter")
        await settled_when(
            pilot, lambda: "coerced: " in shown(pilot) and "of 137 match" in shown(pilot)
        )
        coerced = [one.id for one in every if one.is_coerced == 1]
        assert [row.remote.id for row in table.rows] == coerced


@pytest.mark.long
async def test_states_are_counted_for_what_was_read(demo: Demo) -> None:
    async with demo(1001, size=(130, 40)) as pilot:
        now_ms = pilot.app.operations.now_ms()
        every = await pilot.app.operations.remotes.all(1001)
        for page in range(2, 8):
            await pilot.press("n")
            await until(pilot, lambda page=page: f"page {page} of 7" in shown(pilot))
            await settled(pilot)
        counts = Counter(state_of(one, now_ms) for one in every)
        active, expiring = (
            counts[RemoteState.OPEN],
            counts[RemoteState.WEEK] + counts[RemoteState.MONTH],
        )
        told = f"· {active} active, {counts[RemoteState.AHEAD]} upcoming, "
        told += f"{expiring} expiring, {counts[RemoteState.ENDED]} expired"
        assert told in shown(pilot) and " read: " not in shown(pilot), "all were read"
        await pilot.resize_terminal(100, 30)
        short = f"137 · {active} active, {expiring} exp"
        await until(pilot, lambda: short in shown(pilot))
        await press(pilot, "r")
        assert "17 read: " in shown(pilot), "the others are as they were before"


async def test_pager_shows_a_cut_name_whole(demo: Demo) -> None:
    async with demo(1001) as pilot:
        table = remotes_table(pilot)
        names = [row.remote.remote_name or "" for row in table.rows]
        place = next(at for at, name in enumerate(names) if name.startswith("Snow clearing"))
        long = names[place]
        assert long not in shown(pilot)
        await press(pilot, *["down"] * place)
        assert f" {long}" in shown(pilot)
        await press(pilot, "down")
        assert long not in shown(pilot)
        demo.service.stop()
        await pilot.press("up", "r")
        await until(pilot, lambda: "STALE, page 1 of 7" in shown(pilot))  # before any name
