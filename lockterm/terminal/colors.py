"""Filters that remove colors, or keep text readable on terminals with few colors."""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import ColorSystem, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

LEAST_CONTRAST = 1.8
"""Minimum contrast between a text, even a dimmed text, and its background."""

LEAST_OF_LINES = 1.01
"""Minimum contrast between a line and its background; a line may be faint, but not invisible."""

MIDDLE = 0.18
"""Luminance of a background above which black text has more contrast than white text."""

STEPS = 8
"""Number of steps in which a text color is mixed with black or white until it is readable."""

_BLACK, _WHITE = ColorTriplet(0, 0, 0), ColorTriplet(255, 255, 255)


class NoColors(LineFilter):
    """A filter that removes all colors, even the codes for the terminal's default colors."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with attributes such as bold and reverse, but without colors."""
        return [
            segment
            if segment.style is None or segment.control
            else Segment(segment.text, _colorless(segment.style))
            for segment in segments
        ]


class Readable(LineFilter):
    """A filter that keeps text readable on a terminal with few colors.

    Args:
        colors: The color system of the terminal; each theme color becomes its nearest color.
    """

    def __init__(self, colors: ColorSystem) -> None:
        super().__init__()
        self._colors = colors

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments; the color of unreadable text is mixed with black or white."""
        return [self._readable(segment) for segment in segments]

    def _readable(self, segment: Segment) -> Segment:
        text, style, control = segment
        if style is None or control or text.isspace():
            return segment
        seen = readable(style, self._colors, LEAST_CONTRAST)
        if seen is style:
            return segment
        if all("\u2500" <= glyph <= "\u259f" or glyph == " " for glyph in text):
            seen = readable(style, self._colors, LEAST_OF_LINES)
        return Segment(text, seen)


@lru_cache(2048)
def _colorless(style: Style) -> Style:
    return style.without_color + Style.from_meta(style.meta) if style.meta else style.without_color


def colors_of(console: Console) -> ColorSystem:
    """Return the color system of a console; true color if it has none."""
    return console._color_system or ColorSystem.TRUECOLOR


@lru_cache(4096)
def readable(style: Style, colors: ColorSystem, least: float) -> Style:
    """Return the nearest style with enough contrast between text and background.

    Args:
        style: The wanted style; it stays unchanged if it uses the terminal's default colors, whose
            values are unknown.
        colors: The color system of the terminal.
        least: The minimum contrast; see :func:`contrast`.
    """
    front, back = style.color, style.bgcolor
    if front is None or back is None or front.is_default or back.is_default:
        return style
    if contrast(front, back, colors) >= least:
        return style
    seen_back = back.downgrade(colors).get_truecolor()
    end = _BLACK if _luminance(seen_back) > MIDDLE else _WHITE
    for step in range(1, STEPS):
        mixed = RichColor.from_triplet(blend_rgb(front.get_truecolor(), end, step / STEPS))
        if contrast(mixed, back, colors) >= least:
            return style + Style(color=mixed)
    return style + Style(color=RichColor.from_triplet(end))


def contrast(one: RichColor, other: RichColor, colors: ColorSystem) -> float:
    """Return the contrast ratio of two colors by WCAG: 1 if they are equal, 21 for black and white.

    Args:
        one: A color.
        other: The other color.
        colors: The color system to which the terminal reduces both colors first.
    """
    first, second = (_luminance(color.downgrade(colors).get_truecolor()) for color in (one, other))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


def _luminance(color: ColorTriplet) -> float:
    linear = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in color.normalized
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
