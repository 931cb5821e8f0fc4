"""Sorting of rows by a column.

Texts are sorted in natural order, rows with equal values keep their order, and rows without a value
are last in both directions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

_COMPARED = 500
"""Number of characters of a text that are compared. The service may send very long texts."""

_DIGITS = re.compile("([0-9]+)")


def sorted_by(rows: Sequence[T], key: Callable[[T], Any], *, descending: bool) -> list[T]:
    """Return rows sorted by a key. Rows with equal keys keep their order.

    Args:
        rows: The rows in their default order.
        key: A function that returns the value to compare. Rows for which it returns None come last.
        descending: Whether the highest value comes first.
    """
    keys = [*map(key, rows)]
    present = [place for place, key in enumerate(keys) if key is not None]
    missing = [place for place, key in enumerate(keys) if key is None]
    present.sort(key=keys.__getitem__, reverse=descending)
    return [rows[place] for place in present + missing]


def natural(text: str) -> tuple[Any, ...]:
    """Return a key for natural sorting: A-2 is before A-10, é is next to e, and case is ignored."""
    folded = unicodedata.normalize("NFKD", text[:_COMPARED]).casefold()
    parts: list[Any] = _DIGITS.split(folded)
    for place in range(1, len(parts), 2):  # an int would limit the number of digits
        digits = parts[place].lstrip("0")
        parts[place] = (len(digits), digits)
    return tuple(parts)
