"""Terminals on which characters of ambiguous width take two cells: laid out as they are drawn."""

from __future__ import annotations

import unicodedata
from typing import Any

import rich.cells
import rich.segment

_FIRST, _LAST = 0xA1, 0xFFFD


def count_ambiguous_as_wide() -> None:
    """Have Rich and Textual count á, Cyrillic and their like as two cells from now on.

    What lockterm and Textual draw with is ASCII on such a terminal.
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
    # Segments have their own name for it, and keep how they were split: one that is split by
    # other widths than it is measured with leaves a gap in the row.
    segments: Any = rich.segment
    segments._is_single_cell_widths = narrow
    segments.Segment._split_cells.cache_clear()
    cells.get_character_cell_size.cache_clear()
    cells.cached_cell_len.cache_clear()
