"""A lock's remotes as a table, with a cursor that stays on its remote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.coordinate import Coordinate
from textual.widgets import DataTable

from lockterm.widgets.remote_columns import AS_USUAL, USUAL, Arrangement
from lockterm.widgets.remote_layout import GROWING, MARGIN, Layout, line, plan, titles
from lockterm.widgets.remote_line import Row, cells, whole
from lockterm.widgets.row_table import RowTable

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote


class RemotesTable(RowTable):
    """A page of remotes, or those that were found.

    Rows are known by their place: a service may list two remotes under one id, or one without.
    Each is a single cell of the base, with the columns set by spaces: a page is painted in two
    thirds of the time and half of the bytes.

    Args:
        moved: Called at once when a key has moved the cursor. A message would come one frame
            later, and what it changes would be a second write to the terminal.
        arrangement: Which columns there are, and what they say the rows are sorted by.
    """

    def __init__(
        self,
        moved: Callable[[], None] = lambda: None,
        arrangement: Arrangement = AS_USUAL,
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._rows: Sequence[Row] = ()
        self._long = {key: widths.start for key, widths in GROWING.items()}
        self._arrangement = arrangement
        self._layout = Layout({}, 1, 0)
        self._moved = moved
        self._filling = False

    @property
    def selected(self) -> Remote | None:
        """The remote under the cursor; None in an empty table."""
        row = self.selected_row
        return row.remote if row else None

    @property
    def selected_row(self) -> Row | None:
        """The row under the cursor; None in an empty table."""
        return self._rows[self.cursor_row] if 0 <= self.cursor_row < len(self._rows) else None

    def choose(self, arrangement: Arrangement) -> None:
        """Choose the columns; they are painted with the next rows."""
        self._arrangement = arrangement

    def left_out(self, arrangement: Arrangement) -> list[str]:
        """The columns of an arrangement for which there is no room now."""
        widths = self._plan_columns(arrangement).widths
        return [key for key in arrangement.columns or USUAL if key not in widths]

    def show_remotes(
        self,
        remotes: Sequence[Remote],
        zone: tzinfo,
        now_ms: int,
        *,
        busy: Mapping[int, str] | None = None,
        cursor: int | None = None,
        top: bool = False,
    ) -> None:
        """Replace the rows.

        Args:
            remotes: In the order in which they are shown.
            zone: In which dates are shown.
            now_ms: What "in 3 days" is counted from.
            busy: Remote id -> what is being done with it.
            cursor: The id to stand on; by default that of now, or its place where it is gone.
            top: Where that id is gone, stand on the first row instead: it is another page.
        """
        current = self.selected
        wanted = cursor if cursor is not None else current.id if current else None
        self._rows = [
            Row.of(remote, zone, now_ms, (busy or {}).get(remote.id or 0, "")) for remote in remotes
        ]
        places = [i for i, row in enumerate(self._rows) if row.remote.id == wanted is not None]
        if cursor is None:  # an id may be there twice, or not at all
            places = [i for i, row in enumerate(self._rows) if row.remote is current] or places
        place = next(iter(places), None)
        self._refill(place if place is not None else 0 if top else self.cursor_row)

    def on_mount(self) -> None:
        """Have the titles in the first frame; most often the width is the terminal's."""
        self._refill(0)

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns for the new width."""
        if self._plan_columns(self._arrangement) != self._layout:
            self._refill(self.cursor_row)

    def watch_cursor_coordinate(self, old: Coordinate, new: Coordinate) -> None:
        """Tell that the cursor has moved, unless the rows did."""
        super().watch_cursor_coordinate(old, new)
        if old.row != new.row and not self._filling:
            self._moved()

    def _plan_columns(self, arrangement: Arrangement) -> Layout:
        height = self.size.height or self.app.size.height
        scrollbar = len(self._rows) > height - self.header_height
        width = self.size.width or self.app.size.width
        return plan(width - scrollbar - len(MARGIN), self._long, arrangement)

    def _refill(self, place: int) -> None:
        self._widen()
        layout = self._plan_columns(self._arrangement)
        same = layout == self._layout and len(self.columns) > 0
        self._layout, top = layout, self.scroll_y
        self._filling = True
        with self.app.batch_update(), self.prevent(DataTable.RowHighlighted):
            self.clear(columns=not same)
            if not same:
                self.add_column(line(titles(layout), layout), width=layout.room + len(MARGIN))
            for row in self._rows:
                self.add_row(line(cells(row, layout), layout))
            last = max(len(self._rows) - 1, 0)
            self.move_cursor(row=min(max(place, 0), last), animate=False, scroll=False)
            self.scroll_to(y=top, animate=False, force=True)
        self._filling = False
        self.call_after_refresh(self._scroll_cursor_into_view)

    def _widen(self) -> None:
        """Make the columns of ``GROWING`` as wide as what stands in them; they never shrink."""
        for key, widths in GROWING.items():
            longest = max((cell_len(whole(row, key)) for row in self._rows), default=0)
            self._long[key] = max(self._long[key], min(longest, widths.stop - 1))
