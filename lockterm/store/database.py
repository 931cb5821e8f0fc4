"""The local database: one SQLite file, opened on its first use and migrated by name."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from lockterm.errors import StoreError
from lockterm.paths import FILE_MODE, make_directory
from lockterm.store.salvage import finish, inode, is_damage, salvage

MIGRATIONS: dict[str, str] = {
    "lock_book": """
        CREATE TABLE locks (
            profile TEXT NOT NULL,
            lock_id INTEGER NOT NULL,
            name TEXT NOT NULL,
            alias TEXT NOT NULL,
            vendor TEXT NOT NULL,
            model TEXT NOT NULL,
            zone TEXT NOT NULL,
            remotes INTEGER,
            opened_ms INTEGER,
            voice_lang TEXT,
            voice_timbre TEXT,
            PRIMARY KEY (profile, lock_id)
        ) WITHOUT ROWID
    """,
    "journal": """
        CREATE TABLE operations (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            profile TEXT NOT NULL,
            call TEXT NOT NULL,
            path TEXT NOT NULL,
            body TEXT NOT NULL,
            lock_id INTEGER NOT NULL,
            lock_name TEXT NOT NULL,
            remote_id INTEGER,
            remote_name TEXT NOT NULL,
            before TEXT NOT NULL,
            state TEXT NOT NULL,
            session TEXT NOT NULL,
            prepared_ms INTEGER NOT NULL,
            sent_ms INTEGER,
            settled_ms INTEGER,
            code INTEGER,
            message TEXT NOT NULL,
            answer TEXT NOT NULL,
            read_ms INTEGER,
            candidates TEXT NOT NULL,
            again_of TEXT,
            restores TEXT,
            restores_remote INTEGER
        )
    """,
    "journal_by_state": "CREATE INDEX operations_by_state ON operations (state, lock_id)",
    "journal_by_remote": "CREATE INDEX operations_by_remote ON operations (remote_id)",
    "journal_by_restored": "CREATE INDEX operations_by_restored ON operations (restores)",
    "drafts": """
        CREATE TABLE drafts (
            profile TEXT NOT NULL,
            form TEXT NOT NULL,
            lock_id INTEGER NOT NULL,
            remote_id INTEGER NOT NULL,
            typed TEXT NOT NULL,
            saved_ms INTEGER NOT NULL,
            session TEXT NOT NULL,
            PRIMARY KEY (profile, form, lock_id, remote_id)
        ) WITHOUT ROWID
    """,
    "journal_service": "ALTER TABLE operations ADD COLUMN service TEXT NOT NULL DEFAULT ''",
}
"""Name of a migration -> its statement. Applied once each, in this order, never edited later."""

BUSY_S = 5.0
"""How long a transaction waits for another session on the same store, in seconds."""
CACHE_BUSY_S = 0.2
"""The same for what need not be durable: going without it is better than waiting for it."""


class Database:
    """A connection to the store, usable from any thread; transactions are short.

    Args:
        path: The file; its directory is made with 0700 and the file with 0600.
        migrations: The tables, by name of the step that makes them.
        durable: Whether a committed transaction survives a loss of power; a cache need not.
    """

    def __init__(
        self, path: Path, migrations: Mapping[str, str] = MIGRATIONS, *, durable: bool = True
    ) -> None:
        self.path = path
        self._migrations = migrations
        self._durable = durable
        self.notice = ""
        """What happened to a damaged store, for people to read; empty as long as all is well."""
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._mutex = threading.RLock()

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            make_directory(self.path.parent)
            finish(self.path)
            try:
                self._connect()
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
                self._set_aside()
                self._connect()
        assert self._connection is not None
        return self._connection

    def _begin(self) -> sqlite3.Connection:
        """The connection, inside a transaction on the file that is in place now."""
        while True:
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            if inode(self.path) == self._inode:
                return connection
            # Another session has found the file damaged and put a new one in its place.
            connection.execute("ROLLBACK")
            self.close()

    def _set_aside(self) -> None:
        self.close()
        if self._durable:
            notice = salvage(self.path, self._inode, self._migrations)
            self.notice = notice or self.notice
        else:
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def flaws(self) -> str:
        """What is wrong with the file, in SQLite's words; empty if nothing is. Reads all of it.

        Raises:
            StoreError: It cannot be opened.
        """
        with self.transaction() as connection:
            said = [row[0] for row in connection.execute("PRAGMA quick_check(10)")]
        return "" if said == ["ok"] else "; ".join(said)

    def _connect(self) -> None:
        if self._connection is None:
            self._close_to_others()
            # Only where it is missing: closing any descriptor of a file drops SQLite's locks on it.
            if not self.path.exists():
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            self._inode = inode(self.path)
            connection = sqlite3.connect(
                self.path,
                timeout=BUSY_S if self._durable else CACHE_BUSY_S,
                isolation_level=None,
                check_same_thread=False,
            )
            connection.row_factory = sqlite3.Row
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'OFF'}")
                self._migrate(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection

    def _close_to_others(self) -> None:
        """Take a store that came from elsewhere, as from a backup, from other users' eyes."""
        for suffix in ("", "-wal", "-shm"):
            file = self.path.with_name(self.path.name + suffix)
            try:
                mode = file.lstat().st_mode
            except FileNotFoundError:
                continue
            if not stat.S_ISREG(mode):  # SQLite would follow a link, and wait for a pipe
                raise PermissionError(1, "it is a link or no file", str(file))
            if mode & 0o077:
                file.chmod(mode & FILE_MODE)

    def _migrate(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")  # two sessions may start at once
        with connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) WITHOUT ROWID"
            )
            done = {row[0] for row in connection.execute("SELECT name FROM migrations")}
            for name, statement in self._migrations.items():
                if name not in done:
                    connection.execute(statement)
                    connection.execute("INSERT INTO migrations VALUES (?)", (name,))

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A durable transaction: all of it or nothing.

        Raises:
            StoreError: The file cannot be opened, read or written, or a value cannot be kept:
                a number beyond 64 bits, half of a surrogate pair.
        """
        with self._mutex:
            if self._connection is not None and self._connection.in_transaction:
                yield self._connection  # part of the transaction around it
                return
            try:
                with self._begin() as connection:
                    yield connection
            except (sqlite3.Error, OSError) as error:
                if is_damage(error):
                    self._give_up_on_file(error)
                raise StoreError(
                    f"The local store {self.path} cannot be used: {error}.",
                    hint="See that its directory is yours, writable and not full.",
                ) from error
            except (OverflowError, UnicodeEncodeError) as error:
                raise StoreError(
                    "A number or a text of the service is none that the local store can keep.",
                    hint="Nothing was changed in the local store.",
                ) from error

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A transaction that only reads: it works where nothing can be written, too.

        Raises:
            StoreError: The file cannot be opened or read.
        """
        with self._mutex:
            try:
                self._open()
                stand_in = None
            except (sqlite3.Error, OSError, StoreError):
                stand_in = self._unwritable()
            if stand_in is None:
                with self.transaction() as connection:
                    yield connection
                return
            try:
                with closing(stand_in):
                    yield stand_in
            except sqlite3.Error as error:
                raise StoreError(f"The local store {self.path} cannot be read: {error}.") from error

    def _unwritable(self) -> sqlite3.Connection | None:
        """A connection for a disk that is full or not to be written; None if there is none."""
        if not self.path.is_file():
            return None
        # Where not even SQLite's side files can be made, the file is read as if nobody wrote it.
        for how in ("mode=ro", "mode=ro&immutable=1"):
            try:
                connection = sqlite3.connect(
                    f"{self.path.absolute().as_uri()}?{how}",
                    uri=True,
                    isolation_level=None,
                    check_same_thread=False,
                )
            except sqlite3.Error:
                continue
            connection.row_factory = sqlite3.Row
            try:
                connection.execute("SELECT count(*) FROM sqlite_master")
            except sqlite3.Error:
                connection.close()
            else:
                return connection
        return None

    def _give_up_on_file(self, error: Exception) -> None:
        """Set the damaged file aside, and say that what was wanted of it has to be done again."""
        try:
            self._set_aside()
        except (sqlite3.Error, OSError) as failure:
            error.add_note(str(failure))
            return
        raise StoreError(
            "The local store was damaged and is replaced by what could be read of it.",
            hint="Nothing was changed or sent. Look at the history, then do it again.",
        ) from error

    def close(self) -> None:
        """Close the file; the next transaction opens it again."""
        with self._mutex:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
