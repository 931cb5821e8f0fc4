"""Every glyph that lockterm or Textual draws, in ASCII, for terminals that have no others."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_HORIZONTAL = "─━┄┅┈┉╌╍═╴╶╸╺╼╾▔▁⎯"
_VERTICAL = "│┃┆┇┊┋╎╏║╵╷╹╻╽╿▏▎▍▌▋▊▉▐▕"
_BLOCKS = "▀▂▃▄▅▆▇█░▒▓■▖▗▘▙▚▛▜▝▞▟"


def _table() -> dict[int, str]:
    table = dict.fromkeys(range(0x2500, 0x2580), "+")  # what is no straight line is a corner
    for glyphs, ascii_ in (
        (_HORIZONTAL, "-"),
        (_VERTICAL, "|"),
        (_BLOCKS, "#"),
        ("╱", "/"),
        ("╲", "\\"),
        ("╳×✓✔✗✘☑☒", "x"),
        ("…", "~"),
        ("·–—‐‑−", "-"),
        ("•●◉◆", "*"),
        ("○◌◇☐□", "o"),
        ("“”„«»", '"'),
        ("‘’‚‹›", "'"),
        ("→▶▸►⯈", ">"),
        ("←◀◂◄⯇", "<"),
        ("↑▲▴⯅⌃", "^"),
        ("↓▼▾⯆⌄", "v"),
        ("↵⏎", "<"),
        ("\N{REPLACEMENT CHARACTER}", "?"),
        ("\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}", " "),
    ):
        table |= dict.fromkeys(map(ord, glyphs), ascii_)
    return table


_ASCII = _table()


class AsciiFilter(LineFilter):
    """Draw lines, blocks, arrows, marks and the punctuation of sentences in ASCII, cell by cell.

    Letters and signs of other scripts stay: the names of remotes are data, and a name that is
    rewritten is another name. A terminal without them shows what it always shows for them.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments in ASCII, as wide as before."""
        return [
            segment
            if segment.control or segment.text.isascii()
            else Segment(segment.text.translate(_ASCII), segment.style)
            for segment in segments
        ]
