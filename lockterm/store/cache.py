"""What was last read, so that a screen has something to show at once; may be deleted any time."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from lockterm.errors import StoreError
from lockterm.store.database import Database

MOST = 2000
"""How many answers are kept; the oldest go first."""

LARGEST = 512 * 1024
"""Characters of an answer that is kept; a page of 200 remotes has some 100,000."""

MIGRATIONS = {
    "answers": """
        CREATE TABLE answers (
            service TEXT NOT NULL,
            key TEXT NOT NULL,
            value TEXT NOT NULL,
            at_ms INTEGER NOT NULL,
            PRIMARY KEY (service, key)
        )
    """,
    "answers_by_age": "CREATE INDEX answers_by_age ON answers (at_ms)",
}


class Cache:
    """The last answers of one service, by its base URL. It never raises: it is only a help.

    Args:
        path: The file.
        service: The base URL.
    """

    def __init__(self, path: Path, service: str) -> None:
        self._database = Database(path, MIGRATIONS, durable=False)
        self._service = service

    def get(self, key: str) -> tuple[Any, int] | None:
        """The value kept under a key and when it was read, in milliseconds; or None."""
        try:
            with self._database.transaction() as connection:
                row: sqlite3.Row | None = connection.execute(
                    "SELECT value, at_ms FROM answers WHERE service = ? AND key = ?",
                    (self._service, key),
                ).fetchone()
            return (json.loads(row["value"]), row["at_ms"]) if row else None
        except (StoreError, ValueError):
            return None

    def put(self, key: str, value: Any, at_ms: int) -> None:
        """Keep a value, unless it is so large that thousands of its kind would fill the disk."""
        text = json.dumps(value)
        if len(text) > LARGEST:
            self.forget(key)
            return
        try:
            with self._database.transaction() as connection:
                connection.execute(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)",
                    (self._service, key, text, at_ms),
                )
                connection.execute(
                    "DELETE FROM answers WHERE at_ms < (SELECT at_ms FROM answers"
                    " ORDER BY at_ms DESC LIMIT 1 OFFSET ?)",
                    (MOST,),
                )
        except StoreError:
            return

    def forget(self, start: str) -> None:
        """Drop every key that starts so: a change made it doubtful."""
        try:
            with self._database.transaction() as connection:
                connection.execute(
                    "DELETE FROM answers WHERE service = ? AND substr(key, 1, ?) = ?",
                    (self._service, len(start), start),
                )
        except StoreError:
            return

    def close(self) -> None:
        """Close the file."""
        self._database.close()
