"""Which columns a table of remotes has room for, how wide each is, and a line of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from lockterm.domain.text.validity import SHORT
from lockterm.screens.remotes.columns import COLUMNS, USUAL, Arrangement, SortOrder
from lockterm.widgets.line_table import Piece

GROWING = {"number": range(6, 13), "id": range(5, 21), "user": range(8, 21)}
"""The columns that are as wide as the longest that was seen, so that pages do not jump, and how
wide they may be."""

_DAY = len("31 Dec 2026")
_STAMP = len("31 Dec 2026 18:00 +01:00")
_LEAST = {
    **{"name": 10, "type": 12, "valid": 23, "state": 8, "added": 3, "coerced": 7},
    **dict.fromkeys(("start", "end", "created", "updated"), _DAY),
}
"""The narrowest form of each column that is not in ``GROWING``."""
_GIVING = ("added", "coerced", "type", "state")
"""What is left out first where not all of the usual columns fit: the signs before the row tell
what is coerced and the state, and what is valid tells the type."""
GOOD_NAME = 24
"""So many cells the name has before one of these is there."""
_MORE = (
    ("name", GOOD_NAME),
    ("gap", 2),
    ("name", 28),
    ("state", 12),
    ("valid", SHORT),
    ("added", 9),
    *((key, _STAMP) for key in ("end", "start", "updated", "created")),
    ("name", 60),
)
"""What grows first where there is room, and to what."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns there is room for."""

    widths: Mapping[str, int]
    """Column -> its width in cells, from left to right."""
    gap: int
    """Cells between two columns."""
    room: int
    """All the cells there are."""
    order: SortOrder | None = None
    """What the rows are sorted by, for the titles."""


def plan(room: int, long: Mapping[str, int], arrangement: Arrangement) -> Layout:
    """Which columns there are in so many cells, and how wide each is.

    Of columns that were chosen, the last ones are left out where not all fit; the name never is.

    Args:
        room: The cells.
        long: How wide the columns of ``GROWING`` are.
        arrangement: What was chosen.
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
        if key == "name" or more == most - widths[key]:  # half a word more helps nobody
            widths[key] += more
            spare -= more
    widths["name"] = max(widths["name"] + min(spare, 0), len("Name^"))
    return Layout(widths, gap, room, order)


def line(cells: Sequence[Piece], layout: Layout) -> Iterator[Piece]:
    """The pieces of a line of the table.

    Args:
        cells: For each column a clean string that fits, and how it looks.
        layout: The columns.
    """
    gap = " " * layout.gap
    for (text, look), width in zip(cells, layout.widths.values(), strict=True):
        yield text, look
        yield " " * (width - cell_len(text)) + gap, ""


def titles(layout: Layout) -> list[Piece]:
    """What the columns are called; the one they are sorted by has a marker."""
    return [(_title(key, width, layout.order), "") for key, width in layout.widths.items()]


def _title(key: str, width: int, order: SortOrder | None) -> str:
    short = key == "added" and width < len("Added") + (order is not None and order.key == key)
    title = "Via" if short else COLUMNS[key].title
    if order is None or order.key != key:
        return title
    return f"{title}{' ' * (len(title) + 1 < width)}{order.marker}"
