"""The features of a file system that SQLite needs: file locks and shared memory maps.

Network shares and host directories in containers may have neither.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import sqlite3
import tempfile
from pathlib import Path

from lockterm.errors import StoreError

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


def look_at_file_system(directory: Path) -> bool:
    """Check the file locks, and return whether processes can share memory by files in a directory.

    Raises:
        StoreError: There are no file locks, so two sessions would overwrite each other's changes.
    """
    try:
        file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115
    except OSError:
        return True  # it cannot be written, which SQLite says itself
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
    """Use a write-ahead log, or a rollback journal if the file system has no shared memory maps.

    Raises:
        sqlite3.Error: The store cannot be read or written.
    """
    if shares_memory:
        connection.execute("PRAGMA journal_mode = WAL")
        return
    # A store that has a write-ahead log can only be opened by one session here, to take it away.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA locking_mode = NORMAL")
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
