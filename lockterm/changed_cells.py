"""Only the cells that have changed are sent to the terminal.

Textual sends each region that was painted, whole: of a page of twenty rows six times the bytes that
differ. Here the last frame is kept, and what is painted is compared with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import repeat, takewhile

from rich.cells import split_graphemes
from rich.color import Color, ColorSystem
from rich.console import Console
from textual import events
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.app import ReturnType
from textual.binding import Binding
from textual.screen import Screen
from textual.strip import SGR_STYLES, Strip

from lockterm.in_order import InOrder
from lockterm.pen import Cell, Pen, is_doubtful

DOUBT = 4
"""So many cells behind a character may have been drawn over, where terminals disagree on widths;
more where it is joined of many, each of which may have been drawn apart."""

_UNKNOWN: Cell = ("?", "unknown")


class Frame:
    """What stands on the terminal now, cell by cell; begins as not known."""

    def __init__(self) -> None:
        self._rows: list[list[Cell]] = []

    def forget(self) -> None:
        """Count every cell as changed: the terminal may show anything."""
        self._rows = []

    def changes(
        self, update: LayoutUpdate | ChopsUpdate, size: tuple[int, int], colours: ColorSystem
    ) -> str:
        """Take over what was painted.

        Args:
            update: What Textual has painted.
            size: Columns and rows of the terminal.
            colours: What the terminal can show.

        Returns:
            What to send so that the terminal shows it; empty where it does already.
        """
        columns, rows = size
        if len(self._rows) != rows or (rows and len(self._rows[0]) != columns):
            self._rows = [[_UNKNOWN] * columns for _ in range(rows)]
        pen = Pen(columns)
        for x, y, strip in _placed(update):
            if 0 <= y < rows and x < columns:
                self._write(pen, x, y, _cells_of(strip, colours)[: columns - x])
        return pen.sent()

    def _write(self, pen: Pen, x: int, y: int, cells: list[Cell]) -> None:
        row = self._rows[y]
        end = x + len(cells)
        old = row[x:end]
        if old == cells:
            return
        row[x:end] = cells
        # A wide character that was cut in two at the edge: the terminal shows neither half.
        if x and not old[0][0] and cells[0][0]:
            row[x - 1] = _UNKNOWN
        if end < len(row) and not row[end][0] and cells[-1][0]:
            row[end] = _UNKNOWN
        # The cells behind too: what terminals may have drawn over has to be written again.
        now = [*cells, *takewhile(lambda cell: cell is not _UNKNOWN, row[end:])]
        old += now[len(cells) :]
        changed = [before != after for before, after in zip(old, now, strict=True)]
        for place, after in enumerate(now):
            before = old[place]
            if changed[place] and (is_doubtful(before) or is_doubtful(after)):
                most = max(2 + DOUBT, 2 * len(before[0]), 2 * len(after[0]))
                behind = range(place, min(place + most, len(now)))
                changed[behind.start : behind.stop] = repeat(True, len(behind))
        pen.write(x, y, now, changed)


def _cells_of(strip: Strip, colours: ColorSystem) -> list[Cell]:
    cells: list[Cell] = []
    for text, style, control in strip:
        if control:
            continue
        codes = ""
        if style:
            attributes = style._attributes & style._set_attributes
            codes = _sgr(attributes, style._color, style._bgcolor, colours)
        cells += zip(text if text.isascii() else _graphemes(text), repeat(codes), strict=False)
    return cells


@lru_cache(maxsize=4096)
def _graphemes(text: str) -> tuple[str, ...]:
    """What stands in each cell of a text."""
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
    attributes: int, foreground: Color | None, background: Color | None, colours: ColorSystem
) -> str:
    """The SGR codes of a style, without those that mean the terminal's own colours."""
    codes = [SGR_STYLES[bit] for bit in range(attributes.bit_length()) if attributes & (1 << bit)]
    for color, is_foreground in ((foreground, True), (background, False)):
        if color is not None and not color.is_default:
            codes += color.downgrade(colours).get_ansi_codes(is_foreground)
    return ";".join(codes)


def _placed(update: LayoutUpdate | ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    """What was painted: column, row, and the strip that stands there."""
    if isinstance(update, LayoutUpdate):
        for y, strips in enumerate(update.strips, update.region.y):
            yield from _side_by_side(update.region.x, y, strips)
        return
    for y, x1, x2 in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x <= x2 and end > x1:
                whole = x2 > x >= x1 and end <= x2
                yield x, y, strip if whole else strip.crop(0, min(end, x2) - x)


def _side_by_side(x: int, y: int, strips: Iterable[Strip]) -> Iterator[tuple[int, int, Strip]]:
    for strip in strips:
        yield x, y, strip
        x += strip.cell_length


class _Sent(CompositorUpdate):
    """What is sent, as Textual wants it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def render_segments(self, console: Console) -> str:
        return self._text


class ChangedCells(InOrder[ReturnType]):
    """An app that sends the terminal what differs from what it shows."""

    BINDINGS = [
        Binding(
            "ctrl+l",
            "redraw",
            "redraw",
            show=False,
            id="app.redraw",
            tooltip="Draw the whole screen again, where something else has written on it",
        )
    ]

    def __init__(self) -> None:
        super().__init__()
        self.frame = Frame()
        """What stands on the terminal."""

    async def on_event(self, event: events.Event) -> None:
        """A terminal that has got another size may show anything."""
        if isinstance(event, events.Resize):
            self.frame.forget()
        await super().on_event(event)

    def on_driver_signal_resume(self) -> None:
        """Back from being stopped: the shell has written meanwhile."""
        self.action_redraw()

    def action_redraw(self) -> None:
        """Draw all of it again."""
        self.frame.forget()
        self._display(self.screen, self.screen._compositor.render_update(full=True))

    def _display(self, screen: Screen[object], renderable: object) -> None:
        drawn = self._running and not self._closed and not self.is_headless
        if (
            isinstance(renderable, (LayoutUpdate, ChopsUpdate))
            and drawn
            and not self._batch_count
            and self._driver is not None
        ):
            colours = self.console._color_system or ColorSystem.TRUECOLOR
            text = self.frame.changes(renderable, self.size, colours)
            if not text and self.cursor_position == self._previous_cursor_position:
                self.post_display_hook()
                return
            renderable = _Sent(text)
        super()._display(screen, renderable)  # type: ignore[arg-type]
