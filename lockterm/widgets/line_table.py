"""A table that makes its lines when they are seen: ten thousand rows cost what twenty do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import Reactive, var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from lockterm.terminal.colors import colors_of, readable, state_color
from lockterm.terminal.patches import follow_size
from lockterm.widgets.bindings import bindings

Piece = tuple[str, str]
"""A clean text, and how it looks: nothing, ``BOLD``, or a name of :data:`STATES`."""

BOLD = "bold"
STATES = {
    **dict.fromkeys(("ended", "month", "open", "ahead", "unclear"), Style()),
    **dict.fromkeys(("week", "disagree", "coerced"), Style(bold=True)),
}
"""The state of a remote -> how it looks where it has no color; a sign tells each as well."""

READ_ON = 4.5
"""The least contrast of these to what is behind them."""

TITLES = 1
"""Lines above the rows."""

MARGIN = " "
"""Left of each row."""
CURSOR = ">"
"""In its place where styles leave the row under the cursor as it is: quiet sends two cells for a
move, and not two rows."""
MARK = "*"
"""In the place of the margin of a row that is marked; every terminal has it, a cell wide."""

_BOLD = Style(bold=True)


@dataclass(frozen=True, slots=True)
class Sorting:
    """What rows are sorted by."""

    key: str
    """What is known of the column: its title, or what the choices call it; shown or not."""
    descending: bool = False

    @classmethod
    def after(cls, before: Self | None, key: str) -> Self | None:
        """What is sorted by once a column was chosen: up, then down, then not at all."""
        if before is None or before.key != key:
            return cls(key)
        return None if before.descending else cls(key, descending=True)

    @property
    def marker(self) -> str:
        """What stands behind the column's title; plain ASCII."""
        return "v" if self.descending else "^"


@dataclass(frozen=True, slots=True)
class _Looks:
    """The styles of the lines; all but the first go on top of another."""

    plain: Style
    cursor: Style
    of_pieces: dict[str, Style]
    """Filled as they are seen."""


class LineTable(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows below their titles, with a cursor; the screen owns enter and every letter but hjkl, gG.

    What is shown must be clean: see ``lockterm.domain.safe_text``.
    """

    BINDINGS = bindings("table")
    COMPONENT_CLASSES = {"line-table--titles", "line-table--cursor", "line-table--pointed"}

    is_margin_styled: ClassVar[bool] = True
    """Whether the margin looks like the row behind it."""

    virtual_size = Reactive(Size(0, 0))
    """What all lines take. Textual lays the screen out anew whenever that changes."""

    cursor_row: var[int] = var(0, init=False)
    """The row under the cursor, counted from 0."""

    pointed_row: var[int | None] = var[int | None](None, init=False)
    """The row under the mouse, until a key is pressed."""

    class Moved(Message):
        """The cursor stands on another row, and not because the rows are others."""

    class Chosen(Message):
        """The row under the cursor was clicked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.row_count = 0
        """How many rows there are."""
        self._looks: _Looks
        """As of the last paint."""
        self.is_cursor_written = False
        """Whether :data:`CURSOR` stands in the margin of the row under the cursor."""

    @abstractmethod
    def titles(self) -> Iterable[Piece]:
        """The line of titles, from left to right."""

    @abstractmethod
    def line(self, row: int) -> Iterable[Piece]:
        """The line of a row, from left to right."""

    def is_marked(self, row: int) -> bool:
        """Whether a row is marked: :data:`MARK` stands in its margin, unless the cursor does."""
        return False

    @abstractmethod
    def measure_again(self) -> None:
        """Share out the width anew: how wide texts are has changed."""

    def set_lines(self, width: int, rows: int, cursor: int) -> None:
        """Show other lines; all that was seen is painted anew.

        Args:
            width: Cells of the longest line, without the margin.
            rows: How many rows there are.
            cursor: The row to stand on; where there are fewer, the last one.
        """
        self.row_count = rows
        self.set_reactive(LineTable.cursor_row, self.validate_cursor_row(cursor))
        size = Size(len(MARGIN) + width, rows + TITLES)
        if size != self.virtual_size:  # the scroll bar would be painted anew
            self.virtual_size = size
            follow_size(self)
        self.see_cursor()  # else rows would be painted where they stood, and then where they stand
        self.refresh(layout=self.styles.auto_dimensions)
        self.call_after_refresh(self.see_cursor)  # there may be more room or less, too

    def see_cursor(self) -> None:
        """Scroll no farther than it takes to see the row under the cursor."""
        room = self.scrollable_content_region.height - TITLES
        if room > 0:
            top = max(min(self.scroll_offset.y, self.cursor_row), self.cursor_row - room + 1)
            self.scroll_to(y=top, animate=False, force=True)

    def move_cursor(self, row: int) -> None:
        """Stand on a row; before the first and behind the last there is none."""
        self.cursor_row = row

    # --- the cursor ----------------------------------------------------------------------------

    @property
    def cursor_screen_offset(self) -> Offset:
        """Where the terminal's own cursor belongs: on the row under the cursor."""
        down = TITLES + self.cursor_row - self.scroll_offset.y if self.row_count else 0
        return self.content_region.offset + Offset(len(MARGIN), down)

    def validate_cursor_row(self, row: int) -> int:
        """Stay among the rows there are."""
        return max(min(row, self.row_count - 1), 0)

    def watch_cursor_row(self, old: int, new: int) -> None:
        """Paint the row that was left and the one that is reached."""
        self.refresh_lines(old + TITLES)
        self.refresh_lines(new + TITLES)
        self.see_cursor()
        self.post_message(self.Moved())

    def watch_pointed_row(self, old: int | None, new: int | None) -> None:
        """Paint what the mouse has left, and what it points at."""
        for row in (old, new):
            if row is not None:
                self.refresh_lines(row + TITLES)

    def on_key(self) -> None:
        """Who types does not point."""
        self.pointed_row = None

    def action_cursor_up(self) -> None:
        """Move one row up."""
        self.cursor_row -= 1

    def action_cursor_down(self) -> None:
        """Move one row down."""
        self.cursor_row += 1

    def action_page_up(self) -> None:
        """Move up by as many rows as are seen."""
        self._turn(-1)

    def action_page_down(self) -> None:
        """Move down by as many rows as are seen."""
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
        """Show what a click would mean."""
        self.pointed_row = self._row_at(event.y)

    def on_leave(self) -> None:
        """The mouse points elsewhere."""
        self.pointed_row = None

    def on_click(self, event: events.Click) -> None:
        """Stand on the row; a click on the one under the cursor chooses it."""
        if event.y < TITLES:
            self.click_title(event.x)
        row = self._row_at(event.y)
        if row is None:
            return
        event.stop()
        if row == self.cursor_row:
            self.post_message(self.Chosen())
        self.cursor_row = row

    def click_title(self, x: int) -> None:
        """Do what a click on the titles means, if anything: at the cell counted from the left."""

    def _row_at(self, y: int) -> int | None:
        row = y - TITLES + self.scroll_offset.y
        return row if y >= TITLES and row < self.row_count else None

    def on_hide(self, event: events.Hide) -> None:
        """Keep the focus while there are no rows to show.

        The base gives it up, but hears of being hidden only with the next layout: whoever went on
        typing before that found the focus elsewhere than whoever waited.
        """
        event.prevent_default()

    # --- painting ------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """Some of the lines; how they look is asked of the stylesheet once for all of them."""
        cursor = self.get_component_rich_style("line-table--cursor")
        self._looks = _Looks(self.rich_style, cursor, {BOLD: _BOLD})
        self.is_cursor_written = not (cursor.reverse or cursor.underline)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """A line in as few pieces as its styles allow: each piece costs 24 bytes of its own."""
        looks, row = self._looks, y - TITLES + self.scroll_offset.y
        style, mark = looks.plain, MARGIN
        if y < TITLES:
            pieces = self.titles()
            style += self.get_component_rich_style("line-table--titles")
        elif row < self.row_count:
            pieces = self.line(row)
            mark = MARK if self.is_marked(row) else MARGIN
            if row == self.pointed_row:
                style += self.get_component_rich_style("line-table--pointed")
            if row == self.cursor_row:
                style += looks.cursor
                mark = CURSOR if self.is_cursor_written else mark
        else:
            return Strip.blank(self.size.width, style)
        pieces = [*pieces]
        if self.is_margin_styled:
            pieces.insert(0, (mark, ""))
        left = self.size.width - len(mark) * (not self.is_margin_styled)
        pieces.append((" " * (left - sum(cell_len(text) for text, _ in pieces)), ""))
        segments = [
            Segment(text, self._styled(style, look) if look else style)
            for text, look in _joined(pieces)
        ]
        if not self.is_margin_styled:
            segments.insert(0, Segment(mark, looks.plain))
        return Strip(segments).adjust_cell_length(self.size.width)

    def _styled(self, line: Style, look: str) -> Style:
        """How a piece of a line looks: by its color, and by its weight where it has none.

        Both would cost bytes in each row, and bold is drawn in other colors by many terminals.
        """
        looks = self._looks.of_pieces
        if look not in looks:
            color = None if self.app.no_color else state_color(self.app.theme_variables, look)
            looks[look] = STATES[look] if color is None else Style(color=color)
        own = looks[look]
        if line.reverse:  # its ground would have that color
            return line + Style(bold=own.bold)
        return readable(line + own, colors_of(self.app.console), READ_ON)


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Pieces that look alike in one, up to wide characters: behind these a new one begins.

    So a picture of the screen keeps its columns in a font that has other widths for them.
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
