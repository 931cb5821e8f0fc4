"""Pages of a lock's remotes: flipping, fetching ahead, and a cursor that stays on its remote."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, Self

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.pilot import Pilot

from lockterm.domain.locks import Lock
from lockterm.domain.names import natural
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.columns import GROWING, Arrangement, SortOrder, plan
from lockterm.screens.remotes.table import BEFORE
from lockterm.service.running import RunningService
from lockterm.widgets.data_status import Pager
from lockterm.widgets.header_footer import KeyLine
from lockterm.widgets.line_table import MARGIN
from tests.operations.forwarder import Forwarder
from tests.screens.running_app import Clock, Demo, Starter, settled, shown, until
from tests.screens.site import (
    MAIN_GATE,
    fill_book,
    marked_ids,
    press,
    remote_names,
    remotes_screen,
    remotes_table,
    settled_when,
)


async def test_a_neighbour_page_is_there_without_a_round_trip(demo: Demo) -> None:
    async with demo(1001) as pilot:
        lines = shown(pilot).split("\n")
        assert len(lines) == 24 and lines[0].startswith("Locks > ")
        numbers = [row.remote.remote_number or "" for row in remotes_table(pilot).rows]
        assert all(map(str.__contains__, lines[2:22], numbers)), "a page fits 24 lines"
        assert "page 1 of 7 · 137 remotes · " in lines[22]
        assert "a add  e edit  d delete  v voice  w renew  n next  (p previous) / find" in lines[23]
        assert lines[23].endswith("? help")
        assert demo.counted("list") == 2  # this page and the next one
        first = remotes_table(pilot).selected

        await pilot.press("n")
        await settled_when(pilot, lambda: "page 2 of 7" in shown(pilot))
        assert demo.counted("list") == 3  # page 3, ahead; 1 and 2 were there
        names = [record["remoteName"] for record in demo.page(1001, 2)]
        assert remote_names(pilot) == names

        await press(pilot, "p")
        assert remotes_table(pilot).selected == first


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
        assert remotes_table(pilot).row_count == 20
        way.release.set()
        await until(pilot, lambda: "No remotes on this lock yet" in shown(pilot))
        await press(pilot, "escape")
        await until(pilot, lambda: "137" not in shown(pilot))


async def test_reopened_lock_is_read_again_or_called_stale(demo: Demo, clock: Clock) -> None:
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
async def test_next_page_is_there_while_a_lock_is_read_again(demo: Demo, clock: Clock) -> None:
    demo.fill_book(MAIN_GATE)
    async with demo.held(hold="/list", hold_from=3) as (way, pilot):
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


async def test_footer_leaves_no_scraps(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
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
            assert remotes_table(pilot).cursor_row == row
        await press(pilot, "pagedown")
        assert remotes_table(pilot).cursor_row > 1
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
        remote = remotes_table(pilot).selected
        await press(pilot, "number_sign", "k", "enter")
        assert "page 3 of 14 · 137 remotes · " in shown(pilot)
        assert remotes_table(pilot).selected == remote


async def test_the_cursor_stays_on_its_remote_when_rows_move(demo: Demo) -> None:
    async with demo(1001) as pilot:
        await press(pilot, *"jjjjj")
        remote = remotes_table(pilot).selected
        assert remote is not None
        records = demo.page(1001)
        for record in records[:3]:
            demo.post("delete", remoteId=record["id"])

        await press(pilot, "r")
        assert selected_id(pilot) == remote.id
        assert remotes_table(pilot).cursor_row == 2

        demo.post("delete", remoteId=remote.id)
        await press(pilot, "r")
        assert remotes_table(pilot).cursor_row == 2  # it is gone: its place stays


async def test_a_page_beyond_the_end_steps_back_once(demo: Demo) -> None:
    async with demo(1003, page_size=4) as pilot:  # nine remotes: 4, 4, 1
        await press(pilot, "greater_than_sign")
        assert "page 3 of 3" in shown(pilot)
        last = demo.page(1003, 3, 4)[0]
        demo.post("delete", remoteId=last["id"])
        before = demo.counted("list")
        await press(pilot, "r")
        assert "page 2 of 2 · 8 remotes" in shown(pilot)
        assert remotes_screen(pilot).remotes.page_no == 2
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
        await press(pilot, "d")
        await pilot.press("D")
        await settled_when(pilot, lambda: "page 1 of 1 · 8 remotes" in shown(pilot))
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
        assert "Enter detail" in line and "y copy" in line
        await press(pilot, "n")
        assert "come from all pages" in pilot.app.messages[-1].text


# --- page sizes that fit the terminal ------------------------------------------------------------

WIDE_ROWS = 34
"""Rows of a page in a terminal of 120x40: titles, pager, keys and the frame take six lines."""


def selected_id(pilot: Pilot[Any]) -> int | None:
    """The id of the remote under the cursor."""
    here = remotes_table(pilot).selected
    assert here is not None and here.id is not None
    return here.id


async def resize(pilot: Pilot[Any], columns: int, lines: int, words: str) -> None:
    """Change the terminal, and wait until a page is shown that is told with these words."""
    await pilot.resize_terminal(columns, lines)
    await settled_when(pilot, lambda: words in shown(pilot))


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (160, 48), (200, 60)])
async def test_page_fills_the_screen(demo: Demo, size: tuple[int, int]) -> None:
    async with demo(1001, size=size, page_size="auto") as pilot:
        rows, region = remotes_table(pilot).rows, remotes_table(pilot).region
        names = [one["remoteName"] for one in demo.page(1001, 1, len(rows))]
        assert [row.remote.remote_name for row in rows] == names
        assert remotes_table(pilot).max_scroll_y == 0, "all of them are seen"
        last = region.y + remotes_table(pilot).virtual_size.height
        assert (size[1] - 2 - last) * size[0] <= size[0] * size[1] / 10
        assert f"page 1 of {-(-137 // len(rows))}" in shown(pilot)


async def test_a_number_stays_a_number(demo: Demo) -> None:
    async with demo(1001, size=(120, 40), page_size=10) as pilot:
        assert remotes_table(pilot).row_count == 10
        await pilot.press("number_sign", "k", "enter")
        await settled_when(pilot, lambda: "page 1 of 5 · 137 remotes" in shown(pilot))
        assert remotes_table(pilot).row_count == WIDE_ROWS


@pytest.mark.long
async def test_another_size_keeps_remote_marks_search_and_order(demo: Demo) -> None:
    async with demo(1001, page_size="auto") as pilot:
        screen = remotes_screen(pilot)
        await press(pilot, "n", "n", *"jjjj", "space", "k")
        here = selected_id(pilot)
        assert here == demo.page(1001, 3)[4]["id"]
        await resize(pilot, 120, 40, "page 2 of 5")  # the 45th of them
        assert selected_id(pilot) == here and remotes_table(pilot).cursor_row == 44 - WIDE_ROWS
        assert screen.remotes.page_no == 2 and len(screen.marks) == 1
        await pilot.press("n")
        await until(pilot, lambda: "page 3 of 5" in shown(pilot))
        await pilot.press("p")
        await settled_when(pilot, lambda: "page 2 of 5" in shown(pilot))

        screen.arrange_table(Arrangement(order=SortOrder("name", descending=True)))
        await press(pilot, "slash", *"a", "down")
        here = selected_id(pilot)
        await pilot.resize_terminal(80, 24)
        await until(
            pilot, lambda: screen.remotes.state.page and screen.remotes.state.page.page_size == 20
        )
        await settled(pilot)
        assert selected_id(pilot) == here
        assert screen.remotes.state.needle == "a" and len(screen.marks) == 1
        names = [natural(row.remote.remote_name or "") for row in remotes_table(pilot).rows]
        assert names == sorted(names, reverse=True)


@pytest.mark.long
async def test_a_page_that_was_asked_for_comes_before_another_size(demo: Demo) -> None:
    """And the keys that were typed for it act on it."""
    async with demo.held(1001, hold="/list", hold_from=3, page_size="auto") as (way, pilot):
        await pilot.press("greater_than_sign")  # page 7, of 20
        await until(pilot, lambda: way.held)
        await pilot.press("j", "space")
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "loading page 7" in shown(pilot))
        way.release.set()
        await settled_when(pilot, lambda: "page 4 of 5" in shown(pilot))
        second, third = (row["id"] for row in demo.page(1001, 7)[1:3])
        assert marked_ids(pilot) == [second]
        assert remotes_table(pilot).row_count == WIDE_ROWS and selected_id(pilot) == third


@pytest.mark.long
async def test_a_size_that_is_read_holds_up_no_key_and_moves_no_cursor(demo: Demo) -> None:
    """Nobody has asked for it: keys and clicks are for the rows that are shown."""
    async with demo.held(1001, hold="/list", hold_from=3, page_size="auto") as (way, pilot):
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: way.held)
        await pilot.click(remotes_table(pilot), offset=(5, 8))
        await pilot.press("space")
        seventh = demo.page(1001, 1)[6]["id"]
        assert marked_ids(pilot) == [seventh]
        screen = remotes_screen(pilot)
        await pilot.press("slash", *"conti")
        assert screen.remotes.state.needle == "conti"
        way.release.set()
        await settled_when(pilot, lambda: screen.remotes.size == WIDE_ROWS)
        assert selected_id(pilot) == seventh and screen.remotes.state.needle == "conti"


@pytest.mark.long
async def test_pages_are_counted_as_the_one_that_is_shown_where_another_size_cannot_be_read(
    running_service: Any, lockterm_app: Starter
) -> None:
    way = Forwarder(running_service())
    async with way.running(), lockterm_app(way, 1001, page_size="auto", timeout_s=60.0) as pilot:
        await pilot.press("n", "n", *"jj")
        await settled_when(pilot, lambda: "page 3 of 7" in shown(pilot))
        here = selected_id(pilot)
        way.service.stop()
        await resize(pilot, 120, 40, "OFFLINE")
        assert selected_id(pilot) == here and remotes_table(pilot).row_count == 20
        way.service = running_service()
        await pilot.press("r")
        await settled_when(
            pilot, lambda: "page 2 of 5" in shown(pilot) and "STALE" not in shown(pilot)
        )
        assert selected_id(pilot) == here


# --- the pager -----------------------------------------------------------------------------------


class NotingPager(Pager):
    """A pager that notes what it repaints."""

    noted: list[tuple[Region, ...]]

    def refresh(self, *regions: Region, **options: Any) -> Self:
        self.noted = [*getattr(self, "noted", []), regions]
        return super().refresh(*regions, **options)


class PagerApp(App[None]):
    """A pager whose data was read at 0 ms."""

    now_ms = 0

    def compose(self) -> ComposeResult:
        yield NotingPager(lambda: self.now_ms)


async def test_the_whole_line_is_repainted_only_when_the_width_of_the_age_changes() -> None:
    app = PagerApp()
    async with app.run_test(size=(60, 5)) as pilot:
        pager = app.query_one(NotingPager)
        pager.show([("7 of 9, updated ", ", all read")], 0)
        await pilot.pause()
        start = len("7 of 9, updated ") + pager.styles.padding.left
        age = Region(start, 0, len("9 s ago"), 1)
        for seconds, repainted in [(8, [()]), (9, [(age,)]), (9, []), (10, [()])]:
            app.now_ms, pager.noted = seconds * 1000, []
            pager.tick()
            assert pager.noted == repainted, seconds
