"""What Textual draws with, in ASCII, for terminals that have no more.

Only what is nothing but drawn goes through here: edges, scroll bars, bars of progress. A value of
the service is never changed by its signs; the signs of lockterm's own words are chosen where they
are written, see ``lockterm.domain.glyphs``.
"""

from __future__ import annotations

from rich.cells import split_graphemes
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.renderables.bar import Bar

from lockterm.domain.glyphs import are_ascii

_HORIZONTAL = "─━┄┅┈┉╌╍═╴╶╸╺╼╾▔▁⎯"
_VERTICAL = "│┃┆┇┊┋╎╏║╵╷╹╻╽╿▏▎▍▌▋▊▉▐▕"
_BLOCKS = "▀▂▃▄▅▆▇█░▒▓■▖▗▘▙▚▛▜▝▞▟"


def _table() -> dict[int, str]:
    table = dict.fromkeys(range(0x2500, 0x2580), "+")  # any other line is a corner
    for glyphs, ascii_ in (
        (_HORIZONTAL, "-"),
        (_VERTICAL, "|"),
        (_BLOCKS, "#"),
        ("╱", "/"),
        ("╲", "\\"),
        ("╳", "x"),
        ("•●", "*"),
        ("○", "o"),
    ):
        table |= dict.fromkeys(map(ord, glyphs), ascii_)
    return table


_ASCII = _table()


def in_ascii(segment: Segment) -> Segment:
    """What is drawn, in ASCII and as wide."""
    if segment.control or segment.text.isascii():
        return segment
    return Segment(segment.text.translate(_ASCII), segment.style)


class DrawnBar(Bar):
    """Textual's bar of progress, in ASCII where that is asked for."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in super().__rich_console__(console, options):
            segments = [part] if isinstance(part, Segment) else console.render(part, options)
            yield from map(in_ascii, segments) if are_ascii() else segments


class NothingElseFilter(LineFilter):
    """Send nothing beyond ASCII: a terminal that does not take UTF-8 would obey some bytes of it.

    A cell is a question mark then, so that everything stays in its place.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments in ASCII, as wide as before."""
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
