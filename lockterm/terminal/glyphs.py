"""ASCII replacements for Textual's line drawing, for terminals without Unicode.

The replacements apply only to decoration: borders, scroll bars and progress bars. The service's
values keep their characters. Icons in lockterm's own texts come from ``lockterm.domain.glyphs``.
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
    """Return a segment of decoration with ASCII characters, which has the same width."""
    if segment.control or segment.text.isascii():
        return segment
    return Segment(segment.text.translate(_ASCII), segment.style)


class DrawnBar(Bar):
    """Textual's progress bar, in ASCII if lockterm draws in ASCII."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in super().__rich_console__(console, options):
            segments = [part] if isinstance(part, Segment) else console.render(part, options)
            yield from map(in_ascii, segments) if are_ascii() else segments


class NothingElseFilter(LineFilter):
    """A filter that replaces all characters beyond ASCII, for terminals that do not read UTF-8.

    Such a terminal would execute some bytes of UTF-8 as commands. Each cell of another character
    becomes a question mark, so that all other characters keep their positions.
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
