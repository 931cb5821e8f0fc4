"""A lock's remotes as a table: which columns there are at which width, and what stands in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual import events
from textual.widgets import DataTable

from lockterm.models.constants import AddType, RemoteType, word
from lockterm.text import clean
from lockterm.validity import SHORT, Validity, validity
from lockterm.widgets.row_table import RowTable

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote

LONGEST = 120
"""The most characters of a string of the service that are looked at for a cell."""

NUMBERS = range(6, 13)
"""How wide the numbers may be; it follows the longest that was seen, so that pages do not jump."""

_TITLES = {"type": "Type", "valid": "Valid", "state": "State", "added": "Added"}
_ADDED_SHORT: dict[int | None, str] = {AddType.BLUETOOTH: "BT", AddType.GATEWAY: "GW"}
_COERCED = {0: "default", 1: "yes", 2: "no"}

_LEAST = {"name": 14, "type": 12, "valid": 23, "state": 8, "added": 2, "coerced": 7}
"""The narrowest form of each column; the numbers' is in ``NUMBERS``."""
_GIVING = ("added", "coerced", "type")
"""What is left out first where not all fit."""
_GROWING = (
    ("name", 18),
    ("gap", 2),
    ("valid", SHORT),
    ("state", 12),
    ("added", 9),
    ("name", 60),
)
"""What grows first where there is room, and to what."""


@dataclass(frozen=True, slots=True)
class Row:
    """A remote and what its dates and status say now."""

    remote: Remote
    valid: Validity
    busy: str = ""
    """What is being done with it: ``deleting``."""

    @classmethod
    def of(cls, remote: Remote, zone: tzinfo, now_ms: int, busy: str = "") -> Row:
        """The row of a remote as of now."""
        return cls(remote, validity(remote, now_ms, zone), busy)


class RemotesTable(RowTable):
    """A page of remotes, or those that were found.

    Rows are known by their place: a service may list two remotes under one id, or one without.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: Sequence[Row] = ()
        self._number_width = NUMBERS.start
        self._layout: dict[str, int] = {}

    @property
    def selected(self) -> Remote | None:
        """The remote under the cursor; None in an empty table."""
        row = self.selected_row
        return row.remote if row else None

    @property
    def selected_row(self) -> Row | None:
        """The row under the cursor; None in an empty table."""
        return self._rows[self.cursor_row] if 0 <= self.cursor_row < len(self._rows) else None

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
            remotes: In the order of the service.
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
        places = (i for i, row in enumerate(self._rows) if row.remote.id == wanted is not None)
        place = next(places, None)
        self._refill(place if place is not None else 0 if top else self.cursor_row)

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns for the new width."""
        if self._rows and event.size.width != self._fitted_to:
            self._refill(self.cursor_row)

    def _refill(self, place: int) -> None:
        numbers = (cell_len(_text(row.remote, "remote_number", "")) for row in self._rows)
        longest = min(max(numbers, default=0), NUMBERS.stop - 1)
        self._number_width = max(self._number_width, longest)
        overflows = len(self._rows) > self.size.height - self.header_height
        self._fitted_to = self.size.width
        width = self.size.width or self.app.size.width - 1
        layout = plan(width - overflows, self._number_width)
        same = layout == self._layout and len(self.columns) > 0
        self._layout, top = layout, self.scroll_y
        gap = layout["gap"]
        widths = {key: width for key, width in layout.items() if key != "gap"}
        with self.app.batch_update(), self.prevent(DataTable.RowHighlighted):
            self.clear(columns=not same)
            if not same:
                for key, width in widths.items():
                    self.add_column(Text(_title(key, width), end=""), width=width + gap)
            for row in self._rows:
                self.add_row(*(_cell(row, key, width) for key, width in widths.items()))
            last = max(len(self._rows) - 1, 0)
            self.move_cursor(row=min(max(place, 0), last), animate=False, scroll=False)
            self.scroll_to(y=top, animate=False, force=True)
        self.call_after_refresh(self._scroll_cursor_into_view)


def plan(room: int, number_width: int) -> dict[str, int]:
    """Which columns there are in a width, and how wide each is.

    Returns:
        Column -> width in cells, from left to right; and ``gap``, the cells between two.
    """
    widths = {"name": _LEAST["name"], "number": number_width} | _LEAST
    giving = list(_GIVING)
    while (spare := room - sum(widths.values()) - len(widths) + 1) < 0 and giving:
        del widths[giving.pop(0)]
    gap = 1
    for key, most in _GROWING:
        if key == "gap":
            if spare >= len(widths) - 1:
                gap, spare = most, spare - len(widths) + 1
            continue
        if key not in widths:
            continue
        more = min(most - widths[key], spare)
        if key == "name" or more == most - widths[key]:
            widths[key] += max(more, 0)
            spare -= max(more, 0)
    if spare < 0:
        widths["name"] = max(widths["name"] + spare, 4)
    return widths | {"gap": gap}


def matching_text(row: Row) -> tuple[object, ...]:
    """What a search looks at: the raw strings of the service, and the words of the columns."""
    remote = row.remote
    return (
        remote.remote_name,
        remote.remote_number,
        remote.id,
        word(RemoteType, remote.remote_type),
        row.valid.short,
        row.valid.state,
        word(AddType, remote.add_type),
        "coerced" if remote.is_coerced == 1 else "",
    )


def _title(key: str, width: int) -> str:
    if key == "added" and width < len("Added"):
        return "By"
    return _TITLES.get(key, key.capitalize())


def _cell(row: Row, key: str, width: int) -> Text:
    remote, valid = row.remote, row.valid
    style = ""
    if key == "name":
        text = _text(remote, "remote_name", "(no name)")
    elif key == "number":
        text = _text(remote, "remote_number", "-")
    elif key == "type":
        text = _known(remote, "remoteType", word(RemoteType, remote.remote_type))
    elif key == "valid":
        text = valid.short if len(valid.short) <= width else _shorter(valid.short, width)
    elif key == "state":
        text = _state(row, width)
        style = "bold" if valid.disagreement else ""
    elif key == "added":
        text = word(AddType, remote.add_type)
        if width < len("bluetooth"):
            text = _ADDED_SHORT.get(remote.add_type, "?")
        text = _known(remote, "addType", text)
    else:
        flag = remote.is_coerced
        text = "-" if flag is None else _COERCED.get(flag, f"odd: {flag}")
        text = _known(remote, "isCoerced", text)
        style = "bold" if flag == 1 else ""
    return Text(cut(text, width), style=style, no_wrap=True, end="")


def _state(row: Row, width: int) -> str:
    if row.busy:
        return row.busy
    if len(row.valid.state) > width and row.valid.disagreement:
        return f"{row.valid.service}!"
    if row.valid.state == "not stated" and width < 10:
        return "unstated"
    return row.valid.state


def _shorter(short: str, width: int) -> str:
    """``Mon-Fri to 31 Dec 2026``; where that is too long too, the date without the weekdays."""
    compact = short.replace(", until ", " to ")
    return compact if len(compact) <= width else short.rpartition(", ")[2]


def _known(remote: Remote, field: str, text: str) -> str:
    """The word of a constant; what came instead of a number is shown as it came."""
    return f"odd: {clean(remote.odd[field], LONGEST)}" if field in remote.odd else text


def _text(remote: Remote, attribute: str, absent: str) -> str:
    value: Any = getattr(remote, attribute)
    if value is None:
        field = "remoteName" if attribute == "remote_name" else "remoteNumber"
        return clean(remote.odd[field], LONGEST) if field in remote.odd else absent
    return clean(value, LONGEST) or '""'


def cut(text: str, width: int) -> str:
    """A clean string in at most ``width`` cells; what is longer ends in an ellipsis."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + "…"
