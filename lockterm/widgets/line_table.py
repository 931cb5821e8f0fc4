"""A table that builds only its visible lines, so that 10,000 rows cost no more than 20."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
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
from lockterm.widgets.bindings import bindings

Piece = tuple[str, str]
"""A clean text and its look: empty, a key of :data:`STATES`, ``BOLD`` or ``BADGE``."""

BOLD, BADGE = "bold", "badge"
STATES = {
    "ended": Style(dim=True),
    **dict.fromkeys(("month", "open", "ahead", "unclear"), Style()),
    **dict.fromkeys(("week", "disagree", "coerced"), Style(bold=True)),
}
"""The style of each state of a remote without color; an icon shows the state too."""

READ_ON = 4.5
"""Minimum contrast between the text of a state and its background."""

TITLES = 1
"""Number of lines above the rows."""

MARGIN = " "
"""Text to the left of each row."""
CURSOR = ">"
"""The margin of the row under the cursor if its style does not show the cursor."""
MARK = "*"
"""The margin of a marked row, as a badge: an ASCII character one cell wide."""

_BOLD = Style(bold=True)


class Sorting(NamedTuple):
    """The sort order of the rows."""

    key: str
    """The column's title, or its name in the preferences; the column may be hidden."""
    descending: bool = False

    @classmethod
    def after(cls, before: Self | None, key: str) -> Self | None:
        """Return the next order after a column is chosen: ascending, descending, then unsorted."""
        if before is None or before.key != key:
            return cls(key)
        return None if before.descending else cls(key, descending=True)

    @property
    def marker(self) -> str:
        """The ASCII marker behind the column's title."""
        return "v" if self.descending else "^"


class _Looks(NamedTuple):
    """The styles of the lines; all except ``plain`` are added to another style."""

    plain: Style
    cursor: Style
    of_pieces: dict[str, Style]
    """Look -> its style; a cache that is filled when a look is first painted."""


class LineTable(ScrollView, can_focus=True, inherit_bindings=False):
    """A table of rows below a line of titles, with a cursor.

    The screen handles Enter and all letters except j, k, g and G. The texts must be clean; see
    ``lockterm.domain.safe_text``.
    """

    BINDINGS = bindings("table")
    COMPONENT_CLASSES = {
        "line-table--titles",
        "line-table--cursor",
        "line-table--pointed",
        "line-table--badge",
    }

    virtual_size = Reactive(Size(0, 0))
    """The size of all lines, without Textual's new layout of the screen at each change."""

    cursor_row: var[int] = var(0, init=False)
    """The index of the row under the cursor, from 0."""

    pointed_row: var[int | None] = var[int | None](None, init=False)
    """The index of the row under the mouse until a key is pressed, or None."""

    class Moved(Message):
        """The cursor has moved to another row; not sent when the rows are replaced."""

    class Chosen(Message):
        """The user clicked the row under the cursor."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.row_count = 0
        """Number of rows."""
        self._title = ""
        self._looks: _Looks
        """The styles of the last paint."""
        self.is_cursor_written = False
        """Whether :data:`CURSOR` is in the margin of the row under the cursor.

        In low-bandwidth mode, a move then sends two cells instead of two rows.
        """

    @abstractmethod
    def titles(self) -> Iterable[Piece]:
        """Return the titles, from left to right."""

    @abstractmethod
    def line(self, row: int) -> Iterable[Piece]:
        """Return the line of a row, from left to right."""

    def row_look(self, row: int) -> str:
        """Return the look for the pieces of a row that have no look of their own."""
        return ""

    def is_marked(self, row: int) -> bool:
        """Return whether a row is marked. The cursor hides :data:`MARK` in the margin."""
        return False

    def margin_sign(self, row: int) -> str:
        """Return a sign for the margin of an unmarked row; empty for none."""
        return ""

    @abstractmethod
    def measure_again(self) -> None:
        """Recompute the column widths after the widths of texts have changed."""

    def set_lines(self, width: int, rows: int, cursor: int) -> None:
        """Replace the lines and repaint the visible ones.

        Args:
            width: Cells of the longest line, without the margin.
            rows: Number of rows.
            cursor: The row for the cursor; the last row if there are fewer rows.
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

    def show_title(self, title: str) -> None:
        """Show a clean text in the frame, if there is a frame; skip an unchanged text."""
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
        """Return the nearest row that exists."""
        return max(min(row, self.row_count - 1), 0)

    def watch_cursor_row(self, old: int, new: int) -> None:
        """Repaint the old and the new row."""
        self.refresh_lines(old + TITLES)
        self.refresh_lines(new + TITLES)
        self.see_cursor()
        self.post_message(self.Moved())

    def watch_pointed_row(self, old: int | None, new: int | None) -> None:
        """Repaint the rows that the mouse left and entered."""
        for row in (old, new):
            if row is not None:
                self.refresh_lines(row + TITLES)

    def on_key(self) -> None:
        """Clear the row under the mouse, because the user is typing."""
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
        """Clear the row under the mouse."""
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
        """Handle a click on the titles at a cell counted from the left."""

    def _row_at(self, event: events.MouseEvent) -> int | None:
        place = event.get_content_offset(self)
        if place is None or place.y < TITLES:
            return None
        row = place.y - TITLES + self.scroll_offset.y
        return row if row < self.row_count else None

    def on_hide(self, event: events.Hide) -> None:
        """Keep the focus while the table is hidden because it has no rows.

        Textual would drop the focus, but only with the next layout. Fast typing would then find the
        focus elsewhere than slow typing.
        """
        event.prevent_default()

    # --- painting ------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines in a region; query the style sheet once for all of them."""
        cursor = self.get_component_rich_style("line-table--cursor")
        is_reversed = self.app.theme_variables.get("table-cursor") == "reverse"
        if is_reversed and not cursor.underline:  # a line shows a table without the focus
            cursor = Style(reverse=True)
        badge = self.get_component_rich_style("line-table--badge", partial=True)
        self._looks = _Looks(self.rich_style, cursor, {BOLD: _BOLD, BADGE: badge})
        self.is_cursor_written = cursor.bgcolor == self.rich_style.bgcolor and not (
            cursor.reverse or cursor.underline
        )
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Return a line in as few segments as possible; each costs about 24 bytes."""
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
        """Return the style of a piece of a line: its color, or its weight if it has no color.

        Both would cost bytes in each row, and many terminals draw bold in other colors.
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
    """Join neighboring pieces that look alike; start a new piece after wide characters.

    An SVG picture of the screen then keeps its columns in fonts with other widths.
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
