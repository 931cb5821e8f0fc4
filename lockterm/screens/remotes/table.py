"""A lock's remotes as a table, with a cursor that stays on its remote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.message import Message

from lockterm.domain.marks import Key, Marks, Row
from lockterm.screens.remotes.columns import AS_USUAL, USUAL, Arrangement
from lockterm.screens.remotes.layout import GROWING, Layout, line, plan, titles
from lockterm.screens.remotes.row import SIGNS, RemoteRow, cells, name, signs, whole
from lockterm.widgets.cells import cut
from lockterm.widgets.line_table import MARGIN, MARK, TITLES, LineTable, Piece

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote


BEFORE = SIGNS + 1
"""The cells before the columns: the signs, and a blank."""

_SHORTEST = {key: widths.start for key, widths in GROWING.items()}


class RemotesTable(LineTable):
    """A page of remotes, or those that were found.

    Rows are known by their place: a service may list two remotes under one id, or one without.

    Args:
        lock_id: The lock of the remotes.
        marks: The marked remotes.
    """

    class TitleClicked(Message):
        """A title was clicked.

        Args:
            column: That of which column.
        """

        def __init__(self, column: str) -> None:
            super().__init__()
            self.column = column

    def __init__(
        self,
        lock_id: int,
        marks: Marks[Key, Row],
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.rows: Sequence[RemoteRow] = ()
        """What is shown, from top to bottom."""
        self._long: Mapping[str, int] = _SHORTEST
        self._arrangement = AS_USUAL
        self._layout = Layout({}, 1, 0)
        self._lock_id = lock_id
        self._marks = marks

    @property
    def selected(self) -> Remote | None:
        """The remote under the cursor; None in an empty table."""
        row = self.selected_row
        return row.remote if row else None

    @property
    def selected_row(self) -> RemoteRow | None:
        """The row under the cursor; None in an empty table."""
        return self.rows[self.cursor_row] if 0 <= self.cursor_row < len(self.rows) else None

    @property
    def cut_name(self) -> str:
        """The whole name of the remote under the cursor; empty: its row has it whole."""
        row = self.selected_row
        called = name(row.remote) if row else ""
        return called if cell_len(called) > self._layout.widths.get("name", 0) else ""

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
        self.rows = [
            RemoteRow.of(remote, zone, now_ms, (busy or {}).get(remote.id or 0, ""))
            for remote in remotes
        ]
        places = [i for i, row in enumerate(self.rows) if row.remote.id == wanted is not None]
        if cursor is None:  # an id may be there twice, or not at all
            places = [i for i, row in enumerate(self.rows) if row.remote is current] or places
        place = next(iter(places), None)
        self._refill(place if place is not None else 0 if top else self.cursor_row)

    def pass_time(self, now_ms: int) -> None:
        """Have the rows say what they say by now, each in its place."""
        rows = [RemoteRow.of(row.remote, row.zone, now_ms, row.busy) for row in self.rows]
        if rows == self.rows:
            return
        self.rows = rows
        if self._widened(self._long) != self._long:
            self._refill(self.cursor_row)
        else:
            self.refresh()

    def on_mount(self) -> None:
        """Have the titles in the first frame; most often the width is the terminal's."""
        self._refill(0)

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns for the new width."""
        if self._plan_columns(self._arrangement) != self._layout:
            self._refill(self.cursor_row)

    def measure_again(self) -> None:
        """Choose the columns anew: how wide names are has changed."""
        self._refill(self.cursor_row)

    def titles(self) -> Iterator[Piece]:
        yield " " * BEFORE, ""
        yield from line(titles(self._layout), self._layout)

    def click_title(self, x: int) -> None:
        """Tell whose title it was; the blanks behind it belong to it."""
        end = len(MARGIN) + BEFORE
        for column, width in self._layout.widths.items():
            start, end = end, end + width + self._layout.gap
            if start <= x < end:
                self.post_message(self.TitleClicked(column))

    def line(self, row: int) -> Iterator[Piece]:
        found = cells(self.rows[row], self._layout)
        if self.is_cursor_written and row == self.cursor_row and self.is_marked(row):
            text, look = found[0]  # the cursor has taken the mark's place
            found[0] = cut(f"{MARK}{text}", next(iter(self._layout.widths.values()))), look
        yield from signs(self.rows[row])
        yield " " * (BEFORE - SIGNS), ""
        yield from line(found, self._layout)

    def is_marked(self, row: int) -> bool:
        return bool(self._marks) and self._marks.has((self._lock_id, self.rows[row].remote))

    def paint_remote(self, remote: Remote) -> None:
        """Paint the rows of a remote again; an id may be there twice."""
        for place, row in enumerate(self.rows):
            if row.remote.id == remote.id:
                self.refresh_lines(place + TITLES)

    def _plan_columns(self, arrangement: Arrangement) -> Layout:
        height = self.size.height or self.app.size.height
        scrollbar = len(self.rows) > height - TITLES
        width = self.size.width or self._width_to_come()
        return plan(width - scrollbar - len(MARGIN) - BEFORE, self._long, arrangement)

    def _width_to_come(self) -> int:
        """How wide it will be beside the panes: else the first frame is painted twice."""
        whole = self.app.size
        beside = (pane.styles.width for pane in self.siblings)
        return whole.width - sum(int(one.resolve(whole, whole)) for one in beside if one)

    def _refill(self, place: int) -> None:
        self._long = self._widened(self._long)  # they never shrink
        self._layout = self._plan_columns(self._arrangement)
        self.set_lines(BEFORE + self._layout.room, len(self.rows), place)

    def _widened(self, before: Mapping[str, int]) -> Mapping[str, int]:
        """The columns of ``GROWING`` as wide as what stands in them, at least as wide as before."""
        found = {}
        for key, widths in GROWING.items():
            longest = max((cell_len(whole(row, key)) for row in self.rows), default=0)
            found[key] = max(before[key], min(longest, widths.stop - 1))
        return found
