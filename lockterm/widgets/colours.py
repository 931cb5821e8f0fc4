"""What becomes of colours on a terminal that has few of them, or none."""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

OWN = Theme(
    name="terminal",
    ansi=True,
    # Of the eight colours these are read on black and on white, which dark blue, cyan and yellow
    # are not. All that matters is told by words, too.
    primary="ansi_default",
    secondary="ansi_default",
    warning="ansi_magenta",
    error="ansi_red",
    success="ansi_green",
    accent="ansi_default",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={
        "ansi-background": "ansi_default",
        "ansi-foreground": "ansi_default",
        "border": "ansi_default",
        "border-blurred": "ansi_default",
        "block-cursor-foreground": "ansi_default",
        "block-cursor-background": "ansi_default",
        "block-cursor-text-style": "reverse",
        "block-cursor-blurred-text-style": "underline",
        "text-muted": "ansi_default",
        "text-disabled": "ansi_default",
        "foreground-muted": "ansi_default",
        "warning-muted": "ansi_default",
        "input-cursor-text-style": "reverse",
        "input-selection-background": "ansi_default",
        "input-selection-foreground": "ansi_default",
        "screen-selection-background": "ansi_default",
        "screen-selection-foreground": "ansi_default",
        "scrollbar": "ansi_default",
        "scrollbar-hover": "ansi_default",
        "scrollbar-active": "ansi_default",
        "scrollbar-background": "ansi_default",
        "scrollbar-background-hover": "ansi_default",
        "scrollbar-background-active": "ansi_default",
    },
)
"""The terminal's own foreground and background, whatever they are: light and dark both work."""

_BLACK, _WHITE = RichColor.from_rgb(0, 0, 0), RichColor.from_rgb(255, 255, 255)
_OWN_BLACK, _OWN_WHITE = RichColor.from_ansi(0), RichColor.from_ansi(15)


class NoColours(LineFilter):
    """Not one colour leaves, not even the code for the terminal's own."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments with bold, reverse, underline and dim alone."""
        return [
            segment
            if segment.style is None or segment.control
            else Segment(segment.text, _colourless(segment.style))
            for segment in segments
        ]


class Readable(LineFilter):
    """No text in the colour of its background, after the terminal's few colours are chosen too.

    Args:
        colours: What the terminal has.
    """

    def __init__(self, colours: ColorSystem) -> None:
        super().__init__()
        self._colours = colours

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments; text that could not be seen is black or white."""
        return [
            segment
            if segment.style is None or segment.control or segment.text.isspace()
            else Segment(segment.text, _readable(segment.style, self._colours))
            for segment in segments
        ]


@lru_cache(2048)
def _colourless(style: Style) -> Style:
    return style.without_color + Style.from_meta(style.meta) if style.meta else style.without_color


@lru_cache(2048)
def _readable(style: Style, colours: ColorSystem) -> Style:
    front, back = style.color, style.bgcolor
    if front is None or back is None or front.is_default or back.is_default:
        return style
    front, back = front.downgrade(colours), back.downgrade(colours)
    if front.get_ansi_codes() != back.get_ansi_codes():
        return style
    is_dark = sum(back.get_truecolor()) < 3 * 128
    if back.triplet is None and back.number is not None and back.number < 16:
        return style + Style(color=_OWN_WHITE if is_dark else _OWN_BLACK)
    return style + Style(color=_WHITE if is_dark else _BLACK)
