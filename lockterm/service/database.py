"""The SQLite database of the service: one connection, shared under one lock.

Requests are worked on in threads. One connection with a lock around every transaction is the
simplest thing that is right for all of them, in memory as in a file.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Lock

_APPLICATION_ID = 0x4C4B5356
"""Marks a file as a database of this service, so that no other is ever written to."""
_VERSION = 1
"""Of the schema; raised with every change to it."""

_SCHEMA = """
CREATE TABLE lock (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    alias TEXT NOT NULL,
    vendor TEXT NOT NULL,
    model TEXT NOT NULL
);
-- AUTOINCREMENT: the id of a deleted remote never comes back as another one's.
CREATE TABLE remote (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    lock_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    number TEXT NOT NULL,
    type INTEGER NOT NULL,
    add_type INTEGER NOT NULL,
    start_ms INTEGER NOT NULL,
    end_ms INTEGER NOT NULL,
    weekdays TEXT NOT NULL,
    coerced INTEGER NOT NULL,
    extra_data TEXT NOT NULL,
    mac TEXT,
    electric_quantity INTEGER,
    firmware_info TEXT,
    user_no INTEGER,
    business_id INTEGER,
    remote_right INTEGER,
    api_user_id INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
);
CREATE UNIQUE INDEX remote_by_lock ON remote (lock_id, id);
CREATE UNIQUE INDEX remote_by_name ON remote (lock_id, name);
-- How many remotes of a lock have ids in [bucket << shift, (bucket + 1) << shift).
CREATE TABLE remote_count (
    lock_id INTEGER NOT NULL,
    shift INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    remotes INTEGER NOT NULL,
    PRIMARY KEY (lock_id, shift, bucket)
) WITHOUT ROWID;
CREATE TABLE voice_setting (
    lock_id INTEGER PRIMARY KEY,
    lang TEXT NOT NULL,
    timbre TEXT NOT NULL,
    updated_ms INTEGER NOT NULL
);
-- One row: whether lock ids that are in no table count as locks.
CREATE TABLE site (any_lock INTEGER NOT NULL);
"""


class ServiceDatabase:
    """The open database.

    Args:
        path: the file; None keeps everything in memory.

    Raises:
        OSError: the file cannot be opened, is not a database, or is another program's.
    """

    def __init__(self, path: Path | None) -> None:
        self._lock = Lock()
        if path is not None:
            _make_private(path)
        try:
            self._connection = sqlite3.connect(
                ":memory:" if path is None else path,
                isolation_level=None,
                check_same_thread=False,
                timeout=5,
            )
            self._connection.row_factory = sqlite3.Row
        except sqlite3.Error as error:
            raise OSError(errno.EIO, f"cannot open the database ({error})", str(path)) from error
        try:
            self.is_new = self._prepare(path)
        except (sqlite3.Error, OSError) as error:
            self._connection.close()
            if isinstance(error, OSError):
                raise
            raise OSError(errno.EIO, f"cannot use the database ({error})", str(path)) from error

    def _prepare(self, path: Path | None) -> bool:
        connection = self._connection
        owner = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if owner != _APPLICATION_ID and (owner or tables):
            raise OSError(errno.EEXIST, "is a database of another program", str(path))
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if tables and version != _VERSION:
            raise OSError(errno.EINVAL, "was made by another version of the service", str(path))
        if path is not None:
            connection.execute("PRAGMA journal_mode = WAL")
        if tables:
            return False
        connection.executescript(
            f"BEGIN IMMEDIATE; PRAGMA application_id = {_APPLICATION_ID};"
            f"PRAGMA user_version = {_VERSION}; {_SCHEMA} COMMIT;"
        )
        return True

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """One consistent view for everything that is read inside."""
        return self._transaction("BEGIN")

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """All of what is written inside, or on an exception nothing of it."""
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute(begin)
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk may have ended the transaction already.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file. Doing so twice is harmless."""
        with self._lock:
            self._connection.close()


def _make_private(path: Path) -> None:
    """Who may use which door is nobody else's business; SQLite's new files follow suit."""
    if not path.exists():
        path.touch(mode=0o600)
    if path.stat().st_uid != os.geteuid():
        raise OSError(errno.EPERM, "it belongs to another user", str(path))
    for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        if file.is_file() and file.stat().st_mode & 0o077:
            file.chmod(0o600)
