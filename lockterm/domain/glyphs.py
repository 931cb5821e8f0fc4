"""The characters beyond ASCII in lockterm's own texts, and their ASCII forms.

lockterm builds its texts with the form that the terminal can show. The characters cannot be
replaced later, because a value from the service may contain the same characters.
"""

from __future__ import annotations

from typing import NamedTuple


class Glyphs(NamedTuple):
    """A set of characters for lockterm's own texts."""

    separator: str
    """The separator between two facts of a line; texts add a space on each side."""
    ellipsis: str
    """The mark at the end of a cut text; one cell wide."""
    opening: str
    closing: str
    """The quotation mark after quoted text; ``opening`` is the mark before it."""
    notice: str
    """The mark before each line of a notification."""
    nothing: str
    """The mark in place of the number 0 in a chart."""
    heights: str
    """The bars of a chart that are one cell high at most, from the lowest to the highest."""
    full: str
    light: str
    """The cells of a horizontal bar: ``full`` for the first part, ``light`` for the rest."""


UNICODE = Glyphs("·", "…", "“", "”", "▌", "·", "▁▂▃▄▅▆▇█", "█", "░")
ASCII = Glyphs("-", "~", '"', '"', "|", ".", "_:|#", "#", "-")

_now = UNICODE


def use(glyphs: Glyphs) -> None:
    """Use these characters for all further texts of the process, which has only one terminal."""
    global _now
    _now = glyphs


def are_ascii() -> bool:
    """Return whether ASCII forms are in use; if so, Textual draws in ASCII too."""
    return _now is ASCII


def separator() -> str:
    """Return the separator between two facts of a line, with a space on each side."""
    return f" {_now.separator} "


def ellipsis() -> str:
    """Return the mark after a cut text."""
    return _now.ellipsis


def quoted(text: str) -> str:
    """Return a cleaned text in quotation marks."""
    return f"{_now.opening}{text}{_now.closing}"


def notice_mark() -> str:
    """Return the mark before a notification."""
    return _now.notice


def nothing() -> str:
    """Return the mark in place of the number 0 in a chart."""
    return _now.nothing


def bar(count: int, most: int) -> str:
    """Return a bar of one cell whose height shows a number.

    Args:
        count: The number, at least 1.
        most: The number of the highest bar.
    """
    heights = _now.heights
    return heights[-(-count * len(heights) // most) - 1]


def bar_cells() -> tuple[str, str]:
    """Return the cell for the first part of a horizontal bar, and the cell for the rest."""
    return _now.full, _now.light
