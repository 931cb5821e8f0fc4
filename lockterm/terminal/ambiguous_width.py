"""Layout for terminals that draw characters of ambiguous width in two cells."""

from __future__ import annotations

import unicodedata
from typing import Any

import rich.cells
import rich.segment

_FIRST, _LAST = 0xA1, 0xFFFD


def count_ambiguous_as_wide() -> None:
    """Make Rich and Textual count characters such as á and Cyrillic letters as two cells.

    On such a terminal, lockterm and Textual draw lines and icons in ASCII.
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
