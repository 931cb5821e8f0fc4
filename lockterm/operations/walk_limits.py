"""How much of a lock's list is read before the reading is stopped.

A page is bounded by the client (8 MiB, 100,000 parts); a list of pages is bounded by nobody. A
service with large pages, or with pages without an end, would fill the memory and keep the line busy
for as long as it likes.
"""

from __future__ import annotations

import random
import sys
import time
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from lockterm.errors import ListTooLarge

MIB = 1024 * 1024

RECORD_BYTES = 400
"""Bytes of memory for a record itself, without its decoded JSON."""


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """What one walk over all pages of a list may take."""

    answer_bytes: int
    """Bytes of the answers, unpacked."""
    memory_bytes: int
    """Bytes of memory that the records take, as Python counts them."""
    seconds: float
    """Seconds from the first request to the last answer."""
    asked: bool
    """Whether a person asked for the walk and waits for it."""


ASKED = WalkLimits(128 * MIB, 512 * MIB, 300.0, asked=True)
"""Some 350,000 remotes of the usual size."""

UNASKED = WalkLimits(16 * MIB, 64 * MIB, 30.0, asked=False)
"""For what lockterm reads by itself, as after a write without an answer: 40,000 remotes."""


class WalkBudget:
    """What is left of the limits during one walk.

    Args:
        lock_id: Whose list it is, for the error.
        limits: What the walk may take.
        clock: Seconds on a clock that never goes back; replaced in tests.
    """

    def __init__(
        self, lock_id: int, limits: WalkLimits = ASKED, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._lock_id = lock_id
        self._limits = limits
        self._clock = clock
        self._end = clock() + limits.seconds
        self._answer_bytes = 0
        self._memory_bytes = 0

    def read(self, answer_bytes: int) -> None:
        """Count a page that was read.

        Args:
            answer_bytes: Bytes of its answer.

        Raises:
            ListTooLarge: The walk must end here.
        """
        self._answer_bytes += answer_bytes
        self._check()

    def keep(self, records: Iterable[Any]) -> None:
        """Count what is kept of a page; it takes some ms where a page has 100,000 parts.

        Args:
            records: As decoded JSON.

        Raises:
            ListTooLarge: The walk must end here.
        """
        self._memory_bytes += memory_of(records)
        self._check()

    def _check(self) -> None:
        limits = self._limits
        if self._answer_bytes > limits.answer_bytes:
            reached = f"{limits.answer_bytes // MIB:,} MiB of answers"
        elif self._memory_bytes > limits.memory_bytes:
            reached = f"{limits.memory_bytes // MIB:,} MiB of memory"
        elif self._clock() > self._end:
            reached = f"{limits.seconds:.0f} s"
        else:
            return
        raise ListTooLarge(
            f"The list of lock {self._lock_id} was not read to its end: it takes more than"
            f" {reached}.",
            hint="A page at a time can still be read."
            if limits.asked
            else "It is not tried again by itself. Check it by hand: then more is read.",
        )


def memory_of(values: Iterable[Any]) -> int:
    """Bytes of memory that records take with their decoded JSON; names are shared by all."""
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


class SeenIds:
    """The ids of a long list, in 16 bytes each at the most; a set of Python's takes 80."""

    def __init__(self) -> None:
        self._slots = array("q", bytes(8 * 1024))
        self._factor = random.getrandbits(62) | 1  # nobody can choose ids that take long to find
        self._count = 0
        self._others = set[int]()
        """Those that are no number of 64 bits, or 0."""

    def __len__(self) -> int:
        return self._count + len(self._others)

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int) or not 0 < number < 1 << 63:
            return number in self._others
        return bool(self._slots[self._place(number)])

    def add(self, number: int) -> bool:
        """Note an id; says whether it is a new one."""
        if not 0 < number < 1 << 63:
            before = len(self._others)
            self._others.add(number)
            return len(self._others) > before
        place = self._place(number)
        if self._slots[place]:
            return False
        self._slots[place] = number
        self._count += 1
        if 2 * self._count > len(self._slots):
            before_it, self._slots = self._slots, array("q", bytes(16 * len(self._slots)))
            for known in filter(None, before_it):
                self._slots[self._place(known)] = known
        return True

    def _place(self, number: int) -> int:
        """Where an id is, or would be."""
        slots = self._slots
        last = len(slots) - 1
        place = number * self._factor >> 32 & last
        while slots[place] not in (0, number):
            place = place + 1 & last
        return place
