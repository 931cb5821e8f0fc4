"""Recorded changes from the journal, to compare with the service's list."""

from __future__ import annotations

from collections.abc import Mapping

from lockterm.domain.operation import RECORDED, Operation
from lockterm.store.database import Database, fetch
from lockterm.store.journal_rows import WHOLE, in_states, operation_of

MOST = 2000
"""Maximum number of a lock's latest changes to return."""


def recorded_changes(
    database: Database, service: str, account: str, lock_id: int
) -> list[Operation]:
    """Return the latest recorded operations on a lock, at most ``MOST``, the oldest first."""
    with database.reading() as connection:
        rows = fetch(
            connection,
            f"{WHOLE} WHERE lock_id = ? AND service = ? AND account = ?"
            f" AND {in_states(RECORDED)} ORDER BY seq DESC LIMIT ?",
            [lock_id, service, account, MOST],
        )
    return [operation_of(row) for row in reversed(rows)]


def messages_of_run(database: Database, plan_id: str, start: str) -> Mapping[str, str]:
    """Return operation ID -> message for a plan's operations whose message has a prefix."""
    with database.reading() as connection:
        rows = fetch(
            connection,
            "SELECT id, message FROM operations WHERE id IN (SELECT operation_id FROM steps"
            " WHERE plan_id = ? AND operation_id IS NOT NULL)"
            " AND substr(message, 1, length(?)) = ?",
            [plan_id, start, start],
        )
    return {str(row[0]): str(row[1]) for row in rows}
