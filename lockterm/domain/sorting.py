"""Rows sorted by a column: naturally, stably, what is missing last whichever way."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

_COMPARED = 500
"""The characters of a string that are compared: the service may send any number."""

_DIGITS = re.compile("([0-9]+)")


def sorted_by(rows: Sequence[T], key: Callable[[T], Any], *, descending: bool) -> list[T]:
    """Return rows in a sort order; equal ones keep their order.

    Args:
        rows: The rows in their default order.
        key: Returns the value to compare; rows with None come last.
        descending: Whether the highest comes first.
    """
    keys = [*map(key, rows)]
    present = [place for place, key in enumerate(keys) if key is not None]
    missing = [place for place, key in enumerate(keys) if key is None]
    present.sort(key=lambda place: keys[place], reverse=descending)
    return [rows[place] for place in present + missing]


def natural(text: str) -> tuple[Any, ...]:
    """Return a sort key: A-2 before A-10, é beside e, upper case like lower case."""
    folded = unicodedata.normalize("NFKD", text[:_COMPARED]).casefold()
    parts: list[Any] = _DIGITS.split(folded)
    for place in range(1, len(parts), 2):  # by their length and not as int: any number of digits
        digits = parts[place].lstrip("0")
        parts[place] = (len(digits), digits)
    return tuple(parts)
