"""A walk: the reading of a lock's complete list, page by page."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lockterm.api.retry_policy import CallPermit, CallPermits
from lockterm.config.profile import MAX_PAGE_SIZE
from lockterm.domain.dates import Clock
from lockterm.errors import ListTooLargeError, MalformedAnswerError
from lockterm.operations.cached_reads import CachedReads, page_call

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote, RemotePage
    from lockterm.operations.rate_limiter import RateLimiter

WALK_PAGE_SIZE = MAX_PAGE_SIZE
"""Number of remotes on a page if lockterm reads a complete list."""

PAGES_AT_ONCE = 4
"""Number of pages that a search requests in parallel. If the service is distant, this divides the
waiting time by four. If it is nearby, the service prepares the next pages while lockterm parses a
page."""

MOST_REMOTES = 1_000_000
"""Maximum number of remotes in a list that lockterm reads. More remotes would need too much
memory."""

WALKS = 4
"""Maximum number of attempts to read a complete list that changes while it is read."""


class Step(NamedTuple):
    """One page of a complete list that is being read, and the progress so far."""

    remotes: Sequence[Remote]
    """The remotes on the page."""
    new: Sequence[Remote]
    """The remotes that were not on earlier pages."""
    is_first: bool
    """Whether this is the first page. If reading restarts, the first page comes again, and all
    earlier steps become invalid."""
    read: int
    """Number of readable remotes on the pages so far, without duplicates."""
    total: int
    """Number of remotes in the list, as the service reports it; the number read so far if it
    reports none."""


async def walk(
    reads: CachedReads,
    lock_id: int,
    budget: WalkBudget,
    place: CallPermit | None,
    pace: RateLimiter | None,
    *,
    ahead: bool,
) -> AsyncGenerator[Step, None]:
    """Yield the pages of a lock's complete list one by one, without caching them.

    Args:
        reads: The reader of the service.
        lock_id: The lock.
        budget: The limits for reading the list.
        place: A permit that limits parallel calls; None if there is no such limit.
        pace: The rate limiter for which each call waits; None to make calls at once.
        ahead: Whether to request further pages before the current page arrives. Only a search may
            do this, because its result is not used as a proof. A caller that stops early must close
            the generator, which cancels the requests.

    Yields:
        Each page. If the total changes during the reading, the reading restarts with the rest of
        the budget.

    Raises:
        ServiceError: A page could not be read.
        MalformedAnswerError: The list changed during each attempt.
        ListTooLargeError: The list exceeds the limits.
    """
    at_once = PAGES_AT_ONCE if ahead else 1
    for _ in range(WALKS):
        ids, without_id, unreadable = set[int](), 0, 0
        total: int | None = None
        page_no, pages, moved, read = 1, 1, False, 0
        places = CallPermits(at_once)
        coming: deque[asyncio.Task[RemotePage]] = deque()
        try:
            while page_no <= pages and not moved:
                for number in range(page_no + len(coming), min(page_no + at_once, pages + 1)):
                    at = place or CallPermit(places)
                    call = page_call(lock_id, number, WALK_PAGE_SIZE, at)
                    retry = page_call(lock_id, number, WALK_PAGE_SIZE)  # holds no place
                    coming.append(reads.connection.background(reads.ask(call, pace, retry)))
                page = await coming.popleft()
                budget.read(page.answer_bytes)
                is_told, before = "total" not in page.odd, read
                moved = is_told and total is not None and page.total != total
                total, pages = page.total, page.pages
                new = []
                for remote in page.remotes:
                    if remote.id is None:
                        without_id += 1
                        new.append(remote)
                    elif remote.id not in ids:
                        ids.add(remote.id)
                        new.append(remote)
                unreadable += page.unreadable
                read = len(ids) + without_id + unreadable
                is_empty = not page.remotes and not page.unreadable
                if not is_told and "pages" in page.odd:  # the end is unknown
                    pages = page_no if is_empty else page_no + 1
                # Without this check, a list without an end would fill the memory.
                repeats = read == before and page_no > 1 and not (is_empty and page_no == pages)
                moved = moved or repeats or (is_told and read > total + WALK_PAGE_SIZE)
                if max(read, total) > MOST_REMOTES:
                    raise ListTooLargeError(
                        f"Lock {lock_id} has more remotes than lockterm can read."
                    )
                if not moved:
                    total_shown = total if is_told else read
                    yield Step(page.remotes, new, page_no == 1, read - unreadable, total_shown)
                page_no += 1
        finally:
            for task in coming:
                task.cancel()
        if not moved and (not is_told or read >= (total or 0)):
            return
    raise moving(f"The list of lock {lock_id} kept changing while lockterm read it.")


def moving(message: str) -> MalformedAnswerError:
    """Return the error for a list that changed during each attempt to read it."""
    return MalformedAnswerError(
        message,
        title="The list keeps changing",
        hint="Someone else is changing this lock's remotes. Try again in a moment.",
    )


# --- limits ---------------------------------------------------------------------------------------

MIB = 1024 * 1024

RECORD_BYTES = 400
"""Estimated memory of a record without its values, in bytes."""


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """The limits for reading one complete list (a walk). Reading ends with an error at a limit."""

    answer_bytes: int
    """Maximum number of bytes in all answers, uncompressed."""
    memory_bytes: int
    """Maximum number of bytes of memory for the records, as Python counts them."""
    seconds: float
    """Maximum number of seconds from the first request to the last answer."""
    asked: bool
    """Whether the user requested the list, and is waiting for it."""


ASKED = WalkLimits(128 * MIB, 512 * MIB, 300.0, asked=True)
"""The limits for a list that the user is waiting for: about 350,000 remotes of the usual size."""

UNASKED = WalkLimits(16 * MIB, 64 * MIB, 30.0, asked=False)
"""The limits for a list that lockterm reads automatically, for example after a write without an
answer: about 40,000 remotes."""


class WalkBudget:
    """The memory and the time that reading one complete list has used, compared with limits.

    Args:
        lock_id: The ID of the lock, for the error message.
        limits: The limits.
        clock: The clock, whose monotonic time is used; tests replace it.
    """

    def __init__(
        self, lock_id: int, limits: WalkLimits = ASKED, clock: Clock | None = None
    ) -> None:
        self._lock_id = lock_id
        self._limits = limits
        self._clock = clock or Clock()
        self._end = self._clock.steady() + limits.seconds
        self._answer_bytes = 0
        self._memory_bytes = 0

    def read(self, answer_bytes: int) -> None:
        """Add the size of a page that was read, and check the limits.

        Args:
            answer_bytes: The number of bytes in the answer.

        Raises:
            ListTooLargeError: A limit is exceeded.
        """
        self._answer_bytes += answer_bytes
        self._check()

    def keep(self, records: Iterable[Any]) -> None:
        """Add the memory that stored records use, and check the limits.

        Computing the memory takes milliseconds for 100,000 values.

        Args:
            records: The records, as decoded JSON.

        Raises:
            ListTooLargeError: A limit is exceeded.
        """
        self._memory_bytes += memory_of(records)
        self._check()

    def _check(self) -> None:
        limits = self._limits
        if self._answer_bytes > limits.answer_bytes:
            reached = f"{limits.answer_bytes // MIB:,} MiB of answers"
        elif self._memory_bytes > limits.memory_bytes:
            reached = f"{limits.memory_bytes // MIB:,} MiB of memory"
        elif self._clock.steady() > self._end:
            reached = f"{limits.seconds:.0f} s"
        else:
            return
        raise ListTooLargeError(
            f"lockterm did not read the whole list of lock {self._lock_id}, because it"
            f" takes more than {reached}.",
            hint="You can still read the list page by page."
            if limits.asked
            else "lockterm does not try again on its own. Check the change yourself to read more.",
        )


def memory_of(values: Iterable[Any]) -> int:
    """Return the estimated memory of parsed records, in bytes.

    The name of a field counts only once, because all records share it.
    """
    todo, names = list(values), set[str]()
    total = RECORD_BYTES * len(todo)
    while todo:
        value = todo.pop()
        total += sys.getsizeof(value)
        if isinstance(value, dict):
            names.update(value)
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
    return total + sum(map(sys.getsizeof, names))
