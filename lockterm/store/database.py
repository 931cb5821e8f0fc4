"""The local database: one SQLite file, opened or created on first use."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import sqlite3
import stat
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lockterm.errors import StoreDamagedError, StoreError
from lockterm.paths import FILE_MODE, make_directory
from lockterm.store.damage import (
    TABLE_NAMES,
    contents,
    contents_of,
    failure_of,
    files_of,
    finish,
    inode,
    is_damage,
    is_earlier,
    make_tables,
    passing_damage,
    ready_for,
    refuse_foreign,
    salvage,
)
from lockterm.store.tables import TABLES, VERSION
from lockterm.threads import SingleThreadExecutor

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


def look_at_file_system(directory: Path) -> bool:
    """Check that a directory supports file locks, and return whether it supports shared memory.

    Raises:
        StoreError: There are no file locks, so two sessions would overwrite each other's changes.
    """
    try:
        file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115
    except OSError:
        return True  # the directory cannot be written, which SQLite reports itself
    with file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                return True
            raise StoreError(
                f"The local store cannot be kept in {directory}: its file system has no file locks"
                f" ({error.strerror}).",
                hint="Set XDG_STATE_HOME to a directory on a disk of this machine.",
            ) from error
        try:
            file.truncate(mmap.PAGESIZE)
            mmap.mmap(file.fileno(), mmap.PAGESIZE).close()
        except (OSError, ValueError) as error:
            return getattr(error, "errno", 0) == errno.ENOSPC
        return True


def use_journal(connection: sqlite3.Connection, *, shares_memory: bool) -> None:
    """Make SQLite use a write-ahead log, or a rollback journal if processes cannot share memory.

    Raises:
        sqlite3.Error: The store cannot be read or written.
    """
    if shares_memory:
        connection.execute("PRAGMA journal_mode = WAL")
        return
    # Without shared memory, only one session can open a store that has a write-ahead log. This
    # session removes the log.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA locking_mode = NORMAL")
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def fetch(
    connection: sqlite3.Connection, query: str, values: Sequence[Any] | Mapping[str, Any] = ()
) -> list[sqlite3.Row]:
    """Return the rows of a query. A damaged text, which is not UTF-8, is returned as bytes."""
    try:
        return connection.execute(query, values).fetchall()
    except sqlite3.OperationalError as error:
        if "UTF-8" not in str(error):
            raise
    connection.text_factory = _text
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.text_factory = str


def _connection(path: Path | str, **options: Any) -> sqlite3.Connection:
    connection: sqlite3.Connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, **options
    )
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.create_function("is_text", 2, _is_text, deterministic=True)
    return connection


def _text(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _is_text(kind: str, raw: bytes | None) -> bool:
    """Return whether a value, given its type and bytes, is readable text."""
    return kind == "text" and isinstance(_text(raw or b""), str)


def _found_damaged(message: str) -> sqlite3.DatabaseError:
    """Return the error that SQLite would raise for a damaged file."""
    error = sqlite3.DatabaseError(message)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of a file's tables, as lockterm saved it in the file."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def compare_contents(connection: sqlite3.Connection, tables: Sequence[str] = TABLES) -> None:
    """Check that a file has the tables of this version, unless a later version made the file.

    Args:
        connection: A connection to the file.
        tables: The statements that create the tables.

    Raises:
        sqlite3.DatabaseError: A table differs or is missing, and the file is not from a later
            version.
    """
    found = contents(connection)
    if not contents_of(tables).keys() - found.keys():
        return
    if is_earlier(found):
        raise _found_damaged("it comes from a version before the first release")
    if version_of(connection) <= VERSION:
        raise _found_damaged("a table differs from the table that this version creates")


_TROUBLE = (UnicodeDecodeError, sqlite3.Error, OSError)
"""The errors of SQLite and of the disk."""

BUSY_S = 5.0
"""Maximum time for which a transaction waits for another session on the same store, in seconds."""
CACHE_BUSY_S = 0.2
"""Maximum time for which a transaction on the cache waits, in seconds. The time is short because
the cache is not essential."""


class Database:
    """A connection to the store, usable from any thread. Transactions must be short.

    Args:
        path: The file. Its directory is created with mode 0700, and the file with mode 0600.
        tables: The statements that create the tables.
        durable: Whether a committed transaction must survive a power loss. A cache does not need
            this.
    """

    def __init__(self, path: Path, tables: Sequence[str] = TABLES, *, durable: bool = True) -> None:
        self.path = path
        self._tables = tables
        self._durable = durable
        self._busy_timeout_s = BUSY_S if durable else CACHE_BUSY_S
        self.notice = ""
        """A notification about a damaged store that was replaced; empty if there was no damage."""
        self.is_waiting = False
        """Whether a transaction is beginning, and may wait for a program that locked the file."""
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._mutex = threading.RLock()
        self.thread = SingleThreadExecutor("store" if durable else "cache")
        """The only thread in which the event loop uses the database. More threads are useless,
        because parallel transactions would wait for each other."""

    def _open(self) -> sqlite3.Connection:
        """Return a connection to the file at the path. If the file is damaged, replace it first."""
        if self._connection is not None:
            return self._connection
        make_directory(self.path.parent)
        if ready_for(self.path).exists():
            finish(self.path)
        with passing_damage():
            return self._connect()
        self._set_aside()
        return self._connect()

    def _begin(self, *, wait: bool = True) -> sqlite3.Connection:
        """Begin a transaction on the file that is now at the path, and return the connection."""
        while True:
            connection = self._current()
            self.is_waiting = wait
            try:
                if not wait:
                    connection.execute("PRAGMA busy_timeout = 0")
                connection.execute("BEGIN IMMEDIATE")
            finally:
                self.is_waiting = False
                if not wait:
                    connection.execute(f"PRAGMA busy_timeout = {int(self._busy_timeout_s * 1000)}")
            if inode(self.path) == self._inode:
                return connection
            connection.execute("ROLLBACK")

    def _current(self) -> sqlite3.Connection:
        """Return a connection to the file that is now at the path.

        If the open file was removed or replaced, connect to the new file at the path. If the store
        is durable, rows that are only in the old file are copied to the new file.
        """
        old, old_inode = self._connection, self._inode
        if old is None or inode(self.path) == old_inode:
            return self._open()
        self._connection = None
        try:
            connection = self._open()
            if self._durable:
                self._carry_over(old)
        except BaseException:
            # Keep the old connection open, because it can still read everything.
            if self._connection is not None:
                self._connection.close()
            self._connection, self._inode = old, old_inode
            raise
        old.close()
        return connection

    def _carry_over(self, old: sqlite3.Connection) -> None:
        """Copy rows from the old file that are missing in the new file.

        Damaged tables are not copied.
        """
        old.execute("ATTACH ? AS new", (str(self.path),))
        try:
            for (table,) in old.execute(TABLE_NAMES.format(file="new")).fetchall():
                # Rows are identified by their keys: the new file may reuse a sequence number.
                columns = old.execute(f"PRAGMA main.table_info({table})").fetchall()
                names = ", ".join(f'"{row[1]}"' for row in columns if row[1] != "seq")
                order = "seq" if any(row[1] == "seq" for row in columns) else "1"
                with passing_damage():
                    old.execute(
                        f"INSERT OR IGNORE INTO new.{table} ({names})"
                        f" SELECT {names} FROM main.{table} ORDER BY {order}"
                    )
        finally:
            with suppress(sqlite3.Error):
                old.execute("DETACH new")

    def _set_aside(self) -> None:
        self.close()
        if self._durable:
            notice = salvage(self.path, self._inode, self._tables)
            self.notice = notice or self.notice
        else:
            for file in files_of(self.path):
                file.unlink(missing_ok=True)

    def check(self) -> None:
        """Check the whole file. If it is damaged, rename it and replace it with a new file.

        Without this check, a search in a damaged index may find no row and raise no error, which
        could hide an unconfirmed change.

        Raises:
            StoreError: The file cannot be opened.
            StoreDamagedError: The file was damaged. A new file with the readable rows has replaced
                it.
        """
        with self.reading() as connection:
            (result,) = fetch(connection, "PRAGMA integrity_check(1)")[0]
            if result != "ok":
                raise _found_damaged(str(result))

    def _connect(self) -> sqlite3.Connection:
        self._close_to_others()
        shares_memory = look_at_file_system(self.path.parent)
        # Create the file only if it is missing: closing any descriptor of it drops SQLite's locks.
        if not self.path.exists():
            flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
            os.close(os.open(self.path, flags, FILE_MODE))
        self._inode = inode(self.path)
        connection = _connection(self.path, timeout=self._busy_timeout_s)
        try:
            use_journal(connection, shares_memory=shares_memory)
            refuse_foreign(connection, self.path)
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'OFF'}")
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _close_to_others(self) -> None:
        """Remove the access of other users to the files, for example after a restore of a backup.

        Raises:
            PermissionError: One of the files is a link or not a regular file.
        """
        for file in files_of(self.path):
            try:
                mode = file.lstat().st_mode
            except FileNotFoundError:
                continue
            if not stat.S_ISREG(mode):  # SQLite would follow a link, and wait for a pipe
                raise PermissionError(1, "it is a link, or not a file", str(file))
            if mode & 0o077:
                file.chmod(mode & FILE_MODE)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the tables of a new file, or check the tables of an existing file."""
        if not contents(connection):  # an existing file needs no wait for a writing session
            connection.execute("BEGIN IMMEDIATE")  # two sessions may start at once
            with connection:
                if not contents(connection):
                    make_tables(connection, self._tables)
        compare_contents(connection, self._tables)

    @contextmanager
    def transaction(self, *, wait: bool = True) -> Iterator[sqlite3.Connection]:
        """Open a transaction, whose changes are saved all together or not at all.

        Args:
            wait: Whether to wait for another program that has locked the file.

        Raises:
            StoreError: The file cannot be opened, read or written, or a value cannot be stored:
                a number beyond 64 bits, or half of a surrogate pair.
        """
        with self._mutex:
            if self._connection is not None and self._connection.in_transaction:
                yield self._connection  # part of the transaction around it
                return
            try:
                with self._begin(wait=wait) as connection:
                    yield connection
            except _TROUBLE as error:
                raise self._trouble(error) from error
            except (OverflowError, UnicodeEncodeError) as error:
                raise StoreError(
                    "The service sent a number or text that the local store cannot save.",
                    hint="Nothing was changed in the local store.",
                ) from error

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction for reading, which also works on a read-only disk.

        With a write-ahead log, the transaction does not wait for writers of other sessions.

        Raises:
            StoreError: The file cannot be opened or read.
        """
        with self._mutex:
            if self._connection is not None and self._connection.in_transaction:
                yield self._connection  # part of the transaction around it
                return
            stand_in = None
            try:
                connection = self._current()
            except (*_TROUBLE, StoreError) as error:
                # If the file was removed and cannot be recreated, the open one has all data.
                stand_in = None if self._connection is not None else self._unwritable()
                usable = self._connection or stand_in
                if usable is None:
                    raise self._trouble(error) from error
                connection = usable
            try:
                connection.execute("BEGIN")
                with connection:
                    yield connection
            except _TROUBLE as error:
                if stand_in is None:
                    raise self._trouble(error) from error
                raise StoreError(f"The local store {self.path} cannot be read: {error}.") from error
            finally:
                if stand_in is not None:
                    stand_in.close()

    def _trouble(self, error: Exception) -> StoreError:
        """Return the ``StoreError`` to raise for an error of SQLite or of the disk.

        If the error shows damage, first replace the damaged file.
        """
        if isinstance(error, StoreError):
            return error
        if is_damage(error):
            try:
                self._set_aside()
            except _TROUBLE as failure:
                error.add_note(str(failure))
            else:
                return StoreDamagedError(
                    (
                        "The local store was damaged. A new store contains the entries that"
                        " could be read."
                    ),
                    hint="Nothing was changed or sent. Check the history, then try again.",
                )
        sentence, hint = failure_of(self.path, error)
        return StoreError(sentence, hint=hint)

    def _unwritable(self) -> sqlite3.Connection | None:
        """Return a read-only connection, for a full or read-only disk; None if this fails too."""
        if not self.path.is_file():
            return None
        # If SQLite's side files cannot be made either, the file is read as immutable.
        for how in ("mode=ro", "mode=ro&immutable=1"):
            try:
                connection = _connection(f"{self.path.absolute().as_uri()}?{how}", uri=True)
            except sqlite3.Error:
                continue
            try:
                (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                refuse_foreign(connection, self.path)
            except (sqlite3.Error, StoreError):
                tables = 0
            if tables:  # without tables, the file was created just now and could not be filled
                return connection
            connection.close()
        return None

    def close(self) -> None:
        """Close the file. The next transaction opens it again."""
        with self._mutex:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
