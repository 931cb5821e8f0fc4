"""Pages of a lock's remotes: flipping, fetching ahead, and a cursor that stays on its remote."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from textual.geometry import Region
from textual.pilot import Pilot

from lockterm.domain.locks import Lock
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.columns import GROWING, Arrangement, plan
from lockterm.screens.remotes.table import BEFORE, RemotesTable
from lockterm.service.running import RunningService
from lockterm.widgets.key_line import KeyLine
from lockterm.widgets.line_table import MARGIN
from tests.operations.forwarder import Forwarder
from tests.screens.demo import Demo
from tests.screens.demo import demo as demo
from tests.screens.running_app import Clock, Starter, settled, shown, until
from tests.screens.site import MAIN_GATE, fill_book


def table(pilot: Pilot[Any]) -> RemotesTable:
    return pilot.app.screen.query_one(RemotesTable)


def screen(pilot: Pilot[Any]) -> RemotesScreen:
    assert isinstance(pilot.app.screen, RemotesScreen)
    return pilot.app.screen


async def press(pilot: Pilot[Any], *keys: str) -> None:
    await pilot.press(*keys)
    await settled(pilot)


async def test_a_neighbour_page_is_there_without_a_round_trip(demo: Demo) -> None:
    async with demo(1001) as pilot:
        lines = shown(pilot).split("\n")
        assert len(lines) == 24 and lines[0].startswith("Locks > ")
        numbers = [row.remote.remote_number or "" for row in table(pilot).rows]
        assert all(map(str.__contains__, lines[2:22], numbers)), "a page fits 24 lines"
        assert "page 1 of 7 · 137 remotes · " in lines[22]
        assert "a add  e edit  d delete  v voice  w renew  n next  (p previous) / find" in lines[23]
        assert lines[23].endswith("? help")
        assert demo.counted("list") == 2  # this page and the next one
        first = table(pilot).selected

        await pilot.press("n")
        await until(pilot, lambda: "page 2 of 7" in shown(pilot))
        await settled(pilot)
        assert demo.counted("list") == 3  # page 3, ahead; 1 and 2 were there
        names = [record["remoteName"] for record in demo.page(1001, 2)]
        assert [row.remote.remote_name for row in table(pilot).rows] == names

        await press(pilot, "p")
        assert table(pilot).selected == first


@pytest.mark.long
async def test_a_lock_that_is_opened_again_is_asked_for_again(
    running_service: Callable[..., RunningService], lockterm_app: Starter, clock: Clock
) -> None:
    """What was read is in sight at once; what is there now takes its place."""
    fill_book(lockterm_app, MAIN_GATE)
    forwarder = Forwarder(running_service(), hold="/list", hold_from=3)  # page 1, and 2 ahead
    async with forwarder.running() as way, lockterm_app(way) as pilot:
        await press(pilot, "enter")
        await press(pilot, "escape")
        way.service = running_service(sample_data=False)
        clock.now_s += 3
        await pilot.press("enter")
        await until(pilot, lambda: way.held and "page 1 of 7" in shown(pilot))
        assert table(pilot).row_count == 20
        way.release.set()
        await until(pilot, lambda: "No remotes on this lock yet" in shown(pilot))
        await press(pilot, "escape")
        await until(pilot, lambda: "137" not in shown(pilot))


async def test_remotes_are_asked_for_again_or_called_stale_when_a_lock_is_opened_again(
    demo: Demo, clock: Clock
) -> None:
    demo.fill_book(MAIN_GATE)
    async with demo() as pilot:
        await press(pilot, "enter")
        asked = demo.counted("list")
        await press(pilot, "escape")
        clock.now_s += 1
        await press(pilot, "enter")
        assert "page 1 of 7" in shown(pilot)
        assert demo.counted("list") == asked, "it was opened just now"
        await press(pilot, "escape")
        demo.service.stop()
        clock.now_s += 3
        await press(pilot, "enter")
        assert "STALE, page 1 of 7 · service unreachable" in shown(pilot)
        assert "OFFLINE" in shown(pilot)


@pytest.mark.long
async def test_the_next_page_needs_no_round_trip_while_an_opened_lock_is_asked_for(
    demo: Demo, clock: Clock
) -> None:
    demo.fill_book(MAIN_GATE)
    forwarder = Forwarder(demo.service, hold="/list", hold_from=3)
    async with forwarder.running() as way, demo.starter(way) as pilot:
        await press(pilot, "enter")
        await press(pilot, "escape")
        clock.now_s += 30
        await pilot.press("enter")
        await until(pilot, lambda: way.held and "page 1 of 7" in shown(pilot))
        await pilot.press("n")
        await until(pilot, lambda: "page 2 of 7" in shown(pilot))
        assert way.held
        way.release.set()
        await settled(pilot)


async def test_a_key_that_begins_to_work_leaves_no_scraps_of_the_line_before(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its brackets go, and what stands behind it moves: what is painted must reach that too."""
    painted: list[Region] = []

    def refresh(self: KeyLine, *regions: Region, **more: bool) -> KeyLine:
        painted.extend(regions or [self.size.region])
        return whole(self, *regions, **more)

    whole = KeyLine.refresh
    async with demo(1001) as pilot:
        before = shown(pilot).splitlines()[-1].ljust(80)
        monkeypatch.setattr(KeyLine, "refresh", refresh)
        await press(pilot, "n")
        after = shown(pilot).splitlines()[-1].ljust(80)
        changed = {x for x in range(80) if before[x] != after[x]}
        assert changed
        assert changed <= {x for region in painted for x in range(region.x, region.right)}


async def test_every_way_to_a_row_and_a_page(demo: Demo) -> None:
    async with demo(1001) as pilot:
        for keys, row in (("jjk", 1), ("G", 19), ("g", 0)):
            await press(pilot, *keys)
            assert table(pilot).cursor_row == row
        await press(pilot, "pagedown")
        assert table(pilot).cursor_row > 1
        await press(pilot, *"nnnn")
        assert "page 5 of 7" in shown(pilot), "the last page asked for"
        await press(pilot, "greater_than_sign")
        assert "page 7 of 7" in shown(pilot)
        await press(pilot, "n")
        assert "This is the last page." in pilot.app.messages[-1].text
        pilot.app.clear_notifications()
        await press(pilot, "less_than_sign")
        assert "page 1 of 7" in shown(pilot)
        await press(pilot, "colon", "9", "enter")
        assert "Type a whole number from 1 to 7." in shown(pilot)
        await press(pilot, "backspace", "4", "enter")
        assert "page 4 of 7" in shown(pilot)
        await press(pilot, "l", "h", "h")
        assert "page 3 of 7" in shown(pilot)


@pytest.mark.long
async def test_a_page_size_keeps_the_remote_and_believes_the_service(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await press(pilot, "n", "j", "j")
        remote = table(pilot).selected
        await press(pilot, "number_sign", "k", "enter")
        assert "page 3 of 14 · 137 remotes · " in shown(pilot)
        assert table(pilot).selected == remote


async def test_the_cursor_stays_on_its_remote_when_rows_move(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await press(pilot, *"jjjjj")
        remote = table(pilot).selected
        assert remote is not None
        records = demo.page(1001)
        for record in records[:3]:
            demo.post("delete", remoteId=record["id"])

        await press(pilot, "r")
        assert table(pilot).selected is not None and table(pilot).selected.id == remote.id
        assert table(pilot).cursor_row == 2

        demo.post("delete", remoteId=remote.id)
        await press(pilot, "r")
        assert table(pilot).cursor_row == 2  # it is gone: its place stays


async def test_a_page_beyond_the_end_steps_back_once(demo: Demo) -> None:
    async with demo(1003, page_size=4) as pilot:  # nine remotes: 4, 4, 1
        await press(pilot, "greater_than_sign")
        assert "page 3 of 3" in shown(pilot)
        last = demo.page(1003, 3, 4)[0]
        demo.post("delete", remoteId=last["id"])
        before = demo.counted("list")
        await press(pilot, "r")
        assert "page 2 of 2 · 8 remotes" in shown(pilot)
        assert screen(pilot).remotes.page_no == 2
        # The page that is gone, the one before it, and that one's neighbour.
        assert demo.counted("list") == before + 3


async def test_age_is_painted_only_with_keys(demo: Demo, clock: Clock) -> None:
    async with demo(1001) as pilot:
        clock.now_s += 12
        await pilot.pause()
        assert "updated just now" in shown(pilot)
        await pilot.press("j")
        await until(pilot, lambda: "updated 12 s ago" in shown(pilot))


@pytest.mark.long
async def test_the_lock_book_learns_how_many_remotes_there_are(demo: Demo) -> None:
    async with demo() as pilot:
        await pilot.app.operations.locks.save(Lock(1003, name="Server room"))
        pilot.app.push_screen(RemotesScreen(pilot.app.operations, Lock(1003)))
        await settled(pilot)
        assert "Server room > Remotes" in shown(pilot)
        noted = await pilot.app.operations.locks.find(1003)
        assert (noted.remotes, noted.opened_ms) == (9, pilot.app.operations.now_ms())
        await pilot.press("d")
        await settled(pilot)
        await pilot.press("D")
        await until(pilot, lambda: "page 1 of 1 · 8 remotes" in shown(pilot))
        await settled(pilot)
        assert (await pilot.app.operations.locks.find(1003)).remotes == 8


def test_columns_always_fit() -> None:
    for width, number_width in product(range(58, 220), GROWING["number"]):
        layout = plan(width, {"number": number_width}, Arrangement())
        widths = layout.widths
        assert sum(widths.values()) + layout.gap * (len(widths) - 1) <= width
        assert widths["name"] >= 14
        assert {"name", "number", "valid"} <= set(widths)


@pytest.mark.parametrize("number_width", GROWING["number"])
def test_at_80_the_name_has_24_cells_and_columns_are_two_apart(number_width: int) -> None:
    """And there is room for a scrollbar, whose cell is not the table's."""
    layout = plan(80 - 2 - len(MARGIN) - BEFORE, {"number": number_width}, Arrangement())
    assert list(layout.widths) == ["name", "number", "valid", "state"]
    assert layout.widths["name"] >= 24 and layout.gap == 2


@pytest.mark.long
async def test_footer_shows_working_keys_first(demo: Demo) -> None:
    async with demo(1001, read_only=True) as pilot:
        await press(pilot, "slash", *"weber", "enter")
        line = shown(pilot).splitlines()[-1]
        assert "(n next)" not in line
        assert "enter detail" in line and "y copy" in line
        await press(pilot, "n")
        assert "come from all pages" in pilot.app.messages[-1].text
