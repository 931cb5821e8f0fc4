"""The only way in which a string from the service becomes text to show.

Raw values stay raw for requests, comparisons and exports. Whatever is painted, logged or put into a
sentence is cleaned here.
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
"""The combining class of the characters that join letters of Indian scripts."""

_UNSEEN = frozenset(
    map(
        chr,
        (
            *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
            *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
        ),
    )
)
"""Marks, fillers and variants that Python calls printable and terminals do not show."""

MOST_MARKS = 8
"""Maximum number of combining marks on one letter. No script needs more, and more would cover other
lines."""

LONGEST_CELL = 60
"""Maximum number of characters of a name, or of another short field, that are shown."""

LONGEST = 128 * 1024
"""Maximum number of characters of a line that is shown: a service may send 8 MiB, and a terminal's
clipboard takes less."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control, format (bidi, zero width, tags), surrogate, line and paragraph separators."""

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

MASKED = "***"
_SECRET = 6
"""Minimum length of a secret part of a header's value; shorter parts are common words."""
_BETWEEN = re.compile(r"[\s,;=\"']+")
"""The separators between parts of a header's value, as in ``Digest response="..."``."""


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
    """Return whether a character typed into a name is visible.

    Terminals and fonts are newer than Python's tables, so an unassigned character counts as
    visible. Joiners do too, because some scripts need them.
    """
    if char.isprintable() or char in (_JOINER, _NON_JOINER):
        return True
    is_no_character = ord(char) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(char) <= 0xFDEF
    is_unassigned = unicodedata.category(char) == "Cn"
    return is_unassigned and not is_no_character and not _is_ignorable(char)


def clean(value: object, limit: int | None = None) -> str:
    """Return a value of the service as one line that is safe to show.

    Control characters, bidi overrides, zero-width characters and lone surrogates become one
    replacement character each. To drop them would make two different names look the same.
    Joiners stay where they join something, as in emoji. Of many combining marks on a letter, the
    first eight stay.

    Args:
        value: Any value; anything but a string is shown as Python writes it.
        limit: Maximum number of characters, at most :data:`LONGEST`; a longer text ends in an
            ellipsis.
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
    """Return whether a character without a glyph changes how its neighbors look.

    Otherwise it could only make two different names look the same.

    Args:
        char: The character.
        before: The character before it, or nothing.
        after: The character after it, or nothing.
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
    """Return a text without joiners and emoji styles that join nothing.

    Args:
        text: A part of painted text; a sequence that was cut leaves such characters.
    """
    return "".join(
        char
        for place, char in enumerate(text)
        if char not in (_JOINER, _NON_JOINER, _EMOJI_STYLE)
        or _is_at_work(char, text[max(place - 1, 0) : place], text[place + 1 : place + 2])
    )


def seen_or(name: str | None, instead: str) -> str:
    """Return a name; if it is empty or only spaces, return a visible text instead."""
    return name if name and not name.isspace() else instead


def in_cell(value: str, limit: int | None = None) -> str:
    """Return :func:`clean` text, in quotes if nothing in it is visible."""
    shown = clean(value, limit)
    return shown if seen_or(value, "") else f'"{shown}"'


def clean_lines(value: str) -> str:
    """Return :func:`clean` text of several lines."""
    return "\n".join(clean(line) for line in value.split("\n"))


def spellings(values: Iterable[str]) -> list[str]:
    """Return the forms in which secrets may appear in a text, the longest first.

    A gateway's error page repeats the request, escaped as HTML, JSON or a URL.

    Args:
        values: Values of headers. Their longer words count as secrets too, and so does what basic
            credentials decode to.
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
    """Yield user and password of ``Basic`` credentials, together and separately."""
    kind, _, credentials = value.partition(" ")
    if kind.lower() != "basic":
        return

    with suppress(ValueError):
        pair = b64decode(credentials.strip(), validate=True).decode("utf-8", "replace")
        yield pair
        yield from pair.split(":", 1)


def without_secrets(url: str) -> str:
    """Return a URL without user info, query and fragment, which may hold tokens."""
    scheme, mark, rest = re.split(r"[?#]", url, maxsplit=1)[0].partition("://")
    if not mark:
        scheme, rest = "", scheme
    server, slash, path = rest.partition("/")
    return f"{scheme}{mark}{server.rpartition('@')[2]}{slash}{path}"


def masked(text: str, secrets: Iterable[str]) -> str:
    """Return a text without its secrets.

    Args:
        text: The whole text: half of a secret that was cut would remain.
        secrets: The result of :func:`spellings`.
    """
    for secret in secrets:
        text = text.replace(secret, MASKED)
    return text
