"""Packed values of many remotes: end dates as numbers, and search texts as lines of one string."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from lockterm.domain.validity import MONTH_MS, WEEK_MS, State

NEVER = -(2**63)
"""The number that stands for the end of a remote without an end, or for a missing ID."""

UNREADABLE = 2**63 - 1
"""The number that stands for the end of a remote whose period cannot be read. It is greater than
every end, so such remotes are last."""


def ending_soon(ends: Iterable[int], now_ms: int) -> Counter[State]:
    """Return how many remotes have expired, end within 7 days, and end after that within 30 days.

    Args:
        ends: The end dates of the remotes; see ``Block.ends``.
        now_ms: Now, in milliseconds.
    """
    near = [end for end in ends if NEVER < end <= now_ms + MONTH_MS]
    over = sum(end <= now_ms for end in near)
    week = sum(end <= now_ms + WEEK_MS for end in near) - over
    found = {State.ENDED: over, State.WEEK: week, State.MONTH: len(near) - over - week}
    return Counter(found)


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
