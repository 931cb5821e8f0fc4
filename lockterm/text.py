"""The one way in which a string of the service becomes something to show.

Raw values stay raw for the wire, for matching and for export; only what is painted, logged or
copied into a sentence goes through here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_NON_JOINER, _JOINER = "\u200c\u200d"
_EMOJI_STYLE, _KEYCAP = "\ufe0f", "\u20e3"
_VIRAMA = 9
"""The combining class of what joins the letters of Indian scripts."""

_UNSEEN = frozenset(
    map(
        chr,
        (
            *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
            *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
        ),
    )
)
"""Marks, fillers and variants for which Python has a glyph and terminals have none."""

MOST_MARKS = 8
"""Combining marks on one letter; no script needs more, and without end they cover the lines."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control, format (bidi, zero width, tags), surrogate, line and paragraph separators."""

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
ELLIPSIS = "…"

MASKED = "***"
_SECRET = 6
"""Shorter parts of a header's value are words such as Bearer's kin, found everywhere."""


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    category = unicodedata.category(char)
    if category in _HIDDEN:
        return REPLACEMENT
    return " " if category == "Zs" else char


def clean(value: object, limit: int | None = None) -> str:
    """A value of the service as one line that is safe to show.

    Control characters, bidi overrides, zero-width characters and lone surrogates are shown as one
    replacement character each: dropping them would make two different names look the same. Joiners
    stay where they join something, as in emoji; of a pile of combining marks, the first eight.

    Args:
        value: Any value; what is no string is shown as Python writes it.
        limit: The most characters to return; what is longer ends in an ellipsis.
    """
    text = value if isinstance(value, str) else str(value)
    if limit is not None and len(text) > limit:
        text = text[: max(limit - 1, 0)] + ELLIPSIS
    if text.isascii() and text.isprintable():
        return text
    kinds = [*map(unicodedata.category, text)]
    if kinds.count("Mn") + kinds.count("Me") <= MOST_MARKS and _UNSEEN.isdisjoint(text):
        if text.isprintable():  # as most names are: this is for every cell of a page
            return text
        if _JOINER not in text and _NON_JOINER not in text:
            return "".join(map(_shown, text))
    shown, marks = [], 0
    for place, char in enumerate(text):
        marks = marks + 1 if kinds[place] in ("Mn", "Me") else 0
        if marks > MOST_MARKS:
            shown += [REPLACEMENT] if marks == MOST_MARKS + 1 else []
        elif char in _UNSEEN or char in (_JOINER, _NON_JOINER):
            before, after = text[max(place - 1, 0) : place], text[place + 1 : place + 2]
            shown.append(char if _is_at_work(char, before, after) else REPLACEMENT)
        else:
            shown.append(_shown(char))
    return "".join(shown)


def _is_at_work(char: str, before: str, after: str) -> bool:
    """Whether a character without a glyph changes how its neighbours look.

    Anywhere else it would only make two names that differ look the same.

    Args:
        char: The character.
        before: The one before it, or nothing.
        after: The one behind it, or nothing.
    """
    if not before:
        return False
    if char == _EMOJI_STYLE:
        return after == _KEYCAP or not (before.isalnum() or before.isspace())
    if char not in (_JOINER, _NON_JOINER) or not after:
        return False
    if unicodedata.combining(before) == _VIRAMA:
        return True
    if unicodedata.bidirectional(after) == "AL":
        return unicodedata.bidirectional(before) in ("AL", "NSM")
    is_picture = unicodedata.category(before) in ("So", "Sk") or before == _EMOJI_STYLE
    return char == _JOINER and is_picture and unicodedata.category(after) == "So"


def clean_lines(value: str) -> str:
    """Like :func:`clean`, for text of several lines: the line ends stay."""
    return "\n".join(clean(line) for line in value.split("\n"))


def spellings(values: Iterable[str]) -> list[str]:
    """How the secrets in some values may stand in a text, the longest first.

    A gateway's error page repeats what it was sent, escaped as HTML, JSON or a URL.

    Args:
        values: Values of headers; their words count too, without words such as Bearer's kin.
    """
    parts = {part for value in values for part in (value, *value.split()) if len(part) >= _SECRET}
    found = set(parts)
    if parts:  # most profiles have none, and the first frame waits for nothing
        import html
        import json
        from urllib.parse import quote, quote_plus
    for part in parts:
        for escaped in (html.escape(part), part.replace("/", "&#x2F;"), part.replace("/", "\\/")):
            found |= {escaped, escaped.replace("&#x27;", "&#39;"), escaped.replace("+", "&#43;")}
        found |= {quote(part), quote(part, safe=""), quote_plus(part), json.dumps(part)[1:-1]}
    return sorted(found, key=len, reverse=True)


def masked(text: str, secrets: Iterable[str]) -> str:
    """A text without its secrets.

    Args:
        text: The text, whole: of a secret that was cut in two, the half would stay.
        secrets: As from :func:`spellings`.
    """
    for secret in secrets:
        text = text.replace(secret, MASKED)
    return text
