"""A damaged store: kept under another name, and what can still be read goes into a new one.

The new file takes the old one's place by a single rename; until then the old one stays as it is,
so that an interruption at any point loses nothing and the next start finishes the work.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from lockterm.models.operation import State

DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
"""SQLite's words for a file that is not what it should be."""

MOST_PROBES = 1_000_000
"""How many row numbers are tried one by one where a table cannot be read in one go."""

_WORK = ".salvage-"
_SIDE_FILES = ("-wal", "-shm")


def is_damage(error: BaseException) -> bool:
    """Whether an error of SQLite tells of a damaged file, and not of a full disk or a lock."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGE


def salvage(path: Path, broken: int, migrations: Mapping[str, str]) -> str:
    """Set a damaged store aside and put a new one with its readable rows in its place.

    Args:
        path: The store.
        broken: The inode of the file that was found damaged; another session may have replaced it.
        migrations: The tables, by name of the step that makes them.

    Returns:
        What happened, for people; empty where another session has done it.

    Raises:
        OSError: The files cannot be copied: the store stays as it is.
        sqlite3.Error: The new file cannot be written.
    """
    with _alone(path):
        if inode(path) != broken:
            return ""
        for leftover in path.parent.glob(f"{_WORK}*"):  # of an earlier run that was cut off
            shutil.rmtree(leftover, ignore_errors=True)
        aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        while aside.exists():
            aside = aside.with_name(f"{aside.name}x")
        for suffix in ("", "-wal"):
            if (source := _side(path, suffix)).exists():
                shutil.copyfile(source, _side(aside, suffix))
                _side(aside, suffix).chmod(0o600)
        saved, lost = _rebuild(aside, _ready(path), migrations)
        _put_in_place(path)
    more = " Some could not be read any more." if lost else ""
    return (
        f"The local store was damaged. It is kept as {aside.name}, and {saved} of its entries were"
        f" saved into a new one.{more} Check at the service what was under way lately."
    )


def finish(path: Path) -> None:
    """Put a new store in place that an earlier run had ready when it ended."""
    if _ready(path).exists():
        with _alone(path):
            if _ready(path).exists():
                _put_in_place(path)


def _put_in_place(path: Path) -> None:
    # The old file's log first: SQLite would play it into the new file.
    for suffix in _SIDE_FILES:
        _side(path, suffix).unlink(missing_ok=True)
    _ready(path).replace(path)


def _rebuild(aside: Path, ready: Path, migrations: Mapping[str, str]) -> tuple[int, bool]:
    """Copy what is readable into a new file; returns the number of rows, and if some were lost."""
    saved, lost = 0, False
    with tempfile.TemporaryDirectory(dir=ready.parent, prefix=_WORK) as folder:
        # SQLite writes into what it reads: what is set aside stays as it was found.
        copy, new = Path(folder, "old.db"), Path(folder, "new.db")
        for suffix in ("", "-wal"):
            if _side(aside, suffix).exists():
                shutil.copyfile(_side(aside, suffix), _side(copy, suffix))
        target = sqlite3.connect(new, isolation_level=None)
        with contextlib.closing(target):
            target.execute("BEGIN")
            target.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY) WITHOUT ROWID")
            for name, statement in migrations.items():
                target.execute(statement)
                target.execute("INSERT INTO migrations VALUES (?)", (name,))
            with contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as source:
                for table in _tables(target):
                    rows, whole = _copy(source, target, table)
                    saved, lost = saved + rows, lost or not whole
            target.execute("COMMIT")
        new.chmod(0o600)
        with new.open("rb") as file:
            os.fsync(file.fileno())
        new.replace(ready)
    return saved, lost


def _tables(target: sqlite3.Connection) -> list[str]:
    rows = target.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'"
        " AND name NOT LIKE 'sqlite_%' AND name <> 'migrations'"
    )
    return [row[0] for row in rows]


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> tuple[int, bool]:
    columns = [row[1] for row in target.execute(f"PRAGMA table_info({table})")]
    with contextlib.suppress(sqlite3.Error):  # a store from before a column was added
        had = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
        columns = [name for name in columns if name in had] or columns
    keys = [row[1] for row in target.execute(f"PRAGMA table_info({table})") if row[5]]
    names, marks = ", ".join(f'"{name}"' for name in columns), ", ".join("?" * len(columns))
    before, whole = target.total_changes, True

    def keep(row: tuple[object, ...]) -> None:
        nonlocal whole
        if not _makes_sense(dict(zip(columns, row, strict=True))):
            whole = False
            return
        try:
            target.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", row)
        except sqlite3.IntegrityError:
            whole = False

    ends: list[object] = []
    for order in ("ASC", "DESC"):  # from both ends up to the damage
        sorting = ", ".join(f'"{key}" {order}' for key in keys)
        last: tuple[object, ...] | None = None
        try:
            for row in source.execute(f"SELECT {names} FROM {table} ORDER BY {sorting}"):
                keep(row)
                last = row
            return target.total_changes - before, whole
        except sqlite3.Error:
            whole = False
            ends.append(last[columns.index(keys[0])] if last else None)
    if columns[0] == "seq":
        for number in _between(ends):
            with contextlib.suppress(sqlite3.Error):
                for row in source.execute(f"SELECT {names} FROM {table} WHERE seq = ?", (number,)):
                    keep(row)
    return target.total_changes - before, whole


def _between(ends: list[object]) -> Iterator[int]:
    low, high = ends
    first = low + 1 if isinstance(low, int) else 1
    last = high - 1 if isinstance(high, int) else first + MOST_PROBES // 100
    yield from range(first, min(last, first + MOST_PROBES) + 1)


def _makes_sense(row: Mapping[str, object]) -> bool:
    """Damage that SQLite cannot see must not stop every later reading of the table."""
    try:
        for name in ("body", "before", "answer", "candidates", "typed"):
            if name in row:
                json.loads(str(row[name]))
        State(str(row.get("state", State.PREPARED)))
    except ValueError:
        return False
    return True


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Only one session at a time salvages."""
    flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(_side(path, ".salvage"), flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def inode(path: Path) -> int:
    """The number of the file that has this name now; 0 where there is none."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _ready(path: Path) -> Path:
    return _side(path, ".salvaged")


def _side(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
