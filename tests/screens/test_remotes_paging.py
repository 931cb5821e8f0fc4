"""Pages of a lock's remotes: flipping, fetching ahead, and a cursor that stays on its remote."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from textual.geometry import Region
from textual.pilot import Pilot

from lockterm.domain.text.amount import format_age
from lockterm.screens.remotes import RemotesScreen
from lockterm.screens.remotes.columns import GROWING, Arrangement, plan
from lockterm.screens.remotes.table import BEFORE, RemotesTable
from lockterm.service.running import RunningService
from lockterm.widgets.key_line import KeyLine
from lockterm.widgets.line_table import MARGIN
from tests.operations.forwarder import Forwarder
from tests.screens import someone_else
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


async def test_a_neighbour_page_is_there_without_a_round_trip(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        assert "page 1 of 7 · 137 remotes · " in shown(pilot)
        assert someone_else.counted(service, "list") == 2  # this page and the next one
        first = table(pilot).selected

        await pilot.press("n")
        await until(pilot, lambda: "page 2 of 7" in shown(pilot))
        await settled(pilot)
        assert someone_else.counted(service, "list") == 3  # page 3, ahead; 1 and 2 were there
        names = [record["remoteName"] for record in someone_else.page(service, 1001, 2)]
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


async def test_a_lock_that_is_opened_again_without_its_service_is_called_stale(
    service: RunningService, lockterm_app: Starter, clock: Clock
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service) as pilot:
        await press(pilot, "enter")
        await press(pilot, "escape")
        service.stop()
        clock.now_s += 3
        await press(pilot, "enter")
        assert "STALE, page 1 of 7 · service unreachable" in shown(pilot)
        assert "OFFLINE" in shown(pilot)


@pytest.mark.long
async def test_a_lock_that_was_opened_just_now_is_not_asked_for_again(
    service: RunningService, lockterm_app: Starter, clock: Clock
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    async with lockterm_app(service) as pilot:
        await press(pilot, "enter")
        asked = someone_else.counted(service, "list")
        await press(pilot, "escape")
        clock.now_s += 1
        await press(pilot, "enter")
        assert "page 1 of 7" in shown(pilot)
        assert someone_else.counted(service, "list") == asked


@pytest.mark.long
async def test_the_next_page_needs_no_round_trip_while_an_opened_lock_is_asked_for(
    service: RunningService, lockterm_app: Starter, clock: Clock
) -> None:
    fill_book(lockterm_app, MAIN_GATE)
    forwarder = Forwarder(service, hold="/list", hold_from=3)
    async with forwarder.running() as way, lockterm_app(way) as pilot:
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
    service: RunningService, lockterm_app: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its brackets go, and what stands behind it moves: what is painted must reach that too."""
    painted: list[Region] = []

    def refresh(self: KeyLine, *regions: Region, **more: bool) -> KeyLine:
        painted.extend(regions or [self.size.region])
        return whole(self, *regions, **more)

    whole = KeyLine.refresh
    async with lockterm_app(service, 1001) as pilot:
        before = shown(pilot).splitlines()[-1].ljust(80)
        monkeypatch.setattr(KeyLine, "refresh", refresh)
        await press(pilot, "n")
        after = shown(pilot).splitlines()[-1].ljust(80)
        changed = {x for x in range(80) if before[x] != after[x]}
        assert changed
        assert changed <= {x for region in painted for x in range(region.x, region.right)}


async def test_every_way_to_a_page(service: RunningService, lockterm_app: Starter) -> None:
    async with lockterm_app(service, 1001) as pilot:
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
async def test_a_page_size_keeps_the_remote_and_believes_the_service(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        await press(pilot, "n", "j", "j")
        remote = table(pilot).selected
        await press(pilot, "number_sign", "k", "enter")
        assert "page 3 of 14 · 137 remotes · " in shown(pilot)
        assert table(pilot).selected == remote


async def test_vim_keys_and_page_keys_move_the_cursor(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        await press(pilot, "j", "j", "k")
        assert table(pilot).cursor_row == 1
        await press(pilot, "G")
        assert table(pilot).cursor_row == 19
        await press(pilot, "g")
        assert table(pilot).cursor_row == 0
        await press(pilot, "pagedown")
        assert table(pilot).cursor_row > 1


async def test_the_cursor_stays_on_its_remote_when_rows_move(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        await press(pilot, *"jjjjj")
        remote = table(pilot).selected
        assert remote is not None
        records = someone_else.page(service, 1001)
        for record in records[:3]:
            someone_else.post(service, "delete", remoteId=record["id"])

        await press(pilot, "r")
        assert table(pilot).selected is not None and table(pilot).selected.id == remote.id
        assert table(pilot).cursor_row == 2

        someone_else.post(service, "delete", remoteId=remote.id)
        await press(pilot, "r")
        assert table(pilot).cursor_row == 2  # it is gone: its place stays


async def test_a_page_beyond_the_end_steps_back_once(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1003, page_size=4) as pilot:  # nine remotes: 4, 4, 1
        await press(pilot, "greater_than_sign")
        assert "page 3 of 3" in shown(pilot)
        last = someone_else.page(service, 1003, 3, 4)[0]
        someone_else.post(service, "delete", remoteId=last["id"])
        before = someone_else.counted(service, "list")
        await press(pilot, "r")
        assert "page 2 of 2 · 8 remotes" in shown(pilot)
        assert screen(pilot).remotes.page_no == 2
        # The page that is gone, the one before it, and that one's neighbour.
        assert someone_else.counted(service, "list") == before + 3


async def test_fast_flipping_shows_the_last_page_asked_for(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        await press(pilot, *"nnnn")
        assert "page 5 of 7" in shown(pilot)


async def test_age_is_painted_only_with_keys(
    service: RunningService, lockterm_app: Starter, clock: Clock
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        clock.now_s += 12
        await pilot.pause()
        assert "updated just now" in shown(pilot)
        await pilot.press("j")
        await until(pilot, lambda: "updated 12 s ago" in shown(pilot))


@pytest.mark.long
async def test_the_lock_book_learns_how_many_remotes_there_are(
    service: RunningService, lockterm_app: Starter
) -> None:
    from lockterm.domain.locks import Lock

    async with lockterm_app(service) as pilot:
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


@pytest.mark.parametrize(
    ("age_ms", "words"),
    [
        (0, "just now"),
        (59_999, "59 s ago"),
        (60_000, "1 min ago"),
        (7_200_000, "2 h ago"),
        (172_799_999, "47 h ago"),
        (172_800_000, "2 d ago"),
        (34_560_000_000, "400 d ago"),
        (-5, "just now"),
    ],
)
def test_age_in_words(age_ms: int, words: str) -> None:
    assert format_age(age_ms) == words


async def test_twenty_rows_fit_a_terminal_of_24_lines(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001) as pilot:
        lines = shown(pilot).split("\n")
        assert len(lines) == 24
        assert lines[0].startswith("Locks > ")
        assert all(
            row.remote.remote_number in line
            for row, line in zip(table(pilot).rows, lines[2:22], strict=True)
        )
        assert "page 1 of 7" in lines[22]
        assert "a add  e edit  d delete  v voice  w renew  n next  (p previous) / find" in lines[23]
        assert lines[23].endswith("? help")


@pytest.mark.long
async def test_footer_shows_working_keys_first(
    service: RunningService, lockterm_app: Starter
) -> None:
    async with lockterm_app(service, 1001, read_only=True) as pilot:
        await press(pilot, "slash", *"weber", "enter")
        line = shown(pilot).splitlines()[-1]
        assert "(n next)" not in line
        assert "enter detail" in line and "y copy" in line
        await press(pilot, "n")
        assert "come from all pages" in pilot.app.messages[-1].text
