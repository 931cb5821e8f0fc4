"""Around a wide history: the values of the selected change, and the changes of each day."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from lockterm.config.look import Look
from lockterm.domain.operation import Operation, OperationState
from lockterm.domain.text.operation import STATE_NAMES
from lockterm.screens.history.table import MOST_DAYS, ChangePane, DayStrip
from tests.conftest import NOW_MS
from tests.screens.running_app import Demo, settled, shown, until
from tests.screens.site import DAY_MS, HOSTILE, LOCKS, press, press_each, words
from tests.screens.test_history import CHANGE, opened, some_days, write

SIZE = (100, 30)


def pane_lines(pilot: Pilot[int]) -> list[str]:
    """Return the lines of the panel."""
    pane = pilot.app.screen.query_one(ChangePane)
    return [line.rstrip() for line in str(pane.render()).splitlines()]


def strip(pilot: Pilot[int]) -> str:
    return str(pilot.app.screen.query_one(DayStrip).render())


async def test_panel_shows_values_before_and_after(demo: Demo) -> None:
    async with demo(size=SIZE, locks=LOCKS) as pilot:
        await some_days(pilot.app.operations, demo.clock)
        await opened(pilot)
        assert pane_lines(pilot)[-1] == "Enter lists the affected remotes."
        await press_each(pilot, *["down"] * 4)
        lines = pane_lines(pilot)
        assert lines[0] == "17 Nov 2026 14:00 +01:00"
        assert "recorded by the service" in lines
        at = lines.index("Changed")
        assert lines[at + 1 : at + 4] == [
            "Name",
            "  before    Anna Weber",
            "  after     Anna Weber-Schmidt",
        ]
        assert lines[lines.index("End") + 1 :][:2] == [
            "  before    none",
            "  after     30 Dec 2026 09:00 +01:00",
        ]
        assert "Number      A-77" in lines[lines.index("Unchanged") :]
        await press(pilot, "down")
        lines = pane_lines(pilot)
        assert "Name        Anna Weber" in lines[lines.index("Added") :]
        await press(pilot, "up", "up")
        assert pane_lines(pilot)[-1] == "Voice       de-DE anna"
        await press(pilot, "up")
        assert "Deleted" in pane_lines(pilot)
        await press(pilot, "up")
        lines = pane_lines(pilot)
        assert lines[1].startswith("refused, code ") and "Not deleted" in lines


async def test_panel_does_not_show_values_that_arrive_for_the_row_before(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with demo(size=SIZE, locks=LOCKS) as pilot:
        await some_days(pilot.app.operations, demo.clock)
        await opened(pilot)
        journal, may_end = pilot.app.operations.journal, asyncio.Event()
        find = journal.find

        async def find_late(operation_id: str) -> Operation | None:
            found = await find(operation_id)
            await may_end.wait()
            return found

        monkeypatch.setattr(journal, "find", find_late)
        await pilot.press("down", "down")  # to the deletion
        await pilot.press("down")  # to the voice, while the values of the deletion are read
        may_end.set()
        await settled(pilot)
        assert pane_lines(pilot)[-1] == "Voice       de-DE anna"


CLAIMS = {
    OperationState.CONFIRMED_BY_READING: ("Changed", "after"),
    OperationState.REFUSED: ("Not changed", "requested"),
    OperationState.GIVEN_UP: ("Possibly changed", "possible"),
    OperationState.UNKNOWN: ("Possibly changed", "possible"),  # last: it blocks others
}


async def test_panel_does_not_claim_what_is_not_known(demo: Demo) -> None:
    async with demo(size=SIZE) as pilot:
        for at, state in enumerate(CLAIMS):
            change = replace(CHANGE, id=f"{at}", state=state, prepared_ms=NOW_MS - at)
            write(pilot.app.operations, change)
        await opened(pilot)
        for state in reversed(CLAIMS):  # the newest first
            title, label = CLAIMS[state]
            lines = pane_lines(pilot)
            assert lines[1] == STATE_NAMES[state]
            assert f"  {label:<10}Anna Weber" in lines[lines.index(title) :]
            await press(pilot, "down")


async def test_panels_need_a_large_terminal_and_rows(demo: Demo) -> None:
    async with demo(size=(100, 29)) as pilot:
        await opened(pilot)
        pane, days = (pilot.app.screen.query_one(kind) for kind in (ChangePane, DayStrip))
        await pilot.resize_terminal(*SIZE)
        await settled(pilot)
        assert not pane.display and not days.display, "an empty history has none"
        write(pilot.app.operations, CHANGE)
        await press(pilot, "r")
        assert pane.display and days.display and "Anna Weber" in "".join(pane_lines(pilot))
        await pilot.resize_terminal(99, 30)
        await until(pilot, lambda: not pane.display and not days.display)


async def test_hostile_values_do_nothing_in_the_panel(demo: Demo) -> None:
    async with demo(size=SIZE) as pilot:
        for number, string in enumerate(HOSTILE):
            text = string.encode(errors="replace").decode()
            change = replace(CHANGE, id=f"{number}", message=text, lock_name=text, remote_name=text)
            body: Mapping[str, Any] = {"remoteName": text, "extraData": {text: text}}
            write(pilot.app.operations, replace(change, body=body, prepared_ms=NOW_MS + number))
        await opened(pilot)
        for _ in HOSTILE:
            pane = pilot.app.screen.query_one(ChangePane)
            assert len(pane_lines(pilot)) <= pane.content_size.height
            assert not any(char in shown(pilot) for char in "\x1b\x9b\u202e\x07")
            await press(pilot, "down")


async def test_lines_without_room_are_counted(demo: Demo) -> None:
    extra = {f"field {number}": "a" for number in range(6)}
    other = {name: "b" for name in extra}
    async with demo(size=SIZE) as pilot:
        before = {"remoteName": "Anna", "extraData": {**extra, "long": "x" * 90}}
        body = {"remoteName": "Ben", "extraData": {**other, "long": "x" * 90}}
        write(pilot.app.operations, replace(CHANGE, body=body, before=(before,)))
        await opened(pilot)
        assert pane_lines(pilot)[-1] == "3 more lines; Enter shows all"
        assert "more lines; Enter shows all" in words(pilot.app)


async def test_strip_has_a_cell_for_each_day(demo: Demo) -> None:
    agos = [0, 0, 0, 0, 1, 3, 3, MOST_DAYS - 1, MOST_DAYS]
    async with demo(size=(160, 30)) as pilot:
        operations = pilot.app.operations
        for number, ago in enumerate(agos):
            lock_id = 1001 + number % 2
            at_ms = NOW_MS - ago * DAY_MS
            write(
                operations,
                replace(CHANGE, id=f"{number}", lock_id=lock_id, prepared_ms=at_ms),
            )
        await opened(pilot)
        cells = ["▂"] + ["·"] * (MOST_DAYS - 5) + ["▄", "·", "▂", "█"]
        assert strip(pilot) == f"Changes per day  23 Aug {''.join(cells)} 20 Nov  busiest day: 4"
        assert strip(pilot) in shown(pilot)
        await press(pilot, "at")  # the lock of the newest change
        assert strip(pilot).endswith("20 Nov  busiest day: 2")
        await press(pilot, "at")
        await pilot.resize_terminal(*SIZE)
        await settled(pilot)
        assert len(strip(pilot)) == 97 and strip(pilot).endswith("▄·▂█ 20 Nov  busiest day: 4")
        write(operations, replace(CHANGE, id="new"))
        await press(pilot, "r")
        assert strip(pilot).endswith("busiest day: 5")


async def test_strip_is_read_again_only_after_a_change(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with demo(look=Look(ascii=True), size=SIZE) as pilot:
        operations, asked = pilot.app.operations, list[int | None]()
        count = operations.journal.count_by_quarter

        async def noted(since_ms: int, lock_id: int | None) -> Mapping[int, int]:
            asked.append(lock_id)
            return await count(since_ms, lock_id)

        monkeypatch.setattr(operations.journal, "count_by_quarter", noted)
        write(operations, CHANGE, replace(CHANGE, id="2"))
        await opened(pilot)
        assert strip(pilot).isascii() and strip(pilot).endswith("..# 20 Nov  busiest day: 2")
        await press(pilot, "down", "up", "r", "i", "i", "i", "i", "enter", "escape")
        assert len(asked) == 1
        demo.clock.now_s += DAY_MS / 1000
        await press(pilot, "r")
        assert len(asked) == 2 and strip(pilot).endswith(".#. 21 Nov  busiest day: 2")
