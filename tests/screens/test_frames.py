"""Frames around tables and panels in large terminals, and the panel of the selected lock."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot

from lockterm.domain.locks import Lock
from lockterm.screens.locks.pane import LockPane
from lockterm.screens.locks.table import LocksTable
from lockterm.screens.remotes.table import RemotesTable
from tests.conftest import NOW_MS
from tests.faults.calls import new_remote
from tests.screens import someone_else
from tests.screens.running_app import Demo, settled, shown, until
from tests.screens.site import DAY_MS, LOCKS, MAIN_GATE, fill_book, press, press_each
from tests.screens.test_read_only import leave_unsettled
from tests.screens.test_unconfirmed import ADDED

SINCE = {"remoteType": 2, "startDate": NOW_MS - 90 * DAY_MS}


def panel(pilot: Pilot[Any]) -> str:
    """Return the lines of the panel of the selected lock, with its frame."""
    text = shown(pilot)
    lines = text[text.index("╭") :].splitlines()
    at = lines[0].index("╭", 1)
    return "\n".join(line[at:] for line in lines)


def words(pilot: Pilot[Any]) -> str:
    """Return the text of the panel in one line."""
    return " ".join(panel(pilot).replace("│", " ").split())


async def test_frames_follow_the_terminal_and_low_bandwidth_mode(demo: Demo) -> None:
    async with demo(size=(80, 24), locks=LOCKS) as pilot:
        for size in ((120, 40), (99, 30), (100, 30), (100, 29)):
            await pilot.resize_terminal(*size)
            is_framed = size[0] >= 100 and size[1] >= 30
            await until(pilot, lambda framed=is_framed: ("╭─ Locks 4 ─" in shown(pilot)) is framed)
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "╭─ Locks 4 ─" in shown(pilot) and "1002" in panel(pilot))
        await pilot.press("f3")
        await until(pilot, lambda: "Locks 4" not in shown(pilot))
        assert "lumenlock" in shown(pilot)  # a column again, because there is no panel
        await pilot.press("f3")
        await until(pilot, lambda: "╭─ Locks 4 ─" in shown(pilot))
        assert pilot.app.screen.query_one(LockPane).display
        seen = await press(pilot, "enter")
        assert "╭─ Remotes 42 ·" in seen and "╭─ Ines Duarte ─" in seen
        assert "╭─ Details ─" in await press(pilot, "enter")


async def test_mouse_selects_rows_and_sorts_inside_a_frame(demo: Demo) -> None:
    async with demo(1003, size=(120, 40)) as pilot:
        table = pilot.app.screen.query_one(RemotesTable)
        await pilot.click(RemotesTable, offset=(5, 4))  # the frame and the titles are two lines
        assert table.cursor_row == 2
        await pilot.click(RemotesTable, offset=(5, 0))
        await pilot.click(RemotesTable, offset=(5, 34))
        assert table.cursor_row == 2
        await pilot.click(RemotesTable, offset=(6, 1))
        await settled(pilot)
        assert "Name ^" in shown(pilot)


def titles(pilot: Pilot[Any]) -> str:
    return "".join(text for text, _ in pilot.app.screen.query_one(LocksTable).titles())


async def test_panel_shows_states_next_ends_and_changes_of_the_selected_lock(demo: Demo) -> None:
    fill_book(demo, Lock(1004, name="Yard", zone="UTC"), Lock(1005, name="Shed"))
    for days in (-2, 6, 20, 40):
        someone_else.add(demo.service, 1004, f"day {days}", endDate=NOW_MS + days * DAY_MS, **SINCE)
    later = {"startDate": NOW_MS + 5 * DAY_MS, "endDate": NOW_MS + 50 * DAY_MS}
    someone_else.add(demo.service, 1004, "later", remoteType=2, **later)
    no_days = {"remoteType": 4, "endDate": NOW_MS + 60 * DAY_MS, "weekDay": []}
    someone_else.add(demo.service, 1004, "no days", **SINCE | no_days)
    async with demo(size=(120, 40)) as pilot:
        await until(
            pilot, lambda: "Last viewed" in titles(pilot) and "Expired" not in titles(pilot)
        )
        assert "not been read completely" in panel(pilot)
        assert "Press W to read all locks." in words(pilot)
        async for one in pilot.app.operations.all_locks.read():
            assert not one.problem
        await pilot.press("f5")
        if "─ Yard ─" not in panel(pilot):
            await pilot.press("j")
        counts = (
            "· 1 active » 1 upcoming ! 1 within 7 days ¡ 1 within 30 days × 1 expired ? 1 unclear"
        )
        await until(pilot, lambda: f"{counts} 6 remotes, read just now" in words(pilot))
        assert "Expired" in titles(pilot) and "Last viewed" not in titles(pilot)
        coming = [line for line in panel(pilot).splitlines() if " day " in line]
        assert [line.split("day ")[1].split()[0] for line in coming] == ["6", "20", "40"]
        assert "Your changes" not in panel(pilot)
        await pilot.app.operations.writes.add_remote(new_remote(1004, "Anna"))
        await pilot.press("f5")
        await until(pilot, lambda: "add Anna, recorded" in panel(pilot))
        assert "6 remotes, read just now, before your last change" in words(pilot)


async def test_panel_counts_unconfirmed_changes_of_the_selected_lock(demo: Demo) -> None:
    fill_book(demo, MAIN_GATE, Lock(1003, name="Dock"))
    leave_unsettled(demo, ADDED)
    async with demo(size=(120, 40)) as pilot:
        if "─ Main gate ─" not in panel(pilot):
            await pilot.press("j")
        await until(pilot, lambda: "Unconfirmed changes: 1" in panel(pilot))
        await pilot.press("g" if pilot.app.screen.query_one(LocksTable).cursor_row else "G")
        await until(pilot, lambda: "─ Dock ─" in panel(pilot))
        assert "Unconfirmed" not in panel(pilot)


async def test_page_and_dialog_fill_the_room_of_a_framed_terminal(demo: Demo) -> None:
    async with demo(1001, size=(120, 40), page_size="auto") as pilot:
        table = pilot.app.screen.query_one(RemotesTable)
        assert table.row_count == table.content_size.height - 1 == 34
        assert not table.show_vertical_scrollbar
        await press_each(pilot, "asterisk", "d", "enter")
        screen = pilot.app.screen
        box, buttons = screen.query_one(".dialog").region, screen.query_one(".buttons").region
        assert screen.query_one(".details").region.height == 24, "as many lines as fit"
        assert box.bottom - buttons.bottom == 2, "a blank line and the frame"
