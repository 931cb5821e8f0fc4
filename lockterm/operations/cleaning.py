"""Plans that delete remotes that expired long ago."""

from __future__ import annotations

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


async def plan_cleaning(
    operations: Operations, lock_ids: Iterable[int], days: int, on_read: OnRead = ignore
) -> PlanDraft:
    """Return a plan that deletes the remotes that expired at least ``days`` days ago.

    A remote that expired by its dates but not by its status is not deleted. The plan only shows the
    number of these remotes.

    Args:
        operations: The operations of the profile.
        lock_ids: The IDs of the locks on which remotes are deleted.
        days: The minimum number of days since a remote expired; 0 for all expired remotes.
        on_read: A function that is called each time lockterm has read a lock.

    Raises:
        StoreError: The lock book or the journal cannot be read.
    """
    return await make_plan(operations, _ExpiredSource(operations, lock_ids, days, on_read))


class _ExpiredSource(PlanSource):
    """The source of a plan that deletes remotes that expired a number of days ago or earlier."""

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
