"""What stands on a screen: its cells, its words, its dialog, and the notice above its keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from pyte.screens import Char, Screen

_CORNERS = ("╭┌╔+", "╮┐╗+", "╰└╚+", "╯┘╝+")
_FLAT, _UPRIGHT = "─━═-", "│┃║|"
_WIDEST = 76
"""The width of the widest dialog, in cells."""
_TOP = re.compile(
    f"[{_CORNERS[0]}][{_FLAT}]{{1,3}}(?: [^{_FLAT}]+ )?[{_FLAT}]{{5,}}[{_CORNERS[1]}]"
)
"""The upper edge of a frame, with its title if it has one."""
_BAR = "▌|"
"""What each line of a notice begins with."""
_NOTICE = rf"[{_BAR}] (?:\S| +\S+ (?:\S+ )?more *$)"
"""A row of a notice; the last one may have nothing but the key that shows the rest."""
_DRAWING = re.compile(r"[\u2500-\u259f\u2800\s]+|-{4,}|[|#]|(?<= )-(?=\s*$)")
"""Lines, blocks and nothing, in ASCII too: no text. U+2800 is a blank with a direction; a dash
alone at the right edge is the end of a scroll bar's handle."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of cells, its edges belonging to it."""

    left: int
    top: int
    right: int
    bottom: int

    def has(self, x: int, y: int) -> bool:
        """Whether a cell is in it."""
        return self.left <= x <= self.right and self.top <= y <= self.bottom


class Picture:
    """One moment of a screen.

    Args:
        screen: The terminal.
    """

    def __init__(self, screen: Screen) -> None:
        self.width, self.height = screen.columns, screen.lines
        self.rows: list[list[Char]] = [
            [screen.buffer[y][x] for x in range(screen.columns)] for y in range(screen.lines)
        ]

    @cached_property
    def lines(self) -> list[str]:
        """A character for each cell, but for the second halves of wide ones: a space."""
        return ["".join((cell.data or " ")[0] for cell in row) for row in self.rows]

    @cached_property
    def words(self) -> str:
        """All of it, as words with one space between them, without frames and scroll bars."""
        lines = (re.sub(r"^[│|] | *[│|▁▂▃▄▅▆▇█] *$", "", line) for line in self.lines)
        return " ".join(" ".join(lines).split())

    def text_cells(self) -> Iterator[tuple[int, int, Char]]:
        """Column, row and cell, where there is text to read."""
        for y, row in enumerate(self.rows):
            drawn = {x for found in _DRAWING.finditer(self.lines[y]) for x in range(*found.span())}
            yield from ((x, y, cell) for x, cell in enumerate(row) if x not in drawn)

    # --- the dialog ----------------------------------------------------------------------------

    @cached_property
    def boxes(self) -> list[Box]:
        """What is closed all around: a dialog."""
        found = []
        for top, line in enumerate(self.lines[:-1]):
            for edge in re.finditer(_TOP, line):
                left, right = edge.start(), edge.end() - 1
                if (bottom := self._bottom(left, right, top)) is not None:
                    found.append(Box(left, top, right, bottom))
        return found

    @cached_property
    def dialog(self) -> Box | None:
        """The box in the middle; None: there is none.

        A frame around a table begins at the left, and that of a form is wider than any dialog.
        """
        for box in self.boxes:
            if box.left == 0 or box.right - box.left >= _WIDEST:
                continue
            beside, above = box.left + box.right, box.top + box.bottom
            if abs(beside - self.width) <= 3 and abs(above - self.height) <= 3:
                return box
        return None

    def _bottom(self, left: int, right: int, top: int) -> int | None:
        for y in range(top + 1, self.height):
            line = self.lines[y]
            if line[left] in _UPRIGHT and line[right] in _UPRIGHT:
                continue
            edge = line[left + 1 : right]
            closed = line[left] in _CORNERS[2] and line[right] in _CORNERS[3]
            return y if closed and not edge.strip(_FLAT) and y > top + 1 else None
        return None

    @cached_property
    def palette(self) -> Box | None:
        """The rows between the two lines from edge to edge; None: there are no two."""
        ruled = [y for y, line in enumerate(self.lines) if not line.strip("▔▁-")]
        return Box(0, ruled[0], self.width - 1, ruled[-1]) if len(ruled) > 1 else None

    @property
    def words_of_dialog(self) -> str:
        """What stands in the dialog, as words."""
        return self._inside(self.dialog) if self.dialog else ""

    @cached_property
    def rows_of_notice(self) -> range:
        """The rows of a notice: above the keys, or in place of them where there is a dialog."""
        bottom = self.height - 1 if re.match(_NOTICE, self.lines[-1]) else self.height - 2
        top = bottom
        while top >= 0 and re.match(_NOTICE, self.lines[top]):
            top -= 1
        return range(top + 1, bottom + 1)

    @cached_property
    def words_of_notice(self) -> str:
        """What a notice says, as words; empty: there is none."""
        return " ".join(" ".join(self.lines[y][2:] for y in self.rows_of_notice).split())

    @property
    def has_keys(self) -> bool:
        """Whether the last line is that of the keys."""
        return self.height - 1 not in self.rows_of_notice

    def _inside(self, box: Box) -> str:
        inner = (self.lines[y][box.left + 1 : box.right] for y in range(box.top + 1, box.bottom))
        return " ".join(" ".join(inner).split())

    # --- what stands out -----------------------------------------------------------------------

    def cells_of(self, pattern: str) -> list[list[Char]]:
        """The cells of each text that matches, in the dialog where there is one.

        Args:
            pattern: A regular expression for a part of one row. Spaces count where it matches
                nothing else: the cursor behind a text.
        """
        found = []
        for y, offset, line in self._places():
            for match in re.finditer(pattern, line):
                cells = self.rows[y][offset + match.start() : offset + match.end()]
                found.append([cell for cell in cells if cell.data.strip()] or cells)
        return found

    def has_bar(self, pattern: str) -> bool:
        """Whether the cursor's bar is left of a text in a bold row, outside of dialogs.

        The bar is a single reversed cell, blank or with the mark of the row.

        Args:
            pattern: As for :meth:`cells_of`.
        """
        if self.dialog is not None:
            return False
        for y, _, line in self._places():
            row = self.rows[y]
            bars = [
                x
                for x, cell in enumerate(row[:-1])
                if cell.reverse
                and cell.data in " *"
                and not row[x + 1].reverse
                and not (x and row[x - 1].reverse)
            ]
            for match in re.finditer(pattern, line):
                text = [cell for cell in row[match.start() : match.end()] if cell.data.strip()]
                if all(cell.bold for cell in text) and any(x < match.start() for x in bars):
                    return True
        return False

    def _places(self) -> Iterator[tuple[int, int, str]]:
        if box := self.dialog:
            for y in range(box.top, box.bottom):
                yield y, box.left, self.lines[y][box.left : box.right + 1]
            return
        for y, line in enumerate(self.lines):
            yield y, 0, line
