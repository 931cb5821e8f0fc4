"""A lock's whole list, packed: a million remotes can be searched in memory.

What a search looks at is one text, the ends of the periods are an array, and what the service told
is compressed: of the remotes that are found, only those that are seen are read again.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from lockterm.domain.names import fold_text
from lockterm.domain.remotes import Remote
from lockterm.domain.searching import search_text
from lockterm.domain.validity import MONTH_MS, WEEK_MS, State, end_of, has_unreadable_period

NEVER = -(2**63)
"""The end of what has none, and the id of what has none."""

_FAST = 1
"""The level of compression: the records of a list have nearly everything in common."""

_as_json = json.JSONEncoder(separators=(",", ":")).encode


UNREADABLE = 2**63 - 1
"""The end of a remote whose type and dates do not say when it ends; after every other one."""


def _end_of(remote: Remote) -> int:
    if has_unreadable_period(remote):
        return UNREADABLE
    end = end_of(remote)
    return NEVER if end is None else end


@dataclass(frozen=True, slots=True)
class Block:
    """Some remotes in a row: a page, as it came."""

    texts: str
    """What a search looks at, see ``searching.search_text``: a line for each remote."""
    ids: array[int]
    """The id of each one, or :data:`NEVER`."""
    ends: array[int]
    """When the period of each one ends, in milliseconds; or :data:`NEVER`, :data:`UNREADABLE`."""
    records: bytes
    """What the service told of each: a line of JSON, all of them compressed."""

    @classmethod
    def of(cls, remotes: Sequence[Remote]) -> Block:
        """Pack remotes."""
        ids = array("q", [NEVER if one.id is None else one.id for one in remotes])
        ends = array("q", map(_end_of, remotes))
        texts = "\n".join(map(search_text, remotes))
        told = "\n".join([_as_json(one.raw) for one in remotes])  # in ASCII
        return cls(texts, ids, ends, zlib.compress(told.encode(), _FAST))

    def remotes(self) -> list[Remote]:
        """All of them."""
        return [Remote.read(json.loads(line)) for line in self._lines()] if self.ends else []

    def remote(self, line: int) -> Remote:
        """One of them, counted from 0."""
        return Remote.read(json.loads(self._lines()[line]))

    def _lines(self) -> Sequence[bytes]:
        return _lines(self.records)

    def find(self, words: Sequence[str]) -> Iterator[int]:
        """The lines that have every word.

        Args:
            words: Folded, at least one.
        """
        texts = self.texts
        if not _has_all(texts, words):  # as of most blocks
            return
        first = words[0] if len(words) == 1 else min(words, key=texts.count)
        rest = [word for word in words if word != first]
        line = counted = 0
        at = texts.find(first)
        while at >= 0:
            line += texts.count("\n", counted, at)
            end = texts.find("\n", at)
            end = len(texts) if end < 0 else end
            if not rest or _has_all(texts[texts.rfind("\n", 0, at) + 1 : end], rest):
                yield line
            counted, at = end, texts.find(first, end)


@lru_cache(maxsize=1)
def _lines(records: bytes) -> Sequence[bytes]:
    """Unpacked: whoever looks at one of them most often looks at the next one, too."""
    return zlib.decompress(records).split(b"\n")


def _has_all(text: str, words: Iterable[str]) -> bool:
    return all(word in text for word in words)


class Place(NamedTuple):
    """Where a remote stands in a list."""

    block: int
    line: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The remotes of a lock as they were read, all of them."""

    blocks: Sequence[Block]
    at_ms: int
    """When the reading began, by this machine's clock."""
    changed: bool = False
    """Whether something of the lock was changed from here since, so that it may be otherwise."""

    @property
    def count(self) -> int:
        """How many remotes there are."""
        return sum(len(block.ends) for block in self.blocks)

    @property
    def unreadable_periods(self) -> int:
        """How many have a period that cannot be read."""
        return sum(block.ends.count(UNREADABLE) for block in self.blocks)

    def remotes(self) -> Iterator[Remote]:
        """All of them, in the order of the list."""
        for block in self.blocks:
            yield from block.remotes()

    def remote(self, place: Place) -> Remote:
        """The one at a place."""
        return self.blocks[place.block].remote(place.line)

    def id(self, place: Place) -> int | None:
        """The id of the one at a place; None: it has none that can be used."""
        remote_id = self.blocks[place.block].ids[place.line]
        return None if remote_id == NEVER else remote_id

    def end(self, place: Place) -> int | None:
        """When the period of the one at a place ends, told without unpacking it; None: never."""
        end_ms = self.blocks[place.block].ends[place.line]
        return None if end_ms in (NEVER, UNREADABLE) else end_ms

    def places(self) -> Iterator[Place]:
        """Where they stand, all of them."""
        for number, block in enumerate(self.blocks):
            for line in range(len(block.ends)):
                yield Place(number, line)

    def lacking(self, words: Sequence[str]) -> str:
        """The first of some words that no remote has; empty: there is a remote with each."""
        for word in words:
            for block in self.blocks:
                if word in block.texts:
                    break
            else:
                return word
        return ""

    def find(self, words: Sequence[str]) -> Iterator[Place]:
        """Where the remotes stand that have every word; see :meth:`Block.find`."""
        for number, block in enumerate(self.blocks):
            for line in block.find(words):
                yield Place(number, line)

    def ending(self, until_ms: int) -> Iterator[tuple[int, Place]]:
        """When they end, and where they stand, of the remotes that do so by a moment."""
        for number, block in enumerate(self.blocks):
            for line, end in enumerate(block.ends):
                if NEVER < end <= until_ms:
                    yield end, Place(number, line)


@dataclass(frozen=True, slots=True)
class Ends:
    """What has ended and ends soon of a whole list, by its dates alone."""

    counts: Counter[State]
    """How many are over, and how many end within 7 and within 30 days."""
    at_ms: int
    """``Listing.at_ms``."""
    changed: bool
    """``Listing.changed``."""


def ending_soon(ends: Iterable[int], now_ms: int) -> Counter[State]:
    """Count what is over, or ends within 7 and within 30 days.

    Args:
        ends: ``Block.ends``.
        now_ms: Now, in milliseconds.
    """
    near = [end for end in ends if NEVER < end <= now_ms + MONTH_MS]
    over = sum(end <= now_ms for end in near)
    week = sum(end <= now_ms + WEEK_MS for end in near) - over
    found = {State.ENDED: over, State.WEEK: week, State.MONTH: len(near) - over - week}
    return Counter(found)


class Lacking:
    """What lists were seen to lack: with a letter more, they are not looked through again."""

    def __init__(self) -> None:
        # Two, for what would keep both together is garbage to be collected, ten thousand times.
        self._lists: dict[int, Listing] = {}
        """By the id of the lock."""
        self._words: dict[int, str] = {}
        """A word that is nowhere in that list."""

    def lacks(self, lock_id: int, listing: Listing, words: Sequence[str]) -> bool:
        """Whether a lock's list has one of some words nowhere."""
        if self._lists.get(lock_id) is listing:
            lacked = self._words[lock_id]
            for word in words:
                if lacked in word:
                    return True
        if lacked := listing.lacking(words):
            self._lists[lock_id], self._words[lock_id] = listing, lacked
        return bool(lacked)


def words_of(needle: str) -> list[str]:
    """The words of what was typed, as :meth:`Listing.find` takes them."""
    words = set(fold_text(needle).split())
    return sorted(words, key=len, reverse=True)  # a long one is most often rare
