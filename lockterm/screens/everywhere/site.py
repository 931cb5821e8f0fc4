"""The lists of all locks as they were last read, and why a lock could not be read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from lockterm.domain.text.amount import describe_age, format_short_age
from lockterm.operations.everywhere import LockRead, describe_reads

if TYPE_CHECKING:
    from lockterm.domain.listing import Listing
    from lockterm.domain.locks import Lock
    from lockterm.operations import Operations


SLICE_S = 0.02
"""Duration of a slice, in seconds."""


class Slices:
    """The slices of one piece of work; the first begins now."""

    def __init__(self) -> None:
        self._clock = asyncio.get_running_loop().time
        self._until_s = self._clock() + SLICE_S

    async def pause(self) -> None:
        """Let keys be handled at the end of a time slice."""
        if self._clock() > self._until_s:
            await asyncio.sleep(0)
            self._until_s = self._clock() + SLICE_S


LATELY_MS = 5 * 60_000
"""The age in milliseconds up to which a list is not read again without a key."""


class Site:
    """The locks of the book with their lists, as a screen shows them.

    Args:
        operations: The one door to service and store.
    """

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self.locks: dict[int, LockRead] = {}
        """By their id, in the order of the book."""
        self.asked: dict[int, LockRead | None] = {}
        """Those that are or were asked for just now, with the answer; empty: none was."""
        self.is_reading = False
        self._readings = 0
        """How many were begun: one that another one has replaced ends after that has begun."""
        self._known: tuple[int, int | None] | None = None
        """Number of locks never read, and time of the oldest list; None if not counted yet."""

    async def load(self) -> None:
        """Load the lists that were read before.

        Raises:
            StoreError: The lock book cannot be read.
        """
        kept = await self._operations.everywhere.last()
        self.locks = {one.lock.lock_id: one for one in kept}
        self._known = None

    async def read(self, news: Callable[[], None], locks: Sequence[Lock] | None = None) -> None:
        """Read locks; a lock that cannot be read keeps its last list.

        Args:
            news: Called after each lock.
            locks: The locks; None for all.

        Raises:
            StoreError: The lock book cannot be read.
        """
        if locks is None:
            locks = [one.lock for one in self.locks.values()]
            self.asked = {}
        self._forget_unanswered()
        self.asked |= dict.fromkeys((lock.lock_id for lock in locks), None)
        self._readings += 1
        number, self.is_reading = self._readings, True
        try:
            async with aclosing(self._operations.everywhere.read(locks=locks)) as reading:
                async for one in reading:
                    self._take(one)
                    news()
        finally:
            if number == self._readings:
                self.is_reading = False
                self._forget_unanswered()

    def note_changed(self, lock_ids: Iterable[int]) -> None:
        """Mark the lists of locks as outdated after a change from here."""
        for lock_id in lock_ids:
            one = self.locks.get(lock_id)
            if one is not None and one.listing is not None:
                self.locks[lock_id] = replace(one, listing=replace(one.listing, changed=True))

    def _forget_unanswered(self) -> None:
        self.asked = {lock: one for lock, one in self.asked.items() if one is not None}

    def _take(self, read: LockRead) -> None:
        lock_id = read.lock.lock_id
        before = self.locks[lock_id]
        listing = before.listing if read.listing is None else read.listing
        self.locks[lock_id] = replace(read, place=before.place, listing=listing)
        self.asked[lock_id] = read
        self._known = None

    # --- words ---------------------------------------------------------------------------------

    @property
    def unread(self) -> int:
        """Number of locks never read."""
        return self._count()[0]

    def _count(self) -> tuple[int, int | None]:
        if self._known is None:  # once for all texts about ten thousand locks
            lists = [one.listing.at_ms for one in self.locks.values() if one.listing is not None]
            self._known = len(self.locks) - len(lists), min(lists, default=None)
        return self._known

    def words(self, longest: int | None = None) -> str:
        """Return how much is known: ``31 of 32 locks read, yard: no answer``.

        Args:
            longest: The maximum number of characters of a reason; None for no limit, 0 to name
                neither locks nor reasons.
        """
        answers = [one for one in self.asked.values() if one is not None]
        if self.is_reading:
            return f"reading: {len(answers):,} of {len(self.asked):,} locks"
        if len(answers) == len(self.locks):
            return describe_reads(answers, 0 if longest == 0 else 3, longest)
        unread = self.unread
        if not unread:
            return "as read last"
        if unread == len(self.locks):
            return "none read yet"
        return f"{unread:,} of {len(self.locks):,} locks not read yet"

    def oldest_ms(self) -> int | None:
        """When the oldest of the lists was read, on the clock that ages are counted by.

        None: nothing was read yet, or the clock was set back since.
        """
        at_ms = self._count()[1]
        age_ms = None if at_ms is None else self.age_ms(at_ms)
        return None if age_ms is None else self._operations.clock.steady_ms() - age_ms

    @property
    def is_old(self) -> bool:
        """Whether some of the lists were not read recently."""
        read_ms = None if self.unread else self.oldest_ms()
        return read_ms is None or self._operations.clock.steady_ms() - read_ms > LATELY_MS

    def age_ms(self, at_ms: int) -> int | None:
        """Return the age of a list in milliseconds; None if the clock was set back."""
        age_ms = self._operations.machine_ms() - at_ms
        return age_ms if age_ms >= 0 else None

    def short_age(self, listing: Listing) -> str:
        """Return the age of a list in a few cells."""
        return format_short_age(
            listing.at_ms, self._operations.machine_ms(), changed=listing.changed
        )

    def age_of(self, listing: Listing) -> str:
        """Return the age of a list in words."""
        return describe_age(listing.at_ms, self._operations.machine_ms(), changed=listing.changed)
