"""The journal: a row for every write, durable before its first byte leaves. Rows are never removed.

Only ``lockterm.operations`` writes here. A state changes by compare-and-set, so that two sessions
that settle the same operation cannot both win.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from lockterm.models.operation import HELD_CALLS, IN_FLIGHT, UNSETTLED, Operation, State
from lockterm.store.database import Database

if TYPE_CHECKING:
    from lockterm.models.history import HistoryLine

_JSON = ("body", "before", "answer", "candidates")
_FIELDS = tuple(Operation.__dataclass_fields__)
_COLUMNS = ", ".join(f'"{name}"' for name in _FIELDS)


def _marks(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)


def _value(name: str, value: Any) -> Any:
    return json.dumps(value) if name in _JSON else value


def _operation(row: sqlite3.Row) -> Operation:
    values = {name: row[name] for name in _FIELDS}
    for name in _JSON:
        values[name] = json.loads(values[name])
    values["state"] = State(values["state"])
    values["before"] = tuple(values["before"])
    values["candidates"] = tuple(values["candidates"])
    return Operation(**values)


def _line(row: sqlite3.Row) -> HistoryLine:
    from lockterm.models.history import HistoryLine

    values = dict(row)
    voice = json.loads(values["voice"])["currentVoiceTimbre"] if values["voice"] else {}
    values["voice"] = " ".join(str(voice[name]) for name in ("lang", "timbre") if name in voice)
    return HistoryLine(**values | {"state": State(values["state"])})


class Journal:
    """The operations of one profile. Every method raises ``StoreError`` where the file fails."""

    def __init__(self, database: Database, profile: str) -> None:
        self._database = database
        self._profile = profile

    def prepare(self, operation: Operation) -> Operation | None:
        """Write a new operation down, unless another one holds it back.

        Returns:
            What stands in the way, so that nothing was written: the add or clear of the same lock
            that is under way or unsettled; the operation to send again, where it is settled by now;
            or the one by which it is being sent again. None where nothing does.
        """
        values = [_value(name, getattr(operation, name)) for name in _FIELDS]
        with self._database.transaction() as connection:
            if operation.again_of:
                original = self.find(operation.again_of)
                if original is not None and not original.unsettled:
                    return original
                if rivals := self._sending_again(operation.again_of):
                    return rivals[0]
            if operation.call in HELD_CALLS:
                for other in self._holding(operation.lock_id):
                    if other.id != operation.again_of:
                        return other
            connection.execute(
                f"INSERT INTO operations ({_COLUMNS}) VALUES ({_marks(_FIELDS)})", values
            )
        return None

    def move(self, operation_id: str, come_from: Iterable[State], **changes: Any) -> bool:
        """Change an operation if it is in one of the states; say whether it was."""
        sets = ", ".join(f'"{name}" = ?' for name in changes)
        states = list(come_from)
        with self._database.transaction() as connection:
            cursor = connection.execute(
                f"UPDATE operations SET {sets} WHERE id = ? AND state IN ({_marks(states)})",
                [*(_value(*item) for item in changes.items()), operation_id, *states],
            )
        return cursor.rowcount == 1

    def settle_sent(
        self, operation: Operation, now_ms: int, *, state: State, **changes: Any
    ) -> None:
        """Note the outcome of a sending, on the operation and on the one that it sent again."""
        with self._database.transaction():
            self.move(operation.id, IN_FLIGHT, state=state, settled_ms=now_ms, **changes)
            if state in (State.CONFIRMED, State.UNKNOWN):
                self._replace(operation, now_ms)

    def find(self, operation_id: str) -> Operation | None:
        """One operation, of any profile."""
        rows = self._select("id = ?", [operation_id])
        return rows[0] if rows else None

    def unsettled(self, lock_id: int | None = None) -> list[Operation]:
        """The operations a person or a reading has to settle, the oldest first."""
        states = list(UNSETTLED)
        where = f"profile = ? AND state IN ({_marks(states)})"
        values: list[Any] = [self._profile, *states]
        if lock_id is not None:
            where, values = f"{where} AND lock_id = ?", [*values, lock_id]
        return self._select(where, values)

    def history(self) -> list[Operation]:
        """Every operation of the profile, the oldest first."""
        return self._select("profile = ?", [self._profile])

    def lines(self) -> list[HistoryLine]:
        """Every operation of the profile in short, the newest first."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT id, call, lock_id, lock_name, remote_id, remote_name, state, prepared_ms,"
                " code, message, restores, json_array_length(before) AS count,"
                " CASE call WHEN 'updateLockSetting' THEN body END AS voice"
                " FROM operations WHERE profile = ? ORDER BY seq DESC",
                [self._profile],
            ).fetchall()
        return [_line(row) for row in rows]

    def restored(self, lock_id: int) -> list[Operation]:
        """The adds on a lock that restore remotes from backups, the oldest first."""
        where = "profile = ? AND lock_id = ? AND restores IS NOT NULL"
        return self._select(where, [self._profile, lock_id])

    def linked(self, operation: Operation) -> list[Operation]:
        """What an operation sends again or restores from, and what does so with it."""
        own = operation.id
        where = "profile = ? AND (id IN (?, ?) OR again_of = ? OR restores = ?)"
        linked = [operation.again_of, operation.restores]
        return self._select(where, [self._profile, *linked, own, own])

    def not_added_by(self, operation: Operation) -> set[int]:
        """Remote ids that an add cannot have made: earlier operations or other adds know them."""
        with self._database.transaction() as connection:
            rows = connection.execute(
                "SELECT DISTINCT remote_id FROM operations WHERE profile = ? AND id <> ?"
                " AND remote_id IS NOT NULL AND (call = 'add'"
                " OR seq < (SELECT seq FROM operations WHERE id = ?))",
                (self._profile, operation.id, operation.id),
            ).fetchall()
        return {row[0] for row in rows}

    def told_hidden(self, lock_id: int) -> list[Operation]:
        """The adds and user numbers of a lock: they know what the list never returns."""
        where = "profile = ? AND lock_id = ? AND call IN ('add', 'updateRemoteUserNo')"
        return self._select(where, [self._profile, lock_id])

    def settle_orphans(self, is_alive: Callable[[str], bool], now_ms: int) -> None:
        """Settle what a session that ended left in flight, of all profiles.

        What was ``sending`` becomes ``unknown``: it may have left. What was only ``prepared``
        provably did not.
        """
        for operation in self._select(f"state IN ({_marks(IN_FLIGHT)})", list(IN_FLIGHT)):
            if not is_alive(operation.session):
                was_sending = operation.state is State.SENDING
                if was_sending:
                    self._replace(operation, now_ms)
                self.move(
                    operation.id,
                    [operation.state],
                    state=State.UNKNOWN if was_sending else State.NOT_SENT,
                    settled_ms=now_ms,
                    message="lockterm ended while it was being sent."
                    if was_sending
                    else "lockterm ended before it was sent.",
                )

    def was_sent_again(self, operation_id: str) -> bool:
        """Whether another operation that sent it again, or a part of it, was recorded."""
        states = [State.CONFIRMED, State.CONFIRMED_BY_READING]
        return bool(
            self._select(f"again_of = ? AND state IN ({_marks(states)})", [operation_id, *states])
        )

    def _replace(self, operation: Operation, now_ms: int) -> None:
        """Settle what an operation sent again. The deletes in place of a clear are only parts."""
        original = self.find(operation.again_of) if operation.again_of else None
        if original is not None and original.call == operation.call:
            self.move(original.id, UNSETTLED, state=State.SENT_AGAIN, settled_ms=now_ms)

    def _sending_again(self, operation_id: str) -> list[Operation]:
        states = list(IN_FLIGHT)
        return self._select(
            f"again_of = ? AND state IN ({_marks(states)})", [operation_id, *states]
        )

    def _holding(self, lock_id: int) -> list[Operation]:
        states, calls = [*UNSETTLED, *IN_FLIGHT], list(HELD_CALLS)
        return self._select(
            f"profile = ? AND lock_id = ? AND state IN ({_marks(states)})"
            f" AND call IN ({_marks(calls)})",
            [self._profile, lock_id, *states, *calls],
        )

    def _select(self, where: str, values: list[Any]) -> list[Operation]:
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM operations WHERE {where} ORDER BY seq", values
            ).fetchall()
        return [_operation(row) for row in rows]
