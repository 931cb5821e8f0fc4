"""Filters of painted lines: few colors, no colors, ASCII alone, and no control characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from rich.cells import split_graphemes
from rich.color import Color as RichColor
from rich.color import ColorSystem, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from lockterm.domain.safe_text import IGNORABLE, REPLACEMENT, without_idle_joiners

LEAST_CONTRAST = 1.8
"""Minimum contrast ratio between a text, even a dimmed text, and its background."""

LEAST_OF_LINES = 1.01
"""Minimum contrast ratio between a line and its background. Lines may be faint, but not
invisible."""

MIDDLE = 0.18
"""Luminance of a background above which black text has more contrast than white text."""

STEPS = 8
"""Maximum number of steps in which black or white is mixed into a text color to make it
readable."""

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
        colors: The color system of the terminal. Each theme color is replaced by the nearest color
            of this system.
    """

    def __init__(self, colors: ColorSystem) -> None:
        super().__init__()
        self._colors = colors

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments, with black or white mixed into the color of unreadable text."""
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


JOINERS = "\u200c\u200d\ufe0f"
"""Invisible characters that are kept, because they may join their neighbors, as in emoji."""

REPLACED = (
    *((0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x115F, 0x115F)),
    *((0x200B, 0x200B), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x2069), (0xFEFF, 0xFEFF)),
    (0xD800, 0xDFFF),
)
"""Ranges of code points that are shown as a replacement character.

The characters of all other ranges in :data:`IGNORABLE` take no cell. They are removed, which does
not change the width of the line.
"""


def any_of(ranges: Iterable[tuple[int, int]]) -> str:
    """Return ranges of code points as the text between ``[`` and ``]`` in a regular expression."""
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


HARMFUL = f"(?![{JOINERS}])[{any_of((*REPLACED, *IGNORABLE))}]"
"""Pattern of a character to replace or remove.

The pattern is compiled only when a text may contain such a character.
"""


_SHOWN = f"[{any_of(REPLACED)}]"
_LEAST_IGNORABLE = "\u0300"
"""The lowest printable character that may be harmful; all lower printable ones are harmless."""
_TWO_CELLS = "\u115f"
_IDLE = f"[{JOINERS}]"


def _harmless(text: str) -> str:
    if text.isprintable() and max(text, default="") < _LEAST_IGNORABLE:
        return text
    text = re.sub(HARMFUL, _stand_in, text)
    return without_idle_joiners(text) if re.search(_IDLE, text) else text


def _stand_in(found: re.Match[str]) -> str:
    if not re.match(_SHOWN, found[0]):
        return ""
    return REPLACEMENT * (2 if found[0] == _TWO_CELLS else 1)


class Sanitizer(LineFilter):
    """A filter that replaces or removes control, bidi and ignorable characters in painted lines."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with safe text. Textual's own control segments are kept."""
        return [
            segment
            if segment.control or (segment.text.isascii() and segment.text.isprintable())
            else Segment(_harmless(segment.text), segment.style)
            for segment in segments
        ]


class NothingElseFilter(LineFilter):
    """A filter that replaces all characters beyond ASCII, for terminals that do not read UTF-8.

    Such a terminal would execute some bytes of UTF-8 as commands. Each cell of a replaced
    character becomes a question mark, so that all other characters keep their positions.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments in ASCII, with the same width."""
        return [
            segment
            if segment.text.isascii()
            else Segment(_asked(segment.text), segment.style, segment.control)
            for segment in segments
        ]


def _asked(text: str) -> str:
    graphemes, _ = split_graphemes(text)
    return "".join(
        text[start:end] if text[start:end].isascii() else "?" * width
        for start, end, width in graphemes
    )


class FilterChain(LineFilter):
    """A filter that applies several filters, so that Textual caches only one copy of a line.

    Args:
        filters: The filters in the order of application.
    """

    def __init__(self, filters: Sequence[LineFilter] = ()) -> None:
        super().__init__()
        self.filters = tuple(filters)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments after all filters."""
        for line_filter in self.filters:
            segments = line_filter.apply(segments, background)
        return segments
