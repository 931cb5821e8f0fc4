"""Characters beyond ASCII in lockterm's own texts, or their ASCII forms on this terminal.

Own texts are built with the right characters. They cannot be replaced later, because a value of the
service may contain the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters for own texts."""

    separator: str
    """Between two facts of a line, with a blank on each side."""
    ellipsis: str
    """The sign for cut text; one cell wide."""
    opening: str
    closing: str
    """The quotes around typed text."""
    notice: str
    """The mark before a notification in the footer; no key looks like it."""


UNICODE = Glyphs("·", "…", "“", "”", "▌")
ASCII = Glyphs("-", "~", '"', '"', "|")

_now = UNICODE


def use(glyphs: Glyphs) -> None:
    """Write all words from now on with these: a process has one terminal."""
    global _now
    _now = glyphs


def are_ascii() -> bool:
    """Return whether ASCII forms are used, also for Textual's drawing."""
    return _now is ASCII


def separator() -> str:
    """Return the separator between two facts of a line."""
    return f" {_now.separator} "


def ellipsis() -> str:
    """Return the mark after a cut text."""
    return _now.ellipsis


def quoted(text: str) -> str:
    """Clean text in quotation marks."""
    return f"{_now.opening}{text}{_now.closing}"


def notice_mark() -> str:
    """Return the mark before a notification."""
    return _now.notice
