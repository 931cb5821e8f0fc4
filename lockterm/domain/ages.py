"""The parser of typed ages in days."""

from __future__ import annotations

import re

_DAYS = {"d": 1, "w": 7}
"""Unit of an age -> days."""

MOST_DAYS = 3650
"""The maximum age that :func:`parse_days` accepts, in days."""

WRONG_DAYS = f"Type a whole number from 1 to {MOST_DAYS}, or an age such as 30d or 4w."
"""The message for input that :func:`parse_days` refuses."""


def parse_age(text: str) -> int:
    """Return the number of days in an age such as ``30d`` or ``4w``.

    Raises:
        ValueError: The text is not an age.
    """
    match = re.fullmatch(r"(\d{1,5}) ?([dw])", text.strip(), re.ASCII)
    if match is None:
        raise ValueError("not an age")
    return int(match[1]) * _DAYS[match[2]]


def parse_days(text: str) -> int:
    """Return the number of days in a text such as ``30``, ``30d`` or ``4w``.

    Raises:
        ValueError: The text is not a number or an age, or not from 1 to :data:`MOST_DAYS` days.
    """
    is_number = re.fullmatch(r"\d{1,5}", text.strip(), re.ASCII) is not None
    days = int(text) if is_number else parse_age(text)
    if not 1 <= days <= MOST_DAYS:
        raise ValueError("out of range")
    return days
