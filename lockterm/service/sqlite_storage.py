"""The service's tables in SQLite, with one connection for writing and another one for reading.

A mutex protects each connection. With a file, readers never wait for a writer (WAL mode). In
memory, one connection does both, because a second connection would not see its tables.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from .storage import (
    SCHEMA,
    VERSION,
    Begin,
    DatabaseUnavailableError,
    DatabaseUnusableError,
    DuplicateNameError,
)

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
        OSError: If the file cannot be opened, is not a database, belongs to another program, or can
            be changed by other users.
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

    This also applies to the files that SQLite creates beside the file. SQLite opens them by name
    and follows links, so other users must not be able to create a link in the directory.

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
