"""The columns of the journal, SQL conditions for rows, and the conversion of rows to operations.

The module also has the account of a profile, which the journal stores with each operation.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any

from lockterm.domain.operation import UNCONFIRMED, HistoryLine, Operation, OperationState
from lockterm.domain.remotes import VALIDITY

FIELDS = tuple(Operation.__dataclass_fields__)
COLUMNS = ", ".join(f'"{name}"' for name in FIELDS)
"""The columns of an operation, for SQL."""

_JSON: Mapping[str, type] = {
    "body": dict,
    "before": list,
    "answer": object,
    "candidates": list,
    "others": object,
}
"""Maps the names of JSON columns to the types of their values."""
_STORED: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "str | None": (str, NoneType),
    "int": (int,),
    "int | None": (int, NoneType),
}
_KINDS = {
    name: _STORED[str(field.type)]
    for name, field in Operation.__dataclass_fields__.items()
    if field.type in _STORED
}
"""Maps the names of the columns without JSON to the allowed types of their values.

The empty value of the last type replaces a damaged value.
"""

KNOWN = sorted(set(OperationState) - {OperationState.DAMAGED})
"""The states that lockterm writes to the journal. Any other state counts as damaged."""

DAMAGED_WORDS = (
    "This entry of the history is damaged. lockterm shows the parts that can be read."
    " Check the list of the lock before you repeat the change."
)

OWN = """(profile = :profile OR profile IS NULL OR profile IN (
    SELECT profile FROM (SELECT DISTINCT profile FROM operations)
    WHERE NOT is_text(typeof(profile), CAST(profile AS BLOB))))"""
"""The condition for the rows of a profile, including rows whose profile is illegible."""

HERE = "((service = ? AND account = ?) OR (account IS NULL AND profile = ?))"
"""The condition for operations of any profile that were sent to the account of this profile.
Earlier versions did not store the account, so an operation without an account belongs to the
profile that sent it."""

WHOLE = f"SELECT seq, {COLUMNS} FROM operations"
"""SQL for the rows that :func:`operation_of` reads."""

SOUND = """ifnull(CASE WHEN json_valid(body) THEN json_type(body) = 'object' END
    AND json_valid(before) AND json_valid(answer)
    AND json_valid(candidates) AND (others IS NULL OR json_valid(others)), 0)"""
"""The SQL condition for rows whose JSON columns all have valid JSON, and an object as the body.

Rows of earlier versions have no ``others``, and some versions of SQLite call NULL invalid JSON.
"""

_VALIDITY_SEEN = ", ".join(f"'$[0].{name}'" for name in VALIDITY)
_VALIDITY_SENT = ", ".join(f"'$.{name}'" for name in VALIDITY)

SHORT = f"""
    SELECT seq, id, profile, call, lock_id, lock_name, remote_id, remote_name, state, prepared_ms,
        code, message, restores,
        CASE WHEN json_valid(before) THEN json_array_length(before) END AS count,
        CASE WHEN call = 'updateLockSetting' AND json_valid(body) THEN body END AS voice,
        CASE WHEN call = 'update' AND json_valid(before)
            THEN json_extract(before, {_VALIDITY_SEEN}) END AS seen,
        CASE WHEN call NOT IN ('add', 'update') OR NOT json_valid(body) THEN NULL
            WHEN json_type(body) = 'object' THEN json_extract(body, {_VALIDITY_SENT}) END AS sent,
        {SOUND} AS is_sound
    FROM operations
"""
"""SQL for the rows that :func:`line_of` reads."""

STATES = """WITH RECURSIVE states(state) AS (
    SELECT min(state) FROM operations UNION ALL
    SELECT (SELECT min(state) FROM operations WHERE state > states.state) FROM states
    WHERE states.state IS NOT NULL)"""
"""The SQL table of all states in the journal. SQLite reads only one index entry for each state."""

_ROW = "row"


@dataclass
class Account:
    """The account that a profile uses."""

    name: str = ""
    earlier: tuple[str, ...] = ()
    """The names of accounts that the same profile used with other credentials. Each may be this
    account before a rotation of its credentials, or a different account."""


def in_states(states: Iterable[OperationState]) -> str:
    """Return an SQL condition for rows in the given states. An unknown state counts as damaged."""
    wanted = sorted(states)
    condition = f"state IN ({quoted(wanted)})"
    if OperationState.DAMAGED in wanted:
        others = f"{STATES} SELECT state FROM states WHERE state NOT IN ({quoted(KNOWN)})"
        others = f"SELECT seq FROM operations WHERE state IN ({others})"
        condition = f"({condition} OR seq IN ({others}))"
    return condition


def quoted(states: Iterable[OperationState]) -> str:
    """Return states as a list of SQL literals, separated by commas."""
    return ", ".join(f"'{state.value}'" for state in states)


def named(operation_id: str) -> tuple[str, str | int]:
    """Return an SQL condition that finds an operation, and the value of its parameter.

    If the ID of an operation is damaged, its row number is used instead, such as ``row 12``.
    """
    word, _, number = operation_id.partition(" ")
    return ("seq = ?", int(number)) if word == _ROW and number else ("id = ?", operation_id)


def stored(name: str, value: Any) -> Any:
    """Return the value of an operation's field as its column stores it."""
    return json.dumps(value) if name in _JSON else value


def _legible(values: dict[str, Any], seq: int) -> bool:
    """Replace values of a wrong type with empty values, and return whether all types were right.

    An empty ID becomes the row number, such as ``row 12``.
    """
    wrong = [
        name
        for name, value in values.items()
        if name in _KINDS and not isinstance(value, _KINDS[name])
    ]
    for name in wrong:
        values[name] = _KINDS[name][-1]()
    values["id"] = values["id"] or f"{_ROW} {seq}"
    return not wrong


def operation_of(row: sqlite3.Row) -> Operation:
    """Return the operation of a row, with the state ``DAMAGED`` if any value is damaged."""
    values = {name: row[name] for name in FIELDS}
    is_sound = _legible(values, row["seq"])
    for name, kind in _JSON.items():
        try:
            value = None if name == "others" and not values[name] else json.loads(values[name])
        except (TypeError, ValueError, RecursionError):
            value = is_sound = False
        if not isinstance(value, kind):
            value, is_sound = kind(), False
        values[name] = value
    before = [record for record in values["before"] if isinstance(record, dict)]
    candidates = [number for number in values["candidates"] if isinstance(number, int)]
    is_sound = is_sound and len(before) == len(values["before"])
    is_sound = is_sound and len(candidates) == len(values["candidates"])
    if values["state"] in UNCONFIRMED:  # the user decides about exactly what would be sent again
        for name, key in (("lock_id", "lockId"), ("remote_id", "remoteId")):
            is_sound = is_sound and values[name] in (None, values["body"].get(key, values[name]))
    values |= {"before": tuple(before), "candidates": tuple(candidates)}
    if isinstance(values["others"], list):
        values["others"] = tuple(one for one in values["others"] if isinstance(one, dict))
    else:
        values["others"] = None
    if is_sound and values["state"] in KNOWN:
        values["state"] = OperationState(values["state"])
    else:
        values |= {"state": OperationState.DAMAGED, "message": DAMAGED_WORDS, "answer": None}
    return Operation(**values)


def line_of(row: sqlite3.Row) -> HistoryLine:
    """Return the summary of a row's operation.

    If any value is damaged, the state in the summary is ``DAMAGED``.
    """
    values = dict(row)
    is_sound = bool(values.pop("is_sound"))
    is_sound = _legible(values, values["seq"]) and is_sound
    del values["profile"]
    voice: Any = {}
    if is_sound and values["voice"]:
        try:
            body = json.loads(values["voice"])
        except (TypeError, ValueError, RecursionError):
            body = None
        is_sound = isinstance(body, dict)
        sent = body.get("currentVoiceTimbre") if is_sound else None
        voice = sent if isinstance(sent, dict) else {}
    if is_sound and values["state"] in KNOWN:
        values["state"] = OperationState(values["state"])
    else:
        values |= {"state": OperationState.DAMAGED, "message": DAMAGED_WORDS}
        values["count"], voice = values["count"] or 0, {}
    for name in ("seen", "sent"):
        values[name] = values[name] if isinstance(values[name], str) else ""
    values["voice"] = " ".join(str(voice[name]) for name in ("lang", "timbre") if name in voice)
    return HistoryLine(**values)
