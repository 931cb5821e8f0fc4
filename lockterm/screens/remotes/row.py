"""A remote as one row of the table: what stands in its columns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from lockterm.domain import dates
from lockterm.domain.constants import AddType, word
from lockterm.domain.reading import Kind
from lockterm.domain.safe_text import clean, in_cell
from lockterm.domain.text.validity import Validity, describe_validity
from lockterm.domain.validity import COERCED, State
from lockterm.screens.remotes.columns import COLUMNS
from lockterm.screens.remotes.layout import Layout
from lockterm.widgets.cells import cut
from lockterm.widgets.line_table import BOLD, Piece

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote

LONGEST = 120
"""The most characters of a string of the service that are looked at for a cell."""

_BY: dict[int | None, str] = {AddType.BLUETOOTH: "BT", AddType.GATEWAY: "GW"}
_COERCED = {0: "default", 1: "yes", 2: "no"}


@dataclass(frozen=True, slots=True)
class RemoteRow:
    """A remote and what its dates and status say now."""

    remote: Remote
    valid: Validity
    busy: str = ""
    """What is being done with it: ``deleting``."""
    zone: tzinfo = UTC
    """In which its times are told."""

    @classmethod
    def of(cls, remote: Remote, zone: tzinfo, now_ms: int, busy: str = "") -> RemoteRow:
        """The row of a remote as of now."""
        return cls(remote, describe_validity(remote, now_ms, zone), busy, zone)


def signs(row: RemoteRow) -> tuple[Piece, Piece]:
    """The sign of the state, and that of a coerced remote: what stands before all columns."""
    state = row.valid.state
    return (state.sign, state.look), (COERCED, "coerced") if row.remote.is_coerced == 1 else _NONE


_NONE = (" ", "")
SIGNS = 2
"""The cells they take."""


def cells(row: RemoteRow, layout: Layout) -> list[Piece]:
    """What stands in the columns, and how it looks."""
    found = []
    for key, width in layout.widths.items():
        text = _cell(row, key, width)
        if row.busy and key == "name" and "state" not in layout.widths:
            text = f"{row.busy}: {text}"
        bold = (key == "state" and bool(row.valid.disagreement)) or (
            key == "coerced" and text == "yes"
        )
        found.append((cut(text, width), BOLD if bold else ""))
    return found


def whole(row: RemoteRow, column: str) -> str:
    """What stands in a column that is wide enough."""
    return _cell(row, column, LONGEST)


def name(remote: Remote) -> str:
    """The remote's name, clean; what came in its place where it is no text."""
    return _text(remote, "remoteName", remote.remote_name, "(no name)")


def number(remote: Remote) -> str:
    """The remote's number, clean; what came in its place where it is no text."""
    return _text(remote, "remoteNumber", remote.remote_number, "-")


def _text(remote: Remote, field: str, value: str | None, absent: str) -> str:
    if value is None:
        return clean(remote.odd[field], LONGEST) if field in remote.odd else absent
    return in_cell(value, LONGEST)


def _cell(row: RemoteRow, column: str, width: int) -> str:
    """What stands in a column, clean, given its width."""
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
    at = dates.day_time(ms, row.zone, exact=False)  # where there is no room for the time: the day
    to_day = dates.last_day if field.name == "endDate" else dates.day
    return at if len(at) <= width else to_day(ms, row.zone)


def _valid(row: RemoteRow, width: int) -> str:
    """``Mon-Fri to 31 Dec 2026``, ``Mon-Fri 31 Dec 2026``, ``5 days 31 Dec 2026``.

    Where all are too long: the date without the weekdays.
    """
    short = row.valid.short
    days, until, day = short.partition(", until ")
    forms = [short]
    if until:
        count = f"{len({*(row.remote.week_day or ())})} days"
        forms += [f"{days} to {day}", f"{days} {day}", f"{count} {day}"]
    return next((form for form in forms if len(form) <= width), short.rpartition(", ")[2])


def _state(row: RemoteRow, width: int) -> str:
    if row.busy:  # "just added", or "added" where that is too long
        return row.busy if len(row.busy) <= width else row.busy.rpartition(" ")[2]
    if len(row.valid.word) > width and row.valid.disagreement:
        return f"{row.valid.service}!"
    if row.valid.state is State.OPEN:
        return ""  # its sign says so, and what is valid; the words are left for what stands out
    if row.valid.word == "not stated" and width < 10:
        return "unstated"
    return row.valid.word
