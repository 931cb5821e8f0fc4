"""The yardstick: a bare Textual app with a table of 20 rows of 6 columns and a footer."""

from textual.app import App, ComposeResult
from textual.widgets import DataTable, Footer


class Hello(App[None]):
    """``n`` replaces the page."""

    BINDINGS = [("n", "page", "next page"), ("q", "quit", "quit")]
    page = 0

    def compose(self) -> ComposeResult:
        yield DataTable(cursor_type="row")
        yield Footer()

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        table.add_columns("Name", "Number", "Type", "Valid", "State", "Added")
        self.fill()

    def fill(self) -> None:
        table = self.query_one(DataTable)
        table.clear()
        for row in range(self.page * 20, self.page * 20 + 20):
            table.add_row(
                f"Remote {row:03}", f"A-{2000 + row}", "permanent", "always", "normal", "gateway"
            )

    def action_page(self) -> None:
        self.page += 1
        self.fill()


if __name__ == "__main__":
    Hello().run()
