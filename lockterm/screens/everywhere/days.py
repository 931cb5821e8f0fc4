"""What ends as a picture: a column for each day to come, with how many end on it."""

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
"""The fewest cells for what stands before the days."""

MORE = "^"
"""In the place of a number that takes more cells than there are: no state of a remote has it."""

MOST_LOCKS = 10
"""No more locks have a line of their own."""

_LOW = 18
"""Of a terminal that is higher, each two lines more are a lock's; one alone would say nothing."""

Ends = tuple[str, Sequence[int]]
"""The title of a lock, and how many end there on each day."""


class DaysToCome(Widget):
    """The days, a bar for each, the number for all locks; and by lock where there is room."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._first: date | None = None
        self._ends: Sequence[Ends] = ()

    def show_days(self, first: date | None, ends: Sequence[Ends]) -> None:
        """Show what ends, beginning with a day; locks in the order in which they are to stand."""
        lines = len(self._shown)
        self._first, self._ends = first, ends
        self.refresh(layout=len(self._shown) != lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 3 + len(self._shown)

    @property
    def _shown(self) -> Sequence[Ends]:
        """The locks with a line of their own; the last is for the others where there are more."""
        most = min(max(self.app.size.height - _LOW, 0) // 2, MOST_LOCKS)
        if min(len(self._ends), most) < 2:
            return ()
        if len(self._ends) <= most:
            return self._ends
        rest = self._ends[most - 1 :]
        return [*self._ends[: most - 1], (format_count(len(rest), "other lock"), _sum(rest))]

    def render(self) -> Content:
        if self._first is None:
            return Content("")
        width, sums = self.content_size.width, _sum(self._ends)
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


def _sum(ends: Sequence[Ends]) -> list[int]:
    return [sum(day) for day in zip(*(counts for _, counts in ends), strict=True)] or [0] * DAYS


def _ruler(first: date, cells: int) -> str:
    """``23 Nov  30       7 Dec``: the first day, each Monday, the month where it is another."""
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
    """As high as many end on a day, beside the day with the most."""
    signs = "_:|#" if glyphs.are_ascii() else "▁▂▃▄▅▆▇█"
    most = max(*counts, 1)
    drawn = (signs[-(-count * len(signs) // most) - 1] if count else "" for count in counts)
    return "".join(bar.rjust(cells) for bar in drawn)


def numbers(first: date, counts: Sequence[int], cells: int) -> str:
    """How many end on each day; :data:`MORE` where it has no room; a weekend has no dots."""
    nothing = "." if glyphs.are_ascii() else "·"
    text = ""
    for number, count in enumerate(counts):
        is_weekend = (first.weekday() + number) % 7 > 4
        sign = "" if is_weekend else nothing
        if count:
            sign = str(count) if len(str(count)) <= max(cells - 1, 1) else MORE
        text += sign.rjust(cells)
    return text
