"""The table of changes that others made to remotes. The table is in the file of the cache.

The cached lists, from which lockterm finds these changes, are in the same file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from lockterm.domain.elsewhere import ChangeElsewhere, ChangeKind

MOST = 5000
"""Maximum number of saved changes. The oldest changes are dropped first."""

KEPT_MS = 90 * 24 * 3600 * 1000
"""Time after which a saved change is dropped, in milliseconds."""

TABLES = (
    """
    CREATE TABLE changes (
        owner TEXT NOT NULL,
        lock_id INTEGER NOT NULL,
        remote_id INTEGER NOT NULL,
        since_ms INTEGER NOT NULL,
        until_ms INTEGER NOT NULL,
        what TEXT NOT NULL,
        names TEXT NOT NULL,
        before TEXT NOT NULL,
        after TEXT NOT NULL,
        seen INTEGER NOT NULL,
        PRIMARY KEY (owner, lock_id, remote_id, since_ms)
    )
    """,
    "CREATE INDEX changes_by_time ON changes (owner, until_ms)",
)
"""The statements that create the table. ``names``, ``before`` and ``after`` are JSON."""

_ADD = """
    INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
    ON CONFLICT DO UPDATE SET
        until_ms = iif(after = excluded.after, until_ms, excluded.until_ms),
        seen = seen AND after = excluded.after,
        what = excluded.what, names = excluded.names, after = excluded.after
"""
"""The statement that adds a change. If the change is already saved, it keeps its earlier time,
which is more exact."""

_REMOVE_GONE = """
    DELETE FROM changes
    WHERE owner = ? AND lock_id = ? AND remote_id = ? AND what = 'gone' AND before = ?
"""

_REMOVE_OLDEST = """
    DELETE FROM changes WHERE until_ms < ? OR rowid IN (
        SELECT rowid FROM changes ORDER BY until_ms DESC LIMIT -1 OFFSET ?
    )
"""


def add_changes(
    connection: sqlite3.Connection, owner: str, changes: Sequence[ChangeElsewhere]
) -> None:
    """Add changes, and drop the oldest ones beyond the limits.

    If a new remote equals a remote that was saved as gone, the remote was never gone, but only
    missing from one list. The function then removes the earlier change and does not add the new
    one.

    Args:
        connection: A connection in a transaction.
        owner: The owner of the cached lists, from :func:`lockterm.store.owner.owner_of`.
        changes: The changes.
    """
    for change in changes:
        key = owner, change.lock_id, change.remote_id
        records = [
            json.dumps(value, sort_keys=True)
            for value in (change.names, change.before, change.after)
        ]
        if change.what is ChangeKind.NEW:
            removed = connection.execute(_REMOVE_GONE, (*key, records[-1]))
            if removed.rowcount:
                continue
        times = change.since_ms, change.until_ms
        connection.execute(_ADD, (*key, *times, change.what.value, *records))
    if changes:
        newest_ms = max(change.until_ms for change in changes)
        connection.execute(_REMOVE_OLDEST, (newest_ms - KEPT_MS, MOST))


def read_changes(
    connection: sqlite3.Connection,
    owner: str,
    lock_id: int | None,
    since_ms: int,
    *,
    unseen: bool,
    most: int,
) -> list[ChangeElsewhere]:
    """Return changes, the newest first.

    Args:
        connection: A connection in a transaction.
        owner: The owner of the cached lists, from :func:`lockterm.store.owner.owner_of`.
        lock_id: The lock; None for all locks.
        since_ms: The earliest time at which a change was found, in milliseconds since the epoch.
        unseen: Whether to leave out the changes that the user has looked at.
        most: Maximum number of changes; -1 for all.
    """
    rows = connection.execute(
        "SELECT lock_id, remote_id, what, before, after, since_ms, until_ms, names, seen"
        " FROM changes WHERE owner = ? AND until_ms >= ?"
        f"{' AND lock_id = ?' * (lock_id is not None)}{' AND NOT seen' * unseen}"
        " ORDER BY until_ms DESC, rowid DESC LIMIT ?",
        (owner, since_ms, *(() if lock_id is None else (lock_id,)), most),
    )
    return [_change_of(row) for row in rows]


def _change_of(row: sqlite3.Row) -> ChangeElsewhere:
    values = dict(row)
    is_seen, what = bool(values.pop("seen")), ChangeKind(values.pop("what"))
    records = {name: json.loads(values.pop(name)) for name in ("before", "after", "names")}
    return ChangeElsewhere(**values, **records, what=what, is_seen=is_seen)
