"""The signs beyond ASCII in lockterm's own words, as this terminal shows them.

A word of ours is written with the signs of the terminal from the start, so that nothing that is
shown later has to be changed by its signs: a value of the service may have the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glyphs:
    """What own words are written with."""

    separator: str
    """Between two facts of a line, with a blank on each side."""
    ellipsis: str
    """Behind what is longer than there is room for; one cell."""
    opening: str
    closing: str
    """Around what somebody typed."""
    notice: str
    """Before a notice, which stands in the place of the keys: no key looks like it."""


UNICODE = Glyphs("·", "…", "“", "”", "▌")
ASCII = Glyphs("-", "~", '"', '"', "|")

_now = UNICODE


def use(glyphs: Glyphs) -> None:
    """Write all words from now on with these: a process has one terminal."""
    global _now
    _now = glyphs


def are_ascii() -> bool:
    """Whether they are ASCII now, and what Textual draws has to be so too."""
    return _now is ASCII


def separator() -> str:
    """What stands between two facts of a line."""
    return f" {_now.separator} "


def ellipsis() -> str:
    """What stands behind what is cut off."""
    return _now.ellipsis


def quoted(text: str) -> str:
    """Clean text in quotation marks."""
    return f"{_now.opening}{text}{_now.closing}"


def notice_mark() -> str:
    """What stands before a notice."""
    return _now.notice
