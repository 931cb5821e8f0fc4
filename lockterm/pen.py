"""What is sent to a terminal so that some cells show what they should: moves, styles, text."""

from __future__ import annotations

Cell = tuple[str, str]
"""What stands in a cell, and its SGR codes. The second half of a wide character has no text."""

THROUGH = 4
"""Unchanged cells that are written again because moving over them costs as much."""


class Pen:
    """Collects what is sent: moves, styles and text."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._out: list[str] = []
        self._codes = ""
        self._at: tuple[int, int] | None = None
        """Where the terminal's cursor is; None where terminals may disagree."""

    def write(self, x: int, y: int, cells: list[Cell], changed: list[bool]) -> None:
        """Write the changed ones of some cells."""
        place, end = 0, len(cells)
        blank = self._blank_from(x, cells)
        while True:
            try:
                place = changed.index(True, place)
            except ValueError:
                return
            if place >= blank:
                self._move(x + place, y, cells, x)
                self._style("")
                self._out.append("\x1b[K")
                return
            self._move(x + place, y, cells, x)
            while place < blank and changed[place]:
                wide = place + 1 < end and not cells[place + 1][0]
                self._put(cells[place], x + place, y, 2 if wide else 1)
                place += 1

    def _blank_from(self, x: int, cells: list[Cell]) -> int:
        """The cell from which on the rest of the line is blank and can be erased at once."""
        if x + len(cells) != self._columns:
            return len(cells)
        place = len(cells)
        while place and cells[place - 1] == (" ", ""):
            place -= 1
        return place if len(cells) - place > len("\x1b[K") else len(cells)

    def _move(self, x: int, y: int, cells: list[Cell], start: int) -> None:
        if self._at is not None and self._at[1] == y:
            between = cells[max(self._at[0] - start, 0) : x - start] if self._at[0] >= start else []
            ahead = x - self._at[0]
            if ahead == 0:
                return
            plain = len(between) == ahead and all(
                codes == self._codes and len(text) == 1 and text.isascii()
                for text, codes in between
            )
            if 0 < ahead <= THROUGH and plain:
                self._out += [text for text, _ in between]
                self._at = (x, y)
                return
            if ahead > 0:
                self._out.append(f"\x1b[{ahead}C" if ahead > 1 else "\x1b[C")
                self._at = (x, y)
                return
        self._out.append(f"\x1b[{y + 1};{x + 1}H")
        self._at = (x, y)

    def _put(self, cell: Cell, x: int, y: int, width: int) -> None:
        text, codes = cell
        if not text:  # the second half of a wide character came with the first
            return
        here = f"\x1b[{y + 1};{x + 1}H"
        if self._at != (x, y):
            self._out.append(here)
        self._style(codes)
        if not is_doubtful(cell):
            self._out.append(text)
            self._at = (x + width, y)
            return
        if width > 1:  # where it is narrower, what stood in its second half would stay
            self._out.append(" " * width + here)
        self._out.append(text)
        self._at = None

    def _style(self, codes: str) -> None:
        if codes != self._codes:
            before = "0;" if self._codes and codes else ""
            self._out.append(f"\x1b[{before}{codes}m" if codes else "\x1b[m")
            self._codes = codes

    def sent(self) -> str:
        """All of it; the style is the terminal's own again."""
        self._style("")
        return "".join(self._out)


def is_doubtful(cell: Cell) -> bool:
    """Whether terminals disagree on the width of what stands in the cell.

    Signs such as check marks and stars became wide with Unicode 9 or 16, and GNU screen, PuTTY and
    the console have not all followed. Lines and blocks are excepted: they are lockterm's own.
    """
    text = cell[0]
    if len(text) != 1:
        return text != ""
    return text > "\u22ff" and (
        text < "\u2500"
        or "\u259f" < text < "\u2c00"
        or "\u4dbf" < text < "\u4e00"
        or text > "\uffff"
    )
