"""The one way in which a string of the service becomes something to show.

Raw values stay raw for the wire, for matching and for export; only what is painted, logged or
copied into a sentence goes through here.
"""

from __future__ import annotations

import json
import re
import unicodedata
from base64 import b64decode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from urllib.parse import quote, quote_plus

from lockterm.domain.glyphs import ellipsis
from lockterm.domain.ignorable import IGNORABLE

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

LONGEST_CELL = 60
"""The most characters of a name, or of another short field, that are looked at for showing it."""

LONGEST = 128 * 1024
"""The most characters of one line that is shown: a service may send 8 MiB, nobody reads them, and a
terminal's clipboard takes less."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control, format (bidi, zero width, tags), surrogate, line and paragraph separators."""

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

MASKED = "***"
_SECRET = 6
"""Shorter parts of a header's value are words such as Bearer's kin, found everywhere."""
_BETWEEN = re.compile(r"[\s,;=\"']+")
"""What stands between the parts of a header's value, as in ``Digest response="..."``."""


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    category = unicodedata.category(char)
    if category in _HIDDEN or _is_ignorable(char):
        return REPLACEMENT
    return " " if category == "Zs" else char


def _is_ignorable(char: str) -> bool:
    code = ord(char)
    return any(first <= code <= last for first, last in IGNORABLE)


def is_seen(char: str) -> bool:
    """Whether a character typed into a name can be told from nothing.

    Terminals and fonts are newer than Python's tables: what those have not assigned yet is a sign
    like any other. Joiners belong to some scripts.
    """
    if char.isprintable() or char in (_JOINER, _NON_JOINER):
        return True
    is_no_character = ord(char) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(char) <= 0xFDEF
    is_unassigned = unicodedata.category(char) == "Cn"
    return is_unassigned and not is_no_character and not _is_ignorable(char)


def clean(value: object, limit: int | None = None) -> str:
    """A value of the service as one line that is safe to show.

    Control characters, bidi overrides, zero-width characters and lone surrogates are shown as one
    replacement character each: dropping them would make two different names look the same. Joiners
    stay where they join something, as in emoji; of a pile of combining marks, the first eight.

    Args:
        value: Any value; what is no string is shown as Python writes it.
        limit: The most characters to return; what is longer ends in an ellipsis. There are never
            more than :data:`LONGEST`.
    """
    limit = LONGEST if limit is None else min(limit, LONGEST)
    text = value if isinstance(value, str) else str(value)
    if len(text) > limit:
        text = text[: max(limit - 1, 0)] + ellipsis()
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
    """Whether a character without a glyph changes how its neighbors look.

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


def without_idle_joiners(text: str) -> str:
    """A text in which joiners and emoji styles that join nothing are left out.

    Args:
        text: A part of what is painted: of a sequence that is cut, the rest joins nothing.
    """
    return "".join(
        char
        for place, char in enumerate(text)
        if char not in (_JOINER, _NON_JOINER, _EMOJI_STYLE)
        or _is_at_work(char, text[max(place - 1, 0) : place], text[place + 1 : place + 2])
    )


def seen_or(name: str | None, instead: str) -> str:
    """A name as it came; where it is nothing, or only spaces, what can be seen instead."""
    return name if name and not name.isspace() else instead


def in_cell(value: str, limit: int | None = None) -> str:
    """Like :func:`clean`, in quotes where nothing of it could be seen."""
    shown = clean(value, limit)
    return shown if seen_or(value, "") else f'"{shown}"'


def clean_lines(value: str) -> str:
    """Like :func:`clean`, for text of several lines: the line ends stay."""
    return "\n".join(clean(line) for line in value.split("\n"))


def spellings(values: Iterable[str]) -> list[str]:
    """How the secrets in some values may stand in a text, the longest first.

    A gateway's error page repeats what it was sent, escaped as HTML, JSON or a URL.

    Args:
        values: Values of headers; their words count too, without words such as Bearer's kin, and
            so does what basic credentials decode to.
    """
    wholes = [whole for value in values for whole in (value, *_basic(value))]
    parts = {
        part
        for whole in wholes
        for part in (whole, *whole.split(), *_BETWEEN.split(whole))
        if len(part) >= _SECRET
    }
    found = set(parts)
    if parts:  # most profiles have none, and the first frame waits for nothing
        import html
    for part in parts:
        for escaped in (html.escape(part), part.replace("/", "&#x2F;"), part.replace("/", "\\/")):
            found |= {escaped, escaped.replace("&#x27;", "&#39;"), escaped.replace("+", "&#43;")}
        found |= {quote(part), quote(part, safe=""), quote_plus(part), json.dumps(part)[1:-1]}
        found |= {repr(part)[1:-1], repr(part.encode())[2:-1]}  # so h11 quotes what it refuses
    return sorted(found, key=len, reverse=True)


def _basic(value: str) -> Iterator[str]:
    """User and password of ``Basic`` credentials, together and each by itself."""
    kind, _, credentials = value.partition(" ")
    if kind.lower() != "basic":
        return

    with suppress(ValueError):
        pair = b64decode(credentials.strip(), validate=True).decode("utf-8", "replace")
        yield pair
        yield from pair.split(":", 1)


def without_secrets(url: str) -> str:
    """A URL as an error may show it: without user info, query and fragment, which hold tokens."""
    scheme, mark, rest = re.split(r"[?#]", url, maxsplit=1)[0].partition("://")
    if not mark:
        scheme, rest = "", scheme
    server, slash, path = rest.partition("/")
    return f"{scheme}{mark}{server.rpartition('@')[2]}{slash}{path}"


def masked(text: str, secrets: Iterable[str]) -> str:
    """A text without its secrets.

    Args:
        text: The text, whole: of a secret that was cut in two, the half would stay.
        secrets: As from :func:`spellings`.
    """
    for secret in secrets:
        text = text.replace(secret, MASKED)
    return text
