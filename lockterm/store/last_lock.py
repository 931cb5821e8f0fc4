"""The lock that was opened last, told before anything is asked or drawn."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

WAIT_S = 0.2
"""How long another session that has the file locked is waited for, in seconds."""


def last_lock(path: Path, profile: str) -> int | None:
    """The lock of a profile's book that was opened last.

    The file is left as it is: whoever opens it next makes or mends it, and says what is wrong.

    Args:
        path: The local store.
        profile: The profile's name.

    Returns:
        Its id; None where none was opened, or the file does not tell.
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
