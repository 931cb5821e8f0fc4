"""The SQL condition for a search of the history, and checks and counts of the journal's rows.

SQLite compares words and texts in printable ASCII, because it is ten times as fast as Python. A
Python function compares all other words and texts, because SQLite cannot fold the case and accents
of letters beyond ASCII.

Each row is checked and counted only once. The results are cached, because the journal never removes
rows, and lockterm never writes damaged rows. A new connection may have opened another file, so each
connection starts with empty caches.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from functools import lru_cache
from typing import Any

from lockterm.domain import dates
from lockterm.domain.names import fold_text
from lockterm.domain.operation import OperationState, Selection
from lockterm.domain.remotes import CALL_NAMES
from lockterm.domain.text.operation import STATE_NAMES
from lockterm.store.database import fetch
from lockterm.store.journal_rows import SOUND, WHOLE, in_states, operation_of

_TEXTS = ("remote_name", "lock_name", "message")
_NUMBERS = ("remote_id", "lock_id", "code")
_VOICE = " || ' ' || ".join(
    f"ifnull(json_extract(body, '$.currentVoiceTimbre.{part}'), '')" for part in ("lang", "timbre")
)
_CLEARED = "CASE WHEN call = 'clear' AND json_valid(before) THEN json_array_length(before) END"

_ODD = "length({0}) <> length(CAST({0} AS BLOB))"
"""The condition for a text that is not all ASCII, or has a NUL, at which SQLite would stop."""

_OF_TIMES = frozenset("0123456789-+:")
"""The characters of times in the history, except for the letters in names of months."""


def build_words_condition(words: Sequence[str], sound: str) -> tuple[str, dict[str, str]]:
    """Return an SQL condition for the rows whose texts contain all words.

    The condition calls the SQL functions that :func:`add_functions` registers.

    Args:
        words: The words, folded by :func:`fold_text`.
        sound: The SQL condition for rows that are not damaged.

    Returns:
        The condition, and the values of its named parameters.
    """
    every, values = [], dict[str, str]()
    for number, word in enumerate(words):
        name = f"word{number}"
        escaped = "".join(f"\\{char}" if char in "\\%_" else char for char in word)
        values |= {name: word, f"{name}_like": f"%{escaped}%"}
        places = [*_having(word, name)]
        if word in STATE_NAMES[OperationState.DAMAGED]:
            places.append(f"state NOT IN ({_those(STATE_NAMES, '')}) OR NOT {sound}")
        every.append(f"({' OR '.join(places)})")
    return " AND ".join(every), values


def add_functions(connection: sqlite3.Connection, zone: tzinfo) -> None:
    """Register the SQL functions that a search condition uses.

    Args:
        connection: A connection to the journal.
        zone: The time zone in which times are shown.
    """

    def tells_time(ms: object, word: str) -> bool:
        if not isinstance(ms, int):
            return False
        at = dates.local(ms, zone)
        if at is None:
            return word in dates.stamp(ms, zone)
        return word in f"{at.isoformat(' ', 'minutes')} {dates.MONTHS[at.month - 1]}".lower()

    connection.create_function("has_folded", 2, _has_folded, deterministic=True)
    connection.create_function("tells_time", 2, tells_time)


def _has_folded(raw: bytes | None, word: str) -> bool:
    return word in _folded(raw or b"")


@lru_cache(maxsize=10_000)
def _folded(raw: bytes) -> str:
    """Return a text folded by :func:`fold_text`.

    Results are cached, because the names of locks repeat.
    """
    return fold_text(raw.decode(errors="replace"))


def _having(word: str, name: str) -> Iterator[str]:
    """Yield SQL conditions, each of which checks whether one text of a row contains a word.

    The fastest conditions come first.

    Args:
        word: The folded word.
        name: The name of the parameter for the word.
    """
    yield f"state IN ({_those(STATE_NAMES, word)})"
    yield f"call IN ({_those(CALL_NAMES, word)})"
    if word in "restore":
        yield "restores IS NOT NULL"
    if word in "remotes":
        yield "call = 'clear'"
    if word in "remote":
        others = "call NOT IN ('clear', 'updateLockSetting')"
        yield f"remote_name = '' AND remote_id IS NOT NULL AND {others}"
    for column in _TEXTS:
        yield _text_has(column, word, name)
    yield f"call NOT IN ({_those(CALL_NAMES, '')}) AND ({_text_has('call', word, name)})"
    voice = f"CASE WHEN json_valid(body) THEN CAST({_VOICE} AS BLOB) END"
    yield f"call = 'updateLockSetting' AND has_folded({voice}, :{name})"
    if word.isdigit():
        for number in (*_NUMBERS, _CLEARED):
            yield f"{number} LIKE :{name}_like"
    if _OF_TIMES.issuperset(word) or any(word in month.casefold() for month in dates.MONTHS):
        yield f"tells_time(prepared_ms, :{name})"


def _text_has(column: str, word: str, name: str) -> str:
    raw, odd = f"CAST({column} AS BLOB)", _ODD.format(column)
    folded = f"{odd} AND has_folded({raw}, :{name})"
    if not (word.isascii() and word.isprintable()):
        return folded
    return f"{column} LIKE :{name}_like ESCAPE '\\' OR {folded}"


def _those(texts: Mapping[Any, str], word: str) -> str:
    """Return the keys whose texts contain a word, as an SQL list.

    The keys must not contain quotes, because the function does not escape them.
    """
    return ", ".join(f"'{key}'" for key, text in texts.items() if word in text)


def find_by_index(selection: Selection) -> str:
    """Return SQL that uses an index to find the rows with a filter's lock or states.

    The SQL ignores the other conditions of the filter. If the filter has neither a lock nor states,
    the SQL is empty.
    """
    if selection.states is not None:
        lock = "" if selection.lock_id is None else " AND lock_id = :lock_id"
        found = f"SELECT seq FROM operations WHERE {in_states(selection.states)}{lock}"
        if OperationState.DAMAGED in selection.states:
            found = f"{found} UNION SELECT value FROM json_each(:damaged)"
        return found
    if selection.lock_id is not None:
        return "SELECT seq FROM operations WHERE lock_id = :lock_id"
    return ""


# --- checks and counts ----------------------------------------------------------------------------


class DamagedRows:
    """The damaged rows among those that were checked so far, by their sequence numbers."""

    def __init__(self) -> None:
        self._by: sqlite3.Connection | None = None
        self._last = 0
        self._places: list[int] = []

    @property
    def as_json(self) -> str:
        """The sequence numbers of the damaged rows, as a JSON list."""
        return json.dumps(self._places)

    def look(self, connection: sqlite3.Connection, most: int = -1) -> bool:
        """Check rows that were not checked yet for damage.

        Args:
            connection: A connection in a transaction.
            most: Maximum number of rows; -1 for all.

        Returns:
            Whether any row was checked.
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


def damaged_entries(connection: sqlite3.Connection) -> int:
    """Return the number of damaged entries in the journal, of all profiles."""
    rows = fetch(connection, WHOLE)
    return sum(operation_of(row).state is OperationState.DAMAGED for row in rows)


class RowCounts:
    """The number of a profile's rows for each value of a key. Each row is counted only once.

    Args:
        query: The SQL that returns each key and its number of rows, up to and including the WHERE
            condition.
        group: The GROUP BY clause of the SQL; empty if there is only one key.
        values: The values of the named parameters in the condition.
    """

    def __init__(self, query: str, group: str = "", **values: object) -> None:
        self._query = query
        self._group = group
        self._values = values
        self._by: sqlite3.Connection | None = None
        self._last = 0
        self._counts = Counter[int]()

    def now(self, connection: sqlite3.Connection) -> Counter[int]:
        """Return the present number of rows for each key. Only rows since the last call are read.

        Args:
            connection: A connection in a transaction.
        """
        if connection is not self._by:
            self._by, self._last, self._counts = connection, 0, Counter()
        newest = fetch(connection, "SELECT ifnull(max(seq), 0) FROM operations")[0][0]
        # Without this condition, the first count can use an index that has all it needs.
        is_new = " AND seq > :last" if self._last else ""
        query = f"{self._query}{is_new} {self._group}"
        rows = fetch(connection, query, {**self._values, "last": self._last})
        self._counts.update({int(key): count for key, count in rows})
        self._last = newest
        return self._counts.copy()  # another thread may change the counts
