"""The interface that both databases of the service implement, and its implementation in SQLite.

Both databases accept the same statements, in SQLite's spelling. This module and
``postgres_storage`` hide the differences from other modules.

There is one SQLite connection for writing and another one for reading. A mutex protects each
connection. With a file, readers never wait for a writer (WAL mode). In memory, one connection does
both, because a second connection would not see its tables.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, Protocol


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


class Connection(Protocol):
    """A connection to the database that is inside a transaction."""

    same_name: str
    """The SQL condition that finds a lock's remote with the name ``?`` by an index."""

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Any:
        """Execute one statement, which has a ``?`` for each value, and return its cursor."""

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


# --- SQLite ---------------------------------------------------------------------------------------

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

_APPLICATION_ID = 0x4C4B5356
"""The SQLite application ID of the service's files; the service never changes other files."""
WRITE_WAIT_S, READ_WAIT_S = 5.0, 0.5
"""Maximum seconds to wait for another program that locks the file.

A reading statement waits for a shorter time, because the service may be unable to answer other
requests during the wait.
"""
_HINT = "Use a new file, or one that lockterm serve created."


class SqliteDatabase:
    """An open SQLite database.

    Args:
        path: The file; None keeps everything in memory.
        begin: The function that fills a new database.

    Raises:
        OSError: If the file cannot be opened, is not a database, belongs to another program or
            another version of the service, or can be changed by other users.
    """

    threads = 1
    is_quick = True

    def __init__(self, path: Path | None, begin: Begin) -> None:
        if path is not None:
            _make_private(path)
        try:
            self._writer = self._reader = _connect(path, WRITE_WAIT_S)
        except sqlite3.Error as error:
            raise DatabaseUnusableError(
                f"cannot open the database ({error})", str(path), _HINT
            ) from error
        try:
            self._prepare(path, begin)
            if path is not None:
                self._reader = _connect(path, READ_WAIT_S)
        except BaseException as error:
            self._writer.close()
            if isinstance(error, sqlite3.Error):
                raise DatabaseUnusableError(
                    f"cannot use the database ({error})", str(path), _HINT
                ) from error
            raise

    def _prepare(self, path: Path | None, begin: Begin) -> None:
        connection = self._writer
        owner = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if owner != _APPLICATION_ID and (owner or tables):
            raise DatabaseUnusableError("is a database of another program", str(path), _HINT)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if tables and version != VERSION:
            raise DatabaseUnusableError(
                "was made by another version of the service", str(path), _HINT
            )
        kinds = "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')"
        if found := connection.execute(kinds).fetchone():
            raise DatabaseUnusableError(
                f"has a trigger or view of another program, {found[0]}", str(path), _HINT
            )
        if path is not None:
            connection.execute("PRAGMA journal_mode = WAL")
        if not tables:
            connection.executescript(
                f"BEGIN IMMEDIATE; PRAGMA application_id = {_APPLICATION_ID};"
                f"PRAGMA user_version = {VERSION}; {SCHEMA}"
            )
            begin(connection)
            connection.execute("COMMIT")

    def rows(self, sql: str, values: Sequence[Any] = (), /) -> list[Any]:
        """Return the rows of one reading statement."""
        with self._reader.lock:
            try:
                return self._reader.execute(sql, values).fetchall()
            except sqlite3.OperationalError as error:
                raise DatabaseUnavailableError from error

    def reading(self) -> AbstractContextManager[_Connection]:
        """Open a transaction in which all statements read the same state."""
        return self._transaction(self._reader, "BEGIN")

    def writing(self, lock_id: int | None = None) -> AbstractContextManager[_Connection]:
        """Open a writing transaction. Only one can be open at a time, even for different locks."""
        return self._transaction(self._writer, "BEGIN IMMEDIATE")

    @staticmethod
    @contextmanager
    def _transaction(connection: _Connection, begin: str) -> Iterator[_Connection]:
        with connection.lock:
            try:
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
            except BaseException as error:
                # A full disk may have ended the transaction already.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
                    raise DuplicateNameError from error
                if isinstance(error, sqlite3.OperationalError):
                    raise DatabaseUnavailableError from error
                raise

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        for connection in (self._reader, self._writer):
            with connection.lock:
                connection.close()


class _Connection(sqlite3.Connection):
    same_name = "name = ?"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.lock = Lock()

    def new_id(self, sql: str, values: Sequence[Any], /) -> int:
        new_id = self.execute(sql, values).lastrowid
        assert new_id is not None
        return new_id

    def go_on_after_ids(self) -> None:
        """Do nothing, because SQLite itself continues after the highest ID."""


def _connect(path: Path | None, wait_s: float) -> _Connection:
    connection = sqlite3.connect(
        ":memory:" if path is None else path,
        isolation_level=None,
        check_same_thread=False,
        timeout=wait_s,
        factory=_Connection,
    )
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _make_private(path: Path) -> None:
    """Create the file if it is missing, and remove the access of other users.

    The function also removes that access from the files that SQLite creates beside the file. SQLite
    opens these by name and follows links, so other users must not be able to create a link in the
    directory.

    Raises:
        OSError: If others can write in the directory, or a file is a link or belongs to another
            user.
    """
    try:
        around = path.parent.stat()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    if around.st_mode & 0o022:
        raise DatabaseUnusableError(
            f"others can write in its directory {path.parent}",
            str(path),
            "Use a file in a directory that belongs to you.",
        )
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(FileExistsError):
        os.close(os.open(path, flags, 0o600))
    for end in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + end)
        try:
            about = file.lstat()
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EPERM, "it is a link, or not a file", str(file))
        if about.st_uid != os.geteuid():
            raise OSError(errno.EPERM, "it belongs to another user", str(file))
        if about.st_mode & 0o077:
            file.chmod(0o600)
