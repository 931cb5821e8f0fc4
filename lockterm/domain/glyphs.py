"""The characters beyond ASCII in lockterm's own texts, and their ASCII forms.

lockterm builds its texts with the form that the terminal can show. Replacing characters in finished
texts would be wrong, because values from the service may contain the same characters.
"""

from __future__ import annotations

from typing import NamedTuple


class Glyphs(NamedTuple):
    """A set of characters for lockterm's own texts."""

    separator: str
    """The separator between two facts on a line. Texts add a space on each side."""
    ellipsis: str
    """The mark at the end of a shortened text, which is one cell wide."""
    opening: str
    closing: str
    """The mark after a quoted text; ``opening`` is the mark before it."""
    notice: str
    """The mark before each line of a notification."""
    nothing: str
    """The mark that a chart shows for the number 0."""
    heights: str
    """The characters for the bars of a chart that is one cell high, from the lowest bar to the
    highest."""
    full: str
    light: str
    """The character for the unfilled part of a horizontal bar; ``full`` is for the filled part."""


UNICODE = Glyphs("·", "…", "“", "”", "▌", "·", "▁▂▃▄▅▆▇█", "█", "░")
ASCII = Glyphs("-", "~", '"', '"', "|", ".", "_:|#", "#", "-")

_now = UNICODE


def use(glyphs: Glyphs) -> None:
    """Use these characters for all texts that this process builds from now on."""
    global _now
    _now = glyphs


def are_ascii() -> bool:
    """Return whether texts use the ASCII forms.

    If so, screens also draw lines and boxes in ASCII.
    """
    return _now is ASCII


def separator() -> str:
    """Return the separator between two facts on a line, with a space on each side."""
    return f" {_now.separator} "


def ellipsis() -> str:
    """Return the mark at the end of a shortened text."""
    return _now.ellipsis


def quoted(text: str) -> str:
    """Return a text in quotation marks. The text must be without control characters."""
    return f"{_now.opening}{text}{_now.closing}"


def notice_mark() -> str:
    """Return the mark before each line of a notification."""
    return _now.notice


def nothing() -> str:
    """Return the mark that a chart shows for the number 0."""
    return _now.nothing


def bar(count: int, most: int) -> str:
    """Return the character for one bar of a chart that is one cell high.

    Args:
        count: The number to show, at least 1.
        most: The number that the highest bar shows.
    """
    heights = _now.heights
    return heights[-(-count * len(heights) // most) - 1]


def bar_cells() -> tuple[str, str]:
    """Return the characters for the filled and the unfilled part of a horizontal bar."""
    return _now.full, _now.light
