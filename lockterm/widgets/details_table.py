"""A table with a label and a value in each row, in which long values wrap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import chop_cells
from textual import events
from textual.geometry import Size

from lockterm.domain.glyphs import ellipsis
from lockterm.domain.reading import in_sentence
from lockterm.keymap.hints import with_keys
from lockterm.terminal.clipboard import copy
from lockterm.widgets.line_table import MARGIN, Piece
from lockterm.widgets.row_table import GAP, Column, RowTable

if TYPE_CHECKING:
    from lockterm.domain.text.remote import Detail

LABEL = 14
"""The width of the column with the labels, in cells."""

MOST_ROWS = 200
"""The maximum number of rows for one value. The copy key copies the whole value even if the value
is longer."""


class DetailsTable(RowTable):
    """A table of fields with their values, from which the user can copy the selected value.

    Args:
        beside: The width of the panel that a wide terminal shows beside the table, in cells.
        id: The ID of the widget.
    """

    def __init__(self, *, beside: int = 0, id: str | None = None) -> None:
        label = Column("Field", most=LABEL, least=LABEL)
        super().__init__(label, Column("Value", most=1000, least=20), id=id)
        self.fields: Sequence[Detail] = ()
        """The fields, from top to bottom."""
        self.show_titles(["Details"])
        self._beside = beside
        self._wrapped_to = Size(0, 0)

    @property
    def selected(self) -> Detail | None:
        """The field whose value is under the cursor; None if the table is empty."""
        key = self.highlighted
        return self.fields[int(key.partition(":")[0])] if key is not None else None

    def show_fields(self, fields: Sequence[Detail]) -> None:
        """Replace the fields, and keep the cursor on the row with the same index."""
        self.fields = fields
        self._wrap()

    def copy(self) -> None:
        """Copy the selected value to the clipboard."""
        if (field := self.selected) is not None and field.raw:
            copy(self.app, field.raw, in_sentence(field.label) or "value", lines="\n" in field.raw)

    def line(self, row: int) -> Iterator[Piece]:
        """Yield the pieces of a row, with an icon before the text if the value is a state."""
        label, *rest = super().line(row)
        state = self.fields[int(self._keys[row].partition(":")[0])].state
        yield label
        if state is not None:
            yield f"{state.sign} ", state.look
        yield from rest

    def on_resize(self, event: events.Resize) -> None:
        if self.fields and self.app.size != self._wrapped_to:
            self._wrap()

    def _wrap(self) -> None:
        # Use the terminal's width, which is known before the first layout. The table's own width is
        # not, and lines would then wrap differently. One column is for the scrollbar.
        self._wrapped_to = self.app.size
        around = self.styles.gutter.width + len(MARGIN) + LABEL + GAP + 1
        around += self._beside if self.screen.has_class("-wide") else 0
        room = max(self._wrapped_to.width - around, 10)
        rows: dict[str, tuple[str, str]] = {}
        for index, field in enumerate(self.fields):
            lines: list[str] = []
            for line in field.shown.split("\n"):
                lines += _broken(line, room)
                if len(lines) > MOST_ROWS:
                    more = with_keys("and more ({remote.copy} copies the whole value)")
                    lines[MOST_ROWS:] = [f"{ellipsis()} {more}"]
                    break
            for place, line in enumerate(lines):
                rows[f"{index}:{place}"] = (field.label if place == 0 else "", line)
        self.show(rows)


def _broken(line: str, room: int) -> list[str]:
    """Split a line into pieces of at most ``room`` cells, between words if possible."""
    pieces: list[str] = []
    while line and len(pieces) <= MOST_ROWS:
        head = chop_cells(line[:room], room)[0]
        space = head.rfind(" ")
        if len(head) < len(line) and space > room // 2:
            head = head[: space + 1]
        pieces.append(head.rstrip())
        line = line[len(head) :]
    return pieces or [""]
