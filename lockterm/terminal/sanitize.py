"""Removes control characters from painted lines if ``lockterm.domain.safe_text`` missed them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from lockterm.domain.safe_text import IGNORABLE, REPLACEMENT, without_idle_joiners

JOINERS = "\u200c\u200d\ufe0f"
"""Invisible characters that may join their neighbors, as in emoji; others are removed."""

REPLACED = (
    *((0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x115F, 0x115F)),
    *((0x200B, 0x200B), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x2069), (0xFEFF, 0xFEFF)),
    (0xD800, 0xDFFF),
)
"""Ranges of code points that are shown as a replacement character.

Other ignorable characters take no cell. They are removed, which does not change the line's width.
"""


def any_of(ranges: Iterable[tuple[int, int]]) -> str:
    """Return ranges of code points for use between ``[`` and ``]`` in a regular expression."""
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


HARMFUL = f"(?![{JOINERS}])[{any_of((*REPLACED, *IGNORABLE))}]"
"""Pattern of a character to replace or remove; a string, because few starts need to compile it."""


_SHOWN = f"[{any_of(REPLACED)}]"
_LEAST_IGNORABLE = "\u0300"
"""All printable characters below this character are harmless."""
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
        """Return the segments with safe text; control segments, which Textual makes, are kept."""
        return [
            segment
            if segment.control or (segment.text.isascii() and segment.text.isprintable())
            else Segment(_harmless(segment.text), segment.style)
            for segment in segments
        ]


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
