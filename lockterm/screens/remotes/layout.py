"""Which columns a table of remotes has room for, how wide each is, and a line of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len

from lockterm.domain.validity import SHORT
from lockterm.record import record
from lockterm.screens.remotes.columns import COLUMNS, USUAL, Arrangement, SortOrder

GROWING = {"number": range(6, 13), "id": range(5, 21), "user": range(8, 21)}
"""The columns that are as wide as the longest that was seen, so that pages do not jump, and how
wide they may be."""

DAY = len("2026-12-31")
_STAMP = len("2026-12-31 18:00 +01:00")
_LEAST = {
    **{"name": 14, "type": 12, "valid": 23, "state": 8, "added": 2, "coerced": 7},
    **dict.fromkeys(("start", "end", "created", "updated"), DAY),
}
"""The narrowest form of each column that is not in ``GROWING``."""
_GIVING = ("added", "coerced", "type")
"""What is left out first where not all of the usual columns fit."""
_MORE = (
    ("name", 18),
    ("gap", 2),
    ("valid", SHORT),
    ("state", 12),
    ("added", 9),
    *((key, _STAMP) for key in ("end", "start", "updated", "created")),
    ("name", 60),
)
"""What grows first where there is room, and to what."""


@record
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
        title = "By" if order.key == "added" else COLUMNS[order.key].title
        least[order.key] = max(least[order.key], len(title) + len(order.marker))
    widths = {key: least[key] for key in columns or USUAL}
    giving = [key for key in reversed(columns) if key != "name"] if columns else list(_GIVING)
    while (spare := room - sum(widths.values()) - len(widths) + 1) < 0 and giving:
        del widths[giving.pop(0)]
    gap = 1
    for key, most in _MORE:
        if key == "gap" and spare >= len(widths) - 1:
            gap, spare = most, spare - len(widths) + 1
        if key not in widths:
            continue
        more = max(min(most - widths[key], spare), 0)
        if key == "name" or more == most - widths[key]:  # half a word more helps nobody
            widths[key] += more
            spare -= more
    widths["name"] = max(widths["name"] + min(spare, 0), len("Name^"))
    return Layout(widths, gap, room, order)


def line(cells: Sequence[tuple[str, bool]], layout: Layout) -> Iterator[tuple[str, bool]]:
    """The pieces of a line of the table.

    Args:
        cells: For each column a clean string that fits, and whether it is bold.
        layout: The columns.
    """
    gap = " " * layout.gap
    for (text, is_bold), width in zip(cells, layout.widths.values(), strict=True):
        yield text, is_bold
        yield " " * (width - cell_len(text)) + gap, False


def titles(layout: Layout) -> list[tuple[str, bool]]:
    """What the columns are called; the one they are sorted by has a marker."""
    return [(_title(key, width, layout.order), False) for key, width in layout.widths.items()]


def _title(key: str, width: int, order: SortOrder | None) -> str:
    short = key == "added" and width < len("Added") + (order is not None and order.key == key)
    title = "By" if short else COLUMNS[key].title
    if order is None or order.key != key:
        return title
    return f"{title}{' ' * (len(title) + 1 < width)}{order.marker}"
