"""The characters that are never sent to a terminal: control and invisible characters."""

from __future__ import annotations

from collections.abc import Iterable

from lockterm.domain.safe_text import IGNORABLE

JOINERS = "\u200c\u200d\ufe0f"
"""Ignorable characters that may have an effect, as in emoji; it depends on their neighbors."""

REPLACED = (
    *((0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x115F, 0x115F)),
    *((0x200B, 0x200B), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x2069), (0xFEFF, 0xFEFF)),
    (0xD800, 0xDFFF),
)
"""Ranges shown as a replacement character.

Other ignorable characters take no cell; they are removed, which keeps the line's width.
"""


def any_of(ranges: Iterable[tuple[int, int]]) -> str:
    """Return ranges of code points as the inside of a character class of a regular expression."""
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


HARMFUL = f"(?![{JOINERS}])[{any_of((*REPLACED, *IGNORABLE))}]"
"""Pattern of a character to replace or remove; a string, because few starts need to compile it."""
