"""Cells as they are kept in a file, and what may be sent of what stands there.

Cells are kept, never what draws them: whatever stands in the file, the terminal is sent what
:class:`lockterm.terminal.frame.Frame` makes of clean text and known styles. A start waits for this
module, so it imports neither Textual nor Rich.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter

from lockterm.domain.text.amount import format_age
from lockterm.terminal.harmful import is_harmful
from lockterm.terminal.widths import Cell

TYPE_CHECKING = False  # as in typing, which takes longer to import than this
if TYPE_CHECKING:
    from typing import Any

AsNew = tuple[tuple[int, int], int, list[Cell]]
"""Length and CRC-32 of the answer that a frame shows; the row that tells its age, and its cells
when it has just come."""

OLDEST_MS = 7 * 86_400_000
"""An older frame is not shown: a list changes within a week."""

LONGEST = 64
"""Characters in a cell: a letter and its marks."""

_PLAIN = frozenset((
    *map(str, (*range(1, 8), 9, 21, 51, 52, 53)),
    *(f"{ground}{colour}" for ground in (3, 4, 9, 10) for colour in range(8)),
))  # fmt: skip
"""The codes of attributes and of the terminal's own colours."""
_NUMBERS = {"5": 1, "2": 3}
"""How many numbers make a colour of each of the other kinds."""


def are_styles(codes: Iterable[str]) -> bool:
    """Whether all are styles that are painted: attributes and colours."""
    return all(map(_is_style, codes))


def _is_style(codes: str) -> bool:
    # Without a regular expression: compiling this one takes longer than all that is kept.
    parts = iter(codes.split(";") if codes else ())
    for part in parts:
        if part in ("38", "48"):
            count = _NUMBERS.get(next(parts, ""), 0)
            numbers = [next(parts, "") for _ in range(count)]
            if not count or not all(map(_is_number, numbers)):
                return False
        elif part not in _PLAIN:
            return False
    return True


def _is_number(text: str) -> bool:
    return len(text) <= 3 and text.isascii() and text.isdecimal()


def packed(row: Sequence[Cell]) -> list[tuple[str, str | list[str]]]:
    """A row as its styles and what stands in the cells of each: a text, or texts for the cells."""
    found: list[tuple[str, str | list[str]]] = []
    for codes, cells in groupby(row, itemgetter(1)):
        texts = [text for text, _ in cells]
        found.append((codes, "".join(texts) if all(len(one) == 1 for one in texts) else texts))
    return found


def old_rows(
    told: Any, size: tuple[int, int], age_ms: int, *, utf8: bool
) -> list[list[Cell]] | None:
    """The rows of a kept frame, marked as old.

    Args:
        told: The frame: its ``rows``, :func:`packed`, and the ``foot``.
        size: Columns and rows of the terminal.
        age_ms: How old it is.
        utf8: Whether the terminal takes more than ASCII.

    Returns:
        All cells; None where they are of another size, or something else than text is in them.

    Raises:
        ValueError, TypeError, LookupError: It is no frame.
    """
    rows = [_unpacked(runs) for runs in told["rows"]]
    if [len(row) for row in rows] != [size[0]] * size[1] or not _is_clean(rows, utf8=utf8):
        return None
    _mark(rows, told["foot"], age_ms)
    return rows


def cursor_of(told: Any, size: tuple[int, int]) -> tuple[int, int]:
    """Column and row of the terminal's own cursor in a kept frame.

    Raises:
        ValueError, TypeError, LookupError: There is no such place.
    """
    x, y = told["cursor"]
    if type(x) is not int or type(y) is not int or not (0 <= x < size[0] and 0 <= y < size[1]):
        raise ValueError(told["cursor"])
    return x, y


def row_as_new(told: Any, now_ms: int) -> AsNew | None:
    """What turns the rows of a kept frame, which :func:`old_rows` has taken, into live ones.

    Args:
        told: The frame; its ``same`` is the answer it shows, and until when it looks so.
        now_ms: The time of this machine.

    Returns:
        It; None where a live frame may look otherwise, whatever the service says.

    Raises:
        ValueError, TypeError, LookupError: It is no frame.
    """
    if told["same"] is None:
        return None
    size, crc, until_ms = told["same"]
    y = told["foot"][0]
    return ((size, crc), y, _unpacked(told["rows"][y])) if now_ms < until_ms else None


def _is_clean(rows: Sequence[Sequence[Cell]], *, utf8: bool) -> bool:
    """Whether the terminal may be sent what stands in the cells."""
    text = "".join([text for row in rows for text, _ in row])
    if text.isascii():
        return text.isprintable()
    return utf8 and not any(map(is_harmful, {*text}))


def _unpacked(runs: Any) -> list[Cell]:
    """The row of :func:`packed`.

    Raises:
        ValueError, TypeError: It is none.
    """
    row: list[Cell] = []
    for codes, texts in runs:
        if not isinstance(codes, str) or not _is_style(codes):
            raise ValueError(codes)
        for text in texts:
            if not isinstance(text, str) or len(text) > LONGEST:
                raise ValueError(text)
            row.append((text, codes))
    return row


def _mark(rows: Sequence[list[Cell]], foot: Sequence[int], age_ms: int) -> None:
    """Say in the foot that what stands above it is old, in the style of what was said there.

    Raises:
        ValueError, LookupError: There is no such place.
    """
    y, start, width = foot
    said = rows[y][start : start + width]
    if len(said) != width or min(y, start) < 0:
        raise ValueError(foot)
    first = next(x for x, (text, _) in enumerate([*said, ("", "")]) if text != " ")
    ground = next((cell for cell in said if cell[0] == " "), (" ", ""))
    codes = said[first][1] if first < width else ""
    seen = f"OLD, seen {format_age(age_ms)}"
    words = f"{seen}, asking the service ..."
    words = (words if len(words) <= width - first else seen)[: width - first]
    cells = [(char, codes) if char != " " else ground for char in words.ljust(width - first)]
    rows[y][start : start + width] = [*said[:first], *cells]
