"""The table of a lock's remotes, and the cells of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.message import Message

from lockterm.domain import dates
from lockterm.domain.marks import RemoteMarks
from lockterm.domain.reading import Kind
from lockterm.domain.remotes import AddType, Remote, word
from lockterm.domain.safe_text import clean, in_cell
from lockterm.domain.text.validity import Validity, describe_validity
from lockterm.domain.validity import COERCED, RemoteState
from lockterm.screens.remotes.columns import (
    COLUMNS,
    GROWING,
    USUAL,
    Arrangement,
    Layout,
    line,
    plan,
    titles,
)
from lockterm.widgets.cells import LEAST_APART, cut, cut_apart
from lockterm.widgets.line_table import BOLD, MARGIN, MARK, TITLES, LineTable, Piece

if TYPE_CHECKING:
    from lockterm.domain.changes_elsewhere import ChangeElsewhere
    from lockterm.operations.batteries import BatteryReader


LONGEST = 120
"""The maximum number of characters that a cell shows of a string from the service."""

_BY: dict[int | None, str] = {AddType.BLUETOOTH: "BT", AddType.GATEWAY: "GW"}
_COERCED = {0: "default", 1: "yes", 2: "no"}


class RemoteRow(NamedTuple):
    """A remote, its validity and its running action, as a row shows them at one moment."""

    remote: Remote
    valid: Validity
    busy: str = ""
    """The running action, such as ``deleting``; empty if there is none."""
    zone: tzinfo = UTC
    """The time zone in which the dates are shown."""
    battery: str = ""
    """The battery level as text."""

    @classmethod
    def of(
        cls, remote: Remote, zone: tzinfo, now_ms: int, busy: str = "", battery: str = ""
    ) -> RemoteRow:
        """Return the row of a remote, with its validity at the time ``now_ms``."""
        return cls(remote, describe_validity(remote, now_ms, zone), busy, zone, battery)


def signs(row: RemoteRow) -> tuple[Piece, Piece]:
    """Return the icons before the columns: the state, and whether the remote is coerced."""
    state = row.valid.state
    return (state.sign, state.look), (COERCED, "coerced") if row.remote.is_coerced == 1 else _NONE


_NONE = (" ", "")
SIGNS = 2
"""The width of the icons before the columns, in cells."""


_WITH_STATE = frozenset({"valid", "state", "start", "end"})
"""The columns that have the color of the remote's state."""


def cells(
    row: RemoteRow, layout: Layout, forms: Mapping[str, Mapping[str, str]] | None = None
) -> list[Piece]:
    """Return the texts of the columns with their styles, from left to right.

    Args:
        row: The row.
        layout: The columns.
        forms: Maps columns to mappings of full texts to short forms, for the texts that would equal
            other texts if they were cut at the end.
    """
    found = []
    for key, width in layout.widths.items():
        text = _cell(row, key, width)
        text = (forms or {}).get(key, {}).get(text, text)
        if row.busy and key == "name" and "state" not in layout.widths:
            text = f"{row.busy}: {text}"
        look = state_look(row.valid.state) if key in _WITH_STATE else ""
        found.append((cut(text, width), BOLD if key == "coerced" and text == "yes" else look))
    return found


def state_look(state: RemoteState) -> str:
    """Return the style of columns that have the color of the state; empty for an active remote."""
    return "" if state is RemoteState.OPEN else state.look


def row_look(state: RemoteState) -> str:
    """Return the style of a whole row; empty unless the remote has expired."""
    return state.look if state is RemoteState.ENDED else ""


def whole(row: RemoteRow, column: str) -> str:
    """Return the full text of a column, however wide it is."""
    return _cell(row, column, LONGEST)


def name(remote: Remote) -> str:
    """Return the remote's name, safe to show; ``(no name)`` if it has none.

    A value of an unexpected type is shown as text.
    """
    return _text(remote, "remoteName", remote.remote_name, "(no name)")


def number(remote: Remote) -> str:
    """Return the remote's number, safe to show; ``-`` if it has none.

    A value of an unexpected type is shown as text.
    """
    return _text(remote, "remoteNumber", remote.remote_number, "-")


def _text(remote: Remote, field: str, value: str | None, absent: str) -> str:
    if value is None:
        return clean(remote.odd[field], LONGEST) if field in remote.odd else absent
    return in_cell(value, LONGEST)


def _cell(row: RemoteRow, column: str, width: int) -> str:
    """Return the text of a column without control characters, in the best form for a width.

    A text that has no shorter form may be too long.
    """
    remote, field = row.remote, COLUMNS[column].field
    match column:
        case "name":
            return name(remote)
        case "number":
            return number(remote)
        case "valid":
            return _valid(row, width)
        case "state":
            return _state(row, width)
        case "battery":
            return row.battery
    if field.name in remote.odd:
        return f"odd: {clean(remote.odd[field.name], LONGEST)}"
    value = field.of(remote)
    if column == "coerced":
        return "-" if value is None else _COERCED.get(value, f"odd: {value}")
    if column == "added" and width < len("bluetooth"):
        return _BY.get(value, "?")
    if field.constants is not None:
        return word(field.constants, value)
    if field.kind is Kind.NUMBER:
        return "-" if value is None else str(value)
    if not value:
        return "-"
    ms = dates.as_ms(value) if field.kind is Kind.TIMESTAMP else value
    at = dates.day_time(ms, row.zone, exact=False)  # without room for the time: the day
    to_day = dates.last_day if field.name == "endDate" else dates.day
    return at if len(at) <= width else to_day(ms, row.zone)


def _valid(row: RemoteRow, width: int) -> str:
    """Return the validity of a remote in the longest form that fits the column.

    The three shortest forms are ``Mon-Fri to 31 Dec 2026``, ``Mon-Fri 31 Dec 2026`` and
    ``5 weekdays 31 Dec 2026``. If no form fits, return the date without the weekdays.
    """
    short = row.valid.short
    days, until, day = short.partition(", until ")
    forms = [short]
    if until:
        known = len({*(row.remote.week_day or ())})
        forms += [f"{days} to {day}", f"{days} {day}", f"{known} weekdays {day}"]
    return next((form for form in forms if len(form) <= width), short.rpartition(", ")[2])


def _state(row: RemoteRow, width: int) -> str:
    if row.busy:  # "just added", or "added" where that is too long
        return row.busy if len(row.busy) <= width else row.busy.rpartition(" ")[2]
    if len(row.valid.word) > width and row.valid.disagreement:
        return f"{row.valid.service}!"
    if row.valid.state is RemoteState.OPEN:
        return ""  # its icon and its validity show that; text is for exceptions
    if row.valid.word == "no status" and width < 9:
        return "unstated"
    return row.valid.word


BEFORE = SIGNS + 1
"""The width before the columns in cells: the icons and a blank."""

_SHORTEST = {key: widths.start for key, widths in GROWING.items()}
_NAMES = ("name", "number")
"""The columns whose texts stay different from each other if they are cut."""


class RemotesTable(LineTable):
    """The table with a page of remotes, or with the results of a search.

    Rows are identified by their index, because a service may list two remotes with the same ID,
    or a remote without an ID.

    Args:
        lock_id: The ID of the lock whose remotes are shown.
        marks: The marked remotes.
    """

    @dataclass
    class TitleClicked(Message):
        """Posted when the user clicks a column title."""

        column: str
        """The name of the column."""

    def __init__(
        self,
        lock_id: int,
        marks: RemoteMarks,
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.rows: Sequence[RemoteRow] = ()
        """The rows, from top to bottom."""
        self.elsewhere: Mapping[tuple[int, int], ChangeElsewhere] = {}
        """Maps pairs of lock ID and remote ID to changes by others that the user has not seen."""
        self.arrangement = Arrangement()
        """The chosen columns and sort order, which apply when the rows are replaced next."""
        self._long: Mapping[str, int] = _SHORTEST
        self._layout = Layout({}, 1, 0)
        self._forms: Mapping[str, Mapping[str, str]] = {}
        self._lock_id = lock_id
        self._marks = marks

    @property
    def selected(self) -> Remote | None:
        """The selected remote; None in an empty table."""
        row = self.selected_row
        return row.remote if row else None

    @property
    def selected_row(self) -> RemoteRow | None:
        """The selected row; None in an empty table."""
        return self.rows[self.cursor_row] if 0 <= self.cursor_row < len(self.rows) else None

    @property
    def needs_batteries(self) -> bool:
        """Whether the table shows the battery levels, or sorts by them."""
        order = self._layout.order
        return "battery" in self._layout.widths or (order is not None and order.key == "battery")

    @property
    def cut_name(self) -> str:
        """The full name of the selected remote; empty if its row already shows the full name."""
        row = self.selected_row
        called = name(row.remote) if row else ""
        return called if cell_len(called) > self._layout.widths.get("name", 0) else ""

    def left_out(self, arrangement: Arrangement) -> list[str]:
        """Return the names of the columns in an arrangement that do not fit now."""
        widths = self._plan_columns(arrangement).widths
        return [key for key in arrangement.columns or USUAL if key not in widths]

    def show_remotes(
        self,
        remotes: Sequence[Remote],
        zone: tzinfo,
        now_ms: int,
        *,
        busy: Mapping[int, str],
        batteries: BatteryReader,
        cursor: int | None,
        top: bool,
    ) -> None:
        """Replace the rows.

        Args:
            remotes: The remotes in display order.
            zone: The time zone of the shown dates.
            now_ms: The current time in milliseconds.
            busy: The running action on each remote, by remote ID.
            batteries: The battery levels.
            cursor: The ID of the remote to select; None to keep the selected remote. If that remote
                is gone, the row with the same index is selected.
            top: Whether to select the first row instead, if the remote to select is gone.
        """
        current = self.selected
        wanted = cursor if cursor is not None else current.id if current else None
        self.rows = [
            RemoteRow.of(
                remote,
                zone,
                now_ms,
                busy.get(remote.id or 0, ""),
                batteries.describe(remote),
            )
            for remote in remotes
        ]
        places = [i for i, row in enumerate(self.rows) if row.remote.id == wanted is not None]
        if cursor is None:  # an id may be there twice, or not at all
            places = [i for i, row in enumerate(self.rows) if row.remote is current] or places
        place = next(iter(places), None)
        self._refill(place if place is not None else 0 if top else self.cursor_row)

    def refresh_relative_times(self, now_ms: int) -> None:
        """Update the states and dates of the rows without moving rows."""
        rows = [
            RemoteRow.of(row.remote, row.zone, now_ms, row.busy, row.battery) for row in self.rows
        ]
        if rows == self.rows:
            return
        self.rows = rows
        if self._widened(self._long) != self._long:
            self._refill(self.cursor_row)
        else:
            self.refresh()

    def on_mount(self) -> None:
        """Choose the columns for the first frame, for which the width is only estimated."""
        self._refill(0)

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns for the new width."""
        if self._plan_columns(self.arrangement) != self._layout:
            self._refill(self.cursor_row)

    def measure_again(self) -> None:
        """Compute the columns again after the widths of texts have changed."""
        self._refill(self.cursor_row)

    def titles(self) -> Iterator[Piece]:
        yield " " * BEFORE, ""
        yield from line(titles(self._layout), self._layout)

    def click_title(self, x: int) -> None:
        """Post a message with the column that has its title, or the gap after it, at cell ``x``."""
        end = len(MARGIN) + BEFORE
        for column, width in self._layout.widths.items():
            start, end = end, end + width + self._layout.gap
            if start <= x < end:
                self.post_message(self.TitleClicked(column))

    def line(self, row: int) -> Iterator[Piece]:
        found = cells(self.rows[row], self._layout, self._forms)
        if self.is_cursor_written and row == self.cursor_row and self.is_marked(row):
            text, look = found[0]  # the cursor has taken the mark's place
            found[0] = cut(f"{MARK}{text}", next(iter(self._layout.widths.values()))), look
        yield from signs(self.rows[row])
        yield " " * (BEFORE - SIGNS), ""
        yield from line(found, self._layout)

    def row_look(self, row: int) -> str:
        return row_look(self.rows[row].valid.state)

    def is_marked(self, row: int) -> bool:
        return bool(self._marks) and self._marks.has((self._lock_id, self.rows[row].remote))

    def margin_sign(self, row: int) -> str:
        change = self.elsewhere_of(self.rows[row])
        return change.sign if change else ""

    def elsewhere_of(self, row: RemoteRow | None) -> ChangeElsewhere | None:
        """Return the unseen change by others to a row's remote; None if there is none."""
        return None if row is None else self.elsewhere.get((self._lock_id, row.remote.id or 0))

    def _plan_columns(self, arrangement: Arrangement) -> Layout:
        height = self.size.height or self.app.size.height
        scrollbar = len(self.rows) > height - TITLES
        width = self.size.width or self._width_to_come()
        return plan(width - scrollbar - len(MARGIN) - BEFORE, self._long, arrangement)

    def _width_to_come(self) -> int:
        """Return the width in cells that the side panels will leave for the table.

        Before the first layout, the table uses this width, so that it is painted only once.
        """
        whole = self.app.size
        beside = (pane.styles.width for pane in self.siblings)
        panes = sum(int(one.resolve(whole, whole)) for one in beside if one)
        return whole.width - panes - self.styles.gutter.width

    def _refill(self, place: int) -> None:
        self._long = self._widened(self._long)  # they never shrink
        self._layout = self._plan_columns(self.arrangement)
        self._forms = {
            key: cut_apart((whole(row, key) for row in self.rows), width)
            for key in _NAMES
            if (width := self._layout.widths.get(key, 0)) >= LEAST_APART
        }
        self.set_lines(BEFORE + self._layout.room, len(self.rows), place)

    def _widened(self, before: Mapping[str, int]) -> Mapping[str, int]:
        """Return the widths of the columns in ``GROWING``, none of them less than in ``before``."""
        found = {}
        for key, widths in GROWING.items():
            longest = max((cell_len(whole(row, key)) for row in self.rows), default=0)
            found[key] = max(before[key], min(longest, widths.stop - 1))
        return found
