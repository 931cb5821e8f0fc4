"""Complete lists of a lock's remotes, packed so that a million remotes can be searched in memory.

Each block of a list has the search texts as one string, the end dates as an array, and the records
compressed. lockterm unpacks only the remotes that it shows.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from typing import Any, NamedTuple

from lockterm.domain.names import fold_text
from lockterm.domain.packed import NEVER, UNREADABLE, count_by_dates, find_lines, read_periods
from lockterm.domain.remote_states import StateFilter
from lockterm.domain.remotes import Remote
from lockterm.domain.searching import search_text
from lockterm.domain.validity import end_of, has_unreadable_period, without_weekdays

_FAST = 1
"""The compression level. Records are so similar that the fastest level is enough."""

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
    see ``packed.Period``."""
    records: bytes
    """The records of the remotes as received: lines of JSON, compressed."""

    @classmethod
    def of(cls, remotes: Sequence[Remote], now_ms: int = 0) -> Block:
        """Return a block that contains these remotes.

        Args:
            remotes: The remotes.
            now_ms: The earliest time for which the block must count states, in milliseconds. The
                block leaves out periods that began before this time, so a later time makes it
                smaller.
        """
        ids = array("q", [NEVER if one.id is None else one.id for one in remotes])
        ends = array("q", map(_end_of, remotes))
        texts = "\n".join(map(search_text, remotes))
        records = "\n".join([_as_json(one.raw) for one in remotes])  # in ASCII
        periods = _periods(remotes, ends, now_ms)
        return cls(texts, ids, ends, periods, zlib.compress(records.encode(), _FAST))

    def remotes(self) -> list[Remote]:
        """Return all remotes of the block, in order."""
        return [Remote.read(json.loads(line)) for line in self._lines()] if self.ends else []

    def raws(self) -> list[dict[str, Any]]:
        """Return the records of all remotes as received.

        This method is six times as fast as :meth:`remotes`.
        """
        lines = zlib.decompress(self.records).replace(b"\n", b",") if self.ends else b""
        raws: list[dict[str, Any]] = json.loads(b"[" + lines + b"]")
        return raws

    def remote(self, line: int) -> Remote:
        """Return one remote by its index in the block."""
        return Remote.read(json.loads(self._lines()[line]))

    def _lines(self) -> Sequence[bytes]:
        return _lines(self.records)

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
        """Return the numbers of remotes by state, at the time ``now_ms`` in milliseconds."""
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
    """The numbers of remotes by state in a complete list, computed from their dates."""

    counts: Counter[StateFilter]
    """Maps states to numbers of remotes. The status that the service reported is not used."""
    at_ms: int
    """When reading the list began, by this machine's clock, in milliseconds."""
    changed: bool
    """Whether lockterm has changed the lock since the list was read."""


class Lacking:
    """A cache of words that lists do not contain, so that longer words need no new search.

    A list that lacks a word also lacks every longer word that contains it. The words of a search
    become longer while the user types.
    """

    def __init__(self) -> None:
        # Two dicts: pairs would be ten thousand more objects for the garbage collector.
        self._lists: dict[int, Listing] = {}
        """Maps the ID of a lock to the list that was searched."""
        self._words: dict[int, str] = {}
        """Maps the ID of a lock to a word that its list does not contain."""

    def lacks(self, lock_id: int, listing: Listing, words: Sequence[str]) -> bool:
        """Return whether a lock's list lacks at least one of the words.

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
