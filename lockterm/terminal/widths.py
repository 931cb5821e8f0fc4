"""Handles characters on whose width or direction terminals disagree."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import Any

import rich.cells
import rich.segment

Cell = tuple[str, str]
"""The text of a cell and its SGR codes. The second half of a wide character has no text."""

GUARD = "\u2800"
"""A left-to-right blank beside right-to-left text, for terminals that reorder rows.

The blank keeps its neighbors in place. Direction marks would not keep them in place, because these
terminals look at cells, and a mark has no cell.
"""

_LEAST_TURNED = "\u0590"
"""The lowest character that may run from right to left."""

_NON_JOINER = "\u200c"
_LAM, _ALEFS = "\u0644", ("\u0622", "\u0623", "\u0625", "\u0627")
"""The letter lam, and the forms of alef. mlterm draws a lam and an alef together in one cell.

This moves the rest of the row one cell to the left.
"""

_JOINS = ("\u200d", "\ufe0f", "\u20e3")
_FLAG_A, _FLAG_Z = "\U0001f1e6", "\U0001f1ff"
"""The first and the last regional letter. Some terminals draw two regional letters as a flag."""

_OLD = unicodedata.ucd_3_2_0
_NO_WORD = (range(0), False)
_JOINING = frozenset(chr(i) for i in (*range(0x1100, 0x1200), 0x0E33, 0x0EB3))
"""Parts of syllables, which some terminals draw in one cell and others in several cells."""


def is_doubtful(text: str) -> bool:
    """Return whether terminals disagree on the width of a cell's text.

    Unicode's ambiguous width alone does not count; see :func:`is_ambiguous`.

    Symbols such as check marks and stars became wide with Unicode 9 or 16. Some versions of GNU
    screen, PuTTY and the console still draw them narrow. Many terminals draw joined characters
    separately.
    """
    return not text.isascii() and _is_doubtful(text)


def is_plain(row: Sequence[Cell]) -> bool:
    """Return whether a row contains only ASCII, like most rows, so that all widths are certain."""
    return "".join([text for text, _ in row]).isascii()


def doubtful_cells(row: Sequence[Cell]) -> list[int]:
    """Return the indexes of cells with text of doubtful width."""
    if is_plain(row):
        return []
    return [x for x, (text, _) in enumerate(row) if not text.isascii() and _is_doubtful(text)]


def is_ambiguous(text: str) -> bool:
    """Return whether the width of a cell's text depends on the terminal's settings, as with á."""
    return not text.isascii() and _is_ambiguous(text)


def is_drawing(text: str) -> bool:
    """Return whether a text is a line or block character, which names rarely contain."""
    return "\u2500" <= text <= "\u259f"


@lru_cache(maxsize=4096)
def _is_doubtful(text: str) -> bool:
    if len(text) != 1:
        return True
    if is_drawing(text):
        return False
    return (
        text > "\uffff"
        or "\u22ff" < text < "\u2c00"
        or "\u4dbf" < text < "\u4e00"
        or text in _JOINING
        or _OLD.category(text) == "Cn"
        or unicodedata.category(text) in ("Mn", "Me", "Mc", "Cf", "Co", "Cn")
    )


@lru_cache(maxsize=4096)
def _is_ambiguous(text: str) -> bool:
    return unicodedata.east_asian_width(text[0]) == "A"


@lru_cache(maxsize=4096)
def _direction(text: str) -> str:
    """Return ``L`` or ``R`` for text with a strong direction, otherwise an empty string."""
    if not text:
        return ""
    kind = unicodedata.bidirectional(text[0])
    return "L" if kind == "L" else "R" if kind in ("R", "AL", "AN") else ""


def drawn_alone(row: list[Cell]) -> list[Cell]:
    """Return a row without joined characters, such as emoji of several code points and flags.

    Each joined character is replaced by its first code point, and each flag by its two letters.
    tmux and GNU screen count the width of joined characters differently from the terminal around
    them, and would misplace the rest of the row.
    """
    if is_plain(row):
        return row
    alone = [*row]
    for x, (text, codes) in enumerate(row):
        if text and _FLAG_A <= text[0] <= _FLAG_Z:
            alone[x] = (chr(ord(text[0]) - ord(_FLAG_A) + ord("A")), codes)
        elif len(text) > 1 and any(char in _JOINS or char >= "\U0001f3fb" for char in text[1:]):
            alone[x] = (text[0], codes)
            if unicodedata.east_asian_width(text[0]) not in "WF" and row[x + 1 : x + 2]:
                alone[x + 1] = (alone[x + 1][0] or " ", codes)
    return alone


def kept_in_place(row: list[Cell]) -> list[Cell]:
    """Return a row whose cells keep their positions on terminals that reorder right-to-left text.

    The result has :data:`GUARD` characters before the first right-to-left word and after each such
    word. The given row may already have these characters.
    """
    text = "".join([text for text, _ in row])
    if max(text, default="") < _LEAST_TURNED:
        return row
    if not any(char == GUARD or _direction(char) == "R" for char in {*text}):
        return row
    plain = [_unguarded(cell) for cell in row]
    directions = [_direction(text) for text, _ in plain]
    if "R" not in directions:
        return plain
    first = directions.index("R")
    if "L" not in directions[:first]:
        blank = next((x for x in range(first) if plain[x][0] == " "), None)
        if blank is not None:
            plain[blank] = (GUARD, plain[blank][1])
    words = [(span, "R" in directions[span.start : span.stop]) for span in _word_ranges(plain)]
    for (word, turned), (following, goes_on) in zip_longest(words, words[1:], fillvalue=_NO_WORD):
        together = goes_on and following.start == word.stop + 1  # one name of two words
        if turned and not together and word.stop < len(plain):
            plain[word.stop] = (GUARD, plain[word.stop][1])
    for x, (here, after) in enumerate(pairwise(plain)):
        if here[0].startswith(_LAM) and after[0].startswith(_ALEFS):
            plain[x] = (here[0] + _NON_JOINER, here[1])
    return plain


def _unguarded(cell: Cell) -> Cell:
    text, codes = cell
    if text == GUARD:
        return " ", codes
    return (text.rstrip(_NON_JOINER), codes) if text.startswith(_LAM) else cell


def _word_ranges(row: Sequence[Cell]) -> Iterator[range]:
    """Yield the range of cells of each word."""
    start = None
    for x, (text, _) in enumerate(row):
        if text == " ":
            if start is not None:
                yield range(start, x)
            start = None
        elif start is None:
            start = x
    if start is not None:
        yield range(start, len(row))


_FIRST, _LAST = 0xA1, 0xFFFD


def count_ambiguous_as_wide() -> None:
    """Make Rich and Textual count characters such as á and Cyrillic letters as two cells.

    Call this if the terminal uses two cells for such characters. The caller must then make lockterm
    and Textual draw lines and icons in ASCII, because these would also become two cells wide.
    """
    cells: Any = rich.cells
    table = cells.load_cell_table("auto")
    size = cells.get_character_cell_size
    wide = {
        code
        for code in range(_FIRST, _LAST + 1)
        if unicodedata.east_asian_width(chr(code)) == "A" and size(chr(code)) == 1
    }
    widths = sorted([*table.widths, *((code, code, 2) for code in wide)])
    patched = table._replace(widths=widths)
    cells.load_cell_table = lambda unicode_version="auto": patched
    narrow = (cells._SINGLE_CELLS - {*map(chr, wide)}).issuperset
    cells._is_single_cell_widths = narrow
    # rich.segment imported the function by name and caches splits. A segment that is measured with
    # one width and split with another would leave a gap in the row.
    segments: Any = rich.segment
    segments._is_single_cell_widths = narrow
    segments.Segment._split_cells.cache_clear()
    cells.get_character_cell_size.cache_clear()
    cells.cached_cell_len.cache_clear()
