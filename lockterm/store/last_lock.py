"""The lock that was opened last, read before the first request and the first frame."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

WAIT_S = 0.2
"""Maximum wait for another session that has locked the file, in seconds."""


def last_lock(path: Path, profile: str) -> int | None:
    """Return the lock of a profile's lock book that was opened last.

    The file is not changed. The next code that opens it creates or repairs it and reports errors.

    Args:
        path: The local store.
        profile: The profile's name.

    Returns:
        The lock's ID; None if no lock was opened or the file cannot be read.
    """
    try:
        store = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", timeout=WAIT_S, uri=True)
        with closing(store):
            row = store.execute(
                "SELECT lock_id FROM locks WHERE profile = ? AND typeof(lock_id) = 'integer'"
                " AND typeof(opened_ms) = 'integer' ORDER BY opened_ms DESC LIMIT 1",
                (profile,),
            ).fetchone()
    except sqlite3.Error:
        return None
    return row[0] if row else None
