"""The backstop behind ``lockterm.text``: nothing that steers a terminal leaves in a line."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_DROPPED = dict.fromkeys(
    [
        *range(0x00, 0x20),
        *range(0x7F, 0xA0),
        0x00AD,
        0x061C,
        0x200B,
        0x200E,
        0x200F,
        *range(0x2028, 0x202F),
        *range(0x2066, 0x206A),
        0xFEFF,
        *range(0xD800, 0xE000),
    ],
    "\N{REPLACEMENT CHARACTER}",
)


class HostileFilter(LineFilter):
    """Replace control and bidi characters in whatever a widget painted."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with plain text only; control segments are Textual's own."""
        return [
            segment
            if segment.control or (segment.text.isascii() and segment.text.isprintable())
            else Segment(segment.text.translate(_DROPPED), segment.style)
            for segment in segments
        ]
