"""Where the values of a detail screen are broken."""

from __future__ import annotations

from textual.app import App, ComposeResult

from lockterm.domain.text.remote import Detail
from lockterm.widgets.details_table import DetailsTable


class _Fields(App[None]):
    CSS = "DetailsTable { padding: 0 1; }"
    rows_before: int
    """How many rows there were before the first layout."""

    def compose(self) -> ComposeResult:
        yield DetailsTable()

    def on_mount(self) -> None:
        words = "a b " * 60
        table = self.query_one(DetailsTable)
        table.show_fields([Detail("Extra data", words, words)])
        self.rows_before = table.row_count


async def test_lines_are_broken_alike_before_and_behind_the_first_layout() -> None:
    app = _Fields()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        table = app.query_one(DetailsTable)
        table.show_fields(table.fields)
        assert table.row_count == app.rows_before
