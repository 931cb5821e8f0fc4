"""The columns of a table of remotes: the user's choice, their widths, and the sort order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeGuard

from rich.cells import cell_len

from lockterm.domain import dates
from lockterm.domain.names import natural, sorted_by
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import FIELDS, Remote, word
from lockterm.domain.safe_text import clean
from lockterm.domain.text.validity import SHORT, describe_validity
from lockterm.domain.validity import Phase, phase_of
from lockterm.errors import LocktermError
from lockterm.operations.list_state import ListState
from lockterm.operations.remote_list import MOST_FOUND
from lockterm.widgets.line_table import Piece, Sorting

if TYPE_CHECKING:
    from lockterm.config.preferences import Preferences


class RemoteColumn(NamedTuple):
    """A column that the user can choose to show in the table."""

    title: str
    about: str
    """The description of the column for the dialog in which the user chooses columns."""
    noun: str
    """The name of the column in a sentence, such as ``end`` in ``sorted by end``."""
    directions: tuple[str, str]
    """The texts for ascending and for descending order, such as ``oldest first``."""
    field: Field
    """The field that the column shows, alone or together with other fields."""

    @classmethod
    def of(
        cls,
        name: str,
        about: str,
        *,
        title: str = "",
        noun: str = "",
        directions: tuple[str, str] | None = None,
    ) -> Self:
        """Return the column for the field ``name``. Missing texts come from this field."""
        field = FIELDS[name]
        ways = directions or _DIRECTIONS.get(field.kind, ("A to Z", "Z to A"))
        return cls(title or field.label, about, noun or field.called, ways, field)


_NUMBER = ("lowest first", "highest first")
_DIRECTIONS = {
    Kind.NUMBER: _NUMBER,
    Kind.DATE: ("earliest first", "latest first"),
    Kind.TIMESTAMP: ("oldest first", "newest first"),
}
_DAY = "day, and time if the column is wide"
_ENDS = ("earliest end first", "latest end first")

COLUMNS: Mapping[str, RemoteColumn] = {
    "name": RemoteColumn.of("remoteName", "always shown, to identify the remote"),
    "number": RemoteColumn.of("remoteNumber", "number of the remote", directions=_NUMBER),
    "type": RemoteColumn.of("remoteType", "permanent, time-limited, recurring"),
    "valid": RemoteColumn.of(
        "endDate", "short form of start and end", title="Valid", noun="validity", directions=_ENDS
    ),
    "state": RemoteColumn.of("status", "state by status and dates", title="State", noun="state"),
    "added": RemoteColumn.of(
        "addType", "by bluetooth or by gateway", title="Added", noun="way added"
    ),
    "coerced": RemoteColumn.of("isCoerced", "whether the remote is coerced", noun="coerced"),
    "id": RemoteColumn.of("id", "ID of the remote at the service"),
    "start": RemoteColumn.of("startDate", _DAY),
    "end": RemoteColumn.of("endDate", _DAY),
    "created": RemoteColumn.of("createTime", "creation time"),
    "updated": RemoteColumn.of("updateTime", "time of the last change"),
    "user": RemoteColumn.of("apiUserId", "number of an account that calls the service"),
    "battery": RemoteColumn.of(
        "electricQuantity", "battery level; one request for each remote", title="Battery"
    ),
}
"""Maps names to columns, for every field of a listed remote that fits a cell (contract 2.3).

The user number has no column, because the service's list does not contain it (contract 4.3). The
list does not contain the battery level either, but to fill that column, lockterm reads the details
of the shown remotes.
"""

ALWAYS = "name"
"""The column that is always shown, because it identifies the remote."""

USUAL = ("name", "number", "type", "valid", "state", "added", "coerced")
"""The default columns. If they do not all fit, the table leaves some columns out."""

_SHOWN, _SORT, _DOWN = "columns", "sort", "descending"
"""The keys of a stored arrangement: its columns, the column to sort by, and whether the order is
descending."""


class SortOrder(Sorting):
    """A sort order of remotes, with its description."""

    @property
    def brief(self) -> str:
        """The sort order without its direction, such as ``sorted by end``."""
        return f"sorted by {COLUMNS[self.key].noun}"

    @property
    def description(self) -> str:
        """The sort order with its direction, such as ``sorted by end, latest first``."""
        return f"{self.brief}, {COLUMNS[self.key].directions[self.descending]}"


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The columns of a table, their order, and the sort order of the rows."""

    columns: tuple[str, ...] = ()
    """The columns from left to right, always with the name; empty for the default columns."""
    order: SortOrder | None = None
    """The sort order; None for the order of the service."""

    @classmethod
    def of(cls, columns: tuple[str, ...], order: SortOrder | None) -> Self:
        """Return an arrangement. For the default columns, its ``columns`` are empty."""
        return cls(() if columns == USUAL else columns, order)

    @classmethod
    def read(cls, kept: Any) -> Self:
        """Return the arrangement that the preferences contain.

        Invalid parts are left out, because users may edit the file of the preferences.
        """
        if not isinstance(kept, dict):
            return cls()
        listed = kept.get(_SHOWN)
        known = [key for key in listed if _is_column(key)] if isinstance(listed, list) else []
        if known and ALWAYS not in known:
            known.insert(0, ALWAYS)
        sort = kept.get(_SORT)
        order = SortOrder(sort, kept.get(_DOWN) is True) if _is_column(sort) else None
        return cls.of(tuple(dict.fromkeys(known)), order)

    def as_kept(self) -> dict[str, Any] | None:
        """Return the arrangement as the preferences store it; None for the default."""
        stored: dict[str, Any] = {_SHOWN: list(self.columns)} if self.columns else {}
        if self.order is not None:
            stored |= {_SORT: self.order.key, _DOWN: self.order.descending}
        return stored or None


def _is_column(key: object) -> TypeGuard[str]:
    return isinstance(key, str) and key in COLUMNS


KEPT_AS = "remotes.table"
"""The name of the preference that stores the arrangement for all profiles and locks."""


def save_arrangement(preferences: Preferences, chosen: Arrangement) -> str:
    """Save an arrangement, and return why saving failed; empty if it succeeded.

    The sort order is saved, too. A user who does not expect this order later could act on the wrong
    remote. Therefore, the pager always shows the sort order, and every action names its remote.
    """
    try:
        preferences.keep(KEPT_AS, chosen.as_kept())
    except (LocktermError, OSError) as error:
        why = error.message if isinstance(error, LocktermError) else f"{error}."
        return f"lockterm could not save the columns. They apply until you quit. {clean(why, 300)}"
    return ""


GROWING = {"number": range(6, 13), "id": range(5, 21), "user": range(8, 21)}
"""Maps the names of columns to their possible widths in cells.

Each of these columns is as wide as its longest value so far, so that the columns do not move when
another page is shown.
"""

_DAY_CELLS = len("31 Dec 2026")
_STAMP = len("31 Dec 2026 18:00 +01:00")
_LEAST = {
    **{"name": 10, "type": 12, "valid": 23, "state": 9, "added": 3, "coerced": 7, "battery": 8},
    **dict.fromkeys(("start", "end", "created", "updated"), _DAY_CELLS),
}
"""The minimum width of each column that is not in ``GROWING``, in cells."""
_GIVING = ("added", "coerced", "type", "state")
"""The default columns that are left out first if not all fit, in this order.

Their information is also shown elsewhere: the icons before the row show the state and whether the
remote is coerced, and the validity shows the type.
"""
GOOD_NAME = 24
"""The wanted width of the name column, in cells. Columns in ``_GIVING`` are left out to reach this
width, if the user has chosen no columns."""
_MORE = (
    ("name", GOOD_NAME),
    ("gap", 2),
    ("name", 26),
    ("state", 14),
    ("valid", SHORT),
    ("added", 9),
    *((key, _STAMP) for key in ("end", "start", "updated", "created")),
    ("name", 60),
)
"""Pairs of a column and a greater width in cells, in the order in which columns get spare width.

``gap`` is the gap between two columns.
"""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns that fit the table, and their widths."""

    widths: Mapping[str, int]
    """Maps the names of the columns, from left to right, to their widths in cells."""
    gap: int
    """The width between two columns, in cells."""
    room: int
    """The width available for all columns, in cells."""
    order: SortOrder | None = None
    """The sort order, which the titles show; None for the order of the service."""


def plan(room: int, long: Mapping[str, int], arrangement: Arrangement) -> Layout:
    """Return the columns that fit a width, and the width of each.

    If not all columns fit, the last columns are left out. If the user has chosen no columns, those
    in ``_GIVING`` are left out instead. The name is always included.

    Args:
        room: The available width in cells.
        long: The widths of the columns in ``GROWING``, by column name.
        arrangement: The chosen columns and sort order.
    """
    columns, order, least = arrangement.columns, arrangement.order, {**_LEAST, **long}
    if order is not None:  # room for its marker
        title = "Via" if order.key == "added" else COLUMNS[order.key].title
        least[order.key] = max(least[order.key], len(title) + len(order.marker))
    gap, giving = 1, [key for key in reversed(columns) if key != "name"]
    if not columns:
        gap, giving, least["name"] = 2, list(_GIVING), GOOD_NAME
    widths = {key: least[key] for key in columns or USUAL}
    while (spare := room - sum(widths.values()) - gap * (len(widths) - 1)) < 0 and giving:
        del widths[giving.pop(0)]
    for key, most in _MORE:
        if key == "gap" and gap == 1 and spare >= len(widths) - 1:
            gap, spare = most, spare - len(widths) + 1
        if key not in widths:
            continue
        more = max(min(most - widths[key], spare), 0)
        if key == "name" or more == most - widths[key]:  # half a word more is of no use
            widths[key] += more
            spare -= more
    widths["name"] = max(widths["name"] + min(spare, 0), len("Name^"))
    return Layout(widths, gap, room, order)


def line(cells: Sequence[Piece], layout: Layout) -> Iterator[Piece]:
    """Yield the styled texts of a table row.

    Args:
        cells: The text and the style for each column. Each text fits its column and has no control
            characters.
        layout: The columns.
    """
    gap = " " * layout.gap
    for (text, look), width in zip(cells, layout.widths.values(), strict=True):
        yield text, look
        yield " " * (width - cell_len(text)) + gap, ""


def titles(layout: Layout) -> list[Piece]:
    """Return the column titles. The title of the sorted column has a marker."""
    return [(_title(key, width, layout.order), "") for key, width in layout.widths.items()]


def _title(key: str, width: int, order: SortOrder | None) -> str:
    short = key == "added" and width < len("Added") + (order is not None and order.key == key)
    title = "Via" if short else COLUMNS[key].title
    if order is None or order.key != key:
        return title
    return f"{title}{' ' * (len(title) + 1 < width)}{order.marker}"


MOST_SHOWN = 200
"""The maximum number of rows that are shown of a page. lockterm never requests a larger page."""


def rows_to_show(
    state: ListState,
    order: SortOrder | None,
    zone: tzinfo,
    now_ms: int,
    levels: Mapping[int, int],
) -> Sequence[Remote]:
    """Return the sorted remotes to show: the results of the search, or else those of the page.

    Of the page, only remotes that match the search text and the filter are returned. If both are
    empty, at most :data:`MOST_SHOWN` remotes are returned. A service may send any number, and a
    table with thousands of rows delays the keys. Only the loaded remotes are sorted, not the whole
    list of the lock.

    Args:
        state: The state of the list.
        order: The sort order; None for the service's order.
        zone: The time zone for dates, including those that are compared with the search text.
        now_ms: The current time in milliseconds, which determines the states of remotes.
        levels: The known battery levels by remote ID.
    """
    is_filtered_page = state.found is None and state.is_narrowed
    most = MOST_FOUND if is_filtered_page else None
    remotes = [*islice(state.remotes(zone, now_ms), most)]
    if order is not None:
        remotes = sorted_remotes(remotes, order, now_ms, zone, levels)
    return remotes if state.is_narrowed or state.found is not None else remotes[:MOST_SHOWN]


def sorted_remotes(
    remotes: Sequence[Remote],
    order: SortOrder,
    now_ms: int,
    zone: tzinfo,
    levels: Mapping[int, int],
) -> list[Remote]:
    """Return remotes in a sort order. Remotes that compare equal keep the service's order.

    Args:
        remotes: The remotes in the order of the service.
        order: The column and the direction to sort by.
        now_ms: The current time in milliseconds.
        zone: The time zone in which states are determined.
        levels: The known battery levels by remote ID. The listed remotes do not contain levels.
    """

    def value(remote: Remote) -> Any:
        if order.key == "battery":
            return levels.get(remote.id or 0)
        return compared(remote, order.key, now_ms, zone)

    return sorted_by(remotes, value, descending=order.descending)


def compared(remote: Remote, column: str, now_ms: int, zone: tzinfo) -> Any:
    """Return the sort key of a remote for a column; None if the remote has no value there."""
    if column == "valid":  # by the end; permanent remotes come after all others
        is_always = phase_of(remote, 0) is Phase.ALWAYS
        return (1, 0) if is_always else (0, remote.end_ms) if remote.end_ms else None
    field = COLUMNS[column].field
    value = field.of(remote)
    if value is None:
        return None
    if column == "state":
        return natural(describe_validity(remote, now_ms, zone).word)
    if field.constants is not None:
        return natural(word(field.constants, value))
    match field.kind:
        case Kind.TEXT:
            return natural(value) if value else None
        case Kind.DATE:
            return value or None
        case Kind.TIMESTAMP:
            return dates.as_ms(value) or None
    return value
