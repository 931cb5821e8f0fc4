"""Notes in the journal of what the service recorded otherwise than it was sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from lockterm.operations.kept_otherwise import KEPT
from lockterm.store.journal_kept import messages_of_run, recorded_changes

if TYPE_CHECKING:
    from lockterm.domain.operation import Operation
    from lockterm.domain.plan import Step
    from lockterm.operations.journal_store import JournalStore
    from lockterm.operations.recorded import Recorded


async def read_recorded(journal: JournalStore, lock_id: int) -> tuple[list[Operation], Recorded]:
    """Return the last changes that were recorded on a lock, and what is known of it."""
    recorded = await journal.recorded(lock_id)
    account, service = journal.account.name, journal.profile.base_url
    rows = await journal.database.thread.run(
        recorded_changes, journal.database, service, account, lock_id
    )
    return rows, recorded


async def with_notes(journal: JournalStore, plan_id: str, steps: Iterable[Step]) -> list[Step]:
    """Return the steps of a run, each with what the service kept instead of it."""
    thread, database = journal.database.thread, journal.database
    kept = await thread.to_its_end(messages_of_run, database, plan_id, KEPT)
    return [
        replace(step, message=kept.get(step.operation_id or "", step.message)) for step in steps
    ]
