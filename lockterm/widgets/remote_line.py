"""A remote as one line of the table: which columns fit, and what stands in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from lockterm.models.constants import AddType, RemoteType, word
from lockterm.text import clean
from lockterm.validity import SHORT, Validity, validity

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote

MARGIN = " "
"""Left of each row."""

LONGEST = 120
"""The most characters of a string of the service that are looked at for a cell."""

NUMBERS = range(6, 13)
"""How wide the numbers may be; it follows the longest that was seen, so that pages do not jump."""

_APART = Style(meta={"wide": True})
_BY: dict[int | None, str] = {AddType.BLUETOOTH: "BT", AddType.GATEWAY: "GW"}
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


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns there is room for."""

    widths: Mapping[str, int]
    """Column -> its width in cells, from left to right."""
    gap: int
    """Cells between two columns."""
    room: int
    """All the cells there are."""


def plan(room: int, number_width: int) -> Layout:
    """Which columns there are in so many cells, and how wide each is."""
    widths = {"name": _LEAST["name"], "number": number_width} | _LEAST
    giving = list(_GIVING)
    while (spare := room - sum(widths.values()) - len(widths) + 1) < 0 and giving:
        del widths[giving.pop(0)]
    gap = 1
    for key, most in _GROWING:
        if key == "gap" and spare >= len(widths) - 1:
            gap, spare = most, spare - len(widths) + 1
        if key not in widths:
            continue
        more = max(min(most - widths[key], spare), 0)
        if key == "name" or more == most - widths[key]:  # half a word more helps nobody
            widths[key] += more
            spare -= more
    widths["name"] = max(widths["name"] + min(spare, 0), 4)
    return Layout(widths, gap, room)


def line(cells: Sequence[tuple[str, str]], layout: Layout) -> Text:
    """A line of the table.

    Args:
        cells: For each column a clean string that fits, and its style.
        layout: The columns.
    """
    gap = " " * layout.gap
    parts: list[tuple[str, str | Style]] = [(MARGIN, "")]
    for (text, style), width in zip(cells, layout.widths.values(), strict=True):
        cell = cell_len(text)
        # A piece of its own where characters are wide: see RowTable.render_line.
        parts += [(text, style if cell == len(text) else _APART), (" " * (width - cell) + gap, "")]
    return Text.assemble(*parts, no_wrap=True, end="")


def titles(layout: Layout) -> list[tuple[str, str]]:
    """What the columns are called."""
    short = layout.widths.get("added", 0) < len("Added")
    return [("By" if key == "added" and short else key.capitalize(), "") for key in layout.widths]


def cells(row: Row, layout: Layout) -> list[tuple[str, str]]:
    """What stands in the columns, and in which style."""
    found = []
    for key, width in layout.widths.items():
        text = _CELLS[key](row, width)
        bold = (key == "state" and row.valid.disagreement) or (key == "coerced" and text == "yes")
        found.append((cut(text, width), "bold" if bold else ""))
    return found


def name(remote: Remote) -> str:
    """The remote's name, clean; what came in its place where it is no text."""
    return _text(remote, "remoteName", remote.remote_name, "(no name)")


def number(remote: Remote) -> str:
    """The remote's number, clean; what came in its place where it is no text."""
    return _text(remote, "remoteNumber", remote.remote_number, "-")


def _text(remote: Remote, field: str, value: str | None, absent: str) -> str:
    if value is None:
        return clean(remote.odd[field], LONGEST) if field in remote.odd else absent
    return clean(value, LONGEST) or '""'


def _known(remote: Remote, field: str, text: str) -> str:
    """The word of a constant; what came instead of a number is shown as it came."""
    return f"odd: {clean(remote.odd[field], LONGEST)}" if field in remote.odd else text


def _type(row: Row, width: int) -> str:
    return _known(row.remote, "remoteType", word(RemoteType, row.remote.remote_type))


def _valid(row: Row, width: int) -> str:
    """``Mon-Fri to 31 Dec 2026``; where that is too long too, the date without the weekdays."""
    short = row.valid.short
    if len(short) <= width:
        return short
    compact = short.replace(", until ", " to ")
    return compact if len(compact) <= width else short.rpartition(", ")[2]


def _state(row: Row, width: int) -> str:
    if row.busy:
        return row.busy
    if len(row.valid.state) > width and row.valid.disagreement:
        return f"{row.valid.service}!"
    if row.valid.state == "not stated" and width < 10:
        return "unstated"
    return row.valid.state


def _added(row: Row, width: int) -> str:
    kind = row.remote.add_type
    long = width >= len("bluetooth")
    return _known(row.remote, "addType", word(AddType, kind) if long else _BY.get(kind, "?"))


def _coerced(row: Row, width: int) -> str:
    flag = row.remote.is_coerced
    text = "-" if flag is None else _COERCED.get(flag, f"odd: {flag}")
    return _known(row.remote, "isCoerced", text)


_CELLS: Mapping[str, Callable[[Row, int], str]] = {
    "name": lambda row, width: name(row.remote),
    "number": lambda row, width: number(row.remote),
    "type": _type,
    "valid": _valid,
    "state": _state,
    "added": _added,
    "coerced": _coerced,
}
"""Column -> what stands in it, clean, given its width."""


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


def cut(text: str, width: int) -> str:
    """A clean string in at most ``width`` cells; what is longer ends in an ellipsis."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + "…"
