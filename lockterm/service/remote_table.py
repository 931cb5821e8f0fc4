"""The table of remotes, with a fast way to read any page of a long list.

A lock's list is in the order of IDs, so the newest remote is the last. A client that reads page
after page never gets a remote twice. The client misses a remote only if an earlier remote is
deleted between two of its requests.

``OFFSET`` reads every row that it skips. Therefore the table ``remote_count`` has the number of a
lock's remotes in each span of 2**8, 2**16 and 2**24 IDs. To find a page, the service adds the
counts of the largest spans, and then of at most 256 spans of each smaller size. The total is the
sum of the largest spans. Each added or deleted remote changes three counts. For the first pages,
``OFFSET`` alone is faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .storage import Connection, Database


class Remote(NamedTuple):
    """A stored remote, with the columns that the service returns."""

    id: int
    lock_id: int
    name: str
    number: str
    type: int
    add_type: int
    start_ms: int
    end_ms: int
    weekdays: str
    coerced: int
    extra_data: str
    api_user_id: int
    created_ms: int
    updated_ms: int


class Page(NamedTuple):
    """A page of a lock's remotes, and the total number of the lock's remotes."""

    is_lock: bool
    """Whether the lock is in the table of locks."""
    total: int
    remotes: list[Remote]


_SHIFTS = (24, 16, 8)
_COLUMNS = ", ".join(Remote._fields)

PAGE_QUERY = f"""
SELECT is_lock, total, page.* FROM (SELECT
    (SELECT count(*) FROM lock WHERE id = ?) AS is_lock,
    (SELECT CAST(coalesce(sum(remotes), 0) AS BIGINT) FROM remote_count
     WHERE lock_id = ? AND shift = {_SHIFTS[0]}) AS total
) AS about LEFT JOIN (
    SELECT {_COLUMNS} FROM remote WHERE lock_id = ? AND id >= ? ORDER BY id LIMIT ? OFFSET ?
) AS page ON TRUE ORDER BY page.id
"""
"""The statement that reads a page. Its ``OFFSET`` is at most 2**8, the smallest span's size."""
COUNT_QUERY = (
    "SELECT bucket, remotes FROM remote_count"
    " WHERE lock_id = ? AND shift = ? AND bucket BETWEEN ? AND ? ORDER BY bucket"
)


def page(database: Database, lock_id: int, offset: int, size: int) -> Page:
    """Skip the first ``offset`` remotes of a lock, and return up to ``size`` remotes after them."""
    if offset <= 1 << _SHIFTS[-1]:
        rows = database.rows(PAGE_QUERY, (lock_id, lock_id, lock_id, 0, size, offset))
    else:
        with database.reading() as db:
            start, left = _start(db, lock_id, offset)
            values = (lock_id, lock_id, lock_id, start, size, left)
            rows = db.execute(PAGE_QUERY, values).fetchall()
    is_lock, total = rows[0][:2]
    remotes = [Remote._make(row[2:]) for row in rows if row[2] is not None]
    return Page(bool(is_lock), total, remotes)


def _start(db: Connection, lock_id: int, offset: int) -> tuple[int, int]:
    """Return the ID from which to read a page, and the number of remotes to skip from there."""
    first, last, span_start = 0, 2**62, 0
    for shift in _SHIFTS:
        for bucket, remotes in db.execute(COUNT_QUERY, (lock_id, shift, first, last)):
            if offset < remotes:
                span_start = bucket << shift
                first, last = bucket << 8, (bucket << 8) + 255
                break
            offset -= remotes
        else:
            return 2**63 - 1, 0  # beyond the last
    return span_start, offset


def find(db: Connection, remote_id: int) -> Remote | None:
    """Return the remote with this ID; None if there is none."""
    row = db.execute(f"SELECT {_COLUMNS} FROM remote WHERE id = ?", (remote_id,)).fetchone()
    return row and Remote._make(row)


def has_name(db: Connection, lock_id: int, name: str) -> bool:
    """Return whether the lock has a remote with exactly this name."""
    query = f"SELECT id FROM remote WHERE lock_id = ? AND {db.same_name}"
    return db.execute(query, (lock_id, name)).fetchone() is not None


def insert(db: Connection, remote: Mapping[str, object]) -> int:
    """Add a remote, given as a mapping of columns to values, and return its new ID."""
    remote_id = db.new_id(*_insertion(remote))
    spans = [(remote["lock_id"], shift, remote_id >> shift) for shift in _SHIFTS]
    db.execute(
        f"INSERT INTO remote_count VALUES {', '.join(['(?, ?, ?, 1)'] * len(spans))}"
        " ON CONFLICT (lock_id, shift, bucket) DO UPDATE SET remotes = remote_count.remotes + 1",
        [value for span in spans for value in span],
    )
    return remote_id


def insert_many(db: Connection, remotes: list[dict[str, object]]) -> None:
    """Add many remotes and count them.

    Args:
        db: A connection inside a transaction.
        remotes: Mappings of columns to values; a remote without ``id`` gets a new ID.
    """
    for remote in remotes:
        db.execute(*_insertion(remote))
    for lock_id in {remote["lock_id"] for remote in remotes}:
        recount(db, lock_id)
    if any("id" in remote for remote in remotes):
        db.go_on_after_ids()


def change(db: Connection, remote_id: int, columns: Mapping[str, object]) -> None:
    """Set the given columns of a remote."""
    assignments = ", ".join(f"{column} = ?" for column in columns)
    db.execute(f"UPDATE remote SET {assignments} WHERE id = ?", (*columns.values(), remote_id))


def delete(db: Connection, remote_id: int, lock_id: object) -> None:
    """Delete a remote."""
    db.execute("DELETE FROM remote WHERE id = ?", (remote_id,))
    where = "WHERE lock_id = ? AND shift = ? AND bucket = ?"
    for shift in _SHIFTS:
        span = (lock_id, shift, remote_id >> shift)
        db.execute(f"UPDATE remote_count SET remotes = remotes - 1 {where}", span)
        db.execute(f"DELETE FROM remote_count {where} AND remotes = 0", span)


def clear(db: Connection, lock_id: int) -> int:
    """Delete all remotes of a lock and return their number."""
    deleted: int = db.execute("DELETE FROM remote WHERE lock_id = ?", (lock_id,)).rowcount
    db.execute("DELETE FROM remote_count WHERE lock_id = ?", (lock_id,))
    return deleted


def recount(db: Connection, lock_id: object) -> None:
    """Count the remotes of a lock again, and replace its rows in the table ``remote_count``."""
    db.execute("DELETE FROM remote_count WHERE lock_id = ?", (lock_id,))
    for shift in _SHIFTS:
        db.execute(
            f"INSERT INTO remote_count SELECT lock_id, {shift}, id >> {shift}, count(*)"
            f" FROM remote WHERE lock_id = ? GROUP BY lock_id, id >> {shift}",
            (lock_id,),
        )


def _insertion(remote: Mapping[str, object]) -> tuple[str, tuple[object, ...]]:
    # Column names come from this package alone, never from a request.
    columns, marks = ", ".join(remote), ", ".join("?" * len(remote))
    return f"INSERT INTO remote ({columns}) VALUES ({marks})", tuple(remote.values())
