"""The remotes of all locks as lockterm last read them, and the reasons for unread locks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from lockterm.domain.plan import NOT_REACHED, Action, Step, StepState
from lockterm.domain.text.amount import describe_age, format_short_age
from lockterm.errors import ServiceError
from lockterm.operations.all_locks import LockRead, describe_reads
from lockterm.screens.base import PROGRESS_S

if TYPE_CHECKING:
    from lockterm.domain.changes_elsewhere import Unseen
    from lockterm.domain.listing import Listing
    from lockterm.domain.locks import Lock
    from lockterm.operations import Operations

EMPTY_BOOK = "The lock book is empty."

SLICE_S = 0.02
"""The duration of a time slice, in seconds; see :class:`TimeSlicer`."""


class TimeSlicer:
    """A timer that divides long work into time slices, so that keys are handled between slices.

    The first slice begins when the object is created.
    """

    def __init__(self) -> None:
        self._clock = asyncio.get_running_loop().time
        self._until_s = self._clock() + SLICE_S

    async def pause(self) -> None:
        """Let the app handle keys if the current slice has ended, and begin a new slice."""
        if self._clock() > self._until_s:
            await asyncio.sleep(0)
            self._until_s = self._clock() + SLICE_S


LATELY_MS = 5 * 60_000
"""The maximum age of a list that counts as recent, in milliseconds. Only a key press reads recent
lists again."""


class LockLists:
    """The locks of the lock book, each with its last list of remotes.

    Args:
        operations: The operations on the service and the local store.
    """

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self.locks: dict[int, LockRead] = {}
        """Maps each lock ID to the lock with its last list, in the order of the lock book."""
        self.asked: dict[int, LockRead | None] = {}
        """Maps each lock ID to the latest result of reading the lock, or to None while the lock is
        being read. Locks that were not read are missing."""
        self.unseen: Unseen = {}
        """Maps pairs of lock ID and remote ID to changes by others that the user has not seen."""
        self.is_reading = False
        self._readings = 0
        """The number of started readings. A canceled reading that ends late resets ``is_reading``
        only if no newer reading has started."""
        self._known: tuple[int, int | None] | None = None
        """The number of locks without a list, and the time when the oldest list was read. None if
        they are not computed yet."""

    async def load(self) -> None:
        """Load the lists of all locks from the local store.

        Raises:
            StoreError: If the lock book cannot be read.
        """
        stored = await self._operations.all_locks.last()
        self.locks = {one.lock.lock_id: one for one in stored}
        self._known = None

    async def load_unseen(self) -> None:
        """Load the changes by others that the user has not seen yet."""
        self.unseen = await self._operations.kept_lists.unseen()

    async def read(self, news: Callable[[], None], locks: Sequence[Lock] | None = None) -> None:
        """Read locks from the service. A lock that cannot be read keeps its last list.

        Args:
            news: A function to call after new lists have arrived, at most every
                :data:`PROGRESS_S` seconds.
            locks: The locks to read; None for all locks.

        Raises:
            StoreError: If the lock book cannot be read.
        """
        if locks is None:
            locks = [one.lock for one in self.locks.values()]
            self.asked = {}
        self._forget_unanswered()
        self.asked |= dict.fromkeys((lock.lock_id for lock in locks), None)
        self._readings += 1
        number, self.is_reading = self._readings, True
        clock = asyncio.get_running_loop().time
        due_s = clock() + PROGRESS_S
        try:
            async with aclosing(self._operations.all_locks.read(locks=locks)) as reading:
                async for one in reading:
                    self._take(one)
                    if clock() >= due_s:
                        news()
                        due_s = clock() + PROGRESS_S
        finally:
            if number == self._readings:
                self.is_reading = False
                self._forget_unanswered()

    def note_changed(self, lock_ids: Iterable[int]) -> None:
        """Mark lists as outdated, because lockterm changed remotes on these locks."""
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

    def unread_steps(self) -> list[Step]:
        """Return a step in the state "not sent" for each lock that was not read.

        The plan that deletes the found remotes shows these steps, because an unread lock may have
        more remotes that match the search.
        """
        return [
            Step(
                0,
                Action.DELETE,
                lock_id,
                None,
                "not read",
                state=StepState.NOT_SENT,
                message=f"{why}. The plan deletes nothing on this lock.",
            )
            for lock_id, known in self.locks.items()
            if (why := _why_unread(known, self.asked.get(lock_id, known)))
        ]

    # --- texts ---------------------------------------------------------------------------------

    @property
    def unread(self) -> int:
        """The number of locks whose remotes lockterm has never read."""
        return self._count()[0]

    @property
    def count(self) -> int:
        """The number of remotes in all lists."""
        return sum(one.listing.count for one in self.locks.values() if one.listing is not None)

    def _count(self) -> tuple[int, int | None]:
        if self._known is None:  # count once for all texts, because there may be 10,000 locks
            lists = [one.listing.at_ms for one in self.locks.values() if one.listing is not None]
            self._known = len(self.locks) - len(lists), min(lists, default=None)
        return self._known

    def describe_all(self) -> str:
        """Return the number of locks as text, such as ``all 32 locks``."""
        return "1 lock" if len(self.locks) == 1 else f"all {len(self.locks):,} locks"

    def describe_reads(self, longest: int | None = None) -> str:
        """Return which locks were read, as text, such as ``31 of 32 locks read, yard: no answer``.

        Args:
            longest: The maximum length of each reason, in characters. None means no limit; 0 leaves
                out the locks and the reasons.
        """
        answers = [one for one in self.asked.values() if one is not None]
        if self.is_reading:
            return f"reading: {len(answers):,} of {len(self.asked):,} locks"
        if len(answers) == len(self.locks):
            return describe_reads(answers, 0 if longest == 0 else 3, longest)
        unread = self.unread
        if not unread:
            return "from stored lists"
        if unread == len(self.locks):
            return "no lock read yet"
        return f"{unread:,} of {len(self.locks):,} locks not read yet"

    def oldest_ms(self) -> int | None:
        """Return when the oldest list was read, in milliseconds of ``clock.steady_ms``.

        The result is None if there is no list, or if this machine's clock was set back since then.
        """
        at_ms = self._count()[1]
        age_ms = None if at_ms is None else self.age_ms(at_ms)
        return None if age_ms is None else self._operations.clock.steady_ms() - age_ms

    @property
    def is_old(self) -> bool:
        """Whether any lock has no list, or a list older than :data:`LATELY_MS`."""
        read_ms = None if self.unread else self.oldest_ms()
        return read_ms is None or self._operations.clock.steady_ms() - read_ms > LATELY_MS

    def age_ms(self, at_ms: int) -> int | None:
        """Return the age of a list in milliseconds; None if the clock was set back since then.

        Args:
            at_ms: When the list was read, in milliseconds.
        """
        age_ms = self._operations.machine_ms() - at_ms
        return age_ms if age_ms >= 0 else None

    def short_age(self, listing: Listing) -> str:
        """Return the age of a list as a short text for a narrow column."""
        return format_short_age(
            listing.at_ms, self._operations.machine_ms(), changed=listing.changed
        )

    def age_of(self, listing: Listing) -> str:
        """Return the age of a list as a text, such as ``3 h ago``."""
        return describe_age(listing.at_ms, self._operations.machine_ms(), changed=listing.changed)


def _why_unread(known: LockRead, asked: LockRead | None) -> str:
    """Return why the remotes of a lock are unknown; empty if they are known.

    Args:
        known: The lock with its last list.
        asked: The latest result of reading the lock; None while the lock is being read.
    """
    if asked is None:
        return "The lock was still being read"
    if not asked.problem:
        return "The lock has not been read" if known.listing is None else ""
    is_far = isinstance(asked.error, ServiceError) and asked.error.out_of_reach
    return NOT_REACHED if is_far else f"Not read: {asked.problem}"
