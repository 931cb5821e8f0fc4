"""What is known of rows of the journal that were looked at once, so that they need not be again.

Rows are never removed, and what lockterm writes is sound and stays so. Another connection may have
been given another file: with each, all begins anew.
"""

from __future__ import annotations

import json
import sqlite3

from lockterm.domain.history import Selection
from lockterm.domain.operation import State
from lockterm.store.database import fetch
from lockterm.store.journal_rows import SOUND, WHOLE, in_states, operation_of


class DamagedRows:
    """Which rows are damaged, of those that were looked at."""

    def __init__(self) -> None:
        self._by: sqlite3.Connection | None = None
        self._last = 0
        self._places: list[int] = []

    @property
    def as_json(self) -> str:
        """Their places, as a list."""
        return json.dumps(self._places)

    def look(self, connection: sqlite3.Connection, most: int = -1) -> bool:
        """Look at rows not looked at yet.

        Args:
            connection: A transaction.
            most: So many of them; -1: at all.

        Returns:
            Whether there were any.
        """
        if connection is not self._by:
            self._by, self._last, self._places = connection, 0, []
        rows = fetch(
            connection,
            "SELECT max(seq), json_group_array(seq) FILTER (WHERE NOT is_sound) FROM"
            f" (SELECT seq, {SOUND} AS is_sound FROM operations WHERE seq > ?"
            " ORDER BY seq LIMIT ?)",
            (self._last, most),
        )
        self._places += json.loads(rows[0][1])
        before, self._last = self._last, rows[0][0] or self._last
        return self._last > before


class RowCount:
    """How many rows a profile has.

    Args:
        where: The condition of SQL that a row is one of them.
        profile: The profile's name, ``:profile`` in it.
    """

    def __init__(self, where: str, profile: str) -> None:
        self._where = where
        self._profile = profile
        self._by: sqlite3.Connection | None = None
        self._last = self._count = 0

    def now(self, connection: sqlite3.Connection) -> int:
        """How many there are, by a transaction."""
        if connection is not self._by:
            self._by, self._last, self._count = connection, 0, 0
        newer, self._last = fetch(
            connection,
            "SELECT count(*), (SELECT ifnull(max(seq), 0) FROM operations) FROM operations WHERE"
            f" {self._where}{' AND seq > :last' if self._last else ''}",
            {"last": self._last, "profile": self._profile},
        )[0]
        self._count += newer
        return self._count


def find_by_index(selection: Selection) -> str:
    """What finds the places of a lock's or a state's rows in an index alone; else empty."""
    if selection.states is not None:
        lock = "" if selection.lock_id is None else " AND lock_id = :lock_id"
        found = f"SELECT seq FROM operations WHERE {in_states(selection.states)}{lock}"
        if State.DAMAGED in selection.states:
            found = f"{found} UNION SELECT value FROM json_each(:damaged)"
        return found
    if selection.lock_id is not None:
        return "SELECT seq FROM operations WHERE lock_id = :lock_id"
    return ""


def damaged_entries(connection: sqlite3.Connection) -> int:
    """How many entries of all profiles in a store cannot be read any more: for the doctor."""
    rows = fetch(connection, WHOLE)
    return sum(operation_of(row).state is State.DAMAGED for row in rows)
