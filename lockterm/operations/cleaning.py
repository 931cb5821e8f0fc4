"""Plans that delete remotes whose access ended long ago, and the ages that people type for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lockterm.domain import dates
from lockterm.domain.bulk import Target, delete_expired
from lockterm.domain.callbacks import ignore
from lockterm.domain.plan import PlannedSteps
from lockterm.domain.text.amount import format_count
from lockterm.operations.planner import (
    OnRead,
    PlanDraft,
    PlanSource,
    ReadLock,
    make_plan,
    read_locks,
)

if TYPE_CHECKING:
    from lockterm.operations.facade import Operations

_DAYS = {"d": 1, "w": 7}
"""Unit of an age -> days."""

MOST_DAYS = 3650
"""The maximum age that :func:`parse_days` accepts, in days."""

WRONG_DAYS = f"Type a whole number from 1 to {MOST_DAYS}, or an age such as 30d or 4w."
"""The message for input that :func:`parse_days` refuses."""


def parse_age(text: str) -> int:
    """Return the number of days in an age such as ``30d`` or ``4w``.

    Raises:
        ValueError: The text is not an age.
    """
    match = re.fullmatch(r"(\d{1,5}) ?([dw])", text.strip(), re.ASCII)
    if match is None:
        raise ValueError("not an age")
    return int(match[1]) * _DAYS[match[2]]


def parse_days(text: str) -> int:
    """Return the number of days in a text such as ``30``, ``30d`` or ``4w``.

    Raises:
        ValueError: The text is not a number or an age, or not from 1 to :data:`MOST_DAYS` days.
    """
    is_number = re.fullmatch(r"\d{1,5}", text.strip(), re.ASCII) is not None
    days = int(text) if is_number else parse_age(text)
    if not 1 <= days <= MOST_DAYS:
        raise ValueError("out of range")
    return days


async def plan_cleaning(
    operations: Operations, lock_ids: Iterable[int], days: int, on_read: OnRead = ignore
) -> PlanDraft:
    """Make a plan that deletes the remotes that expired at least some days ago.

    A remote that has expired by its dates but not by its status is not deleted. The plan counts
    such remotes.

    Args:
        operations: The operations of the profile.
        lock_ids: The locks to clean.
        days: The minimum number of days since a remote expired; 0 for all expired remotes.
        on_read: A function that is called after each lock that was read.

    Raises:
        StoreError: The lock book or the journal cannot be read.
    """
    return await make_plan(operations, _ExpiredSource(operations, lock_ids, days, on_read))


class _ExpiredSource(PlanSource):
    """The remotes of locks that expired at least some days ago."""

    def __init__(
        self, operations: Operations, lock_ids: Iterable[int], days: int, on_read: OnRead
    ) -> None:
        super().__init__(f"delete remotes expired for {format_count(days, 'day')}")
        self._operations = operations
        self._lock_ids = lock_ids
        self._age_ms = days * dates.DAY_MS
        self._on_read = on_read

    async def read(self) -> Sequence[ReadLock]:
        return await read_locks(self._operations, self._lock_ids, self._on_read)

    async def plan(self, locks: Sequence[ReadLock], now_ms: int) -> PlannedSteps:
        remotes = [
            Target(one.lock.lock_id, remote, one.zone) for one in locks for remote in one.remotes
        ]
        return delete_expired(remotes, now_ms - self._age_ms, now_ms)
