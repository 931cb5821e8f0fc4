"""The five states of the table, each with its words and its next key; and finding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

from lockterm.screens.remotes import RemotesScreen
from lockterm.service.running import RunningService
from lockterm.widgets.remotes_table import RemotesTable
from tests.screens import someone_else
from tests.screens.running_app import Clock, Starter, settled, shown, until
from tests.screens.site import canned


async def press(pilot: Pilot[Any], *keys: str) -> None:
    await pilot.press(*keys)
    await settled(pilot)


def rows(pilot: Pilot[Any]) -> list[str | None]:
    table = pilot.app.screen.query_one(RemotesTable)
    return [row.remote.remote_name for row in table._rows]


async def test_loading_is_said_while_the_first_page_is_on_its_way(
    service: RunningService, lockterm_app: Starter
) -> None:
    app = lockterm_app.app(service, 1001)
    async with app.run_test(notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, RemotesScreen))
        seen = app.screen.view.seen  # type: ignore[attr-defined]
        assert seen is not None or "Loading the remotes of lock 1001 ..." in shown(pilot)
        await settled(pilot)


async def test_a_slow_page_leaves_the_old_one_in_sight(
    service: RunningService, lockterm_app: Starter, monkeypatch: Any
) -> None:
    import asyncio

    async with lockterm_app(service, 1001) as pilot:
        operations, here = pilot.app.operations, asyncio.Event()
        load = operations._load_page

        async def slow(*key: int) -> Any:
            await here.wait()
            return await load(*key)

        monkeypatch.setattr(operations, "_load_page", slow)
        names = rows(pilot)
        await pilot.press("greater_than_sign")
        await until(pilot, lambda: "loading page 7 ..." in shown(pilot))
        assert rows(pilot) == names
        here.set()
        await until(pilot, lambda: "page 7 of 7 · 137 remotes" in shown(pilot))
        await settled(pilot)


async def test_empty_says_how_to_add(service: RunningService, lockterm_app: Starter) -> None:
    async with lockterm_app(service, 1004) as pilot:
        assert "No remotes on this lock yet. Press a to add one." in shown(pilot)


async def test_an_error_says_what_to_do_and_r_tries_again(
    running_service: Callable[..., RunningService], lockterm_app: Starter
) -> None:
    service = running_service()
    port = int(service.base_url.rpartition(":")[2])
    service.stop()
    async with lockterm_app(service, 1003) as pilot:
        assert "Service unreachable" in shown(pilot)
        assert "r  try again" in shown(pilot)
        running_service(port=port)
        await press(pilot, "r")
        await until(pilot, lambda: "page 1 of 1 · 9 remotes" in shown(pilot))
        await settled(pilot)


async def test_without_the_service_the_rows_stay_and_are_called_stale(
    running_service: Callable[..., RunningService], lockterm_app: Starter, clock: Clock
) -> None:
    service = running_service()
    port = int(service.base_url.rpartition(":")[2])
    async with lockterm_app(service, 1001) as pilot:
        names = rows(pilot)
        service.stop()
        clock.now_s += 180
        await press(pilot, "r")
        assert "STALE, page 1 of 7 · service unreachable · r tries again" in shown(pilot)
        assert rows(pilot) == names
        await press(pilot, "d")
        assert "nothing can be sent" in pilot.app.messages[-1].text
        running_service(port=port)
        await press(pilot, "r")
        await until(pilot, lambda: "page 1 of 7 · 137 remotes" in shown(pilot))
        await settled(pilot)


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


async def test_finding_says_how_much_was_searched(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        everyone = someone_else.page(service, 1001, size=200)
        webers = [record["remoteName"] for record in everyone if "Weber" in record["remoteName"]]
        await press(pilot, "slash", *"hart")
        assert rows(pilot) == ["Amelia Hart"]
        assert "1 of 137 match, searched 20 · enter for the rest" in shown(pilot)
        await press(pilot, *["backspace"] * 4, *"weber")
        assert "Nothing on this page matches “weber”." in shown(pilot)
        assert "enter  search the other 117" in shown(pilot)
        await press(pilot, "enter")
        assert rows(pilot) == webers and len(webers) > 1
        assert f"{len(webers)} of 137 match, searched 137" in shown(pilot)
        await press(pilot, "n")
        assert "found on all pages" in pilot.app.messages[-1].text
        await press(pilot, "escape")
        assert len(rows(pilot)) == 20
        assert "page 1 of 7" in shown(pilot)


async def test_nothing_matches_on_the_whole_lock(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        await press(pilot, "slash", *"zzz", "enter")
        assert "Nothing matches “zzz”: 137 of 137 remotes were searched." in shown(pilot)
        await press(pilot, "escape")
        assert len(rows(pilot)) == 20


async def test_words_of_the_columns_are_found_too(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003) as pilot:
        everyone = someone_else.page(service, 1003)
        await press(pilot, "slash", *"permanent")
        permanent = [record["remoteName"] for record in everyone if record["remoteType"] == 1]
        assert rows(pilot) == permanent


async def test_a_search_can_be_stopped_and_merges_by_id(lockterm_app: Starter) -> None:
    """A list that moves while it is walked: every second walk finds the total changed."""
    calls = 0

    def answer(_: dict[str, Any]) -> Any:
        nonlocal calls
        calls += 1
        total = 600 if calls < 4 else 601
        records = [{"id": calls * 1000 + n, "remoteName": f"Anna {calls}.{n}"} for n in range(20)]
        data = {"list": records, "pageNo": 1, "pageSize": 20, "pages": 31, "total": total}
        return {"errcode": 0, "errmsg": "", "description": "", "data": data}

    async with canned({"/list": answer}) as server, lockterm_app(server, 7) as pilot:
        await pilot.press("slash", *"anna", "enter")
        await until(pilot, lambda: "..." in shown(pilot) or "searched" in shown(pilot))
        await pilot.press("escape")
        await settled(pilot)
        before = calls
        await settled(pilot)
        assert calls == before
        assert len({remote.id for remote in pilot.app.screen.rows()}) == len(rows(pilot))
