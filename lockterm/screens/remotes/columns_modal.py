"""The dialog to choose the columns of the table, their order, and the sort order of its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Label, OptionList
from textual.widgets.option_list import Option

from lockterm.keymap.hints import with_keys
from lockterm.screens.dialogs.choice import ChoiceList
from lockterm.screens.modal import LocktermModal
from lockterm.screens.remotes.columns import ALWAYS, COLUMNS, USUAL, Arrangement, SortOrder
from lockterm.widgets.actions import bindings
from lockterm.widgets.form_field import CompactButton

HINT = (
    "{columns.show} show, {columns.down}/{columns.up} move, {columns.sort} sort,"
    " {columns.usual} default, {columns.use} use, Esc leave"
)


class ColumnsModal(LocktermModal[Arrangement | None]):
    """A dialog in which the user chooses the columns, their order and the sort order.

    The result is the chosen arrangement, or None if the dialog was canceled. Every column has a
    line in the dialog, whether or not the table shows it.

    Args:
        arrangement: The arrangement in use when the dialog opens.
        left_out: A function that returns the columns of an arrangement that do not fit the
            terminal.
    """

    BINDINGS = bindings("columns")

    heading = "Columns"

    def __init__(
        self, arrangement: Arrangement, left_out: Callable[[Arrangement], Sequence[str]]
    ) -> None:
        super().__init__()
        self._left_out = left_out
        self._take(arrangement)

    @property
    def chosen(self) -> Arrangement:
        """The arrangement that the dialog shows at the moment."""
        shown = tuple(key for key in self._keys if key in self._shown)
        return Arrangement.of(shown, self._order)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label("Columns of the remotes", markup=False, classes="question")
            yield ChoiceList(*map(Option, self._lines()), compact=True, markup=False)
            yield Label(self._describe_fit(), id="fit", markup=False)
            yield Label(self._describe_order(), id="sort", markup=False)
            yield Label(with_keys(HINT), markup=False, classes="hint")
            with Horizontal(classes="buttons"):
                yield CompactButton("Cancel", id="keep")
                yield CompactButton("Use these columns", "primary", id="act")

    def on_mount(self) -> None:
        self.query_one(ChoiceList).focus()
        self.query_one(ChoiceList).highlighted = 0

    # --- texts ---------------------------------------------------------------------------------

    def _lines(self) -> list[Content]:
        without_room = self._left_out(self.chosen)
        lines = []
        for key in self._keys:
            box = "[ ]" if key not in self._shown else "[-]" if key in without_room else "[x]"
            column, order = COLUMNS[key], self._order
            marker = order.marker if order is not None and order.key == key else " "
            lines.append(Content(f"{box} {column.title:<8} {marker} {column.about}"))
        return lines

    def _describe_fit(self) -> str:
        without_room = self._left_out(self.chosen)
        if not without_room:
            return "All columns fit."
        count = "1 column does" if len(without_room) == 1 else f"{len(without_room)} columns do"
        return f"[-] {count} not fit: {', '.join(COLUMNS[key].title for key in without_room)}"

    def _describe_order(self) -> str:
        if self._order is None:
            return "Rows in the order of the service."
        text = self._order.description
        return f"{text[0].upper()}{text[1:]}, on each page separately."

    # --- what is chosen ------------------------------------------------------------------------

    def _take(self, arrangement: Arrangement) -> None:
        shown = arrangement.columns or USUAL
        self._keys = [*shown, *(key for key in COLUMNS if key not in shown)]
        self._shown = set(shown)
        self._order = arrangement.order

    def _at(self) -> int | None:
        """Return the index of the highlighted line; None if a button has the focus."""
        choices = self.query_one(ChoiceList)
        return choices.highlighted if choices.has_focus else None

    def _repaint(self, place: int) -> None:
        choices = self.query_one(ChoiceList)
        for index, line in enumerate(self._lines()):
            choices.replace_option_prompt_at_index(index, line)
        choices.highlighted = place
        self.query_one("#fit", Label).update(self._describe_fit())
        self.query_one("#sort", Label).update(self._describe_order())

    # --- actions -------------------------------------------------------------------------------

    def action_show(self) -> None:
        """Show or hide the highlighted column. The name column cannot be hidden."""
        if (place := self._at()) is None:
            return
        key = self._keys[place]
        if key == ALWAYS:
            self.query_one("#fit", Label).update("The name column is always shown.")
            return
        self._shown ^= {key}
        self._repaint(place)

    def action_move(self, by: int) -> None:
        place = self._at()
        if place is not None and 0 <= place + by < len(self._keys):
            keys = self._keys
            keys[place], keys[place + by] = keys[place + by], keys[place]
            self._repaint(place + by)

    def action_sort(self) -> None:
        """Sort by the highlighted column: first ascending, then descending, then unsorted."""
        if (place := self._at()) is None:
            return
        self._order = SortOrder.after(self._order, self._keys[place])
        self._repaint(place)

    def action_usual(self) -> None:
        """Choose the default columns and the order of the service."""
        self._take(Arrangement())
        self._repaint(0)

    def action_use(self) -> None:
        self.dismiss(self.chosen)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.action_show()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(self.chosen if event.button.id == "act" else None)
