"""The stored remotes, and pages of them at any depth.

A lock's list is in the order of ids, which is the order of adding: the newest last. It never
changes otherwise, so a walk through the pages sees nothing twice unless something is deleted.

``OFFSET`` walks over every row it skips. Instead, ``remote_count`` holds how many remotes of a lock
have ids in each span of 2**8, 2**16 and 2**24 ids. A page is found by counting down through the
three sizes, at most 256 spans of each, and the total is the sum of the largest. Adding or
deleting a remote touches three counts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

_SHIFTS = (24, 16, 8)

PAGE_QUERY = "SELECT * FROM remote WHERE lock_id = ? AND id >= ? ORDER BY id LIMIT ? OFFSET ?"
"""``OFFSET`` here is less than 2**8: what is left to skip inside the smallest span."""
COUNT_QUERY = (
    "SELECT bucket, remotes FROM remote_count"
    " WHERE lock_id = ? AND shift = ? AND bucket BETWEEN ? AND ? ORDER BY bucket"
)
TOTAL_QUERY = "SELECT coalesce(sum(remotes), 0) FROM remote_count WHERE lock_id = ? AND shift = ?"


def total(db: sqlite3.Connection, lock_id: int) -> int:
    """How many remotes the lock has."""
    count: int = db.execute(TOTAL_QUERY, (lock_id, _SHIFTS[0])).fetchone()[0]
    return count


def page(db: sqlite3.Connection, lock_id: int, offset: int, size: int) -> list[sqlite3.Row]:
    """At most ``size`` remotes of the lock, without the first ``offset`` ones."""
    first, last, span_start = 0, 2**62, 0
    for shift in _SHIFTS:
        for bucket, remotes in db.execute(COUNT_QUERY, (lock_id, shift, first, last)):
            if offset < remotes:
                span_start = bucket << shift
                first, last = bucket << 8, (bucket << 8) + 255
                break
            offset -= remotes
        else:
            return []
    return db.execute(PAGE_QUERY, (lock_id, span_start, size, offset)).fetchall()


def find(db: sqlite3.Connection, remote_id: int) -> sqlite3.Row | None:
    """The remote with this id, or None."""
    row: sqlite3.Row | None = db.execute(
        "SELECT * FROM remote WHERE id = ?", (remote_id,)
    ).fetchone()
    return row


def id_of_name(db: sqlite3.Connection, lock_id: int, name: str) -> int | None:
    """The lock's remote with exactly this name, or None."""
    query = "SELECT id FROM remote WHERE lock_id = ? AND name = ?"
    for (remote_id,) in db.execute(query, (lock_id, name)):
        return int(remote_id)
    return None


def insert(db: sqlite3.Connection, remote: Mapping[str, object]) -> int:
    """Add a remote, given by column; returns its new id."""
    remote_id = _insert_row(db, remote)
    lock_id = remote["lock_id"]
    db.executemany(
        "INSERT INTO remote_count VALUES (?, ?, ?, 1)"
        " ON CONFLICT DO UPDATE SET remotes = remotes + 1",
        [(lock_id, shift, remote_id >> shift) for shift in _SHIFTS],
    )
    return remote_id


def insert_many(db: sqlite3.Connection, remotes: list[dict[str, object]]) -> None:
    """Add many remotes at once and count them afterwards."""
    for remote in remotes:
        _insert_row(db, remote)
    for lock_id in {remote["lock_id"] for remote in remotes}:
        recount(db, lock_id)


def change(db: sqlite3.Connection, remote_id: int, columns: Mapping[str, object]) -> None:
    """Set the given columns of a remote."""
    assignments = ", ".join(f"{column} = ?" for column in columns)
    db.execute(f"UPDATE remote SET {assignments} WHERE id = ?", (*columns.values(), remote_id))


def delete(db: sqlite3.Connection, remote_id: int, lock_id: object) -> None:
    """Remove one remote."""
    db.execute("DELETE FROM remote WHERE id = ?", (remote_id,))
    spans = [(lock_id, shift, remote_id >> shift) for shift in _SHIFTS]
    where = "WHERE lock_id = ? AND shift = ? AND bucket = ?"
    db.executemany(f"UPDATE remote_count SET remotes = remotes - 1 {where}", spans)
    db.executemany(f"DELETE FROM remote_count {where} AND remotes = 0", spans)


def clear(db: sqlite3.Connection, lock_id: int) -> int:
    """Remove all remotes of a lock; returns how many there were."""
    deleted = db.execute("DELETE FROM remote WHERE lock_id = ?", (lock_id,)).rowcount
    db.execute("DELETE FROM remote_count WHERE lock_id = ?", (lock_id,))
    return deleted


def recount(db: sqlite3.Connection, lock_id: object) -> None:
    """Make the counts of a lock anew from its remotes."""
    db.execute("DELETE FROM remote_count WHERE lock_id = ?", (lock_id,))
    for shift in _SHIFTS:
        db.execute(
            "INSERT INTO remote_count SELECT lock_id, :shift, id >> :shift, count(*)"
            " FROM remote WHERE lock_id = :lock GROUP BY id >> :shift",
            {"shift": shift, "lock": lock_id},
        )


def _insert_row(db: sqlite3.Connection, remote: Mapping[str, object]) -> int:
    # Column names come from this package alone, never from a request.
    columns, marks = ", ".join(remote), ", ".join("?" * len(remote))
    cursor = db.execute(f"INSERT INTO remote ({columns}) VALUES ({marks})", tuple(remote.values()))
    assert cursor.lastrowid is not None
    return cursor.lastrowid
