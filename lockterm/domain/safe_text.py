"""Functions that make texts from the service safe to show. No other module does this.

lockterm passes every value through this module before it shows or logs the value, or puts it into a
sentence. Requests, comparisons and exports use the original values.
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

IGNORABLE = (
    *((0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8)),
    *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
"""The 4,174 code points that terminals may draw as nothing (Default_Ignorable_Code_Point), as
inclusive ranges. Most of these code points are not assigned yet, so their Unicode category does not
show that they are invisible.
"""


_NON_JOINER, _JOINER = "\u200c\u200d"
_EMOJI_STYLE, _KEYCAP = "\ufe0f", "\u20e3"
_VIRAMA = 9
"""The Unicode combining class of the characters that join letters of Indian scripts."""

_UNSEEN = frozenset(
    map(
        chr,
        (
            *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
            *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
        ),
    )
)
"""Marks, fillers and variation selectors that are printable for Python but invisible."""

MOST_MARKS = 8
"""Maximum number of combining marks on one letter. No script needs more, and more marks would cover
other lines."""

LONGEST_CELL = 60
"""Maximum number of characters that lockterm shows of a name or another short field."""

LONGEST = 128 * 1024
"""Maximum number of characters of a line that lockterm shows. A service may send up to 8 MiB, but
the clipboard of a terminal accepts less."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""The Unicode categories of characters that are replaced: control, format (bidi, zero width, tags)
and surrogate characters, and line and paragraph separators."""

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

MASKED = "***"
_SECRET = 6
"""Minimum length of a part of a header's value that counts as a secret. Shorter parts may be common
words."""
_BETWEEN = re.compile(r"[\s,;=\"']+")
"""Matches separators between the parts of a header's value, as in ``Digest response="..."``."""


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
    """Return whether a character is visible, so that a name may contain it.

    An unassigned character counts as visible, because terminals and fonts may be newer than the
    tables of Python. Joiners count as visible too, because some scripts need them.
    """
    if char.isprintable() or char in (_JOINER, _NON_JOINER):
        return True
    is_no_character = ord(char) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(char) <= 0xFDEF
    is_unassigned = unicodedata.category(char) == "Cn"
    return is_unassigned and not is_no_character and not _is_ignorable(char)


def clean(value: object, limit: int | None = None) -> str:
    """Return a value from the service as one line that is safe to show.

    Control characters, bidi overrides, zero-width characters and lone surrogates become one
    replacement character each. If they were removed, two different names could look the same.
    Joiners that affect their neighbors stay, as in emoji. If a letter has more than eight
    combining marks, only the first eight stay.

    Args:
        value: A value of any type. If the value is not a string, ``str`` converts it.
        limit: The maximum number of characters, at most :data:`LONGEST`. A longer text is cut and
            gets an ellipsis.
    """
    limit = LONGEST if limit is None else min(limit, LONGEST)
    text = value if isinstance(value, str) else str(value)
    if len(text) > limit:
        text = text[: max(limit - 1, 0)] + ellipsis()
    if text.isascii() and text.isprintable():
        return text
    kinds = [*map(unicodedata.category, text)]
    if kinds.count("Mn") + kinds.count("Me") <= MOST_MARKS and _UNSEEN.isdisjoint(text):
        if text.isprintable():  # fast path: most names are printable, and a page has many cells
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
    """Return whether an invisible character changes how its neighbors look.

    The caller replaces the character if it has no effect, because different names could otherwise
    look the same.

    Args:
        char: The character.
        before: The previous character; empty at the beginning of the text.
        after: The next character; empty at the end of the text.
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
    """Return a text without joiners and emoji variation selectors that have no visible effect.

    Args:
        text: A piece of displayed text, which may contain such characters if it was cut from a
            longer text.
    """
    return "".join(
        char
        for place, char in enumerate(text)
        if char not in (_JOINER, _NON_JOINER, _EMOJI_STYLE)
        or _is_at_work(char, text[max(place - 1, 0) : place], text[place + 1 : place + 2])
    )


def seen_or(name: str | None, instead: str) -> str:
    """Return a name, or ``instead`` if the name is None, empty or consists of spaces."""
    return name if name and not name.isspace() else instead


def in_cell(value: str, limit: int | None = None) -> str:
    """Return a text made safe to show by :func:`clean`.

    The result is in quotes if the text is empty or consists of spaces.
    """
    shown = clean(value, limit)
    return shown if seen_or(value, "") else f'"{shown}"'


def clean_lines(value: str) -> str:
    """Return a text of several lines, each made safe to show by :func:`clean`."""
    return "\n".join(clean(line) for line in value.split("\n"))


def spellings(values: Iterable[str]) -> list[str]:
    """Return all forms in which secrets may appear in a text, the longest first.

    An error page of a gateway may repeat the request, with escapes of HTML, JSON or URLs. Therefore
    the result includes these escaped forms.

    Args:
        values: Header values. Each long part of a value, and the decoded form of Basic credentials,
            also count as secrets.
    """
    wholes = [whole for value in values for whole in (value, *_basic(value))]
    parts = {
        part
        for whole in wholes
        for part in (whole, *whole.split(), *_BETWEEN.split(whole))
        if len(part) >= _SECRET
    }
    found = set(parts)
    if parts:  # most profiles have no secrets, and the import would delay the first frame
        import html
    for part in parts:
        for escaped in (html.escape(part), part.replace("/", "&#x2F;"), part.replace("/", "\\/")):
            found |= {escaped, escaped.replace("&#x27;", "&#39;"), escaped.replace("+", "&#43;")}
        found |= {quote(part), quote(part, safe=""), quote_plus(part), json.dumps(part)[1:-1]}
        found |= {repr(part)[1:-1], repr(part.encode())[2:-1]}  # h11 quotes values like this
    return sorted(found, key=len, reverse=True)


def _basic(value: str) -> Iterator[str]:
    """Yield the user and the password of ``Basic`` credentials, together and separately.

    For a header value of another scheme, yield nothing.
    """
    kind, _, credentials = value.partition(" ")
    if kind.lower() != "basic":
        return

    with suppress(ValueError):
        pair = b64decode(credentials.strip(), validate=True).decode("utf-8", "replace")
        yield pair
        yield from pair.split(":", 1)


def without_secrets(url: str) -> str:
    """Return a URL without user info, query and fragment, which may contain tokens."""
    scheme, mark, rest = re.split(r"[?#]", url, maxsplit=1)[0].partition("://")
    if not mark:
        scheme, rest = "", scheme
    server, slash, path = rest.partition("/")
    return f"{scheme}{mark}{server.rpartition('@')[2]}{slash}{path}"


def masked(text: str, secrets: Iterable[str]) -> str:
    """Return a text with each secret replaced by :data:`MASKED`.

    Args:
        text: The complete text, because a cut text could still contain a part of a secret.
        secrets: The result of :func:`spellings`.
    """
    for secret in secrets:
        text = text.replace(secret, MASKED)
    return text
