"""A terminal that draws each character as wide as it thinks, for tests of what is sent to it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

Widths = Callable[[str], int]
"""How many cells a terminal takes for a character; 0: it is drawn over the one before."""


def by_the_book(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf") or char == "\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


class CellTerminal:
    """The cells of a terminal, and what the few sequences that lockterm sends do to them.

    One half of a wide character that is overwritten takes the other with it, and behind the last
    column nothing moves on.

    Args:
        columns: Its width.
        rows: Its height.
        width: How wide it thinks a character is.
        joins: Whether emoji that are joined take the cells of the first one.
    """

    _TOKEN = re.compile(r"\x1b\[([0-9;]*)([HCKXm])|([^\x1b])")

    def __init__(
        self, columns: int, rows: int, width: Widths = by_the_book, joins: bool = True
    ) -> None:
        self.cells = [[("#", "")] * columns for _ in range(rows)]
        """The character in each cell, empty for the second half of a wide one; and its style."""
        self._columns, self._width, self._joins = columns, width, joins
        self._x = self._y = 0
        self._joined = False

    def set_style(self, codes: str) -> None:
        """Take the codes of a style."""

    def style_of(self, character: str) -> str:
        """Return the style that a character is drawn in now; a blank for an erased cell."""
        return ""

    def feed(self, text: str) -> None:
        place = 0
        while place < len(text):
            token = self._TOKEN.match(text, place)
            assert token is not None, text[place:]
            given, letter, char = token.groups()
            place = token.end()
            if char is not None and char not in "\r\n":
                self._put(char)
                continue
            self._joined = False
            if char is not None:
                self._x, self._y = (0, self._y) if char == "\r" else (self._x, self._y + 1)
            elif letter == "H":
                row, _, column = given.partition(";")
                self._y, self._x = int(row or 1) - 1, int(column or 1) - 1
            elif letter == "C":
                self._x = min(self._x + int(given or 1), self._columns - 1)
            elif letter == "m":
                self.set_style(given)
            else:
                end = self._columns if letter == "K" else self._x + int(given)
                for x in range(self._x, min(end, self._columns)):
                    self._blank(x, self.style_of(""))

    def _put(self, char: str) -> None:
        width = 0 if self._joined or (self._joins and char == "\u200d") else self._width(char)
        self._joined = self._joins and char == "\u200d"
        cells = range(self._x, min(self._x + width, self._columns)) if width else ()
        for x in cells:
            self._blank(x)
        for x in cells:
            self.cells[self._y][x] = (char if x == self._x else "", self.style_of(char))
        self._x = min(self._x + width, self._columns - 1)

    def _blank(self, x: int, style: str = "") -> None:
        row = self.cells[self._y]
        if not row[x][0] and x:
            row[x - 1] = (" ", "")
        if x + 1 < self._columns and not row[x + 1][0]:
            row[x + 1] = (" ", "")
        row[x] = (" ", style)
