"""What a database has to give to the service, and the tables that it keeps them in.

There is one set of statements for all databases, in SQLite's spelling; what differs stands in
``sqlite_storage`` and ``postgres_storage``, and nothing outside of the two asks which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

VERSION = 1
"""Of the schema; raised with every change to it."""

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


class Unavailable(Exception):
    """The database cannot do it at present; nothing was changed."""


class Again(Unavailable):
    """Others were quicker, or the connection was lost: the same once more may do."""


class OutcomeUnknown(Exception):
    """The database was lost while it recorded a change, which may be there or not."""


class NameTaken(Exception):
    """Another remote of the lock has the name; nothing was changed."""


class Unusable(OSError):
    """A database that the service cannot begin with.

    Args:
        reason: what is wrong with it, without a full stop.
        database: which one it is, without any password.
        hint: what to do about it.
    """

    def __init__(self, reason: str, database: str, hint: str) -> None:
        super().__init__(0, reason, database)
        self.hint = hint


class Rows(Protocol):
    """What a statement found."""

    @property
    def description(self) -> Any:
        """A sequence for each column, beginning with its name."""

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A transaction's way to the database."""

    same_name: str
    """What finds the remotes of a lock whose name is ``?``, by an index."""

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Rows:
        """Do one statement with a ``?`` for each value."""

    def new_id(self, sql: str, values: Sequence[Any], /) -> int:
        """Do an ``INSERT`` of one row; returns the id it was given."""

    def go_on_after_ids(self) -> None:
        """Give no id up to the highest that there is: rows came with ids of their own."""


class Database(Protocol):
    """A database that is open, for threads at once.

    A transaction that fails raises ``Unavailable``, or ``OutcomeUnknown`` if it cannot be told.
    """

    threads: int
    """How many of them it is good for; a further one would only wait."""
    is_quick: bool
    """Whether a read takes less than the way to a thread and back, and waits for nobody."""

    def rows(self, sql: str, values: Sequence[Any] = (), /) -> list[Any]:
        """What one statement finds that only reads; it sees one state, and needs no transaction."""

    def reading(self) -> AbstractContextManager[Connection]:
        """One consistent view for everything that is read inside."""

    def writing(self, lock_id: int | None = None) -> AbstractContextManager[Connection]:
        """All of what is written inside, or on an exception nothing of it.

        Whoever else writes to this lock waits until the end: what is read inside stays true. The
        ids of its remotes therefore grow in the order in which they are first seen.

        Args:
            lock_id: the lock that is written to; None where nobody else writes.

        Raises:
            NameTaken: the lock has a remote of that name.
        """

    def close(self) -> None:
        """Let go of it. Doing so twice is harmless."""


Begin = Callable[[Connection], None]
"""Puts into a new database what it begins with, in the transaction that makes its tables."""
