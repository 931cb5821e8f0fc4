"""Complete lists of a lock's remotes, packed so that a million remotes can be searched in memory.

Each block of a list has the search texts as one string, the end dates as an array, and the records
compressed. lockterm unpacks only the remotes that it shows. A timeline counts the remotes that
end on each day.
"""

from __future__ import annotations

import json
import zlib
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from functools import lru_cache
from heapq import nsmallest
from typing import Any, NamedTuple

from lockterm.domain import dates
from lockterm.domain.names import fold_text
from lockterm.domain.remotes import Remote
from lockterm.domain.searching import search_text
from lockterm.domain.validity import (
    MONTH_MS,
    WEEK_MS,
    RemoteState,
    StateFilter,
    end_of,
    has_unreadable_period,
    without_weekdays,
)

# --- packed values -------------------------------------------------------------------------------


NEVER = -(2**63)
"""The number that replaces the end of a remote without an end, or an ID that is missing."""

UNREADABLE = 2**63 - 1
"""The number that replaces the end of a remote whose period cannot be read. The number is greater
than every end, so these remotes come last."""


class Period(NamedTuple):
    """The period of a remote that starts in the future, or whose weekdays are unknown."""

    start_ms: int
    end_ms: int
    has_days: bool
    """Whether the weekdays of the remote are known, or the remote needs none."""


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
        periods: The periods of those remotes whose state does not follow from their end alone. The
            ends of these remotes are in ``ends``, too.
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
    """Yield the index of each line that contains every word.

    Args:
        texts: Lines of text, folded by ``names.fold_text``.
        words: Words folded by ``names.fold_text``, at least one.
    """
    if not _has_all(texts, words):  # most texts contain no match
        return
    first, *rest = words
    for number, line in enumerate(texts.split("\n")):
        if first in line and (not rest or _has_all(line, rest)):
            yield number


def _has_all(text: str, words: Iterable[str]) -> bool:
    return all(word in text for word in words)


# --- blocks and lists ----------------------------------------------------------------------------


_FAST = 1
"""The compression level for records. Records are so similar that the fastest level is enough."""

_as_json = json.JSONEncoder(separators=(",", ":")).encode


def _end_of(remote: Remote) -> int:
    end = end_of(remote)
    if end is not None:
        return end
    return UNREADABLE if has_unreadable_period(remote) else NEVER


def _periods(remotes: Sequence[Remote], ends: array[int], now_ms: int) -> array[int]:
    found = array("q")
    for remote, end in zip(remotes, ends, strict=True):
        if end not in (NEVER, UNREADABLE):
            start, has_days = remote.start_ms or 0, not without_weekdays(remote)
            if start > now_ms or not has_days:
                found.extend((start, end, has_days))
    return found


@dataclass(frozen=True, slots=True)
class Block:
    """A page of a list: consecutive remotes in packed form."""

    texts: str
    """The search texts of the remotes, one line each; see ``searching.search_text``."""
    ids: array[int]
    """The ID of each remote, or :data:`NEVER` if it has no usable ID."""
    ends: array[int]
    """The end of each remote in milliseconds; :data:`NEVER` if the remote has no end, and
    :data:`UNREADABLE` if the end cannot be read."""
    periods: array[int]
    """Start, end and ``has_days`` of each remote whose state does not follow from its end alone;
    see :class:`Period`."""
    records: bytes
    """The records of the remotes as received: lines of JSON, compressed."""

    @classmethod
    def of(cls, remotes: Sequence[Remote], now_ms: int = 0) -> Block:
        """Return a block that contains these remotes.

        Args:
            remotes: The remotes.
            now_ms: The earliest time for which the block must count states, in milliseconds. A
                later time makes the block smaller, because :attr:`periods` leaves out remotes that
                start before this time, unless their weekdays are unknown.
        """
        ids = array("q", [NEVER if one.id is None else one.id for one in remotes])
        ends = array("q", map(_end_of, remotes))
        texts = "\n".join(map(search_text, remotes))
        records = "\n".join([_as_json(one.raw) for one in remotes])  # in ASCII
        periods = _periods(remotes, ends, now_ms)
        return cls(texts, ids, ends, periods, zlib.compress(records.encode(), _FAST))

    def remotes(self) -> list[Remote]:
        """Return all remotes of the block, in order."""
        return [Remote.read(json.loads(line)) for line in _lines(self.records)] if self.ends else []

    def raws(self) -> list[dict[str, Any]]:
        """Return the records of all remotes as received.

        This method is six times as fast as :meth:`remotes`.
        """
        lines = zlib.decompress(self.records).replace(b"\n", b",") if self.ends else b""
        raws: list[dict[str, Any]] = json.loads(b"[" + lines + b"]")
        return raws

    def remote(self, line: int) -> Remote:
        """Return one remote by its index in the block."""
        return Remote.read(json.loads(_lines(self.records)[line]))

    def find(self, words: Sequence[str]) -> Iterator[int]:
        """Yield the indexes of the remotes whose search texts contain every word.

        Args:
            words: Words as :func:`split_needle` returns them, at least one.
        """
        return find_lines(self.texts, words)


@lru_cache(maxsize=1)
def _lines(records: bytes) -> Sequence[bytes]:
    """Return the unpacked records of a block, one for each remote.

    The last result is cached, because callers often read several remotes of one block.
    """
    return zlib.decompress(records).split(b"\n")


class ListPosition(NamedTuple):
    """The position of a remote in a list: the index of its block, and its index in the block."""

    block: int
    line: int


@dataclass(frozen=True, slots=True)
class Listing:
    """A complete list of a lock's remotes, as lockterm read it."""

    blocks: Sequence[Block]
    at_ms: int
    """When reading began, by this machine's clock, in milliseconds."""
    changed: bool = False
    """Whether lockterm has changed the lock since the list was read, so that the list may be
    outdated."""
    unreadable: int = 0
    """The number of records on the lock that lockterm could not read. The list does not contain
    them."""

    @property
    def count(self) -> int:
        """The number of remotes."""
        return sum(len(block.ends) for block in self.blocks)

    @property
    def unreadable_periods(self) -> int:
        """The number of remotes whose end cannot be read from their type and dates."""
        return sum(block.ends.count(UNREADABLE) for block in self.blocks)

    def remotes(self) -> Iterator[Remote]:
        """Yield all remotes, in the order of the list."""
        for block in self.blocks:
            yield from block.remotes()

    def remote(self, place: ListPosition) -> Remote:
        """Return the remote at a position in the list."""
        return self.blocks[place.block].remote(place.line)

    def id(self, place: ListPosition) -> int | None:
        """Return the ID of the remote at a position; None if it has no usable ID."""
        remote_id = self.blocks[place.block].ids[place.line]
        return None if remote_id == NEVER else remote_id

    def end(self, place: ListPosition) -> int | None:
        """Return the end of the remote at a position, in milliseconds; None if no end is known."""
        end_ms = self.blocks[place.block].ends[place.line]
        return None if end_ms in (NEVER, UNREADABLE) else end_ms

    def places(self) -> Iterator[ListPosition]:
        """Yield the positions of all remotes, in order."""
        for number, block in enumerate(self.blocks):
            for line in range(len(block.ends)):
                yield ListPosition(number, line)

    def lacking(self, words: Sequence[str]) -> str:
        """Return the first word that no remote contains; empty if every word is in some remote."""
        for word in words:
            for block in self.blocks:
                if word in block.texts:
                    break
            else:
                return word
        return ""

    def find(self, words: Sequence[str]) -> Iterator[ListPosition]:
        """Yield the positions of the remotes whose search texts contain every word.

        Args:
            words: Words as :func:`split_needle` returns them, at least one.
        """
        for number, block in enumerate(self.blocks):
            for line in block.find(words):
                yield ListPosition(number, line)

    def ending(self, until_ms: int) -> Iterator[tuple[int, ListPosition]]:
        """Yield the end and the position of each remote that ends at ``until_ms`` or earlier.

        Ends are in milliseconds. Remotes without a known end are left out.
        """
        for number, block in enumerate(self.blocks):
            for line, end in enumerate(block.ends):
                if NEVER < end <= until_ms:
                    yield end, ListPosition(number, line)

    def count_states(self, now_ms: int) -> Ends:
        """Return how many remotes are in each state at the time ``now_ms``, in milliseconds."""
        ends = [sorted(block.ends) for block in self.blocks]
        periods = [one for block in self.blocks for one in read_periods(block.periods)]
        return Ends(count_by_dates(ends, periods, now_ms), self.at_ms, self.changed)

    def next_ends(self, now_ms: int, most: int) -> list[ListPosition]:
        """Return the positions of the remotes that end next, the earliest end first.

        Args:
            now_ms: Now, in milliseconds.
            most: The maximum number of remotes.
        """
        coming = (one for one in self.ending(UNREADABLE - 1) if one[0] > now_ms)
        return [place for _, place in nsmallest(most, coming)]


@dataclass(frozen=True, slots=True)
class Ends:
    """How many remotes of a complete list are in each state, computed from their dates."""

    counts: Counter[StateFilter]
    """Maps each state to its number of remotes. The status from the service is not used."""
    at_ms: int
    """When reading the list began, by this machine's clock, in milliseconds."""
    changed: bool
    """Whether lockterm has changed the lock since the list was read."""


class Lacking:
    """A cache of words that the lists of locks do not contain, which saves searches.

    The words of a search become longer while the user types. If a list does not contain a word, it
    also does not contain any longer word that includes this word.
    """

    def __init__(self) -> None:
        # Two dicts: pairs would be ten thousand more objects for the garbage collector.
        self._lists: dict[int, Listing] = {}
        """Maps the ID of a lock to the list that was searched."""
        self._words: dict[int, str] = {}
        """Maps the ID of a lock to a word that its list does not contain."""

    def lacks(self, lock_id: int, listing: Listing, words: Sequence[str]) -> bool:
        """Return whether the list of a lock does not contain at least one of the words.

        Args:
            lock_id: The ID of the lock.
            listing: The present list of the lock.
            words: Words as :func:`split_needle` returns them.
        """
        if self._lists.get(lock_id) is listing:
            lacked = self._words[lock_id]
            for word in words:
                if lacked in word:
                    return True
        if lacked := listing.lacking(words):
            self._lists[lock_id], self._words[lock_id] = listing, lacked
        return bool(lacked)


def split_needle(needle: str) -> list[str]:
    """Return the words of a search text, folded by :func:`fold_text`, the longest first."""
    words = set(fold_text(needle).split())
    return sorted(words, key=len, reverse=True)  # long words are usually rare


# --- ends by day ---------------------------------------------------------------------------------


class Timeline:
    """The number of remotes that end on each day, for each lock.

    Args:
        now_ms: Now, in milliseconds.
        zones: The time zones of the locks. The first day is the earliest of their present dates.
        days: The number of days to count, from the first day.
    """

    def __init__(self, now_ms: int, zones: Iterable[tzinfo], days: int) -> None:
        todays = {zone: at.date() for zone in zones if (at := dates.local(now_ms, zone))}
        self.first: date | None = min(todays.values(), default=None)
        """The first day of the counts; None if there are no locks."""
        self.counts: dict[int, list[int]] = {}
        """Maps lock IDs to lists with the number of remotes that end on each day, from the first
        day. Locks on which no remote ends on these days are missing."""
        self._now_ms = now_ms
        self._days = days
        self._begins: dict[tzinfo, list[int]] = {}
        if self.first is not None:
            counted = [self.first + timedelta(days=day) for day in range(days + 1)]
            self._begins = {zone: [dates.begin_of(day, zone) for day in counted] for zone in todays}

    def by_first_day(self) -> list[tuple[int, list[int]]]:
        """Return pairs of a lock ID and a list with the number of remotes that end on each day.

        The locks are sorted by the first day on which a remote ends. If several locks have this day
        in common, the lock on which the most remotes end that day comes first.
        """

        def first(one: tuple[int, list[int]]) -> tuple[int, int]:
            return next((day, -count) for day, count in enumerate(one[1]) if count)

        return sorted(self.counts.items(), key=first)

    def add(self, lock_id: int, zone: tzinfo, end_ms: int) -> None:
        """Count a remote on the day of its end, if the end is in the future on a counted day.

        A remote that ends at midnight opens its lock for the last time on the day before.
        """
        day = bisect_right(self._begins.get(zone, []), end_ms - 1) - 1
        if end_ms > self._now_ms and 0 <= day < self._days:
            self.counts.setdefault(lock_id, [0] * self._days)[day] += 1
