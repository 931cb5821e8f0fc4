"""The yardstick: a bare Textual app with a table of 20 rows of 6 columns and a footer."""

from textual.app import App, ComposeResult
from textual.widgets import DataTable, Footer


class Hello(App[None]):
    """``n`` replaces the page, ``a`` opens a form of six fields."""

    BINDINGS = [("n", "page", "next page"), ("a", "form", "form"), ("q", "quit", "quit")]
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

    def action_form(self) -> None:
        from textual.screen import Screen
        from textual.widgets import Input, Label

        class Form(Screen[None]):
            def compose(self) -> ComposeResult:
                for name in ("Name", "Number", "Type", "Valid", "State", "Added"):
                    yield Label(name)
                    yield Input(compact=True)
                yield Footer()

            def on_mount(self) -> None:
                for field in self.query(Input):
                    field.cursor_blink = False

        self.push_screen(Form())


if __name__ == "__main__":
    Hello().run()
