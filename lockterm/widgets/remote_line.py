"""A remote as one row of the table: what stands in its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from lockterm import moments
from lockterm.models.constants import AddType, RemoteType, word
from lockterm.text import clean
from lockterm.validity import Validity, validity
from lockterm.widgets.remote_layout import DAY, Layout

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote

LONGEST = 120
"""The most characters of a string of the service that are looked at for a cell."""

_BY: dict[int | None, str] = {AddType.BLUETOOTH: "BT", AddType.GATEWAY: "GW"}
_COERCED = {0: "default", 1: "yes", 2: "no"}


@dataclass(frozen=True, slots=True)
class Row:
    """A remote and what its dates and status say now."""

    remote: Remote
    valid: Validity
    busy: str = ""
    """What is being done with it: ``deleting``."""
    zone: tzinfo = UTC
    """In which its times are told."""

    @classmethod
    def of(cls, remote: Remote, zone: tzinfo, now_ms: int, busy: str = "") -> Row:
        """The row of a remote as of now."""
        return cls(remote, validity(remote, now_ms, zone), busy, zone)


def cells(row: Row, layout: Layout) -> list[tuple[str, str]]:
    """What stands in the columns, and in which style."""
    found = []
    for key, width in layout.widths.items():
        text = _CELLS[key](row, width)
        if row.busy and key == "name" and "state" not in layout.widths:
            text = f"{row.busy}: {text}"
        bold = (key == "state" and row.valid.disagreement) or (key == "coerced" and text == "yes")
        found.append((cut(text, width), "bold" if bold else ""))
    return found


def whole(row: Row, column: str) -> str:
    """What stands in a column that is wide enough."""
    return _CELLS[column](row, LONGEST)


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


def _integer(remote: Remote, field: str, value: int | None) -> str:
    return _known(remote, field, "-" if value is None else str(value))


def _date(row: Row, field: str, ms: int | None, width: int) -> str:
    """The day; where there is room for it too, the time with its offset."""
    if not ms:
        return _known(row.remote, field, "-")
    stamp = moments.stamp(ms, row.zone)
    return stamp if len(stamp) <= width or " " not in stamp else stamp[:DAY]


def _time(row: Row, field: str, value: int | None, width: int) -> str:
    return _date(row, field, moments.as_ms(value) if value else None, width)


_CELLS: Mapping[str, Callable[[Row, int], str]] = {
    "name": lambda row, width: name(row.remote),
    "number": lambda row, width: number(row.remote),
    "type": _type,
    "valid": _valid,
    "state": _state,
    "added": _added,
    "coerced": _coerced,
    "id": lambda row, width: _integer(row.remote, "id", row.remote.id),
    "start": lambda row, width: _date(row, "startDate", row.remote.start_ms, width),
    "end": lambda row, width: _date(row, "endDate", row.remote.end_ms, width),
    "created": lambda row, width: _time(row, "createTime", row.remote.create_time, width),
    "updated": lambda row, width: _time(row, "updateTime", row.remote.update_time, width),
    "user": lambda row, width: _integer(row.remote, "apiUserId", row.remote.api_user_id),
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
