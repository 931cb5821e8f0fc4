"""What stands on the terminal, cell by cell, and what has to be sent so that it shows other cells.

Knows neither Textual nor Rich: a frame can be written before they are imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from operator import ne
from typing import TYPE_CHECKING

from lockterm.terminal.cell_writer import CellWriter
from lockterm.terminal.widths import (
    Cell,
    doubtful_cells,
    drawn_alone,
    is_ambiguous,
    is_doubtful,
    is_drawing,
    is_plain,
    kept_in_place,
)

if TYPE_CHECKING:
    from lockterm.config import Look

DOUBT = 4
"""So many cells behind a character may have been drawn over, where terminals disagree on widths;
more where it is joined of many, each of which may have been drawn apart."""

_UNKNOWN: Cell = ("?", "unknown")


def frame_for(look: Look) -> Frame:
    """The frame of an app, of which nothing is known yet.

    Args:
        look: What its terminal can do.
    """
    frame = Frame(guarded=True, fills=look.fills)
    frame.joined = look.copy == "plain"  # no multiplexer counts in between
    return frame


class Frame:
    """What stands on the terminal now, cell by cell; begins as not known.

    Args:
        guarded: Keep what runs from right to left from moving what stands beside it.
        fills: Whether what the terminal erases takes the background that is set.
    """

    def __init__(self, *, guarded: bool = False, fills: bool = False) -> None:
        self._guarded = guarded
        self.fills = fills
        self._rows: list[list[Cell]] = []
        self.cursor = (0, 0)
        """Column and row where the terminal's own cursor belongs: on what has the focus. It is not
        seen, but what reads the screen aloud, in braille or enlarged follows it."""
        self.joined = True
        """Whether signs that are joined of several may be sent."""
        self.ambiguous: int | None = None
        """How many cells the terminal takes for characters of ambiguous width; None: not known."""

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows of what is known; none where nothing is."""
        return (len(self._rows[0]) if self._rows else 0, len(self._rows))

    @property
    def rows(self) -> list[list[Cell]]:
        """All cells; each row is replaced where it changes, and never changed."""
        return [*self._rows]

    def forget(self) -> None:
        """Count every cell as changed: the terminal may show anything."""
        self._rows = []

    def changes(self, painted: Iterable[tuple[int, int, list[Cell]]], size: tuple[int, int]) -> str:
        """Take over what was painted.

        Args:
            painted: Column, row, and the cells that stand there from now on.
            size: Columns and rows of the terminal.

        Returns:
            What to send so that the terminal shows it; empty where it does already.
        """
        columns, rows = size
        if self.size != size:
            self._rows = [[_UNKNOWN] * columns for _ in range(rows)]
        found: dict[int, list[Cell]] = {}
        for x, y, cells in painted:
            if 0 <= y < rows and x < columns:
                _paint(found.setdefault(y, [*self._rows[y]]), x, cells[: columns - x])
        writer = CellWriter(fills=self.fills)
        for y, row in sorted(found.items()):
            row = row if self.joined else drawn_alone(row)
            self._write(writer, y, kept_in_place(row) if self._guarded else row)
        return writer.sent()

    def _write(self, writer: CellWriter, y: int, now: list[Cell]) -> None:
        before = self._rows[y]
        if before == now:
            return
        self._rows[y] = now
        doubtful, were_doubtful = doubtful_cells(now), doubtful_cells(before)
        changed = list(map(ne, before, now))
        reaches, reached = [*_reaches(now, doubtful)], [*_reaches(before, were_doubtful)]
        exact = min(max((reach + 1 for _, reach in reaches), default=0), len(now))
        if exact > max((reach + 1 for _, reach in reached), default=0):
            changed[:exact] = repeat(True, exact)  # else the blanks among them are written
        runs = self._runs(now)
        # What terminals may have drawn over has to be written again, behind what was there too.
        touched = [*runs, *self._runs(before), *reached, *reaches]
        for cells, reach in sorted(touched, key=lambda one: one[0].start):
            if True in changed[cells.start : cells.stop]:
                behind = range(cells.start, min(reach, len(now)))
                changed[behind.start : behind.stop] = repeat(True, len(behind))
        if _UNKNOWN in now:  # it is painted later
            changed = [one and cell is not _UNKNOWN for one, cell in zip(changed, now, strict=True)]
        writer.write(y, now, changed, {cells.start: cells for cells, _ in runs}, exact=exact)

    def _runs(self, row: list[Cell]) -> list[tuple[range, int]]:
        """The rest of each word from a character of ambiguous width on, and how far it may reach.

        It is written in one go: each character placed by itself would be cut in two by the next.
        """
        if self.ambiguous == 1 or is_plain(row):
            return []
        found: list[tuple[range, int]] = []
        start, more = None, 0
        for x, (text, _) in enumerate(row):
            line = self.ambiguous is None and is_drawing(text)  # lockterm's own, most often
            if text == " " or line or is_doubtful(text):
                if start is not None:
                    found.append((range(start, x), x + more))
                start, more = None, 0
            elif is_ambiguous(text) and (x + 1 == len(row) or row[x + 1][0]):
                start, more = x if start is None else start, more + 1
        if start is not None:
            found.append((range(start, len(row)), len(row)))
        return found


def _paint(row: list[Cell], x: int, cells: list[Cell]) -> None:
    end = x + len(cells)
    cut_before = x and not row[x][0] and cells[0][0]
    row[x:end] = cells
    # A wide character that was cut in two at the edge: the terminal shows neither half.
    if cut_before:
        row[x - 1] = _UNKNOWN
    if end < len(row) and not row[end][0]:
        row[end] = _UNKNOWN


def _reaches(row: list[Cell], doubtful: list[int]) -> Iterator[tuple[range, int]]:
    """Each character of a width that terminals disagree on, and how far it may reach."""
    for x in doubtful:
        yield range(x, x + 1), x + max(2 + DOUBT, 2 * len(row[x][0]))
