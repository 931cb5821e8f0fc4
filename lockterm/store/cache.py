"""The cache of the service's last answers, for an instant display.

lockterm compares each new list with the cached one. The cache also has the changes by others that
lockterm found in this way. Deleting the cache loses no data of the user.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockterm.domain.changes_elsewhere import ChangeElsewhere, ChangeKind
from lockterm.domain.listing import NEVER, Block, Ends, Listing, count_by_dates, read_periods
from lockterm.errors import StoreError
from lockterm.store.accounts import owner_of
from lockterm.store.damage import files_of
from lockterm.store.database import Database

if TYPE_CHECKING:
    from lockterm.config import Profile

MOST = 2000
"""Maximum number of cached answers. The oldest answers are dropped first."""

MOST_BYTES = 64 * 1024 * 1024
"""Maximum number of bytes of all cached answers. The oldest answers are dropped first."""

LARGEST = 512 * 1024
"""Maximum number of characters of a cached answer as JSON. 200 remotes have about 100,000
characters."""

MOST_LIST_BYTES = 256 * 1024 * 1024
"""Maximum number of bytes of all cached lists, twice the size of the lists of 10,000 locks with 100
remotes each. The oldest lists are dropped first."""

MOST_CHANGES = 5000
"""Maximum number of saved changes by others. The oldest changes are dropped first."""

KEPT_MS = 90 * 24 * 3600 * 1000
"""Time after which a saved change is dropped, in milliseconds."""

MOST_BLOCKS = 50
"""Maximum number of blocks of a cached list that are compared with a single page. 50 blocks have
10,000 remotes."""

TABLES = (
    """
    CREATE TABLE answers (
        owner TEXT NOT NULL,
        key TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (owner, key)
    )
    """,
    "CREATE INDEX answers_by_age ON answers (at_ms, bytes)",
    """
    CREATE TABLE lists (
        owner TEXT NOT NULL,
        lock_id INTEGER NOT NULL,
        block INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        ended_ms INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        unreadable INTEGER NOT NULL,
        texts BLOB NOT NULL,
        ids BLOB NOT NULL,
        ends BLOB NOT NULL,
        periods BLOB NOT NULL,
        records BLOB NOT NULL,
        PRIMARY KEY (owner, lock_id, block)
    )
    """,
    "CREATE INDEX lists_by_age ON lists (at_ms, bytes)",
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
"""The statements that create the tables. lockterm deletes a cache that has other tables.

In the table of changes by others, ``names``, ``before`` and ``after`` are JSON.
"""

_OLDEST = """
    DELETE FROM answers WHERE rowid IN (
        SELECT rowid FROM (
            SELECT rowid, sum(bytes) OVER newest AS bytes, count(*) OVER newest AS count
            FROM answers WINDOW newest AS (ORDER BY at_ms DESC, rowid DESC ROWS UNBOUNDED PRECEDING)
        ) WHERE bytes > ? OR count > ?
    )
"""

_OLDEST_LISTS = """
    DELETE FROM lists WHERE at_ms <= (
        SELECT max(at_ms) FROM (
            SELECT at_ms, sum(bytes) OVER newest AS bytes
            FROM lists WINDOW newest AS (ORDER BY at_ms DESC RANGE UNBOUNDED PRECEDING)
        ) WHERE bytes > ?
    )
"""

_ADD_CHANGE = """
    INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
    ON CONFLICT DO UPDATE SET
        until_ms = iif(after = excluded.after, until_ms, excluded.until_ms),
        seen = seen AND after = excluded.after,
        what = excluded.what, names = excluded.names, after = excluded.after
"""
"""The statement that adds a change, or updates the saved change of the same remote. If the
remote is the same after both changes, the saved, earlier time stays."""

_REMOVE_GONE = """
    DELETE FROM changes
    WHERE owner = ? AND lock_id = ? AND remote_id = ? AND what = 'gone' AND before = ?
"""

_OLDEST_CHANGES = """
    DELETE FROM changes WHERE until_ms < ? OR rowid IN (
        SELECT rowid FROM changes ORDER BY until_ms DESC LIMIT -1 OFFSET ?
    )
"""


@dataclass(frozen=True, slots=True)
class KeptRecords:
    """The records of a cached list of remotes, to compare with a list that is read later."""

    at_ms: int
    """The time when lockterm began to read the list, by this machine's clock, in milliseconds."""
    ended_ms: int
    """The time when the list was completely read, in milliseconds since the epoch."""
    is_whole: bool
    """Whether the list has every remote that the lock had when the list was read."""
    blocks: Sequence[bytes]
    """The packed records of each requested block of the list: lines of JSON, compressed."""


def cache_of(directory: Path, profile: Profile) -> Cache | None:
    """Return the cache of a profile in a directory.

    Args:
        directory: The directory for data that may be deleted.
        profile: The profile.

    Returns:
        The cache; None if the profile turns caching off. In that case, the function deletes the
        profile's cached answers.
    """
    cache = Cache(directory / "answers.db", profile)
    if profile.cache:
        return cache
    if cache.is_there:
        cache.forget("")
        cache.close()
    return None


class Cache:
    """A cache of the service's last answers to a profile. No method raises ``StoreError``.

    Answers for one token must not be shown to the user of another token on the same machine.
    Therefore an answer is found only with the profile, service and credentials that received it.

    Args:
        path: The cache file, which all profiles share.
        profile: The profile. Its name, base URL, account and headers identify its answers.
    """

    def __init__(self, path: Path, profile: Profile) -> None:
        self._database = Database(path, TABLES, durable=False)
        self.thread = self._database.thread
        self._profile = profile
        self._is_checked = False
        self._list_bytes: int | None = None
        """Number of bytes of all cached lists; None until they are counted."""

    @cached_property
    def _owner(self) -> str:
        """The text that identifies the profile's answers.

        Computing this text takes milliseconds.
        """
        return owner_of(self._profile)

    @property
    def is_there(self) -> bool:
        """Whether the cache file exists, even if it has no answers of this profile."""
        return self._database.path.exists()

    def get(self, key: str) -> tuple[Any, int] | None:
        """Return the cached value of a key, and when lockterm received the value, in milliseconds.

        The result is None if no value is cached.
        """
        try:
            with self._opened().transaction() as connection:
                row: sqlite3.Row | None = connection.execute(
                    "SELECT value, at_ms FROM answers WHERE owner = ? AND key = ?",
                    (self._owner, key),
                ).fetchone()
            return (json.loads(row["value"]), row["at_ms"]) if row else None
        except (StoreError, ValueError):
            return None

    def put(self, key: str, value: Any, at_ms: int) -> None:
        """Cache a value.

        If the value is longer than ``LARGEST``, delete the older value of the key instead.

        Args:
            key: The key.
            value: The value, which must be valid as JSON.
            at_ms: The time when the value was read, in milliseconds since the epoch.
        """
        text = json.dumps(value)
        if len(text) > LARGEST:
            self.forget(key)
            return
        with suppress(StoreError), self._opened().transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)",
                (self._owner, key, len(text), at_ms, text),
            )
            count, size = connection.execute("SELECT count(*), sum(bytes) FROM answers").fetchone()
            if count > MOST or size > MOST_BYTES:
                connection.execute(_OLDEST, (MOST_BYTES, MOST))

    def forget(self, start: str) -> None:
        """Delete the profile's cached answers whose keys begin with a text.

        An empty text deletes all cached answers, lists and changes by others of the profile.
        """
        with suppress(StoreError), self._opened().transaction() as connection:
            connection.execute(
                "DELETE FROM answers WHERE owner = ? AND substr(key, 1, ?) = ?",
                (self._owner, len(start), start),
            )
            if not start:
                for table in ("lists", "changes"):
                    connection.execute(f"DELETE FROM {table} WHERE owner = ?", (self._owner,))

    # --- whole lists -----------------------------------------------------------------------

    def put_list(
        self,
        lock_id: int,
        listing: Listing,
        ended_ms: int = 0,
        base: KeptRecords | None = None,
        changes: Sequence[ChangeElsewhere] = (),
    ) -> None:
        """Cache the whole list of a lock's remotes, and replace the earlier list of the lock.

        Args:
            lock_id: The ID of the lock.
            listing: The new list.
            ended_ms: The time when the new list was completely read, in milliseconds.
            base: The cached list that the new list was compared with. If another session has
                replaced this cached list, the new list and ``changes`` are not saved. None to
                save the new list in any case.
            changes: The changes by others between ``base`` and the new list, which are saved in the
                same transaction.
        """
        rows = [
            (
                block.texts.encode("utf-8", "surrogatepass"),
                block.ids.tobytes(),
                block.ends.tobytes(),
                block.periods.tobytes(),
                block.records,
            )
            for block in listing.blocks
        ]
        size = sum(len(part) for row in rows for part in row)
        key = (self._owner, lock_id)
        with suppress(StoreError), self._opened().transaction() as connection:
            query = "SELECT max(at_ms) FROM lists WHERE owner = ? AND lock_id = ?"
            (cached_ms,) = connection.execute(query, key).fetchone()
            if base is not None and cached_ms not in (None, base.at_ms):
                return
            self._add_changes(connection, changes)
            connection.execute("DELETE FROM lists WHERE owner = ? AND lock_id = ?", key)
            times = listing.at_ms, max(ended_ms, listing.at_ms)
            flags = listing.changed, listing.unreadable
            connection.executemany(
                "INSERT INTO lists VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (*key, number, sum(map(len, row)), *times, *flags, *row)
                    for number, row in enumerate(rows)
                ],
            )
            if self._list_bytes is not None:
                self._list_bytes += size
            if self._list_bytes is None or self._list_bytes > MOST_LIST_BYTES:
                connection.execute(_OLDEST_LISTS, (MOST_LIST_BYTES,))
                (count,) = connection.execute("SELECT total(bytes) FROM lists").fetchone()
                self._list_bytes = int(count)

    def lists(self, lock_id: int | None = None) -> Mapping[int, Listing]:
        """Return the cached lists of all locks, or only that of ``lock_id``, by lock ID.

        The result is empty if the cache cannot be read.
        """

        def block(row: sqlite3.Row) -> Block:
            texts = row["texts"].decode("utf-8", "surrogatepass")
            ids, ends, periods = (array("q", row[name]) for name in ("ids", "ends", "periods"))
            return Block(texts, ids, ends, periods, row["records"])

        try:
            with self._opened().reading() as connection:
                rows = connection.execute(
                    "SELECT lock_id, at_ms, changed, unreadable, texts, ids, ends, periods, records"
                    f" FROM lists WHERE owner = ?{' AND lock_id = ?' * (lock_id is not None)}"
                    " ORDER BY lock_id, block",
                    (self._owner, *(() if lock_id is None else (lock_id,))),
                )
                blocks, lists = dict[int, list[Block]](), dict[int, Listing]()
                for row in rows:
                    of_lock = blocks.setdefault(row["lock_id"], [])
                    of_lock.append(block(row))
                    lists[row["lock_id"]] = Listing(
                        of_lock, row["at_ms"], bool(row["changed"]), row["unreadable"]
                    )
                return lists
        except (StoreError, ValueError, TypeError):
            return {}

    def ends(
        self, lock_id: int, block: int, most: int
    ) -> list[tuple[array[int], array[int], int, bool]] | None:
        """Return the end dates and periods of the remotes in some blocks of a cached list.

        Args:
            lock_id: The ID of the lock.
            block: Number of the first block, from 0.
            most: Maximum number of blocks.

        Returns:
            ``Block.ends``, ``Block.periods``, ``Listing.at_ms`` and ``Listing.changed`` for each
            block; None if they cannot be read.
        """
        try:
            with self._opened().reading() as connection:
                rows = connection.execute(
                    "SELECT ends, periods, at_ms, changed FROM lists"
                    " WHERE owner = ? AND lock_id = ? AND block >= ? ORDER BY block LIMIT ?",
                    (self._owner, lock_id, block, most),
                )
                return [
                    (array("q", ends), array("q", periods), at_ms, bool(changed))
                    for ends, periods, at_ms, changed in rows
                ]
        except (StoreError, ValueError, TypeError):
            return None

    def count_ends(
        self, lock_id: int, before: Ends | None, block: int, most: int, now_ms: int
    ) -> tuple[Ends | None, int]:
        """Count the remotes by state in the next blocks of a cached list.

        Args:
            lock_id: The ID of the lock.
            before: The counts of the blocks before ``block``; None if ``block`` is 0.
            block: Number of the first block to count, from 0.
            most: Maximum number of blocks to count.
            now_ms: The present time, in milliseconds since the epoch.

        Returns:
            The counts including ``before``, and the number of counted blocks. None and 0 if the
            list cannot be read. None and ``most`` if another list has replaced the list that
            ``before`` counts, so that the caller must start again.
        """
        read = self.ends(lock_id, block, most)
        # The first block, read again after the others, shows whether the list has changed.
        first = self.ends(lock_id, 0, 1) if block else read
        if first is None or read is None:
            return None, 0
        if before is not None and {block[2] for block in first + read} != {before.at_ms}:
            return None, most
        for dates, periods, at_ms, changed in read:
            counts = count_by_dates([sorted(dates)], read_periods(periods), now_ms)
            before = Ends(counts + before.counts if before else counts, at_ms, changed)
        return before, len(read)

    def is_behind(self, lock_id: int) -> bool:
        """Return whether the cache has no list of a lock, or only an outdated one.

        A list is outdated if lockterm has changed the lock since the list was read.
        """
        try:
            with self._opened().reading() as connection:
                row = connection.execute(
                    "SELECT max(changed) FROM lists WHERE owner = ? AND lock_id = ?",
                    (self._owner, lock_id),
                ).fetchone()
            return bool(row[0] != 0)
        except StoreError:
            return True

    def note_changed(self, lock_id: int) -> None:
        """Mark the cached list of a lock as outdated. Call this after a change of the lock."""
        with suppress(StoreError), self._opened().transaction() as connection:
            connection.execute(
                "UPDATE lists SET changed = 1 WHERE owner = ? AND lock_id = ?",
                (self._owner, lock_id),
            )

    # --- changes by others -----------------------------------------------------------------

    def records(self, lock_id: int, ids: Collection[int] | None = None) -> KeptRecords | None:
        """Return the records of a cached list.

        Args:
            lock_id: The ID of the lock.
            ids: IDs of remotes, to return only the blocks with these remotes. None for all blocks.

        Returns:
            The records; None if no list is cached, if it cannot be read, or if it has more than
            ``MOST_BLOCKS`` blocks and ``ids`` is given.
        """
        try:
            with self._opened().reading() as connection:
                rows = connection.execute(
                    "SELECT at_ms, ended_ms, unreadable, ids, records FROM lists"
                    " WHERE owner = ? AND lock_id = ? ORDER BY block LIMIT ?",
                    (self._owner, lock_id, -1 if ids is None else MOST_BLOCKS + 1),
                ).fetchall()
            if not rows or (ids is not None and len(rows) > MOST_BLOCKS):
                return None
            known = [array("q", row["ids"]) for row in rows]
            is_whole = not rows[0]["unreadable"] and not any(NEVER in block for block in known)
            blocks = [
                row["records"]
                for row, block in zip(rows, known, strict=True)
                if ids is None or not set(ids).isdisjoint(block)
            ]
            return KeptRecords(rows[0]["at_ms"], rows[0]["ended_ms"], is_whole, blocks)
        except (StoreError, ValueError, TypeError):
            return None

    def put_changes(self, changes: Sequence[ChangeElsewhere]) -> None:
        """Save changes that others made."""
        with suppress(StoreError), self._opened().transaction() as connection:
            self._add_changes(connection, changes)

    def _add_changes(
        self, connection: sqlite3.Connection, changes: Sequence[ChangeElsewhere]
    ) -> None:
        """Add changes, and drop the oldest changes if a limit is exceeded.

        If a new remote equals a remote that was saved as gone, the remote was never gone, but only
        missing from one list. The function then removes the earlier change and does not add the new
        one.
        """
        for change in changes:
            key = self._owner, change.lock_id, change.remote_id
            records = [
                json.dumps(value, sort_keys=True)
                for value in (change.names, change.before, change.after)
            ]
            if change.what is ChangeKind.NEW:
                removed = connection.execute(_REMOVE_GONE, (*key, records[-1]))
                if removed.rowcount:
                    continue
            times = change.since_ms, change.until_ms
            connection.execute(_ADD_CHANGE, (*key, *times, change.what.value, *records))
        if changes:
            newest_ms = max(change.until_ms for change in changes)
            connection.execute(_OLDEST_CHANGES, (newest_ms - KEPT_MS, MOST_CHANGES))

    def changes(
        self,
        lock_id: int | None = None,
        since_ms: int = 0,
        *,
        unseen: bool = False,
        most: int = -1,
    ) -> list[ChangeElsewhere]:
        """Return the changes that others made, the newest first; empty if they cannot be read.

        Args:
            lock_id: The lock; None for all locks.
            since_ms: The earliest time at which a change was found, in milliseconds since the
                epoch.
            unseen: Whether to leave out the changes that the user has looked at.
            most: Maximum number of changes; -1 for all.
        """
        try:
            with self._opened().reading() as connection:
                rows = connection.execute(
                    "SELECT lock_id, remote_id, what, before, after, since_ms, until_ms, names,"
                    " seen FROM changes WHERE owner = ? AND until_ms >= ?"
                    f"{' AND lock_id = ?' * (lock_id is not None)}{' AND NOT seen' * unseen}"
                    " ORDER BY until_ms DESC, rowid DESC LIMIT ?",
                    (self._owner, since_ms, *(() if lock_id is None else (lock_id,)), most),
                )
                return [_change_of(row) for row in rows]
        except (StoreError, ValueError, TypeError):
            return []

    def note_seen(self, until_ms: int) -> None:
        """Mark the changes that were found until ``until_ms``, in milliseconds, as seen."""
        with suppress(StoreError), self._opened().transaction() as connection:
            connection.execute(
                "UPDATE changes SET seen = 1 WHERE owner = ? AND until_ms <= ?",
                (self._owner, until_ms),
            )

    def close(self) -> None:
        """End the thread of the cache after its current work, and close the file."""
        self.thread.end()
        self._database.close()

    def _opened(self) -> Database:
        """Return the database.

        Before the first use, delete a cache file that is far larger than the limits.
        """
        if not self._is_checked:
            self._is_checked = True
            path = self._database.path
            with suppress(OSError):  # the file does not exist, or SQLite reports the problem
                if path.stat().st_size > 2 * (MOST_BYTES + MOST_LIST_BYTES):
                    for file in files_of(path):
                        file.unlink(missing_ok=True)
        return self._database


def _change_of(row: sqlite3.Row) -> ChangeElsewhere:
    values = dict(row)
    is_seen, what = bool(values.pop("seen")), ChangeKind(values.pop("what"))
    records = {name: json.loads(values.pop(name)) for name in ("before", "after", "names")}
    return ChangeElsewhere(**values, **records, what=what, is_seen=is_seen)
