"""A table that builds only its visible lines, so that 10,000 rows are as fast as 20 rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.content import Content
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import Reactive, var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from lockterm.terminal.colors import colors_of, readable
from lockterm.terminal.patches import follow_size
from lockterm.terminal.themes import state_color
from lockterm.widgets.actions import bindings

Piece = tuple[str, str]
"""A text without control characters, and its look: empty, a key of :data:`STATES`, ``BOLD`` or
``BADGE``."""

BOLD, BADGE = "bold", "badge"
STATES = {
    "ended": Style(dim=True),
    **dict.fromkeys(("month", "open", "ahead", "unclear"), Style()),
    **dict.fromkeys(("week", "disagree", "coerced"), Style(bold=True)),
}
"""Maps the looks of remotes' states to their styles without color. An icon also shows each
state."""

READ_ON = 4.5
"""The minimum contrast ratio between the text of a state and its background."""

TITLES = 1
"""The number of lines above the rows."""

MARGIN = " "
"""The text to the left of each row."""
CURSOR = ">"
"""The margin of the row under the cursor, if the style of this row does not show the cursor."""
MARK = "*"
"""The margin of a marked row: an ASCII character one cell wide, shown as a badge."""

CORNERS = len("╭─  ─╮")
"""The number of cells in the top line of a frame that are not part of the title."""

_BOLD = Style(bold=True)


class Sorting(NamedTuple):
    """The sort order of the rows."""

    key: str
    """The title of the column, which may be hidden. A subclass may use the column's name in the
    preferences instead."""
    descending: bool = False

    @classmethod
    def after(cls, before: Self | None, key: str) -> Self | None:
        """Return the next order after the user chose a column: ascending, descending, then None.

        Args:
            before: The order until now; None if the user has chosen no order.
            key: The column that the user chose.
        """
        if before is None or before.key != key:
            return cls(key)
        return None if before.descending else cls(key, descending=True)

    @property
    def marker(self) -> str:
        """The ASCII character after the column's title that shows the direction."""
        return "v" if self.descending else "^"


class _Looks(NamedTuple):
    """The styles for painting lines. Each style except ``plain`` is added to another style."""

    plain: Style
    cursor: Style
    of_pieces: dict[str, Style]
    """Maps the looks of pieces to styles. An entry is added when its look is first painted."""


class LineTable(ScrollView, can_focus=True, inherit_bindings=False):
    """A table of rows with a cursor, below a line of titles.

    The screen handles Enter and all letters except j, k, g and G. All texts must be free of control
    characters; see ``lockterm.domain.safe_text``.
    """

    BINDINGS = bindings("table")
    COMPONENT_CLASSES = {
        "line-table--titles",
        "line-table--cursor",
        "line-table--pointed",
        "line-table--badge",
    }

    virtual_size = Reactive(Size(0, 0))
    """The size of all lines together. Unlike in Textual, a change causes no new layout of the
    screen."""

    cursor_row: var[int] = var(0, init=False)
    """The index of the row under the cursor, counted from 0."""

    pointed_row: var[int | None] = var[int | None](None, init=False)
    """The index of the row under the mouse; None if there is none, or after a key press."""

    class Moved(Message):
        """Posted when the cursor has moved to another row, but not when the rows are replaced."""

    class Chosen(Message):
        """Posted when the user clicks the row that is already under the cursor."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.row_count = 0
        """The number of rows."""
        self._title = ""
        self._titles: Sequence[str] = ("",)
        self._looks: _Looks
        """The styles with which the table was last painted."""
        self.is_cursor_written = False
        """Whether the margin of the row under the cursor shows :data:`CURSOR`.

        In low-bandwidth mode, moving the cursor then sends two cells instead of two rows.
        """

    @abstractmethod
    def titles(self) -> Iterable[Piece]:
        """Return the pieces of the line with the titles, from left to right."""

    @abstractmethod
    def line(self, row: int) -> Iterable[Piece]:
        """Return the pieces of a row, from left to right."""

    def row_look(self, row: int) -> str:
        """Return the look for the pieces of a row that have no look of their own."""
        return ""

    def is_marked(self, row: int) -> bool:
        """Return whether a row is marked.

        In the margin of the row under the cursor, the cursor hides the mark.
        """
        return False

    def margin_sign(self, row: int) -> str:
        """Return a character for the margin of an unmarked row; may be empty."""
        return ""

    @abstractmethod
    def measure_again(self) -> None:
        """Compute the column widths again after the widths of texts have changed."""

    def set_lines(self, width: int, rows: int, cursor: int) -> None:
        """Set the size of the table, and repaint the visible lines.

        Args:
            width: The width of the longest line without the margin, in cells.
            rows: The number of rows.
            cursor: The index of the row to move the cursor to; if there are fewer rows, the cursor
                is on the last row.
        """
        self.row_count = rows
        self.set_reactive(LineTable.cursor_row, self.validate_cursor_row(cursor))
        size = Size(len(MARGIN) + width, rows + TITLES)
        if size != self.virtual_size:  # avoid repainting the scrollbar
            self.virtual_size = size
            follow_size(self)
        self.see_cursor()  # scroll first, so that the rows are painted only once
        self.refresh(layout=self.styles.auto_dimensions)
        self.call_after_refresh(self.see_cursor)  # the layout may change the room too

    def show_titles(self, titles: Sequence[str]) -> None:
        """Show the first title that fits into the frame, if there is a frame.

        Args:
            titles: Safe texts, the longest first.
        """
        self._titles = titles
        self._fit_title()

    def on_resize(self, event: events.Resize) -> None:
        self._fit_title()

    def _fit_title(self) -> None:
        room = self.outer_size.width - CORNERS
        fitting = (one for one in self._titles if cell_len(one) <= room)
        title = next(fitting, self._titles[-1])
        if title != self._title:
            self._title = title
            self.border_title = Content(title)

    def see_cursor(self) -> None:
        """Scroll just far enough to show the row under the cursor."""
        room = self.scrollable_content_region.height - TITLES
        if room > 0:
            top = max(min(self.scroll_offset.y, self.cursor_row), self.cursor_row - room + 1)
            self.scroll_to(y=top, animate=False, force=True)

    def move_cursor(self, row: int) -> None:
        """Move the cursor to a row, or to the nearest row that exists."""
        self.cursor_row = row

    # --- the cursor ----------------------------------------------------------------------------

    @property
    def cursor_screen_offset(self) -> Offset:
        """The position of the terminal's cursor: on the row under the cursor."""
        down = TITLES + self.cursor_row - self.scroll_offset.y if self.row_count else 0
        return self.content_region.offset + Offset(len(MARGIN), down)

    def validate_cursor_row(self, row: int) -> int:
        """Return the index of the nearest row that exists."""
        return max(min(row, self.row_count - 1), 0)

    def watch_cursor_row(self, old: int, new: int) -> None:
        """Repaint the old and the new row."""
        self.refresh_lines(old + TITLES)
        self.refresh_lines(new + TITLES)
        self.see_cursor()
        self.post_message(self.Moved())

    def watch_pointed_row(self, old: int | None, new: int | None) -> None:
        """Repaint the row that the mouse has left, and the row that it has entered."""
        for row in (old, new):
            if row is not None:
                self.refresh_lines(row + TITLES)

    def on_key(self) -> None:
        """Forget the row under the mouse, because the user is using the keyboard."""
        self.pointed_row = None

    def action_cursor_up(self) -> None:
        """Move one row up."""
        self.cursor_row -= 1

    def action_cursor_down(self) -> None:
        """Move one row down."""
        self.cursor_row += 1

    def action_page_up(self) -> None:
        """Move up by the number of visible rows."""
        self._turn(-1)

    def action_page_down(self) -> None:
        """Move down by the number of visible rows."""
        self._turn(1)

    def _turn(self, pages: int) -> None:
        rows = pages * (self.scrollable_content_region.height - TITLES)
        self.scroll_relative(y=rows, animate=False, force=True)
        self.cursor_row += rows

    def action_scroll_top(self) -> None:
        """Move to the first row."""
        self.cursor_row = 0

    def action_scroll_bottom(self) -> None:
        """Move to the last row."""
        self.cursor_row = self.row_count - 1

    # --- the mouse -----------------------------------------------------------------------------

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Highlight the row that a click would choose."""
        self.pointed_row = self._row_at(event)

    def on_leave(self) -> None:
        """Forget the row under the mouse, because the mouse has left the table."""
        self.pointed_row = None

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the row, or choose the row if the cursor is already there."""
        x, y = event.get_content_offset_capture(self)
        if y == TITLES - 1:
            self.click_title(x)
        row = self._row_at(event)
        if row is None:
            return
        event.stop()
        if row == self.cursor_row:
            self.post_message(self.Chosen())
        self.cursor_row = row

    def click_title(self, x: int) -> None:
        """Handle a click on the titles at the cell ``x``, counted from the left."""

    def _row_at(self, event: events.MouseEvent) -> int | None:
        place = event.get_content_offset(self)
        if place is None or place.y < TITLES:
            return None
        row = place.y - TITLES + self.scroll_offset.y
        return row if row < self.row_count else None

    def on_hide(self, event: events.Hide) -> None:
        """Keep the focus while the table is hidden because it has no rows.

        Textual would remove the focus, but only at the next layout. Keys typed before this layout
        would go to another widget than keys typed after it.
        """
        event.prevent_default()

    # --- painting ------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines in a region, after looking up the styles once for all lines."""
        cursor = self.get_component_rich_style("line-table--cursor")
        is_reversed = self.app.theme_variables.get("table-cursor") == "reverse"
        if is_reversed and cursor.bgcolor != self.rich_style.bgcolor:  # a table with the focus
            cursor = Style(reverse=True)
        badge = self.get_component_rich_style("line-table--badge", partial=True)
        self._looks = _Looks(self.rich_style, cursor, {BOLD: _BOLD, BADGE: badge})
        self.is_cursor_written = cursor.bgcolor == self.rich_style.bgcolor and not (
            cursor.reverse or cursor.underline
        )
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Return a line with few segments, because each segment costs about 24 bytes."""
        looks, row = self._looks, y - TITLES + self.scroll_offset.y
        style, margin, row_look = looks.plain, (MARGIN, ""), ""
        if y < TITLES:
            pieces = self.titles()
            style += self.get_component_rich_style("line-table--titles")
        elif row < self.row_count:
            pieces, row_look = self.line(row), self.row_look(row)
            if row == self.cursor_row and self.is_cursor_written:
                margin = (CURSOR, "")
            elif self.is_marked(row):
                margin = (MARK, BADGE)
            else:
                # The row under the cursor has a bar in the color of the accent.
                has_bar = row == self.cursor_row and not looks.cursor.reverse
                margin = (self.margin_sign(row) or MARGIN, BADGE if has_bar else "")
            if row == self.pointed_row:
                style += self.get_component_rich_style("line-table--pointed")
            if row == self.cursor_row:
                style += looks.cursor
        else:
            return Strip.blank(self.size.width, style)
        pieces = [margin, *((text, look or row_look) for text, look in pieces)]
        room = self.size.width - sum(cell_len(text) for text, _ in pieces)
        segments = [
            Segment(text, self._styled(style, look) if look else style)
            for text, look in _joined([*pieces, (" " * room, "")])
        ]
        return Strip(segments).adjust_cell_length(self.size.width)

    def _styled(self, line: Style, look: str) -> Style:
        """Return the style of a piece of a line: the look's color, or bold or dim without colors.

        Color and bold together would cost bytes in each row, and many terminals show bold text in
        another color.
        """
        looks = self._looks.of_pieces
        if look not in looks:
            color = None if self.app.no_color else state_color(self.app.theme_variables, look)
            looks[look] = STATES[look] if color is None else Style(color=color)
        own = looks[look]
        if line.reverse:  # a reversed line would use the color as its background
            return line + Style(bold=own.bold)
        return readable(line + own, colors_of(self.app.console), READ_ON)


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Join neighboring pieces with the same look into one piece, except after wide characters.

    The exception keeps the columns of an SVG screenshot aligned in fonts whose wide characters have
    other widths.
    """
    joined: list[Piece] = []
    is_open = False
    for text, look in pieces:
        if is_open and joined[-1][1] == look:
            joined[-1] = (joined[-1][0] + text, look)
        else:
            joined.append((text, look))
        is_open = cell_len(text) == len(text)
    return joined
