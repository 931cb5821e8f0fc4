"""Texts in the cells of a terminal."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from lockterm.domain.glyphs import ellipsis


def cut(text: str, width: int) -> str:
    """A clean string in at most ``width`` cells; what is longer ends in an ellipsis."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + ellipsis()
