"""The conversion of weekdays between the contract's numbers (2.3: 1 is Monday) and text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from lockterm.domain.dates import DAYS
from lockterm.domain.glyphs import nothing, quoted

WEEK = range(1, 8)
NONE = "no weekdays"
ALL = "every day"

_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SETS = {
    **dict.fromkeys(("all", "daily", "every day", "everyday", "mon-sun"), WEEK),
    **dict.fromkeys(("weekdays", "workdays"), range(1, 6)),
    **dict.fromkeys(("weekend", "weekends"), (6, 7)),
    **dict.fromkeys(("", "none", NONE), ()),
}


_ALL_DAYS_MASK = "127"
"""An ambiguous text: as a bit mask, ``127`` means every day, but as digits, it means three days."""

_AMBIGUOUS = "{} is ambiguous. Type mon-fri, or separate the digits with commas, as in {}."


def parse_weekdays(text: str) -> frozenset[int]:
    """Return the weekdays in a typed text, such as ``mon-fri``, ``mo,we``, ``135`` or ``weekend``.

    Digits without separators must increase. ``127`` is refused, because it means every day in other
    programs. A range may continue after Sunday: ``fri-mon`` is Fri, Sat, Sun, Mon. An empty text
    means no weekdays.

    Raises:
        ValueError: A part is not a weekday or a range. The message is a sentence that quotes this
            part.
    """
    typed = " ".join(text.casefold().split())
    if typed in _SETS:
        return frozenset(_SETS[typed])
    days: set[int] = set()
    for part in re.split(r"[,; ]+", re.sub(r" ?- ?", "-", typed).strip(",; ")):
        if part in _SETS and part:
            days.update(_SETS[part])
        elif re.fullmatch(r"[1-7]+", part):
            if part == _ALL_DAYS_MASK or any(one >= other for one, other in pairwise(part)):
                raise ValueError(_AMBIGUOUS.format(quoted(part[:12]), ",".join(part[:12])))
            days.update(map(int, part))
        elif "-" in part:
            first, _, last = part.partition("-")
            start, end = _one(first), _one(last)
            days.update(day % 7 + 1 for day in range(start - 1, start + (end - start) % 7))
        else:
            days.add(_one(part))
    return frozenset(days)


def _one(word: str) -> int:
    if word in ("1", "2", "3", "4", "5", "6", "7"):
        return int(word)
    found = [day for day, name in enumerate(_NAMES, 1) if name.startswith(word)]
    if len(word) >= 2 and len(found) == 1:
        return found[0]
    shown = quoted(word[:12]) if word else "a range without an end"
    raise ValueError(
        f"{shown} is not a weekday. Type mon-fri, 1-5 (1 is Monday) or a list such as mo,we."
    )


def draw_week(days: Iterable[int]) -> str:
    """Return a week as seven letters, such as ``M T W T F · ·``. A missing weekday is a dot."""
    given = set(days)
    return " ".join(DAYS[day - 1][0] if day in given else nothing() for day in WEEK)


def format_weekdays(days: Iterable[int], *, short: bool = False) -> str:
    """Return weekdays as text, such as ``Mon-Fri``, or ``no weekdays`` if there are none.

    Three or more days in a row become a range.

    Args:
        days: The numbers from the service, in any order and with possible duplicates. A number
            that is not a weekday is shown as ``unknown 9``.
        short: Whether to use short forms for columns: ``Mon Wed Fri`` without commas, and
            ``daily``.
    """
    given = set(days)
    known = sorted(day for day in given if day in WEEK)
    if len(known) == 7 and len(given) == 7:
        return "daily" if short else ALL
    parts: list[str] = []
    while known:
        length = next(n for n in range(len(known), 0, -1) if known[n - 1] == known[0] + n - 1)
        run, known = (known[:length], known[length:]) if length > 2 else (known[:1], known[1:])
        names = [DAYS[day - 1][:3] for day in (run[0], run[-1])]
        parts.append("-".join(names) if len(run) > 1 else names[0])
    parts += [f"unknown {day}" for day in sorted(given - set(WEEK))]
    return (" " if short else ", ").join(parts) or NONE
