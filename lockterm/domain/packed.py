"""Packed values of many remotes: end dates as numbers, and search texts as lines of one string."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lockterm.domain.remote_states import StateFilter
from lockterm.domain.validity import MONTH_MS, WEEK_MS, RemoteState

NEVER = -(2**63)
"""The number that represents the end of a remote without an end, or a missing ID."""

UNREADABLE = 2**63 - 1
"""The number that represents the end of a remote whose period cannot be read. The number is greater
than every end, so such remotes come last."""


class Period(NamedTuple):
    """The period of a remote that starts later, or whose weekdays are unknown."""

    start_ms: int
    end_ms: int
    has_days: bool
    """Whether the remote has weekdays, or needs none."""


def read_periods(packed: array[int]) -> list[Period]:
    """Return the periods in an array.

    The array has three numbers for each period: start, end and ``has_days``.
    """
    places = range(0, len(packed), 3)
    return [Period(packed[at], packed[at + 1], bool(packed[at + 2])) for at in places]


def count_by_dates(
    ends: Iterable[Sequence[int]], periods: Iterable[Period], now_ms: int
) -> Counter[StateFilter]:
    """Return the number of remotes in each state, computed from type, dates and weekdays.

    The status that the service reported is not used, because it may be outdated.

    Args:
        ends: Sorted arrays with the end of each remote in milliseconds, :data:`NEVER` or
            :data:`UNREADABLE`.
        periods: The periods of the remotes whose state does not follow from their end alone.
        now_ms: Now, in milliseconds.
    """
    found = Counter[StateFilter]()
    times = (NEVER, now_ms, now_ms + WEEK_MS, now_ms + MONTH_MS, UNREADABLE - 1)
    for part in ends:
        never, over, week, month, clear = (bisect_right(part, time) for time in times)
        found[RemoteState.ENDED] += over - never
        found[RemoteState.WEEK] += week - over
        found[RemoteState.MONTH] += month - week
        found[RemoteState.OPEN] += clear - month + never
        found[RemoteState.UNCLEAR] += len(part) - clear
    for start, end, has_days in periods:
        if end > now_ms and (start > now_ms or not has_days):
            soon = RemoteState.MONTH if end <= now_ms + MONTH_MS else RemoteState.OPEN
            found[RemoteState.WEEK if end <= now_ms + WEEK_MS else soon] -= 1
            found[RemoteState.AHEAD if start > now_ms else RemoteState.UNCLEAR] += 1
    return +found


def find_lines(texts: str, words: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of the lines that contain every word, from 0.

    Args:
        texts: Lines of text, in the form of ``names.fold_text``.
        words: Words in the same form, at least one.
    """
    if not _has_all(texts, words):  # most texts contain no match
        return
    first, *rest = words
    for number, line in enumerate(texts.split("\n")):
        if first in line and (not rest or _has_all(line, rest)):
            yield number


def _has_all(text: str, words: Iterable[str]) -> bool:
    return all(word in text for word in words)
