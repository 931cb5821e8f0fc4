"""Only the cells that have changed are sent to the terminal.

Textual sends each region that was painted, whole: of a page of twenty rows six times the bytes that
differ. Here the last frame is kept, and what is painted is compared with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from rich.cells import split_graphemes
from rich.color import Color, ColorSystem
from rich.console import Console
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.app import App
from textual.geometry import Offset
from textual.strip import SGR_STYLES, Strip

from lockterm.terminal.cell_writer import SEEN_ON_BLANKS
from lockterm.terminal.colours import colours_of
from lockterm.terminal.frame import Frame
from lockterm.terminal.widths import Cell

KEPT_CELLS = 1024
"""So many cells of one style are kept: more characters than a screen of one script has."""

_SEEN_ON_BLANKS = sum(1 << bit for bit, code in enumerate(SGR_STYLES) if code in SEEN_ON_BLANKS)
"""The attributes of a style that show where nothing is written."""
_BOLD, _REVERSE = (1 << SGR_STYLES.index(code) for code in ("1", "7"))
"""Both at once are hard to read in one of the terminal's own colours, where bold is drawn bright:
what was the background is then the text, and black becomes grey."""


def _cells_of(strip: Strip, colours: ColorSystem) -> list[Cell]:
    cells: list[Cell] = []
    for text, style, control in strip:
        if control:
            continue
        codes = ground = ""
        if style:
            attributes = style._attributes & style._set_attributes
            codes = ground = _sgr(attributes, style._color, style._bgcolor, colours)
            if not attributes & _SEEN_ON_BLANKS:
                ground = _sgr(0, None, style._bgcolor, colours)
        graphemes = text if text.isascii() else graphemes_of(text)
        cells += map(_styled(codes, ground).__getitem__, graphemes)
    return cells


class _Styled(dict[str, Cell]):
    """The cells of one style: each is made once, however often it is painted.

    Args:
        codes: Of what is written.
        ground: Of blanks: nobody sees in which colour they are written.
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
    if attributes & _REVERSE and (background is None or background.is_system_defined):
        attributes &= ~_BOLD
    codes = [SGR_STYLES[bit] for bit in range(attributes.bit_length()) if attributes & (1 << bit)]
    for color, is_foreground in ((foreground, True), (background, False)):
        if color is not None and not color.is_default:
            codes += color.downgrade(colours).get_ansi_codes(is_foreground)
    return ";".join(codes)


def placed(
    update: LayoutUpdate | ChopsUpdate, colours: ColorSystem
) -> Iterator[tuple[int, int, list[Cell]]]:
    """What was painted: column, row, and the cells that stand there.

    Args:
        update: What Textual has painted.
        colours: What the terminal can show.
    """
    for x, y, strip in _strips(update):
        yield x, y, _cells_of(strip, colours)


def _strips(update: LayoutUpdate | ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
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


class FrameDiff:
    """Sends the terminal what differs from what it shows.

    Args:
        app: What is drawn.
        frame: What stands on the terminal.
    """

    def __init__(self, app: App[Any], frame: Frame) -> None:
        self._app = app
        self.frame = frame
        """What stands on the terminal."""
        self._has_drawn = False
        self.is_overtaken = False
        """Whether something was painted and not sent, since the terminal is behind."""
        self._sends_now = False

    def changed(self, renderable: object) -> object | None:
        """What to send of what Textual is about to display.

        Args:
            renderable: Textual's.

        Returns:
            What to display instead; None: nothing now.
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
                app.call_later(self.catch_up)  # it has caught up in between, and told nobody
            return None
        self._place_cursor()
        text = self.frame.changes(placed(renderable, colours_of(app.console)), app.size)
        self._has_drawn = True
        if not text and app.cursor_position == app._previous_cursor_position:
            app.post_display_hook()
            return None
        return _Sent(text)

    def _place_cursor(self) -> None:
        """Have the terminal's own cursor follow the focus; Textual moves it behind what is sent."""
        app, place = self._app, Offset()
        if (focused := app.screen.focused) is not None:
            place = getattr(focused, "cursor_screen_offset", focused.content_region.offset)
        app.cursor_position = app.screen.outer_size.clamp_offset(place)
        self.frame.cursor = app.cursor_position.x, app.cursor_position.y

    def measure_again(self) -> None:
        """Forget what stands on the terminal, and how wide texts are."""
        self.frame.forget()
        graphemes_of.cache_clear()

    def note_size(self, size: tuple[int, int]) -> None:
        """Forget what stands on a terminal that got a size: it may show anything.

        Of the size that a start finds, a terminal is told as well, once or twice; what was drawn on
        it before still stands there.
        """
        if self._has_drawn or size != self.frame.size:
            self.frame.forget()

    def redraw(self) -> None:
        """Draw all of it again, with what stands behind a dialog."""
        self.frame.forget()
        self._draw_all()

    def catch_up(self) -> None:
        """Send what was held back while the terminal was behind, as it is now; at once."""
        if self.is_overtaken and self._app._running:
            self._draw_all()

    def send(self, text: str) -> None:
        """Send something behind all that is drawn; nothing where no terminal is."""
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
