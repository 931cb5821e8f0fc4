"""A table of whole rows: columns that share the width there is, a cursor that stays on its row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.binding import Binding
from textual.strip import Strip
from textual.widgets import DataTable

GAP = 2
"""Cells between two columns."""


@dataclass(frozen=True, slots=True)
class Column:
    """How a column shares the width of the table."""

    title: str
    most: int = 24
    """The most cells it takes, however long its contents are."""
    least: int = 0
    """The fewest cells it can be read in; 0: as many as its title."""
    rank: int = 0
    """Columns of the highest rank give way first where not all fit; those of rank 0 never."""
    right: bool = False
    """Numbers stand at the right."""


class RowTable(DataTable[Text], inherit_bindings=False):
    """A table whose rows are known by a key; the screen owns enter and every letter but hjkl, gG.

    What is put in must be clean: see ``lockterm.text``.

    Args:
        columns: From left to right.
    """

    BINDINGS = [
        Binding("up,k", "cursor_up", "row up", show=False, id="row.up"),
        Binding("down,j", "cursor_down", "row down", show=False, id="row.down"),
        Binding("pageup", "page_up", "page up", show=False, id="row.page_up"),
        Binding("pagedown", "page_down", "page down", show=False, id="row.page_down"),
        Binding("home,g", "scroll_top", "first row", show=False, id="row.first"),
        Binding("end,G", "scroll_bottom", "last row", show=False, id="row.last"),
    ]

    def __init__(self, *columns: Column, id: str | None = None) -> None:
        super().__init__(id=id, cursor_type="row", cell_padding=0, zebra_stripes=False)
        self._plan = columns
        self._content: Mapping[str, Sequence[str]] = {}
        self._fitted_to = 0
        self._widths: Mapping[int, int] = {}

    @property
    def highlighted(self) -> str | None:
        """The key of the row under the cursor; None in an empty table."""
        if not self.is_valid_row_index(self.cursor_row):
            return None
        return self.coordinate_to_cell_key(self.cursor_coordinate).row_key.value

    def show(self, rows: Mapping[str, Sequence[str]], cursor: str | None = None) -> None:
        """Replace the rows.

        Args:
            rows: Key -> one clean string for each column.
            cursor: The row to stand on; by default the one of now, or its place where it is gone.
        """
        self._content = rows
        self._fill(cursor or self.highlighted)

    def show_cell(self, key: str, index: int, value: str) -> None:
        """Replace the cell of a row in the column of that index; the widths stay."""
        cells = [*self._content[key]]
        cells[index] = value
        self._content = {**self._content, key: cells}
        if index in self._widths:
            column = self.ordered_columns[list(self._widths).index(index)].key
            cell = _cell(value, self._widths[index], self._plan[index].right)
            self.update_cell(key, column, cell)

    def on_resize(self, event: events.Resize) -> None:
        """Share out the new width."""
        if self._content and event.size.width != self._fitted_to:
            self._fill(self.highlighted)

    def render_line(self, y: int) -> Strip:
        """A line in as few pieces as its styles allow: each piece costs 24 bytes of its own.

        The pieces of the base differ in the column that a click on them means; rows are all that
        matters here. Behind wide characters a new one begins, so that a picture of the screen keeps
        its columns in a font that has other widths for them.
        """
        strip = super().render_line(y)
        joined: list[Segment] = []
        for segment in strip:
            before = joined[-1] if joined else None
            if before is None or _is_wide(before) or _look(before) != _look(segment):
                joined.append(segment)
            else:
                joined[-1] = Segment(before.text + segment.text, before.style)
        return Strip(joined, strip.cell_length)

    def _set_hover_cursor(self, active: bool) -> None:
        """Without a mouse there is nothing to take back: the base paints row 0 with every key."""
        if active or self._show_hover_cursor:
            super()._set_hover_cursor(active)

    def _fill(self, cursor: str | None) -> None:
        row, top = self.cursor_row, self.scroll_y
        keys = list(self._content)
        if cursor is not None and cursor in self._content:
            row = keys.index(cursor)
        widths = fit(self._plan, list(self._content.values()), self._room())
        self._fitted_to, self._widths = self.size.width, widths
        with self.app.batch_update(), self.prevent(DataTable.RowHighlighted):
            self.clear(columns=True)
            for index, width in widths.items():
                column = self._plan[index]
                self.add_column(_cell(column.title, width, column.right), width=width + GAP)
            for key, cells in self._content.items():
                self.add_row(
                    *(_cell(cells[i], width, self._plan[i].right) for i, width in widths.items()),
                    key=key,
                )
            self.move_cursor(row=max(min(row, len(keys) - 1), 0), animate=False, scroll=False)
            self.scroll_to(y=top, animate=False, force=True)
        self.call_after_refresh(self._scroll_cursor_into_view)

    def _room(self) -> int:
        width = self.scrollable_content_region.width or self.app.size.width - 2
        return width


def _is_wide(segment: Segment) -> bool:
    return not segment.text.isascii() and cell_len(segment.text) != len(segment.text)


def _look(segment: Segment) -> tuple[object, ...] | None:
    """What a segment's style looks like, whatever it means to the mouse."""
    if (style := segment.style) is None:
        return None
    return style.color, style.bgcolor, style._attributes, style._set_attributes


def fit(plan: Sequence[Column], rows: Sequence[Sequence[str]], room: int) -> dict[int, int]:
    """Share out the width.

    Columns that do not fit at their least are left out by rank; what is left over goes to the
    columns whose contents are longer, from the left.

    Returns:
        Index of a column -> its width in cells, without the gap behind it.
    """
    least, wanted = [], []
    for index, column in enumerate(plan):
        title = cell_len(column.title)
        content = max((cell_len(row[index]) for row in rows), default=0)
        least.append(min(max(content, title), column.least or title, column.most))
        wanted.append(max(min(max(content, title), column.most), least[-1]))
    chosen = list(range(len(plan)))
    while sum(least[i] + GAP for i in chosen) - GAP > room:
        giving = [i for i in chosen if plan[i].rank]
        if not giving:
            break
        chosen.remove(max(giving, key=lambda i: plan[i].rank))
    left = room - sum(least[i] + GAP for i in chosen) + GAP
    widths = {}
    for i in chosen:
        more = min(max(left, 0), wanted[i] - least[i])
        widths[i] = least[i] + more
        left -= more
    return widths


def _cell(value: str, width: int, right: bool) -> Text:
    length = cell_len(value)
    if length > width:
        value = set_cell_size(value, max(width - 1, 0)).rstrip() + "…"
    elif right:
        value = " " * (width - length) + value
    return Text(value, no_wrap=True, end="")
