"""Sends only the changed cells to the terminal.

Textual sends each painted region as a whole. For a page of twenty rows, that is six times as many
bytes as have changed. This module stores the last frame and compares each painted region with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import repeat
from operator import ne
from typing import TYPE_CHECKING, Any

from rich.cells import split_graphemes
from rich.color import Color, ColorSystem
from rich.console import Console
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.app import App
from textual.geometry import Offset
from textual.strip import SGR_STYLES, Strip

from lockterm.terminal.cell_writer import SEEN_ON_BLANKS, CellWriter
from lockterm.terminal.colors import colors_of
from lockterm.terminal.widths import (
    Cell,
    doubtful_cells,
    drawn_alone,
    is_ambiguous,
    is_doubtful,
    is_drawing,
    is_plain,
    kept_in_place,
)

if TYPE_CHECKING:
    from lockterm.config import Look

KEPT_CELLS = 1024
"""Maximum number of cached cells per style. A screen usually has fewer different characters."""

_SEEN_ON_BLANKS = sum(1 << bit for bit, code in enumerate(SGR_STYLES) if code in SEEN_ON_BLANKS)
"""The bits of the style attributes that are visible on blanks."""
_BOLD, _REVERSE = (1 << SGR_STYLES.index(code) for code in ("1", "7"))
"""The bits of two attributes that are hard to read together in the terminal's own colors.

Reverse makes the background the text color. Bold then draws the background bright, so black becomes
gray.
"""


def _cells_of(strip: Strip, colors: ColorSystem) -> list[Cell]:
    cells: list[Cell] = []
    for text, style, control in strip:
        if control:
            continue
        codes = ground = ""
        if style:
            attributes = style._attributes & style._set_attributes
            codes = ground = _sgr(attributes, style._color, style._bgcolor, colors)
            if not attributes & _SEEN_ON_BLANKS:
                ground = _sgr(0, None, style._bgcolor, colors)
        graphemes = text if text.isascii() else graphemes_of(text)
        cells += map(_styled(codes, ground).__getitem__, graphemes)
    return cells


class _Styled(dict[str, Cell]):
    """A cache of the cells of one style, so that painting does not create each cell again.

    Args:
        codes: The SGR codes of text.
        ground: The SGR codes of blanks, whose text color is invisible.
    """

    def __init__(self, codes: str, ground: str) -> None:
        super().__init__({" ": (" ", ground)})
        self._codes = codes

    def __missing__(self, text: str) -> Cell:
        cell = text, self._codes
        if len(self) < KEPT_CELLS:
            self[text] = cell
        return cell


_styled = lru_cache(maxsize=256)(_Styled)


@lru_cache(maxsize=4096)
def graphemes_of(text: str) -> tuple[str, ...]:
    """Return the text of each cell of a string.

    The second cell of a wide character has an empty text.
    """
    found: list[str] = []
    for start, end, width in split_graphemes(text)[0]:
        if width:
            found += [text[start:end], *[""] * (width - 1)]
        elif found:
            place = -1 if found[-1] else -2
            found[place] += text[start:end]
    return tuple(found)


@lru_cache(maxsize=4096)
def _sgr(
    attributes: int, foreground: Color | None, background: Color | None, colors: ColorSystem
) -> str:
    """Return the SGR codes of a style, without codes for the terminal's own colors."""
    if attributes & _REVERSE and (background is None or background.is_system_defined):
        attributes &= ~_BOLD
    codes = [SGR_STYLES[bit] for bit in range(attributes.bit_length()) if attributes & (1 << bit)]
    for color, is_foreground in ((foreground, True), (background, False)):
        if color is not None and not color.is_default:
            codes += color.downgrade(colors).get_ansi_codes(is_foreground)
    return ";".join(codes)


DOUBT = 4
"""Number of cells beside a character of doubtful width on which a terminal may have drawn this
character.

The number is higher after a joined character, because a terminal may draw the parts of the
character separately.
"""

_UNKNOWN: Cell = ("?", "unknown")


class Frame:
    """The cells that the terminal currently shows. Initially, all cells are unknown.

    Args:
        guarded: Whether to keep right-to-left text from moving its neighbors.
        fills: Whether erased cells get the current background color.
    """

    def __init__(self, *, guarded: bool = False, fills: bool = False) -> None:
        self._guarded = guarded
        self.fills = fills
        self._rows: list[list[Cell]] = []
        self.joined = True
        """Whether to send characters that consist of several code points, such as some emoji."""
        self.ambiguous: int | None = None
        """Number of cells that the terminal uses for a character of ambiguous width.

        None if the number is unknown.
        """

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of columns and rows of the known cells; zero if no cells are known."""
        return (len(self._rows[0]) if self._rows else 0, len(self._rows))

    def forget(self) -> None:
        """Mark all cells as unknown, because the terminal may show anything."""
        self._rows = []

    def changes(self, painted: Iterable[tuple[int, int, list[Cell]]], size: tuple[int, int]) -> str:
        """Apply painted cells to the frame, and return the output that shows them.

        Args:
            painted: The column, row and new cells of each painted piece of a row.
            size: The numbers of columns and rows of the terminal.

        Returns:
            The text to send; empty if the terminal already shows the cells.
        """
        columns, rows = size
        if self.size != size:
            self._rows = [[_UNKNOWN] * columns for _ in range(rows)]
        found: dict[int, list[Cell]] = {}
        for x, y, cells in painted:
            if 0 <= y < rows and x < columns:
                _paint(found.setdefault(y, [*self._rows[y]]), x, cells[: columns - x])
        writer = CellWriter(fills=self.fills)
        for y, row in sorted(found.items()):
            row = row if self.joined else drawn_alone(row)
            self._write(writer, y, kept_in_place(row) if self._guarded else row)
        return writer.sent()

    def _write(self, writer: CellWriter, y: int, now: list[Cell]) -> None:
        before = self._rows[y]
        if before == now:
            return
        self._rows[y] = now
        doubtful, were_doubtful = doubtful_cells(now), doubtful_cells(before)
        changed = list(map(ne, before, now))
        reaches, reached = [*_reaches(now, doubtful)], [*_reaches(before, were_doubtful)]
        exact = min(max((reach + 1 for _, reach in reaches), default=0), len(now))
        if exact > max((reach + 1 for _, reach in reached), default=0):
            changed[:exact] = repeat(True, exact)  # their blanks may have another style
        runs = self._runs(now)
        # Write cells again that a terminal may have drawn over, now or in the old content.
        touched = [*runs, *self._runs(before), *reached, *reaches]
        for cells, reach in sorted(touched, key=lambda one: one[0].start):
            if True in changed[cells.start : cells.stop]:
                behind = range(cells.start, min(reach, len(now)))
                changed[behind.start : behind.stop] = repeat(True, len(behind))
        if _UNKNOWN in now:  # unknown cells are painted later
            changed = [one and cell is not _UNKNOWN for one, cell in zip(changed, now, strict=True)]
        writer.write(y, now, changed, {cells.start: cells for cells, _ in runs}, exact=exact)

    def _runs(self, row: list[Cell]) -> list[tuple[range, int]]:
        """Return the ranges of cells that a terminal may misplace, each with an index.

        Each range goes from a word's first character of ambiguous width to the end of the word. The
        index is where the range ends if the terminal draws each of its ambiguous characters two
        cells wide.

        A range is written without cursor moves, because a move would cut wide characters in two.
        """
        if self.ambiguous == 1 or is_plain(row):
            return []
        found: list[tuple[range, int]] = []
        start, more = None, 0
        for x, (text, _) in enumerate(row):
            line = self.ambiguous is None and is_drawing(text)  # probably one of lockterm's own
            if text == " " or line or is_doubtful(text):
                if start is not None:
                    found.append((range(start, x), x + more))
                start, more = None, 0
            elif is_ambiguous(text) and (x + 1 == len(row) or row[x + 1][0]):
                start, more = x if start is None else start, more + 1
        if start is not None:
            found.append((range(start, len(row)), len(row)))
        return found


def _paint(row: list[Cell], x: int, cells: list[Cell]) -> None:
    end = x + len(cells)
    cut_before = x and not row[x][0] and cells[0][0]
    row[x:end] = cells
    # If the edge cuts a wide character in two, the terminal shows neither half.
    if cut_before:
        row[x - 1] = _UNKNOWN
    if end < len(row) and not row[end][0]:
        row[end] = _UNKNOWN


def _reaches(row: list[Cell], doubtful: list[int]) -> Iterator[tuple[range, int]]:
    """Yield two values for each cell of doubtful width: its range, and how far it may reach.

    The range contains only this cell. The second value is the index after the last cell on which a
    terminal may draw the text of this cell.

    Args:
        row: All cells of a row.
        doubtful: The indexes of the cells whose width is doubtful.
    """
    for x in doubtful:
        yield range(x, x + 1), x + max(2 + DOUBT, 2 * len(row[x][0]))


def placed(
    update: LayoutUpdate | ChopsUpdate, colors: ColorSystem
) -> Iterator[tuple[int, int, list[Cell]]]:
    """Yield the column, row and cells of each piece of a row that Textual painted.

    Args:
        update: The painted frame, or the changed parts of it, from Textual.
        colors: The color system of the terminal.
    """
    for x, y, strip in _strips(update):
        yield x, y, _cells_of(strip, colors)


def _strips(update: LayoutUpdate | ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    if isinstance(update, LayoutUpdate):
        for y, strips in enumerate(update.strips, update.region.y):
            x = update.region.x
            for piece in strips:
                yield x, y, piece
                x += piece.cell_length
        return
    for y, x1, x2 in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x <= x2 and end > x1:
                whole = x2 > x >= x1 and end <= x2
                yield x, y, strip if whole else strip.crop(0, min(end, x2) - x)


class _Sent(CompositorUpdate):
    """A screen update for Textual that consists of finished output."""

    def __init__(self, text: str) -> None:
        self._text = text

    def render_segments(self, console: Console) -> str:
        return self._text


class FrameDiff:
    """A writer that sends only the cells that differ from the cells on the terminal.

    Args:
        app: The app.
        look: The features that the terminal supports.
    """

    def __init__(self, app: App[Any], look: Look) -> None:
        self._app = app
        self.frame = Frame(guarded=True, fills=look.fills)
        """The current content of the terminal."""
        # A multiplexer counts the cells of joined characters differently.
        self.frame.joined = look.copy == "plain"
        self.is_overtaken = False
        """Whether a painted frame was not sent, because the terminal is behind."""
        self._sends_now = False

    def changed(self, renderable: object) -> object | None:
        """Return a renderable that sends only the changed cells, to use instead of Textual's.

        Args:
            renderable: Textual's renderable.

        Returns:
            The replacement; the renderable itself if it is not a painted frame; None if nothing
            must be sent now.
        """
        app, driver = self._app, self._app._driver
        drawn = app._running and not app._closed and not app.is_headless
        if (
            not isinstance(renderable, (LayoutUpdate, ChopsUpdate))
            or not drawn
            or app._batch_count
            or driver is None
        ):
            return renderable
        if not self._sends_now and getattr(driver, "is_behind", False):
            self.is_overtaken = True
            app.post_display_hook()
            if not driver.is_behind:  # type: ignore[attr-defined]
                app.call_later(self.catch_up)  # it caught up and will not report it
            return None
        self._place_cursor()
        text = self.frame.changes(placed(renderable, colors_of(app.console)), app.size)
        if not text and app.cursor_position == app._previous_cursor_position:
            app.post_display_hook()
            return None
        return _Sent(text)

    def _place_cursor(self) -> None:
        """Move the terminal's cursor to the focused widget, as Textual does in each frame.

        The cursor is invisible, but screen readers, braille displays and magnifiers follow it.
        """
        app, place = self._app, Offset()
        if (focused := app.screen.focused) is not None:
            place = getattr(focused, "cursor_screen_offset", focused.content_region.offset)
        app.cursor_position = app.screen.outer_size.clamp_offset(place)

    def measure_again(self) -> None:
        """Forget all cells and cached widths; call this after the widths of characters change."""
        self.frame.forget()
        graphemes_of.cache_clear()

    def note_resize(self) -> None:
        """Forget the cells, because after a resize the terminal may show anything."""
        self.frame.forget()

    def redraw(self) -> None:
        """Draw everything again, including the screen behind a dialog."""
        self.frame.forget()
        self._draw_all()

    def catch_up(self) -> None:
        """Send the current frame if a frame was skipped because the terminal was behind."""
        if self.is_overtaken and self._app._running:
            self._draw_all()

    def send(self, text: str) -> None:
        """Send text to the terminal after the current frame; do nothing if there is no terminal."""
        driver = self._app._driver
        if driver is not None and not driver.is_headless:
            self.catch_up()
            driver.write(text)
            driver.flush()

    def _draw_all(self) -> None:
        app = self._app
        self._sends_now, self.is_overtaken = True, False
        try:
            stack = app._background_screens
            update = app.screen._compositor.render_update(full=True, screen_stack=stack)
            app._display(app.screen, update)
        finally:
            self._sends_now = False
