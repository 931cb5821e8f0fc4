"""What a terminal shows to which some bytes were written, as pyte understands them."""

from __future__ import annotations

import codecs
import re

import pyte

# Sequences that xterm knows and pyte would draw as text.
_BEYOND_PYTE = re.compile(r"\x1b\[(?:[<=>][0-9;:]*[@-~]|\?[0-9;]*\$[@-~])")
# Joiners and variation selectors, at which pyte drops the rest of what is written with them.
_WITHOUT_WIDTH = dict.fromkeys([0x200C, 0x200D, 0xFE0F])
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*)?\Z")


class Replica:
    """A terminal that is only computed.

    Args:
        columns: Its width.
        rows: Its height.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.raw = bytearray()
        """Every byte that was written so far."""
        self.screen = pyte.Screen(columns, rows)
        """The screen, with the colors and attributes of its cells."""
        self._stream = pyte.Stream(self.screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._held = ""

    def write(self, data: bytes) -> None:
        """Take over some bytes, which may end anywhere."""
        self.raw += data
        text = self._held + self._decoder.decode(data)
        unfinished = _UNFINISHED.search(text)
        cut = unfinished.start() if unfinished else len(text)
        self._held = text[cut:]
        self._stream.feed(_BEYOND_PYTE.sub("", text[:cut]).translate(_WITHOUT_WIDTH))

    @property
    def lines(self) -> list[str]:
        """The rows of the screen, without spaces at their ends."""
        # pyte's own ``display`` fails on a row where half of a wide character was overwritten.
        screen = self.screen
        rows = (screen.buffer[y] for y in range(screen.lines))
        return ["".join(row[x].data for x in range(screen.columns)).rstrip() for row in rows]

    @property
    def text(self) -> str:
        """The screen."""
        return "\n".join(self.lines)
