"""A click on a title sorts the rows that are loaded: up, down, and as they stand by themselves."""

from __future__ import annotations

import re
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.domain.locks import Lock
from lockterm.screens.all_locks.table import OnLocksTable
from lockterm.screens.copy import TargetsTable
from lockterm.screens.locks.table import LocksTable
from lockterm.screens.remotes.table import RemotesTable
from lockterm.widgets.line_table import LineTable
from tests.screens.running_app import Demo, settled, shown
from tests.screens.site import LOCKS, press


async def click(pilot: Pilot[Any], table: type[LineTable], title: str) -> list[str]:
    """Click on a title, wait for what comes of it, and tell what the titles are then."""
    lines = shown(pilot).splitlines()
    line = pilot.app.screen.query_one(table).region.y
    at = lines[line].index(title)
    await pilot.click(table, offset=(at, 0))
    await settled(pilot)
    return shown(pilot).splitlines()[line].split()


async def test_a_click_on_a_title_sorts_up_then_down_then_not_at_all(demo: Demo) -> None:
    async with demo(1003) as pilot:
        table = pilot.app.screen.query_one(RemotesTable)

        def numbers() -> list[str]:
            return [row.remote.remote_number or "" for row in table.rows]

        as_sent, here = numbers(), table.selected
        title = shown(pilot).splitlines()[1].index("Number")
        for wanted, words in (
            (sorted(as_sent), "sorted by number, lowest first"),
            (sorted(as_sent, reverse=True), "sorted by number, highest first"),
            (as_sent, "page 1 of 1 · 9 remotes"),
        ):
            await pilot.click(RemotesTable, offset=(title, 0))
            await settled(pilot)
            assert numbers() == wanted and table.selected == here
            assert words in shown(pilot)
        await pilot.click(RemotesTable, offset=(0, 0))  # the margin is nobody's title
        await settled(pilot)
        assert numbers() == as_sent
        for title in ("Name", "Valid", "State"):
            at = shown(pilot).splitlines()[1].index(title)
            await pilot.click(RemotesTable, offset=(at, 0))
            await settled(pilot)
            assert shown(pilot).splitlines()[1][at:].startswith((f"{title} ^", f"{title}^"))


@pytest.mark.long
async def test_lock_book_stays_sorted_when_it_is_read_and_searched(demo: Demo) -> None:
    gates = [Lock(10 + number, name=f"gate {number}") for number in (10, 9)]
    demo.fill_book(*LOCKS, *gates)
    async with demo() as pilot:
        table = pilot.app.screen.query_one(LocksTable)

        def ids() -> list[int]:
            return [lock.lock_id for lock in table.locks]

        by_itself, here = ids(), table.selected
        assert "Name^" in await click(pilot, LocksTable, "Name")
        by_name = [19, 20, 1002, 1001, 1003, 1006]
        assert ids() == by_name, "gate 9 before gate 10"
        assert table.selected == here
        await pilot.press("slash", *"gate")
        assert ids() == [19, 20, 1001]
        await press(pilot, "escape", "f5", "G", "space")
        assert ids() == by_name
        assert [lock.lock_id for lock in pilot.app.screen.marks.rows] == [1006]
        assert "Namev" in await click(pilot, LocksTable, "Name")
        assert ids() == by_name[::-1]
        assert "Name" in await click(pilot, LocksTable, "Name")
        assert ids() == by_itself
        assert "Remotes^" in await click(pilot, LocksTable, "Remotes")
        assert ids()[:3] == [1003, 1002, 1001] and len(ids()) == 6, "those not looked at are last"
        await click(pilot, LocksTable, "Remotes")
        assert ids()[:3] == [1001, 1002, 1003]


@pytest.mark.long
async def test_found_remotes_are_sorted_and_marks_stay_on_them(demo: Demo) -> None:
    demo.fill_book(*LOCKS, Lock(1099, name="Yard"))
    async with demo() as pilot:
        await press(pilot, "F", *"mar", "ctrl+r", "enter")
        table = pilot.app.screen.query_one(OnLocksTable)

        def found() -> list[tuple[int, str]]:
            remotes = [(row.lock.lock_id, row.remote) for row in table.rows]
            return [(lock, one.remote_name or "") for lock, one in remotes if one is not None]

        await pilot.press("space")
        marked = [*pilot.app.screen.marks.rows]
        by_itself, here = found(), table.current
        assert here is not None
        assert len(by_itself) > 2
        assert "Name^" in await click(pilot, OnLocksTable, "Name")
        names = [name.casefold() for _, name in by_itself]
        assert [name.casefold() for _, name in found()] == sorted(names)
        assert table.current is not None and table.current.key == here.key
        assert table.rows[-1].listing is None, "the lock that was not read stays last"
        assert [*pilot.app.screen.marks.rows] == marked
        await click(pilot, OnLocksTable, "Name")
        assert [name.casefold() for _, name in found()] == sorted(names, reverse=True)
        assert table.rows[-1].listing is None
        await click(pilot, OnLocksTable, "Name")
        assert found() == by_itself


async def test_copy_targets_are_sorted_and_marks_stay_on_their_locks(demo: Demo) -> None:
    gates = [Lock(10 + number, name=f"gate {number}") for number in (10, 9)]
    demo.fill_book(*LOCKS, *gates)
    async with demo(1004) as pilot:
        await press(pilot, "Y")

        def rows() -> list[str]:
            table = pilot.app.screen.query_one(TargetsTable)
            lines = ["".join(text for text, _ in table.line(row)) for row in range(table.row_count)]
            return [re.sub(r"^\[(.)\] +(.*?) {2,}.*", r"\1 \2", line) for line in lines]

        by_itself = rows()
        await pilot.press("space")
        marked = by_itself[0].replace(" ", "x", 1)
        assert rows() == [marked, *by_itself[1:]]
        assert "Lock^" in await click(pilot, TargetsTable, "Lock")
        names = ["gate 9", "gate 10", "Loading dock", "Main gate", "Server room", "化学品仓库"]
        assert [row[2:] for row in rows()] == names and marked in rows()
        await pilot.press("space")
        assert sum(row.startswith("x") for row in rows()) == 2
        assert rows()[names.index(by_itself[1][2:])].startswith("x"), "the cursor stayed"
        assert "Lockv" in await click(pilot, TargetsTable, "Lock")
        assert [row[2:] for row in rows()] == names[::-1]
        await click(pilot, TargetsTable, "Remotes")
        counts = ["Server room", "Loading dock", "Main gate"]
        assert [row[2:] for row in rows()][:3] == counts, "those not looked at are last"
        for _ in range(2):
            await click(pilot, TargetsTable, "Remotes")
        assert [row[2:] for row in rows()] == [row[2:] for row in by_itself]
