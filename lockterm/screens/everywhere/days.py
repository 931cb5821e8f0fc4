"""A chart of the next days, in a few lines above the list "Expiring" of a narrow terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from lockterm.domain import dates, glyphs
from lockterm.domain.safe_text import clean
from lockterm.domain.text.amount import format_count
from lockterm.domain.timeline import DAYS
from lockterm.widgets.cells import cut

LABEL = 10
"""The minimum width of the labels at the start of the lines, in cells."""

MORE = "^"
"""The character in place of a number that is too wide; no state of a remote uses it as its icon."""

MOST_LOCKS = 10
"""The maximum number of locks that have their own line."""

_LOW = 18
"""The terminal height in lines up to which no lock has its own line. Each two additional lines make
room for one more lock."""

Ends = tuple[str, Sequence[int]]
"""The title of a lock, and the numbers of its remotes that expire on each day."""


class DaysToCome(Widget):
    """A chart with a bar and the number of expiring remotes for each of the next days.

    In a high terminal, the first locks also have their own lines.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._first: date | None = None
        self._ends: Sequence[Ends] = ()

    def show_days(self, first: date | None, ends: Sequence[Ends]) -> None:
        """Show how many remotes expire on each day.

        Args:
            first: The first day; None if there are no locks.
            ends: The locks with their numbers of expiring remotes, in the order of the lines.
        """
        lines = len(self._shown)
        self._first, self._ends = first, ends
        self.refresh(layout=len(self._shown) != lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 3 + len(self._shown)

    @property
    def _shown(self) -> Sequence[Ends]:
        """The locks with their own line. If not all locks fit, the last one sums up the others."""
        most = min(max(self.app.size.height - _LOW, 0) // 2, MOST_LOCKS)
        if min(len(self._ends), most) < 2:
            return ()
        if len(self._ends) <= most:
            return self._ends
        rest = self._ends[most - 1 :]
        return [*self._ends[: most - 1], (format_count(len(rest), "other lock"), sum_ends(rest))]

    def render(self) -> Content:
        if self._first is None:
            return Content("")
        width, sums = self.content_size.width, sum_ends(self._ends)
        cells = min(max((width - LABEL) // DAYS, 1), 3)
        room = max(width - cells * DAYS, 0)
        lines = [
            ("day", _ruler(self._first, cells)),
            (f"most {max(sums):,}", bars(sums, cells)),
            (f"all {sum(sums):,}", numbers(self._first, sums, cells)),
            *((clean(title, 60), numbers(self._first, ends, cells)) for title, ends in self._shown),
        ]
        return Content("\n".join(_labeled(label, room) + text for label, text in lines))


def _labeled(label: str, room: int) -> str:
    shown = cut(label, room - 1)
    return shown + " " * (room - cell_len(shown))


def sum_ends(ends: Sequence[Ends]) -> list[int]:
    """Return the number of remotes that expire on each day, summed over all locks."""
    return [sum(day) for day in zip(*(counts for _, counts in ends), strict=True)] or [0] * DAYS


def _ruler(first: date, cells: int) -> str:
    """Return labels for the first day and each Monday: ``23 Nov  30       7 Dec``.

    A label has the name of the month only if the month has changed.

    Args:
        first: The first day.
        cells: The width of a day in cells.
    """
    text, told = "", 0
    for number in range(DAYS):
        day = first + timedelta(days=number)
        at = number * cells + cells - 1  # above the last cell of its column
        if (number and day.weekday()) or (text and at <= len(text)):
            continue
        month = f" {dates.MONTHS[day.month - 1]}" if day.month != told else ""
        words = f"{day.day}{month}"
        if at + len(words) <= DAYS * cells:
            text, told = text.ljust(at) + words, day.month
    return text


def bars(counts: Sequence[int], cells: int) -> str:
    """Return one bar per day, scaled to the busiest day.

    Args:
        counts: The number of remotes that expire on each day.
        cells: The width of a day in cells.
    """
    most = max(counts)
    drawn = (glyphs.bar(count, most) if count else "" for count in counts)
    return "".join(bar.rjust(cells) for bar in drawn)


def numbers(first: date, counts: Sequence[int], cells: int) -> str:
    """Return the number of remotes for each day in one line; :data:`MORE` if a number does not fit.

    Working days on which no remote expires have a dot.

    Args:
        first: The first day.
        counts: The number of remotes that expire on each day.
        cells: The width of a day in cells.
    """
    text = ""
    for number, count in enumerate(counts):
        is_weekend = (first.weekday() + number) % 7 > 4
        sign = "" if is_weekend else glyphs.nothing()
        if count:
            sign = str(count) if len(str(count)) <= max(cells - 1, 1) else MORE
        text += sign.rjust(cells)
    return text
