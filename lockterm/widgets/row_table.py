"""A table whose columns share the width, and whose cursor stays on its row when rows change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

from rich.cells import cell_len
from textual import events
from textual.message import Message

from lockterm.domain.names import sorted_by
from lockterm.widgets.cells import cut
from lockterm.widgets.line_table import MARGIN, MARK, TITLES, LineTable, Piece, Sorting

T = TypeVar("T")

GAP = 2
"""The width between two columns, in cells."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column, and how much of the table's width it gets."""

    title: str
    most: int = 24
    """The maximum width in cells, even if the contents are longer."""
    least: int = 0
    """The minimum width in cells; 0 for the width of the title."""
    rank: int = 0
    """The order in which columns are left out if not all fit: the highest rank first, rank 0
    never."""
    right: bool = False
    """Whether to align the contents to the right, as for numbers."""
    good: int = 0
    """The preferred width in cells. All columns get their preferred width before any column gets
    more."""
    gap: int = GAP
    """The width between this column and the next one, in cells."""


class LazyRows(Mapping[str, Sequence[str]], Generic[T]):
    """A mapping of row keys to cell texts, which creates the texts of a row when it is visible.

    Args:
        what: The object that each row shows, by row key.
        cells: A function that gets such an object, and returns one text per column, without control
            characters.
    """

    def __init__(self, what: Mapping[str, T], cells: Callable[[T], Sequence[str]]) -> None:
        self._what = what
        self._cells = cells

    def __getitem__(self, key: str) -> Sequence[str]:
        return self._cells(self._what[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._what)

    def __len__(self) -> int:
        return len(self._what)


class RowTable(LineTable):
    """A table whose rows are identified by keys.

    Args:
        columns: The columns, from left to right.
    """

    sortable: ClassVar[Collection[str]] = ()
    """The column titles that the user can click to sort. The screen, not the table, sorts the
    rows."""

    class Resorted(Message):
        """Posted when the user has chosen another sort order."""

    class Lacking(Message):
        """Posted when visible rows need data that was not read yet."""

    def __init__(self, *columns: Column, id: str | None = None) -> None:
        super().__init__(id=id)
        self.hidden: Set[int] = frozenset()
        """The indexes of the columns to hide when the widths are computed next."""
        self.sorting: Sorting | None = None
        """The sort order, or None for the order that the screen chose."""
        self._plan = columns
        self._content: Mapping[str, Sequence[str]] = {}
        self._keys: Sequence[str] = ()
        self._fitted_to = 0
        self._widths: Mapping[int, int] = {}

    @property
    def highlighted(self) -> str | None:
        """The key of the row under the cursor, or None if the table is empty."""
        return self._keys[self.cursor_row] if self._keys else None

    @property
    def in_sight(self) -> Sequence[str]:
        """The keys of the visible rows, from top to bottom."""
        top, high = self.scroll_offset.y, self.scrollable_content_region.height - TITLES
        return self._keys[top : top + max(high, 0)]

    @property
    def lacking(self) -> Sequence[str]:
        """The keys of the visible rows that need data that was not read yet."""
        return ()

    def look_for_lacking(self) -> None:
        """Request missing data for the visible rows.

        The screen calls this method after it has changed rows.
        """
        if self.lacking:
            self.post_message(self.Lacking())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Request the data of the rows that have scrolled into view."""
        super().watch_scroll_y(old_value, new_value)
        self.look_for_lacking()

    def show(self, rows: Mapping[str, Sequence[str]], cursor: str | None = None) -> None:
        """Replace the rows.

        Args:
            rows: Maps row keys to the texts for the columns, without control characters.
            cursor: The key of the row to move the cursor to. By default, the cursor stays on its
                row, or on the same index if its row is gone.
        """
        wanted = cursor or self.highlighted
        self._content, self._keys = rows, [*rows]
        is_there = wanted is not None and wanted in rows
        self._fill(self._keys.index(str(wanted)) if is_there else self.cursor_row)

    def widest(self) -> Sequence[int]:
        """Return the width of each column's longest content, in cells."""
        rows = [*self._content.values()]
        return [max((cell_len(row[i]) for row in rows), default=0) for i in range(len(self._plan))]

    def measure_again(self) -> None:
        if self._keys:
            self._fill(self.cursor_row)

    def on_resize(self, event: events.Resize) -> None:
        """Compute the column widths again. If only the height changed, keep the cursor visible."""
        if self._keys and self._room() != self._fitted_to:
            self._fill(self.cursor_row)
        else:
            self.call_after_refresh(self.see_cursor)

    def titles(self) -> Iterator[Piece]:
        return self._pieces([column.title for column in self._marked_plan()], {})

    def click_title(self, x: int) -> None:
        """Sort by the column whose title, or the gap after this column, is at the cell ``x``."""
        end = len(MARGIN)
        for index, width in self._widths.items():
            start, end = end, end + width + self._plan[index].gap
            title = self._plan[index].title
            if start <= x < end and title in self.sortable:
                self.sorting = Sorting.after(self.sorting, title)
                self.post_message(self.Resorted())

    def in_order(self, rows: Sequence[T]) -> Sequence[T]:
        """Return rows sorted by the clicked column title.

        If no title was clicked, the given order stays.
        """
        if self.sorting is None:
            return rows
        title, descending = self.sorting
        return sorted_by(rows, lambda row: self.sort_key(row, title), descending=descending)

    def sort_key(self, row: Any, title: str) -> Any:
        """Return the value by which a click on a title sorts a row; None if there is no value.

        A subclass with sortable columns overrides this method.
        """

    def _marked_plan(self) -> Sequence[Column]:
        """Return the columns, with room for the sort marker after the sorted column's title."""
        now = self.sorting
        if now is None:
            return self._plan
        return [
            replace(
                one,
                title=f"{one.title}{now.marker}",
                most=max(one.most, len(one.title) + 1),
                least=one.least and max(one.least, len(one.title) + 1),
            )
            if one.title == now.key
            else one
            for one in self._plan
        ]

    def line(self, row: int) -> Iterator[Piece]:
        cells = [*self._content[self._keys[row]]]
        if self.is_cursor_written and row == self.cursor_row and self.is_marked(row):
            cells[0] = f"{MARK}{cells[0]}"  # the cursor has replaced the mark in the margin
        return self._pieces(cells, self.signs(row))

    def signs(self, row: int) -> Mapping[int, Sequence[Piece]]:
        """Return the icons of a row by column index.

        In each of these columns, the icons replace the text and fill the width of the column.
        """
        return {}

    def _pieces(
        self, cells: Sequence[str], signs: Mapping[int, Sequence[Piece]]
    ) -> Iterator[Piece]:
        for index, width in self._widths.items():
            gap = " " * self._plan[index].gap
            if index in signs:
                yield from signs[index]
                yield gap, ""
                continue
            value = cut(cells[index], width)
            room = " " * (width - cell_len(value))
            yield (room + value if self._plan[index].right else value + room) + gap, ""

    def _fill(self, cursor: int) -> None:
        self._fitted_to = self._room()
        self._widths = fit(self._marked_plan(), self.widest(), self._fitted_to, self.hidden)
        cells = sum(width + self._plan[i].gap for i, width in self._widths.items())
        self.set_lines(cells, len(self._keys), cursor)

    def _room(self) -> int:
        """Return the width for columns in cells, without the margin and without any scrollbar."""
        width, height = self.content_region.size or self.app.size - self.styles.gutter.totals
        bar = self.styles.scrollbar_size_vertical if len(self._keys) + TITLES > height else 0
        return width - bar - len(MARGIN)


def fit(
    plan: Sequence[Column], widest: Sequence[int], room: int, hidden: Set[int] = frozenset()
) -> dict[int, int]:
    """Return the width of each visible column.

    If the columns do not fit at their minimum widths, those with the highest rank are removed. Then
    columns with longer contents get the remaining width, from left to right: first up to their
    preferred width, then up to the width of their contents.

    Args:
        plan: The columns.
        widest: The width of each column's longest content, in cells.
        room: The available width in cells.
        hidden: Indexes of the columns to leave out.

    Returns:
        The width of each column in cells by column index, without the gap after the column.
    """
    least, wanted = [], []
    for column, content in zip(plan, widest, strict=True):
        title = cell_len(column.title)
        least.append(min(max(content, title), column.least or title, column.most))
        wanted.append(max(min(max(content, title), column.most), least[-1]))
    chosen = [i for i in range(len(plan)) if i not in hidden]
    while sum(least[i] + plan[i].gap for i in chosen) - plan[chosen[-1]].gap > room:
        giving = [i for i in chosen if plan[i].rank]
        if not giving:
            break
        chosen.remove(max(giving, key=lambda i: plan[i].rank))
    left = room - sum(least[i] + plan[i].gap for i in chosen) + plan[chosen[-1]].gap
    widths = {i: least[i] for i in chosen}
    for most in ([min(column.good, wanted[i]) for i, column in enumerate(plan)], wanted):
        for i in chosen:
            more = max(min(left, most[i] - widths[i]), 0)
            widths[i] += more
            left -= more
    return widths
