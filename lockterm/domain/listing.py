"""The complete list of a lock's remotes, packed so that a million can be searched in memory.

In each block, the searched texts are one string, the ends are an array, and the records are
compressed. Only remotes that are shown are unpacked.
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
from lockterm.domain.packed import NEVER, UNREADABLE, find_lines
from lockterm.domain.remotes import Remote
from lockterm.domain.searching import search_text
from lockterm.domain.validity import State, end_of, has_unreadable_period

_FAST = 1
"""The compression level. Records are so similar that the fastest level is enough."""

_as_json = json.JSONEncoder(separators=(",", ":")).encode


def _end_of(remote: Remote) -> int:
    if has_unreadable_period(remote):
        return UNREADABLE
    end = end_of(remote)
    return NEVER if end is None else end


@dataclass(frozen=True, slots=True)
class Block:
    """A page of a list: some consecutive remotes, packed."""

    texts: str
    """One line of searched text for each remote, see ``searching.search_text``."""
    ids: array[int]
    """The ID of each remote, or :data:`NEVER`."""
    ends: array[int]
    """The end of each remote in milliseconds, or :data:`NEVER` or :data:`UNREADABLE`."""
    records: bytes
    """The records of the remotes, as compressed lines of JSON."""

    @classmethod
    def of(cls, remotes: Sequence[Remote]) -> Block:
        """Return a block of remotes."""
        ids = array("q", [NEVER if one.id is None else one.id for one in remotes])
        ends = array("q", map(_end_of, remotes))
        texts = "\n".join(map(search_text, remotes))
        told = "\n".join([_as_json(one.raw) for one in remotes])  # in ASCII
        return cls(texts, ids, ends, zlib.compress(told.encode(), _FAST))

    def remotes(self) -> list[Remote]:
        """Return all remotes."""
        return [Remote.read(json.loads(line)) for line in self._lines()] if self.ends else []

    def raws(self) -> list[dict[str, Any]]:
        """Return the records of all remotes as received; this takes a sixth of the time."""
        lines = zlib.decompress(self.records).replace(b"\n", b",") if self.ends else b""
        raws: list[dict[str, Any]] = json.loads(b"[" + lines + b"]")
        return raws

    def remote(self, line: int) -> Remote:
        """Return a remote by its line, from 0."""
        return Remote.read(json.loads(self._lines()[line]))

    def _lines(self) -> Sequence[bytes]:
        return _lines(self.records)

    def find(self, words: Sequence[str]) -> Iterator[int]:
        """Yield the lines that contain every word.

        Args:
            words: Folded words, at least one.
        """
        return find_lines(self.texts, words)


@lru_cache(maxsize=1)
def _lines(records: bytes) -> Sequence[bytes]:
    """Return the unpacked records. The last result is cached for the next line of the block."""
    return zlib.decompress(records).split(b"\n")


class Place(NamedTuple):
    """The position of a remote in a list."""

    block: int
    line: int


@dataclass(frozen=True, slots=True)
class Listing:
    """All remotes of a lock as they were read."""

    blocks: Sequence[Block]
    at_ms: int
    """The time when reading began, by this machine's clock, in milliseconds."""
    changed: bool = False
    """Whether lockterm has changed the lock since, so that the list may be outdated."""
    unreadable: int = 0
    """The number of records of the lock that could not be read, so that the list lacks them."""

    @property
    def count(self) -> int:
        """The number of remotes."""
        return sum(len(block.ends) for block in self.blocks)

    @property
    def unreadable_periods(self) -> int:
        """The number of remotes whose period cannot be read."""
        return sum(block.ends.count(UNREADABLE) for block in self.blocks)

    def remotes(self) -> Iterator[Remote]:
        """Yield all remotes, in the order of the list."""
        for block in self.blocks:
            yield from block.remotes()

    def remote(self, place: Place) -> Remote:
        """Return the remote at a place."""
        return self.blocks[place.block].remote(place.line)

    def id(self, place: Place) -> int | None:
        """Return the ID of the remote at a place; None if the ID is not usable."""
        remote_id = self.blocks[place.block].ids[place.line]
        return None if remote_id == NEVER else remote_id

    def end(self, place: Place) -> int | None:
        """Return the end of the remote at a place, in milliseconds; None if no end is known."""
        end_ms = self.blocks[place.block].ends[place.line]
        return None if end_ms in (NEVER, UNREADABLE) else end_ms

    def places(self) -> Iterator[Place]:
        """Yield the places of all remotes."""
        for number, block in enumerate(self.blocks):
            for line in range(len(block.ends)):
                yield Place(number, line)

    def lacking(self, words: Sequence[str]) -> str:
        """Return the first word that no remote contains; empty if each word occurs in the list."""
        for word in words:
            for block in self.blocks:
                if word in block.texts:
                    break
            else:
                return word
        return ""

    def find(self, words: Sequence[str]) -> Iterator[Place]:
        """Yield the places of remotes that contain every word; see :meth:`Block.find`."""
        for number, block in enumerate(self.blocks):
            for line in block.find(words):
                yield Place(number, line)

    def ending(self, until_ms: int) -> Iterator[tuple[int, Place]]:
        """Yield the end (in milliseconds) and the place of each remote that ends by a time."""
        for number, block in enumerate(self.blocks):
            for line, end in enumerate(block.ends):
                if NEVER < end <= until_ms:
                    yield end, Place(number, line)

    def next_ends(self, now_ms: int, most: int) -> list[Place]:
        """Return the places of the remotes that end next, the earliest end first.

        Args:
            now_ms: Now, in milliseconds.
            most: The maximum number of remotes.
        """
        coming = (one for one in self.ending(UNREADABLE - 1) if one[0] > now_ms)
        return [place for _, place in nsmallest(most, coming)]


@dataclass(frozen=True, slots=True)
class Ends:
    """The numbers of expired and expiring remotes in a complete list, by their dates alone."""

    counts: Counter[State]
    """State -> number of remotes: expired, ending within 7 days, and ending within 30 days."""
    at_ms: int
    """``Listing.at_ms``."""
    changed: bool
    """``Listing.changed``."""


class Lacking:
    """A cache of words that lists do not contain.

    If the search text gets longer, these lists need no new search.
    """

    def __init__(self) -> None:
        # Two dicts: pairs would be ten thousand more objects for the garbage collector.
        self._lists: dict[int, Listing] = {}
        """Lock ID -> the searched list."""
        self._words: dict[int, str] = {}
        """Lock ID -> a word that the list does not contain."""

    def lacks(self, lock_id: int, listing: Listing, words: Sequence[str]) -> bool:
        """Return whether a lock's list does not contain one of the words."""
        if self._lists.get(lock_id) is listing:
            lacked = self._words[lock_id]
            for word in words:
                if lacked in word:
                    return True
        if lacked := listing.lacking(words):
            self._lists[lock_id], self._words[lock_id] = listing, lacked
        return bool(lacked)


def split_needle(needle: str) -> list[str]:
    """Return the folded words of a search text for :meth:`Listing.find`, the longest first."""
    words = set(fold_text(needle).split())
    return sorted(words, key=len, reverse=True)  # long words are usually rare
