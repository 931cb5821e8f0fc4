"""The backstop behind ``lockterm.domain.safe_text``: removes control sequences from lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from lockterm.domain.safe_text import REPLACEMENT, without_idle_joiners
from lockterm.terminal.unsafe_chars import HARMFUL, JOINERS, REPLACED, any_of

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
    """A filter that replaces control, bidi and ignorable characters in painted lines."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with plain text only; control segments are Textual's own."""
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
