"""The interface that both databases of the service implement, their errors, and SQLite's tables.

Both databases accept the same statements, in SQLite's spelling. ``sqlite_storage`` and
``postgres_storage`` hide the differences from other modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

VERSION = 1
"""Version of ``SCHEMA``. Increase this number with every change of the schema."""

SCHEMA = """
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


class DatabaseUnavailableError(Exception):
    """An error because the database cannot do an operation now. Nothing was changed."""


class TransactionConflictError(DatabaseUnavailableError):
    """An error because of a conflict or a lost connection. A new attempt may succeed."""


class CommitUnknownError(Exception):
    """An error because the connection was lost during a commit: the change may be saved or not."""


class DuplicateNameError(Exception):
    """An error because another remote of the lock has the name. Nothing was changed."""


class DatabaseUnusableError(OSError):
    """An error for a database that the service cannot use when it starts.

    Args:
        reason: The problem, without a period at the end.
        database: The name of the database, without a password.
        hint: The next step for the user.
    """

    def __init__(self, reason: str, database: str, hint: str) -> None:
        super().__init__(0, reason, database)
        self.hint = hint


class Rows(Protocol):
    """The result of an SQL statement, as the cursors of both databases offer it."""

    @property
    def description(self) -> Any:
        """The columns of the result: for each, a sequence that begins with the column's name."""

    @property
    def rowcount(self) -> int:
        """Number of changed rows."""

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection to the database that is inside a transaction."""

    same_name: str
    """The SQL condition that finds a lock's remote with the name ``?`` by an index."""

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Rows:
        """Execute one statement, which has a ``?`` for each value."""

    def new_id(self, sql: str, values: Sequence[Any], /) -> int:
        """Execute an ``INSERT`` of one row and return its new ID."""

    def go_on_after_ids(self) -> None:
        """Make new IDs follow the highest ID. Call this method after adding rows with given IDs."""


class Database(Protocol):
    """An open database, which several threads may use at the same time.

    A failed transaction raises ``DatabaseUnavailableError``, or ``CommitUnknownError`` if it may
    have been committed.
    """

    threads: int
    """Number of threads in which the service calls the database. More threads would only wait."""
    is_quick: bool
    """Whether reading is faster than a switch to a thread, and never waits for a writer."""

    def rows(self, sql: str, values: Sequence[Any] = (), /) -> list[Any]:
        """Return the rows of one reading statement, which needs no transaction."""

    def reading(self) -> AbstractContextManager[Connection]:
        """Open a transaction in which all statements read the same state."""

    def writing(self, lock_id: int | None = None) -> AbstractContextManager[Connection]:
        """Open a transaction that is committed at its end, or changes nothing after an exception.

        Other writers to the same lock wait until the transaction ends, so the values that this
        transaction reads stay current. The IDs of a lock's remotes therefore grow in the order in
        which clients first see the remotes.

        Args:
            lock_id: The lock to change; None if there can be no other writer.

        Raises:
            DuplicateNameError: If another remote of the lock has the name.
        """

    def close(self) -> None:
        """Close the database. A second call does nothing."""


Begin = Callable[[Connection], None]
"""A function that fills a new database, in the transaction that creates its tables."""
