"""Functions that fit text into terminal cells."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from lockterm.domain.glyphs import ellipsis


def cut(text: str, width: int) -> str:
    """Return a text of at most ``width`` cells; an ellipsis replaces the rest."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + ellipsis()
