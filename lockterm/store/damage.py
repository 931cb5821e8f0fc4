"""The detection and the rescue of a damaged store.

For a rescue, lockterm keeps a copy of the store and saves readable rows in a new store. A single
rename replaces the damaged file with the new file, and the damaged file stays unchanged until then.
Therefore an interruption loses nothing, and the next start finishes the work.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lockterm.domain.safe_text import clean
from lockterm.errors import StoreError
from lockterm.store.tables import EARLIER, VERSION

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
    """Return whether an error means a damaged file, rather than a full disk or a locked file."""
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


# --- the rescue -----------------------------------------------------------------------------------

MOST_ROWS = 100_000
"""Maximum number of rows that are copied from a table. A greater number of rows is not plausible,
so it must be a result of the damage."""

MOST_PAGES = 1 << 20
"""Maximum number of pages in the header of a file. A greater number is not plausible, so it must be
a result of the damage."""

_PAGE = 4096
"""Size of a page of a store, in bytes."""
_PAGE_SIZES = frozenset(1 << power for power in range(9, 16))

_WORK = ".salvage-"


def make_tables(connection: sqlite3.Connection, tables: Sequence[str]) -> None:
    """Create the tables of an empty file.

    Args:
        connection: A connection in a transaction.
        tables: The statements that create the tables.
    """
    for statement in tables:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def salvage(path: Path, broken: int, tables: Sequence[str]) -> str:
    """Copy a damaged store to another name, and replace it with a new store of its readable rows.

    If the store is from before the first release, the new store is empty.

    Args:
        path: The store.
        broken: The inode of the damaged file. If the store now has another inode, another session
            has already replaced the damaged file, and the function does nothing.
        tables: The statements that create the tables.

    Returns:
        A message for the user; empty if another session has already replaced the store.

    Raises:
        OSError: The files cannot be copied, so the store stays unchanged.
        sqlite3.Error: The new file cannot be written.
    """
    with _alone(path):
        if inode(path) != broken:
            return ""
        for leftover in path.parent.glob(f"{_WORK}*"):  # from an interrupted salvage
            shutil.rmtree(leftover, ignore_errors=True)
        earlier = _is_earlier_store(path)
        reason = "earlier" if earlier else "damaged"
        aside = path.with_name(f"{path.name}.{reason}-{time.strftime('%Y%m%d-%H%M%S')}")
        while aside.exists():
            aside = aside.with_name(f"{aside.name}x")
        for copy in _copied(path, aside):
            copy.chmod(0o600)
        saved, lost = _rebuild(aside, ready_for(path), tables, copies=not earlier)
        _put_in_place(path)
    if earlier:
        return (
            "The local store comes from a version before the first release. lockterm"
            f" renamed it to {aside.name} and created a new store. Check your latest"
            " changes at the service."
        )
    names = ", ".join("changes" if table == "operations" else table for table in lost)
    more = f" Some entries could not be read: {names}." if lost else ""
    return (
        f"The local store was damaged. lockterm renamed it to {aside.name} and saved"
        f" {saved} entries into a new store.{more} Check your latest changes at the"
        " service."
    )


def finish(path: Path) -> None:
    """Complete an interrupted salvage: replace the store with the finished new store, if any."""
    with _alone(path):
        if ready_for(path).exists():
            _put_in_place(path)


def _put_in_place(path: Path) -> None:
    # Remove the log of the old file first, because SQLite would apply it to the new file.
    for log in files_of(path)[1:]:
        log.unlink(missing_ok=True)
    ready_for(path).replace(path)


def _is_earlier_store(path: Path) -> bool:
    """Return whether a store is from before the first release."""
    # Opened as immutable, so that SQLite makes no other file beside it.
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
        try:
            return is_earlier(contents(connection))
        except DATA_ERRORS:
            return False


def _rebuild(
    aside: Path, ready: Path, tables: Sequence[str], *, copies: bool
) -> tuple[int, list[str]]:
    """Make a new file with the readable rows of the store that was set aside.

    Args:
        aside: The store that was set aside.
        ready: The path of the new file.
        tables: The statements that make the tables.
        copies: Whether to copy rows. If false, the new file is empty.

    Returns:
        The number of copied rows, and the names of the tables that have lost rows.
    """
    with tempfile.TemporaryDirectory(dir=ready.parent, prefix=_WORK) as folder:
        # SQLite may write while it reads, so it gets a copy of the file that was set aside.
        old, new = Path(folder, "old.db"), Path(folder, "new.db")
        _copied(aside, old)
        _pad(old)
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            make_tables(connection, tables)
            connection.execute("COMMIT")
        saved, lost = 0, list[str]()
        if copies:
            # All stores of a version have the same schema on the first page. The schema of a sound
            # store therefore gives access to the other pages.
            _replace_first_page(old, new.read_bytes()[:_PAGE])
            saved, lost = _copy_all(old, new)
        new.chmod(0o600)
        with new.open("rb") as file:
            os.fsync(file.fileno())
        new.replace(ready)
    return saved, lost


def _copied(path: Path, to: Path) -> list[Path]:
    """Copy a store and its write-ahead log to ``to``, and return the paths of the copies."""
    copies = []
    for suffix in ("", "-wal"):
        if (source := beside(path, suffix)).exists():
            copies.append(Path(shutil.copyfile(source, beside(to, suffix))))
    return copies


def _pad(path: Path) -> None:
    """Extend a truncated file to the length in its header.

    SQLite cannot read a file that is shorter than its header states.
    """
    with path.open("r+b") as file:
        head = file.read(32)
        page = int.from_bytes(head[16:18], "big")
        pages = int.from_bytes(head[28:32], "big")
        if page in _PAGE_SIZES and pages <= MOST_PAGES:
            file.truncate(max(pages * page, path.stat().st_size))


def _replace_first_page(path: Path, first_page: bytes) -> None:
    """Replace the header and the schema of a file with those of a new store.

    In an undamaged file, header and schema are the same as in a new store, apart from details.
    """
    head = bytearray(first_page)
    head[18:20] = b"\2\2"  # SQLite must also read the write-ahead log of the file
    head[28:32] = (-(-path.stat().st_size // _PAGE)).to_bytes(4, "big")
    with path.open("r+b") as file:
        file.write(head)


def _copy_all(old: Path, new: Path) -> tuple[int, list[str]]:
    """Copy all readable rows unchanged, including damaged values, which readers later detect.

    Returns:
        The number of copied rows, and the names of the tables that have lost rows.
    """
    with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as connection:
        tables = [table for (table,) in connection.execute(TABLE_NAMES.format(file="main"))]
        # Each statement is a transaction of its own, because SQLite may corrupt the new file when
        # it undoes a failed statement within a transaction. The complete file is synced once.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = MEMORY")
        with passing_damage():
            connection.execute("ATTACH ? AS old", (str(old),))
            lost = [table for table in tables if not _copy(connection, table)]
            return connection.total_changes, lost
        return 0, tables


def _copy(connection: sqlite3.Connection, table: str) -> bool:
    """Copy a table from the attached file ``old``, and return whether all rows could be read."""
    columns = connection.execute(f"PRAGMA main.table_info({table})").fetchall()
    had = {row[1] for row in connection.execute(f"PRAGMA old.table_info({table})")}
    # Tables of earlier versions have fewer columns.
    names = ", ".join(f'"{row[1]}"' for row in columns if row[1] in had)
    if not names:
        return False
    rows = f"INSERT OR IGNORE INTO main.{table} ({names}) SELECT {names} FROM old.{table}"

    def copied(which: str, *values: int) -> int:
        """Copy the rows of a SELECT statement that ends with ``which``.

        Return the number of copied rows; -1 if damage prevented copying.
        """
        with passing_damage():
            return connection.execute(f"{rows} {which}", values).rowcount
        return -1

    if "seq" in had:  # a lookup by number reads no damaged page of other rows
        numbers = range(1, _last(connection, table) + 1)
        return all([copied("NOT INDEXED WHERE seq = ?", number) == 1 for number in numbers])
    if copied("") >= 0:
        return True
    for order in ("ASC", "DESC"):  # copy from both ends up to the damage
        key = ", ".join(f'"{row[1]}" {order}' for row in columns if row[5])
        low, high = 0, MOST_ROWS
        while low < high:
            middle = (low + high + 1) // 2
            is_readable = copied(f"ORDER BY {key} LIMIT ?", middle) >= 0
            low, high = (middle, high) if is_readable else (low, middle - 1)
    return False


def _last(connection: sqlite3.Connection, table: str) -> int:
    """Return the highest sequence number of a table; ``MOST_ROWS`` if that number is lost."""
    for query in (
        f"SELECT seq FROM old.sqlite_sequence WHERE name = '{table}'",
        f"SELECT max(seq) FROM old.{table}",
    ):
        with contextlib.suppress(*DATA_ERRORS):
            (last,) = connection.execute(query).fetchone() or (0,)
            if isinstance(last or 0, int) and 0 <= (last or 0) <= MOST_ROWS:
                return int(last or 0)
    return MOST_ROWS


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a file lock, so that only one session at a time salvages a store."""
    flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(beside(path, ".salvage"), flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
