"""Builds the shortest output that updates some cells: cursor moves, styles and text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from lockterm.terminal.widths import GUARD, Cell, is_doubtful

THROUGH = 4
"""Maximum number of unchanged cells to write again instead of moving the cursor over these
cells."""

ERASED = 10
"""Minimum number of blanks for which a code that erases cells is shorter than the blanks."""

_ENDS = {
    **{"1": "22", "2": "22", "3": "23", "4": "24", "21": "24", "5": "25", "6": "25", "7": "27"},
    **{"8": "28", "9": "29", "51": "54", "52": "54", "53": "55"},
}
"""Maps the SGR code of each attribute to the code that ends the attribute."""
SEEN_ON_BLANKS = frozenset(("4", "21", "7", "9", "51", "52", "53"))
"""The SGR codes of the attributes that are visible on blanks, such as underline."""


class CellWriter:
    """A buffer of cursor moves, styles and text for the terminal.

    Args:
        fills: Whether the terminal erases cells with the background of the current style.
    """

    def __init__(self, *, fills: bool = False) -> None:
        self._fills = fills
        self._out: list[str] = []
        self._codes = ""
        self._at: tuple[int, int] | None = None
        """Column and row of the terminal's cursor; None if terminals may disagree on its
        position."""
        self._exact = 0

    def write(
        self,
        y: int,
        cells: list[Cell],
        changed: list[bool],
        runs: Mapping[int, range],
        *,
        exact: int,
    ) -> None:
        """Write the changed cells of a row.

        Args:
            y: The row number, from 0.
            cells: All cells of the row.
            changed: For each cell of the row, whether to write the cell.
            runs: Maps the index of the first cell of a range to the range. Each range is written
                without cursor moves, because terminals disagree on the cursor's position inside it.
                Either all cells of a range have changed, or none.
            exact: The number of cells from the left in which blanks are written in their own style,
                even if another style looks the same. If a character of doubtful width is drawn
                beyond its cells, PuTTY repaints the blank beside the character when the style of
                the blank changes, even if the change is invisible.
        """
        self._exact = exact
        place, end = 0, len(cells)
        blank = self._blank_from(cells)
        while True:
            try:
                place = changed.index(True, place)
            except ValueError:
                return
            self._move(place, y, cells)
            if place >= blank:
                self._style(cells[place], place)
                self._out.append("\x1b[K")
                return
            while place < blank and changed[place]:
                if run := runs.get(place):
                    self._flow(cells[run.start : run.stop], place, y)
                    place = run.stop
                    continue
                text = cells[place][0]
                if text == " ":
                    place = self._put_blanks(cells, changed, place, y, blank)
                    continue
                if text and text.isascii():
                    self._move(place, y, cells)
                    self._style(cells[place], place)
                    self._out.append(text)
                    self._at = (place + 1, y)
                elif text:  # the second half of a wide character came with the first
                    wide = place + 1 < end and not cells[place + 1][0]
                    self._put(cells, place, y, 2 if wide else 1)
                place += 1

    def _put_blanks(
        self, cells: list[Cell], changed: list[bool], place: int, y: int, end: int
    ) -> int:
        """Write or erase changed blanks of one style; return the index of the cell after them."""
        first, stop = cells[place], place + 1
        while stop < end and changed[stop] and cells[stop] == first:
            stop += 1
        self._move(place, y, cells)
        self._style(first, place)
        if self._fills and stop - place >= ERASED and is_ground(first[1]):
            self._out.append(f"\x1b[{stop - place}X")
        else:
            self._out.append(" " * (stop - place))
            self._at = (stop, y)
        return stop

    def _move(self, x: int, y: int, cells: list[Cell]) -> None:
        at, self._at = self._at, (x, y)
        if at == (x, y):
            return
        if at is not None and at[1] == y and at[0] < x:
            self._out.append(self._ahead(cells, at[0], x))
            return
        here = f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H" if y else "\x1b[H"
        if at is not None and at[1] + 1 == y:
            here = min(here, "\r\n" + self._ahead(cells, 0, x), key=len)
        self._out.append(here)

    def _ahead(self, cells: list[Cell], start: int, stop: int) -> str:
        """Return the output that moves the cursor past cells: a code, or the cells again."""
        count = stop - start
        if count <= THROUGH and all(self._goes_on(cells[x], x) for x in range(start, stop)):
            return "".join([text for text, _ in cells[start:stop]])
        return f"\x1b[{count}C" if count > 1 else "\x1b[C"

    def _put(self, cells: list[Cell], x: int, y: int, width: int) -> None:
        text, _ = cells[x]
        self._move(x, y, cells)
        self._style(cells[x], x)
        if text == GUARD and (unseen := _unseen(cells[x][1])):
            # Reset all styles after it: some terminals conceal text, but never end that otherwise.
            self._out.append(f"\x1b[{unseen}m{text}\x1b[m")
            self._codes, self._at = "", None
            return
        if not is_doubtful(text):
            self._out.append(text)
            self._at = (x + width, y)
            return
        if width > 1:  # if the terminal draws it narrower, the old second half would stay
            self._out.append(" " * width + f"\x1b[{y + 1};{x + 1}H")
        self._out.append(text)
        self._at = None

    def _flow(self, cells: list[Cell], x: int, y: int) -> None:
        if self._at != (x, y):
            self._out.append(f"\x1b[{y + 1};{x + 1}H")
        for at, cell in enumerate(cells, x):
            self._style(cell, at)
            self._out.append(cell[0])
        self._at = None

    def _goes_on(self, cell: Cell, x: int) -> bool:
        """Return whether a cell can be written directly, without a new style or a cursor move.

        This is the case for an ASCII character in the current style, and for a blank that looks the
        same in this style.
        """
        text, codes = cell
        if codes == self._codes:
            return len(text) == 1 and text.isascii()
        return text == " " and self._suits_blanks(codes, x)

    def _suits_blanks(self, codes: str, x: int) -> bool:
        return x >= self._exact and _suits_blanks(self._codes, codes)

    def _style(self, cell: Cell, x: int) -> None:
        text, codes = cell
        if text == " " and self._suits_blanks(codes, x):
            return
        if codes != self._codes:
            self._out.append(_change(self._codes, codes))
            self._codes = codes

    def sent(self) -> str:
        """Return all output so far, followed by a reset of the style."""
        if self._codes:
            self._out.append("\x1b[m")
            self._codes = ""
        return "".join(self._out)

    def _blank_from(self, cells: list[Cell]) -> int:
        """Return the first index from which one code can erase the rest of the row.

        Returns:
            The index; the length of the row if the code would not be shorter than blanks.
        """
        place, last = len(cells), cells[-1]
        if last[0] != " " or not (last[1] == "" or (self._fills and is_ground(last[1]))):
            return place
        while place and cells[place - 1] == last:
            place -= 1
        return place if len(cells) - place > len("\x1b[K") else len(cells)


@lru_cache(maxsize=1024)
def is_ground(codes: str) -> bool:
    """Return whether a style has no attributes and no text color; a background is allowed."""
    attributes, front, _ = _parts(codes)
    return not attributes and not front


@lru_cache(maxsize=4096)
def _change(before: str, after: str) -> str:
    """Return the code that changes the style: a reset, or the difference if that is shorter."""
    if not before or not after:
        return f"\x1b[{after}m"
    anew = f"0;{after}"
    attributes, front, back = _parts(before)
    wanted, wanted_front, wanted_back = _parts(after)
    if not wanted_front and not wanted_back:  # a monochrome terminal may ignore the ending codes
        return f"\x1b[{anew}m"
    ends = {_ENDS[code] for code in attributes - wanted}
    codes = [*sorted(ends)]
    codes += sorted(code for code in wanted if code not in attributes or _ENDS[code] in ends)
    if front != wanted_front:
        codes.append(wanted_front or "39")
    if back != wanted_back:
        codes.append(wanted_back or "49")
    return f"\x1b[{min(';'.join(codes), anew, key=len)}m"


@lru_cache(maxsize=4096)
def _parts(codes: str) -> tuple[frozenset[str], str, str]:
    """Return the attributes, the foreground and the background of a style."""
    attributes: set[str] = set()
    front = back = ""
    rest = codes.split(";") if codes else []
    while rest:
        taken = {"5": 3, "2": 5}[rest[1]] if rest[0] in ("38", "48") else 1
        code, rest = ";".join(rest[:taken]), rest[taken:]
        if code in _ENDS:
            attributes.add(code)
        elif code.startswith(("3", "9")):
            front = code
        else:
            back = code
    return frozenset(attributes), front, back


@lru_cache(maxsize=256)
def _unseen(codes: str) -> str:
    """Return the SGR codes to add to a style so that the guard character is invisible.

    Many fonts draw that character, :data:`GUARD`, as a box. VTE supports the code for concealed
    text. PuTTY and urxvt need text in the background color, so the function also returns a code for
    that color, unless the color is the terminal's default. The result is empty if the style draws a
    line or a frame.
    """
    attributes, front, back = _parts(codes)
    if attributes & SEEN_ON_BLANKS - {"7"}:
        return ""
    swapped = "7" in attributes
    ground = front if swapped else back
    if not ground:
        return "8"
    bright, plain = ("10", "4") if swapped else ("9", "3")
    kind = bright if ground.startswith(("9", "10")) else plain
    return f"8;{kind}{ground[2 if ground.startswith('10') else 1 :]}"


@lru_cache(maxsize=4096)
def _suits_blanks(codes: str, blank: str) -> bool:
    """Return whether a blank of the style ``blank`` looks the same in the style ``codes``.

    Both styles must have the same background and no attribute that is visible on blanks.
    """
    if codes == blank:
        return True
    attributes, _, back = _parts(codes)
    return is_ground(blank) and _parts(blank)[2] == back and not attributes & SEEN_ON_BLANKS
