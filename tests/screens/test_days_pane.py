"""Beside the list Expiring: the days ahead as bars, and the locks whose remotes expire then."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from textual.pilot import Pilot

from lockterm.config.look import Look
from lockterm.domain.locks import Lock
from lockterm.screens.all_locks.expiring import DaysPane, DaysToCome
from tests.screens.running_app import Starter, settled, shown
from tests.screens.site import DAY_MS, HOUR_MS, fill_book, press
from tests.screens.test_all_locks import Site, rows, until_day

TODAY = date(2026, 11, 20)
SIZE = (100, 30)


def pane_lines(pilot: Pilot[int]) -> list[str]:
    """Return the lines of the panel."""
    pane = pilot.app.screen.query_one(DaysPane)
    return [line.rstrip() for line in str(pane.render()).rstrip().splitlines()]


async def test_bars_are_above_their_days(lockterm_app: Starter) -> None:
    site = Site(
        L1=[until_day(n, 1, day) for n, day in enumerate((-3, 0.1, 5, 30), 1)],
        L2=[until_day(n, 2, 5) for n in range(10, 13)],
    )
    async with site.app(lockterm_app, size=SIZE) as pilot:
        await press(pilot, "W")
        lines = pane_lines(pilot)
        axis = next(place for place, line in enumerate(lines) if line.startswith("0└"))
        top, bottom = lines[0], lines[axis - 1]
        assert top.startswith("4│"), "the scale names the highest bar"
        assert [place - 2 for place, sign in enumerate(top) if sign == "█"] == [5]
        assert [place - 2 for place, sign in enumerate(bottom) if sign == "█"] == [0, 5, 30]
        letters = "".join("MTWTFSS"[(TODAY + timedelta(day)).weekday()] for day in range(31))
        assert lines[axis + 1][2:] == letters, "weekends have a column, too"
        assert lines[axis + 2][2:].startswith("today")
        assert lines[axis + 2][2 + 10 :].startswith("30")
        assert lines[axis + 2][2 + 17 :].startswith("7 Dec")
        assert [line.split() for line in lines[axis + 4 : axis + 7]] == [
            ["Lock", "First", "30", "days"],
            ["Lock", "1", "today", "3"],
            ["Lock", "2", "25", "Nov", "3"],
        ]
        assert "Next 30 days 6" in shown(pilot)
        assert len(rows(pilot)) == 7, "the list is beside the panel"


@pytest.mark.parametrize(
    ("size", "look"), [((100, 29), Look()), ((99, 30), Look()), ((120, 40), Look(quiet=True))]
)
async def test_days_are_above_the_list_without_frames(
    lockterm_app: Starter, size: tuple[int, int], look: Look
) -> None:
    site = Site(L1=[until_day(1, 1, 5)])
    async with site.app(lockterm_app, look=look, size=size) as pilot:
        await press(pilot, "W", *([] if look.quiet else ["V"]))
        screen = pilot.app.screen
        assert screen.query_one(DaysToCome).display and not screen.query_one(DaysPane).display
        if look.quiet:
            return
        await pilot.resize_terminal(*SIZE)
        await settled(pilot)
        assert screen.query_one(DaysPane).display and not screen.query_one(DaysToCome).display
        assert "Lock 1" in "".join(pane_lines(pilot)) and "Next 30 days 1" in shown(pilot)


async def test_key_hides_the_days_and_widens_the_list(lockterm_app: Starter) -> None:
    site = Site(L1=[until_day(1, 1, 5)])
    async with site.app(lockterm_app, size=SIZE) as pilot:
        await press(pilot, "W")
        width = pilot.app.screen.query_one("#found").size.width
        assert "30 days" in await press(pilot, "V", "V")
        assert "Next 30 days" not in await press(pilot, "V")
        assert pilot.app.screen.query_one("#found").size.width > width + 40


async def test_unread_locks_are_counted_in_the_panel(lockterm_app: Starter) -> None:
    site = Site(L1=[until_day(1, 1, -2)], L2=[])
    site.broken.add(2)
    async with site.app(lockterm_app, size=SIZE) as pilot:
        await press(pilot, "W")
        lines = pane_lines(pilot)
        assert lines[0] == "1 lock not read yet", "it may have remotes that expire"
        site.broken.clear()
        await press(pilot, "r")
        lines = pane_lines(pilot)
        assert lines[0] == "No remote expires within 30 days."


async def test_ascii_bars_and_locks_without_room_are_summed_up(lockterm_app: Starter) -> None:
    ends = {f"L{n}": [until_day(n, n, 1 + n / 2)] for n in range(1, 21)}
    site = Site(**ends)
    async with site.app(lockterm_app, look=Look(ascii=True), size=SIZE) as pilot:
        fill_book(lockterm_app, Lock(1, name="長" * 40))
        await press(pilot, "W")
        lines = pane_lines(pilot)
        assert all(line.isascii() for line in lines if "長" not in line)
        assert lines[0].startswith("2| ") and lines[0].endswith("#")
        assert next(line for line in lines if "長" in line).rstrip().endswith("1")
        assert lines[-1].split()[1:] == ["other", "locks", "7"]
        named = [line for line in lines if line.startswith(("Lock ", "長")) and "First" not in line]
        assert len(named) == 13
        height = pilot.app.screen.query_one(DaysPane).content_size.height
        assert len(lines) == height and lines[-1] in shown(pilot), "all of it fits"


async def test_today_is_the_day_of_the_profile(lockterm_app: Starter) -> None:
    """In Kiritimati it is tomorrow, and in Pago Pago it may be yesterday."""
    zones = {1: "Pacific/Pago_Pago", 2: "Pacific/Kiritimati"}
    site = Site(L1=[until_day(1, 1, HOUR_MS / DAY_MS)], L2=[until_day(2, 2, HOUR_MS / DAY_MS)])
    async with site.running(lockterm_app) as service:
        fill_book(lockterm_app, *[Lock(lock_id, zone=zone) for lock_id, zone in zones.items()])
        async with lockterm_app(service, size=SIZE) as pilot:
            await press(pilot, "W")
            lines = pane_lines(pilot)
            marks = next(line for line in lines if "today" in line)
            axis = next(line for line in lines if line.startswith("0└"))
            first = lines[lines.index(axis) + 1]
            assert "MTWTFSS"[TODAY.weekday()] == first[marks.index("today")]
            assert marks.index("today") == 3, "the first day is still yesterday's"
