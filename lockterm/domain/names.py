"""The rules for comparing, searching and sorting names and numbers of remotes.

A name can be encoded in several ways in Unicode, so lockterm sends and compares names in normal
form C. Names that a person may confuse are *near*: they differ only in case, accents, dashes or
spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from lockterm.domain.glyphs import quoted
from lockterm.domain.safe_text import clean

_DASHES = re.compile(
    "[\u02d7\u058a\u05be\u1806\u2010-\u2015\u2043\u207b\u208b\u2212\u2e3a\u2e3b\u301c\u30a0"
    "\ufe31\ufe32\ufe58\ufe63\uff0d]"
)
"""Matches a character other than "-" that looks like a dash or a minus sign."""

_ACCENTS = re.compile("[\u0300-\u036f]")
"""Matches the combining marks of European languages. Other languages have further marks."""

_SEPARATORS = re.compile(r"(?<=\d)[\s-]+(?=\d)|[\s-]+")


def normalize_name(text: str | None) -> str:
    """Return a name or number in normal form C, in which lockterm sends and compares them.

    The result for a missing name is empty.
    """
    return unicodedata.normalize("NFC", text or "")


def to_storable(name: str) -> str:
    """Return a name with escaped surrogates, because the local store cannot contain surrogates."""
    return name.encode("utf-8", "backslashreplace").decode()


def is_same_name(one: str | None, other: str | None) -> bool:
    """Return whether two names are the same, regardless of their Unicode encoding."""
    return one == other or normalize_name(one) == normalize_name(other)


def fold_text(text: str) -> str:
    """Return a text in the form in which searches compare texts.

    The result is in lower case, without accents, and with "-" for every dash. Folding the result
    again does not change it.
    """
    if text.isascii():
        return text.lower()
    folded = _ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold())
    if folded.isascii():  # fast path for most names: the rest takes ten times as long
        return folded
    marked = unicodedata.normalize("NFKD", _DASHES.sub("-", folded))  # case folding adds marks
    return "".join(char for char in marked if not unicodedata.combining(char))


def near_key(text: str) -> str:
    """Return a key that is equal for near names, which a person may confuse.

    The key ignores case, accents, dashes and spaces. As an exception, one space stays between two
    digits, so that "1-12" is not near "11-2".
    """
    return _SEPARATORS.sub(_key_of_separator, fold_text(text).strip())


def _key_of_separator(match: re.Match[str]) -> str:
    around = match.string[match.start() - 1 : match.start()] + match.string[match.end() :][:1]
    return " " if len(around) == 2 and around.isdecimal() else ""


def near_note(others: Sequence[str]) -> str:
    """Return a warning that other remotes of a lock have similar names.

    Args:
        others: The similar names, at least one. The sentence shows the first three.
    """
    named = ", ".join(quoted(clean(one, 40)) for one in others[:3])
    return f"The lock has a similar name: {named}. Check that this is not the same person."


T = TypeVar("T")

_COMPARED = 500
"""Number of characters that :func:`natural` compares, because the service may send long texts."""

_DIGITS = re.compile("([0-9]+)")


def sorted_by(rows: Sequence[T], key: Callable[[T], Any], *, descending: bool) -> list[T]:
    """Return rows sorted by a key. Rows with equal keys keep their order.

    Args:
        rows: The rows in their default order.
        key: A function that returns the value to compare. Rows for which the function returns None
            come last.
        descending: Whether the highest value comes first.
    """
    keys = [*map(key, rows)]
    present = [place for place, key in enumerate(keys) if key is not None]
    missing = [place for place, key in enumerate(keys) if key is None]
    present.sort(key=keys.__getitem__, reverse=descending)
    return [rows[place] for place in present + missing]


def natural(text: str) -> tuple[Any, ...]:
    """Return a key for natural sorting: A-2 is before A-10, é is after e, and case is ignored."""
    folded = unicodedata.normalize("NFKD", text[:_COMPARED]).casefold()
    parts: list[Any] = _DIGITS.split(folded)
    for place in range(1, len(parts), 2):  # an int would limit the number of digits
        digits = parts[place].lstrip("0")
        parts[place] = (len(digits), digits)
    return tuple(parts)
