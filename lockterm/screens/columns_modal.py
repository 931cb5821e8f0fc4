"""The dialog in which the columns of a table are chosen, ordered and sorted by."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Label, OptionList
from textual.widgets.option_list import Option

from lockterm.keymap.spoken import said
from lockterm.screens.base import LocktermModal
from lockterm.screens.choice_modal import Choices
from lockterm.widgets.remote_columns import COLUMNS, USUAL, Arrangement, Order

ALWAYS = "name"
"""The column that is always there: without it, one would act on a remote one cannot tell apart."""

HINT = (
    "{columns.show} show, {columns.down}/{columns.up} move, {columns.sort} sort,"
    " {columns.usual} usual, {columns.use} use, esc leave"
)


class ColumnsModal(LocktermModal[Arrangement | None]):
    """Ask for columns, their order and a sort; answers with them, or with None.

    Every column has a line, those that are shown and those that are not; the marks are ASCII.

    Args:
        arrangement: What is chosen now.
        left_out: The columns of an arrangement for which the terminal has no room.
    """

    BINDINGS = [
        Binding("space", "show", "show or hide", id="columns.show"),
        Binding("J,shift+down", "move(1)", "move down", id="columns.down"),
        Binding("K,shift+up", "move(-1)", "move up", id="columns.up"),
        Binding("s", "sort", "sort", id="columns.sort", tooltip="Sort up, down, or not at all"),
        Binding("0", "usual", "as usual", id="columns.usual", tooltip="The usual columns again"),
        Binding("ctrl+s", "use", "use", id="columns.use", tooltip="Show the table like this"),
    ]

    def __init__(
        self, arrangement: Arrangement, left_out: Callable[[Arrangement], Sequence[str]]
    ) -> None:
        super().__init__()
        self._left_out = left_out
        self._take(arrangement)

    @property
    def chosen(self) -> Arrangement:
        """What the lines say."""
        shown = tuple(key for key in self._keys if key in self._shown)
        return Arrangement.of(shown, self._order)

    def compose(self) -> ComposeResult:
        """The columns, what does not fit, the sort, the keys, two buttons."""
        with Vertical(classes="dialog"):
            yield Label("Columns of the remotes", markup=False, classes="question")
            yield Choices(*map(Option, self._lines()), compact=True, markup=False)
            yield Label(self._fit_words(), id="fit", markup=False)
            yield Label(self._sort_words(), id="sort", markup=False)
            yield Label(said(HINT), markup=False, classes="hint")
            with Horizontal(classes="buttons"):
                yield Button("Cancel", id="keep", compact=True)
                yield Button("Use these columns", "primary", id="act", compact=True)

    def on_mount(self) -> None:
        """Stand on the first column."""
        self.query_one(Choices).focus()
        self.query_one(Choices).highlighted = 0

    # --- words ---------------------------------------------------------------------------------

    def _lines(self) -> list[Content]:
        without_room = self._left_out(self.chosen)
        lines = []
        for key in self._keys:
            box = "[ ]" if key not in self._shown else "[-]" if key in without_room else "[x]"
            column, order = COLUMNS[key], self._order
            marker = order.marker if order is not None and order.key == key else " "
            lines.append(Content(f"{box} {column.title:<8} {marker} {column.about}"))
        return lines

    def _fit_words(self) -> str:
        without_room = self._left_out(self.chosen)
        if not without_room:
            return "All of them fit."
        count = "1 column does" if len(without_room) == 1 else f"{len(without_room)} columns do"
        return f"[-] {count} not fit: {', '.join(COLUMNS[key].title for key in without_room)}"

    def _sort_words(self) -> str:
        if self._order is None:
            return "Rows in the order of the service."
        words = self._order.words
        return f"{words[0].upper()}{words[1:]}, page by page."

    # --- what is chosen ------------------------------------------------------------------------

    def _take(self, arrangement: Arrangement) -> None:
        shown = arrangement.columns or USUAL
        self._keys = [*shown, *(key for key in COLUMNS if key not in shown)]
        self._shown = set(shown)
        self._order = arrangement.order

    def _at(self) -> int | None:
        """The line that the keys change; none while a button has the focus."""
        choices = self.query_one(Choices)
        return choices.highlighted if choices.has_focus else None

    def _repaint(self, place: int) -> None:
        choices = self.query_one(Choices)
        for index, line in enumerate(self._lines()):
            choices.replace_option_prompt_at_index(index, line)
        choices.highlighted = place
        self.query_one("#fit", Label).update(self._fit_words())
        self.query_one("#sort", Label).update(self._sort_words())

    # --- actions -------------------------------------------------------------------------------

    def action_show(self) -> None:
        """Show the column, or hide it; the name stays."""
        if (place := self._at()) is None:
            return
        key = self._keys[place]
        if key == ALWAYS:
            self.query_one("#fit", Label).update("The name stays: what is done names its remote.")
            return
        self._shown ^= {key}
        self._repaint(place)

    def action_move(self, by: int) -> None:
        """Move the column among the others."""
        place = self._at()
        if place is not None and 0 <= place + by < len(self._keys):
            keys = self._keys
            keys[place], keys[place + by] = keys[place + by], keys[place]
            self._repaint(place + by)

    def action_sort(self) -> None:
        """Sort by the column: up, down, not at all."""
        if (place := self._at()) is None:
            return
        key, order = self._keys[place], self._order
        if order is None or order.key != key:
            self._order = Order(key)
        else:
            self._order = None if order.descending else Order(key, descending=True)
        self._repaint(place)

    def action_usual(self) -> None:
        """The usual columns in the order of the service."""
        self._take(Arrangement())
        self._repaint(0)

    def action_use(self) -> None:
        """Answer."""
        self.dismiss(self.chosen)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter, or a click on a line."""
        self.action_show()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer or leave."""
        self.dismiss(self.chosen if event.button.id == "act" else None)
