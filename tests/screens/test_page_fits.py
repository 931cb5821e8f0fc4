"""Pages of as many rows as the terminal has room for, before and after it changes its size."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.domain.sorting import natural
from lockterm.screens.remotes import RemotesScreen, page_size
from lockterm.screens.remotes.columns import Arrangement, SortOrder
from lockterm.screens.remotes.table import RemotesTable
from lockterm.service.running import RunningService
from tests.operations.forwarder import Forwarder
from tests.screens import someone_else
from tests.screens.running_app import Starter, settled, shown, until
from tests.screens.site import canned
from tests.screens.test_remotes_hostile import record

WIDE_ROWS = 34
"""Rows of a page in a terminal of 120x40: titles, pager, keys and the frame take six lines."""


def table(pilot: Pilot[Any]) -> RemotesTable:
    return pilot.app.screen.query_one(RemotesTable)


def marked(pilot: Pilot[Any]) -> list[int | None]:
    """The ids of the remotes that are marked."""
    screen = pilot.app.screen
    assert isinstance(screen, RemotesScreen)
    return [remote.id for _, remote in screen.marks.rows]


async def resize(pilot: Pilot[Any], columns: int, lines: int, words: str) -> None:
    """Change the terminal, and wait until a page is shown that is told with these words."""
    await pilot.resize_terminal(columns, lines)
    await until(pilot, lambda: words in shown(pilot))
    await settled(pilot)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (160, 48), (200, 60)])
async def test_no_more_than_a_tenth_is_empty_while_there_is_more_to_show(
    service: RunningService, lockterm_app: Starter, size: tuple[int, int]
) -> None:
    async with lockterm_app(service, 1001, size=size, page_size="auto") as pilot:
        rows, region = table(pilot).rows, table(pilot).region
        names = [one["remoteName"] for one in someone_else.page(service, 1001, 1, len(rows))]
        assert [row.remote.remote_name for row in rows] == names
        assert table(pilot).max_scroll_y == 0, "all of them are seen"
        last = region.y + table(pilot).virtual_size.height
        assert (size[1] - 2 - last) * size[0] <= size[0] * size[1] / 10
        assert f"page 1 of {-(-137 // len(rows))}" in shown(pilot)


async def test_a_number_stays_a_number(service: RunningService, lockterm_app: Starter) -> None:
    async with lockterm_app(service, 1001, size=(120, 40), page_size=10) as pilot:
        assert table(pilot).row_count == 10
        await pilot.press("number_sign", "k", "enter")
        await until(pilot, lambda: "page 1 of 5 · 137 remotes" in shown(pilot))
        await settled(pilot)
        assert table(pilot).row_count == WIDE_ROWS


@pytest.mark.long
async def test_another_size_keeps_remote_marks_search_and_order(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001, page_size="auto") as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, RemotesScreen)
        await pilot.press("n", "n", *"jjjj", "space", "k")
        await settled(pilot)
        here = table(pilot).selected
        assert here is not None and here.id == someone_else.page(service, 1001, 3)[4]["id"]
        await resize(pilot, 120, 40, "page 2 of 5")  # the 45th of them
        assert table(pilot).selected == here and table(pilot).cursor_row == 44 - WIDE_ROWS
        assert screen.remotes.page_no == 2 and len(screen.marks) == 1
        await pilot.press("n")
        await until(pilot, lambda: "page 3 of 5" in shown(pilot))
        await pilot.press("p")
        await until(pilot, lambda: "page 2 of 5" in shown(pilot))
        await settled(pilot)

        screen.arrange_table(Arrangement(order=SortOrder("name", descending=True)))
        await pilot.press("slash", *"a", "down")
        await settled(pilot)
        here = table(pilot).selected
        assert here is not None and here.id is not None
        await pilot.resize_terminal(80, 24)
        await until(
            pilot, lambda: screen.remotes.state.page and screen.remotes.state.page.page_size == 20
        )
        await settled(pilot)
        now = table(pilot).selected
        assert now is not None and now.id == here.id
        assert screen.remotes.state.needle == "a" and len(screen.marks) == 1
        names = [natural(row.remote.remote_name or "") for row in table(pilot).rows]
        assert names == sorted(names, reverse=True)


@pytest.mark.long
async def test_only_the_last_of_many_sizes_is_asked_for(
    service: RunningService, lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with lockterm_app(service, 1001, page_size="auto") as pilot:
        await until(pilot, lambda: "page 1 of" in shown(pilot))
        await settled(pilot)  # the first page fits: nothing else is asked for because of it
        asked = someone_else.counted(service, "list")
        monkeypatch.setattr(page_size, "RESIZED_S", 3600.0)
        for lines in range(25, 40):
            await pilot.resize_terminal(100, lines)
        monkeypatch.undo()
        await resize(pilot, 120, 40, "page 1 of 5")
        assert someone_else.counted(service, "list") == asked + 2  # it, and the one behind it


@pytest.mark.long
async def test_a_page_that_was_asked_for_comes_before_another_size(
    service: RunningService, lockterm_app: Starter
) -> None:
    """And the keys that were typed for it act on it."""
    forwarder = Forwarder(service, hold="/list", hold_from=3)
    async with (
        forwarder.running() as way,
        lockterm_app(way, 1001, page_size="auto", timeout_s=60.0) as pilot,
    ):
        await pilot.press("greater_than_sign")  # page 7, of 20
        await until(pilot, lambda: way.held)
        await pilot.press("j", "space")
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "loading page 7" in shown(pilot))
        way.release.set()
        await until(pilot, lambda: "page 4 of 5" in shown(pilot))
        await settled(pilot)
        second, third = (row["id"] for row in someone_else.page(service, 1001, 7)[1:3])
        assert marked(pilot) == [second]
        here = table(pilot).selected
        assert table(pilot).row_count == WIDE_ROWS and here is not None and here.id == third


@pytest.mark.long
async def test_a_size_that_is_read_holds_up_no_key_and_moves_no_cursor(
    service: RunningService, lockterm_app: Starter
) -> None:
    """Nobody has asked for it: keys and clicks are for the rows that are shown."""
    forwarder = Forwarder(service, hold="/list", hold_from=3)
    async with (
        forwarder.running() as way,
        lockterm_app(way, 1001, page_size="auto", timeout_s=60.0) as pilot,
    ):
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: way.held)
        await pilot.click(table(pilot), offset=(5, 8))
        await pilot.press("space")
        seventh = someone_else.page(service, 1001, 1)[6]["id"]
        assert marked(pilot) == [seventh]
        screen = pilot.app.screen
        assert isinstance(screen, RemotesScreen)
        await pilot.press("slash", *"conti")
        assert screen.remotes.state.needle == "conti"
        way.release.set()
        await until(pilot, lambda: screen.remotes.size == WIDE_ROWS)
        await settled(pilot)
        here = table(pilot).selected
        assert here is not None and here.id == seventh and screen.remotes.state.needle == "conti"


@pytest.mark.long
async def test_pages_are_counted_as_the_one_that_is_shown_where_another_size_cannot_be_read(
    running_service: Any, lockterm_app: Starter
) -> None:
    way = Forwarder(running_service())
    async with way.running(), lockterm_app(way, 1001, page_size="auto", timeout_s=60.0) as pilot:
        await pilot.press("n", "n", *"jj")
        await until(pilot, lambda: "page 3 of 7" in shown(pilot))
        await settled(pilot)
        here, service = table(pilot).selected, way.service
        service.stop()
        await resize(pilot, 120, 40, "OFFLINE")
        assert table(pilot).selected == here and table(pilot).row_count == 20
        way.service = running_service()
        await pilot.press("r")
        await until(pilot, lambda: "page 2 of 5" in shown(pilot) and "STALE" not in shown(pilot))
        await settled(pilot)
        now = table(pilot).selected
        assert here is not None and now is not None and now.id == here.id


@pytest.mark.long
async def test_a_size_that_the_service_refuses_is_asked_for_once(lockterm_app: Starter) -> None:
    sizes: list[int] = []

    def page(asked: dict[str, Any]) -> dict[str, Any]:
        size, page_no = int(asked["pageSize"]), int(asked["pageNo"])
        sizes.append(size)
        if size > 20:
            return {"errcode": -2, "errmsg": "parameter error", "description": "pageSize"}
        rows = [record(number) for number in range(page_no * 20, page_no * 20 + 20)]
        counts = {"pageNo": page_no, "pageSize": 20, "pages": 5, "total": 100}
        return {"errcode": 0, "data": {"list": rows, **counts}}

    async with canned({"list": page}) as site, lockterm_app(site, 7, page_size="auto") as pilot:
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: WIDE_ROWS in sizes)
        for page_no in (2, 3, 4):
            await pilot.press("n")
            await until(pilot, lambda page_no=page_no: f"page {page_no} of 5" in shown(pilot))
            await settled(pilot)
        assert sizes.count(WIDE_ROWS) == 1
