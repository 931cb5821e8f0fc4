"""Checks and counts of the journal's rows, and some queries.

Each row is checked and counted only once. The results are cached, because the journal never removes
rows, and lockterm never writes damaged rows. A new connection may have opened another file, so each
connection starts with empty caches.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping

from lockterm.domain.operation import QUARTER_MS, RECORDED, Operation, OperationState, Selection
from lockterm.store.database import Database, fetch
from lockterm.store.journal_rows import SOUND, WHOLE, in_states, operation_of


class DamagedRows:
    """The damaged rows among those that were checked so far, by their sequence numbers."""

    def __init__(self) -> None:
        self._by: sqlite3.Connection | None = None
        self._last = 0
        self._places: list[int] = []

    @property
    def as_json(self) -> str:
        """The sequence numbers of the damaged rows, as a JSON list."""
        return json.dumps(self._places)

    def look(self, connection: sqlite3.Connection, most: int = -1) -> bool:
        """Check rows that were not checked yet for damage.

        Args:
            connection: A connection in a transaction.
            most: Maximum number of rows; -1 for all.

        Returns:
            Whether any row was checked.
        """
        if connection is not self._by:
            self._by, self._last, self._places = connection, 0, []
        rows = fetch(
            connection,
            "SELECT max(seq), json_group_array(seq) FILTER (WHERE NOT is_sound) FROM"
            f" (SELECT seq, {SOUND} AS is_sound FROM operations WHERE seq > ?"
            " ORDER BY seq LIMIT ?)",
            (self._last, most),
        )
        self._places += json.loads(rows[0][1])
        before, self._last = self._last, rows[0][0] or self._last
        return self._last > before


class RowCount:
    """A counter of a profile's rows. Each count reads only the rows added since the last count.

    Args:
        where: The SQL condition for the rows.
        profile: The profile's name, for ``:profile`` in the condition.
    """

    def __init__(self, where: str, profile: str) -> None:
        self._where = where
        self._profile = profile
        self._by: sqlite3.Connection | None = None
        self._last = self._count = 0

    def now(self, connection: sqlite3.Connection) -> int:
        """Return the present number of rows.

        Args:
            connection: A connection in a transaction.
        """
        if connection is not self._by:
            self._by, self._last, self._count = connection, 0, 0
        newer, self._last = fetch(
            connection,
            "SELECT count(*), (SELECT ifnull(max(seq), 0) FROM operations) FROM operations WHERE"
            f" {self._where}{' AND seq > :last' if self._last else ''}",
            {"last": self._last, "profile": self._profile},
        )[0]
        self._count += newer
        return self._count


class QuarterCounts:
    """A counter of a profile's rows for each quarter of an hour, which counts each row only once.

    Args:
        where: The SQL condition for the rows.
        profile: The profile's name, for ``:profile`` in the condition.
    """

    def __init__(self, where: str, profile: str) -> None:
        self._where = where
        self._profile = profile
        self._by: sqlite3.Connection | None = None
        self._since_ms = 0
        self._known: dict[int | None, tuple[int, Counter[int]]] = {}
        """Maps a lock ID, or None for all locks, to the last counted row and the counts."""

    def now(
        self, connection: sqlite3.Connection, since_ms: int, lock_id: int | None
    ) -> Counter[int]:
        """Return the numbers of operations that began in each quarter of an hour.

        Args:
            connection: A connection in a transaction.
            since_ms: The time from which operations count, in milliseconds since the epoch.
            lock_id: The only lock whose operations count; None for all locks.

        Returns:
            A mapping of quarters of an hour, numbered from 1970, to the numbers of operations.
        """
        if (connection, since_ms) != (self._by, self._since_ms):
            self._by, self._since_ms, self._known = connection, since_ms, {}
        last, counts = self._known.get(lock_id, (0, Counter[int]()))
        on_lock = "seq IN (SELECT seq FROM operations WHERE lock_id = :lock_id) AND"
        is_on = "" if lock_id is None else on_lock
        values = {"profile": self._profile, "since_ms": since_ms, "lock_id": lock_id, "last": last}
        newest = fetch(connection, "SELECT ifnull(max(seq), 0) FROM operations")[0][0]
        rows = fetch(
            connection,
            f"SELECT prepared_ms / {QUARTER_MS}, count(*) FROM operations WHERE {is_on}"
            f" seq > :last AND +prepared_ms >= :since_ms AND {self._where} GROUP BY 1",
            values,
        )
        counts.update({int(quarter): count for quarter, count in rows})
        self._known[lock_id] = newest, counts
        return counts.copy()  # another thread may change the counts


def find_by_index(selection: Selection) -> str:
    """Return SQL that uses an index to find the rows with a filter's lock or states.

    The SQL ignores the other conditions of the filter. If the filter has neither a lock nor states,
    the SQL is empty.
    """
    if selection.states is not None:
        lock = "" if selection.lock_id is None else " AND lock_id = :lock_id"
        found = f"SELECT seq FROM operations WHERE {in_states(selection.states)}{lock}"
        if OperationState.DAMAGED in selection.states:
            found = f"{found} UNION SELECT value FROM json_each(:damaged)"
        return found
    if selection.lock_id is not None:
        return "SELECT seq FROM operations WHERE lock_id = :lock_id"
    return ""


def damaged_entries(connection: sqlite3.Connection) -> int:
    """Return the number of damaged entries in the journal, of all profiles."""
    rows = fetch(connection, WHOLE)
    return sum(operation_of(row).state is OperationState.DAMAGED for row in rows)


MOST = 2000
"""Maximum number of changes that :func:`recorded_changes` returns."""


def recorded_changes(
    database: Database, service: str, account: str, lock_id: int
) -> list[Operation]:
    """Return an account's latest recorded operations on a lock, the oldest first.

    The result has at most :data:`MOST` operations.
    """
    with database.reading() as connection:
        rows = fetch(
            connection,
            f"{WHOLE} WHERE lock_id = ? AND service = ? AND account = ?"
            f" AND {in_states(RECORDED)} ORDER BY seq DESC LIMIT ?",
            [lock_id, service, account, MOST],
        )
    return [operation_of(row) for row in reversed(rows)]


def messages_of_run(database: Database, plan_id: str, start: str) -> Mapping[str, str]:
    """Return those messages of a plan's operations that begin with a text, by operation ID."""
    with database.reading() as connection:
        rows = fetch(
            connection,
            "SELECT id, message FROM operations WHERE id IN (SELECT operation_id FROM steps"
            " WHERE plan_id = ? AND operation_id IS NOT NULL)"
            " AND substr(message, 1, length(?)) = ?",
            [plan_id, start, start],
        )
    return {str(row[0]): str(row[1]) for row in rows}
