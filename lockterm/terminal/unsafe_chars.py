"""Which characters no terminal is sent: what steers it, and what cannot be seen."""

from __future__ import annotations

from collections.abc import Iterable

from lockterm.domain.ignorable import IGNORABLE

JOINERS = "\u200c\u200d\ufe0f"
"""What is ignorable and may be at work, as in emoji: only what surrounds it tells."""

REPLACED = (
    *((0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x115F, 0x115F)),
    *((0x200B, 0x200B), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x2069), (0xFEFF, 0xFEFF)),
    (0xD800, 0xDFFF),
)
"""What is shown as a replacement character; what else is ignorable takes no cell, and is removed,
so that the line is as long without it."""


def any_of(ranges: Iterable[tuple[int, int]]) -> str:
    """The inside of a class of characters of a regular expression, from firsts and lasts."""
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


HARMFUL = f"(?![{JOINERS}])[{any_of((*REPLACED, *IGNORABLE))}]"
"""One that is to be replaced or removed before it is drawn; a text, for few starts compile it."""
