"""A table makes the lines that are seen, however many rows it has; its cursor stays in sight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from lockterm.widgets.row_table import GAP, Column, LazyRows, RowTable, fit

ROWS = 10_000


class TableApp(App[None]):
    """A table of very many rows, which notes those whose cells were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[int] = []
        self.said: list[str] = []

    def compose(self) -> ComposeResult:
        yield ManyRows(Column("Name", most=20), Column("Count", right=True), id="many")

    def on_mount(self) -> None:
        numbers = {f"key {number}": number for number in range(ROWS)}
        self.query_one(ManyRows).show(LazyRows(numbers, self.cells))

    def cells(self, number: int) -> Sequence[str]:
        self.made.append(number)
        return f"row {number}", str(number % 7)

    def on_line_table_moved(self) -> None:
        self.said.append("moved")

    def on_line_table_chosen(self) -> None:
        self.said.append("chosen")


class ManyRows(RowTable):
    """Rows whose width is known without making them."""

    def widest(self) -> Sequence[int]:
        return 8, 1


def table(pilot: Pilot[Any]) -> ManyRows:
    return pilot.app.query_one(ManyRows)


def shown(pilot: Pilot[Any]) -> list[str]:
    return ["".join(part.text for part in table(pilot).render_line(y)).strip() for y in range(10)]


async def test_only_lines_that_are_seen_are_made() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert set(app.made) <= set(range(9))
        for key, seen in (("G", range(ROWS - 9, ROWS)), ("pageup", range(ROWS - 18, ROWS))):
            app.made.clear()
            await pilot.press(key)
            assert app.made and set(app.made) <= set(seen), key
        app.made.clear()
        await pilot.press("up")
        assert len(app.made) <= 10


async def test_rows_that_come_with_a_scroll_bar_are_shared_their_width_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app, shared = TableApp(), list[int]()
    async with app.run_test(size=(40, 10)) as pilot:
        set_lines = RowTable.set_lines

        def note(self: RowTable, width: int, rows: int, cursor: int) -> None:
            shared.append(rows)
            set_lines(self, width, rows, cursor)

        monkeypatch.setattr(RowTable, "set_lines", note)
        for count in (3, 0, ROWS, 9, 10):
            table(pilot).show(LazyRows({str(n): n for n in range(count)}, app.cells))
            table(pilot).display = bool(count)
            await pilot.pause()
            assert not count or table(pilot).show_vertical_scrollbar == (count > 9)
    assert shared == [3, 0, ROWS, 9, 10]


async def test_the_cursor_stays_on_its_row_and_in_sight() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("G", "k")
        assert table(pilot).highlighted == f"key {ROWS - 2}"
        some = {f"key {number}": number for number in range(0, ROWS, 2)}
        table(pilot).show(LazyRows(some, app.cells))
        await pilot.pause()
        assert table(pilot).highlighted == f"key {ROWS - 2}"
        assert f"row {ROWS - 2}  {(ROWS - 2) % 7}" in " ".join(shown(pilot)).replace("   ", " ")
        table(pilot).show(LazyRows({"key 4": 4, "key 6": 6}, app.cells))
        await pilot.pause()
        assert table(pilot).highlighted == "key 6", "it is gone: its place stays, if there is one"
        table(pilot).show({})
        await pilot.press("down", "pagedown", "G", "g", "up")
        assert table(pilot).highlighted is None and shown(pilot)[0].startswith("Name")


async def test_a_click_moves_and_a_second_one_chooses() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("G")
        app.said.clear()
        await pilot.click("#many", offset=(5, 2))
        assert table(pilot).highlighted == f"key {ROWS - 8}" and app.said == ["moved"]
        await pilot.click("#many", offset=(5, 2))
        assert app.said == ["moved", "chosen"]
        await pilot.click("#many", offset=(5, 0))
        assert app.said == ["moved", "chosen"], "a title is no row"


@pytest.mark.parametrize(("room", "widths"), [(8 + GAP + 8, {0: 8, 1: 8}), (8 + GAP + 7, {0: 8})])
def test_fit_removes_a_column_when_the_least_widths_exceed_the_room(
    room: int, widths: dict[int, int]
) -> None:
    plan = [Column("Name", most=20, least=8), Column("Zone", most=20, least=8, rank=1)]
    assert fit(plan, [8, 8], room) == widths
