"""Functions that detect a damaged store. The module ``salvage`` rescues the rows of the store."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lockterm.domain.safe_text import clean
from lockterm.errors import StoreError
from lockterm.store.tables import EARLIER

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""SQLite's error codes for a damaged file."""

DATA_ERRORS = (sqlite3.DatabaseError, UnicodeDecodeError)
"""The errors that a damaged file raises. Python cannot decode a message of SQLite that quotes bytes
which are not UTF-8."""

TABLE_NAMES = """
    SELECT name FROM {file}.sqlite_master
    WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
"""
"""The query for the names of the tables in a file, without SQLite's own tables."""

Contents = dict[tuple[Any, ...], int]
"""The schema of a file.

Maps the type, name, table and SQL statement of each entry, as bytes, to the number of the entry's
first page.
"""


def is_damage(error: BaseException) -> bool:
    """Return whether an error means a damaged file, unlike the errors of a full disk or a lock."""
    if isinstance(error, UnicodeDecodeError):
        return True
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


def refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    """Raise an error if a store has triggers or views.

    lockterm creates no triggers or views. If another program created some, lockterm's statements
    would run them.

    Raises:
        StoreError: The store has a trigger or view.
        sqlite3.Error: The store cannot be read.
    """
    query = "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') LIMIT 1"
    if found := connection.execute(query).fetchone():
        kind, name = found
        raise StoreError(
            f"The local store {path} has a {clean(kind)} that lockterm did not make:"
            f" {clean(name, 60)}. Nothing was changed.",
            hint="Another program has changed it. Move the file away, and check who has access.",
        )


def failure_of(path: Path, error: Exception) -> tuple[str, str]:
    """Return a sentence and a hint for the user about an error of a store that is not damaged."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _LOCKED:
        return (
            f"The local store {path} is locked by another program.",
            "Wait until that program is done, or end it. Then try again.",
        )
    hint = "Check that its directory is yours, writable and not full."
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_IOERR:
        name = getattr(error, "sqlite_errorname", "")
        sentence = f"The disk of the local store {path} failed: {error} ({name})."
        return sentence, f"{hint} Or set XDG_STATE_HOME to a directory on a disk of this machine."
    return f"The local store {path} cannot be used: {error}.", hint


@contextlib.contextmanager
def passing_damage() -> Iterator[None]:
    """Return a context manager that suppresses the errors of a damaged file."""
    try:
        yield
    except DATA_ERRORS as error:
        if not is_damage(error):
            raise


def files_of(path: Path) -> list[Path]:
    """Return the paths of a store's file and of the two files that SQLite may create beside it."""
    return [path, beside(path, "-wal"), beside(path, "-shm")]


def inode(path: Path) -> int:
    """Return the inode of the file at a path; 0 if there is no file or it cannot be read."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def contents(connection: sqlite3.Connection) -> Contents:
    """Return the schema of the file that a connection has open."""
    connection.text_factory = bytes
    try:
        rows = connection.execute(
            "SELECT type, name, tbl_name, sql, rootpage FROM main.sqlite_master"
        ).fetchall()
    finally:
        connection.text_factory = str
    return {tuple(row)[:4]: row[4] for row in rows}


def contents_of(tables: Sequence[str]) -> Contents:
    """Return the schema of a new file with the tables that the given statements create."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        for statement in tables:
            model.execute(statement)
        return contents(model)


def is_earlier(found: Contents) -> bool:
    """Return whether a schema is that of a store from before the first release."""
    return any(name == EARLIER for _, name, _, _ in found)


def beside(path: Path, suffix: str) -> Path:
    """Return the path of a file beside a store, named after the store and a suffix."""
    return path.with_name(path.name + suffix)


def ready_for(path: Path) -> Path:
    """Return the path for the finished copy that will replace a damaged store at ``path``."""
    return beside(path, ".salvaged")
