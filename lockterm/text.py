"""The one way in which a string of the service becomes something to show.

Raw values stay raw for the wire, for matching and for export; only what is painted, logged or
copied into a sentence goes through here.
"""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d"
"""Needed inside emoji and several scripts, and harmless alone."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control, format (bidi, zero width, tags), surrogate, line and paragraph separators."""

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
ELLIPSIS = "…"


def _shown(char: str) -> str:
    if char.isprintable() or char in _JOINERS:
        return char
    category = unicodedata.category(char)
    if category in _HIDDEN:
        return REPLACEMENT
    return " " if category == "Zs" else char


def clean(value: object, limit: int | None = None) -> str:
    """A value of the service as one line that is safe to show.

    Control characters, bidi overrides, zero-width characters and lone surrogates are shown as one
    replacement character each: dropping them would make two different names look the same.

    Args:
        value: Any value; what is no string is shown as Python writes it.
        limit: The most characters to return; what is longer ends in an ellipsis.
    """
    text = value if isinstance(value, str) else str(value)
    if limit is not None and len(text) > limit:
        text = text[: max(limit - 1, 0)] + ELLIPSIS
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def clean_lines(value: str) -> str:
    """Like :func:`clean`, for text of several lines: the line ends stay."""
    return "\n".join(clean(line) for line in value.split("\n"))
