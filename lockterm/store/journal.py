"""The journal: a row for every write, saved before the write is sent, and never deleted.

Only ``lockterm.operations`` changes the journal. A state changes by compare-and-set, so that only
one of two sessions can resolve an operation.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lockterm.domain.json_text import canonical
from lockterm.domain.operation import (
    EVERYTHING,
    HELD_CALLS,
    IN_FLIGHT,
    QUARTER_MS,
    RECORDED,
    UNCONFIRMED,
    WITHOUT_EFFECT,
    HistoryLine,
    Operation,
    OperationState,
    Selection,
)
from lockterm.store.database import Database, fetch
from lockterm.store.journal_rows import (
    COLUMNS,
    FIELDS,
    HERE,
    KNOWN,
    OWN,
    SHORT,
    STATES,
    WHOLE,
    Account,
    in_states,
    line_of,
    named,
    operation_of,
    quoted,
    stored,
)
from lockterm.store.journal_search import (
    DamagedRows,
    RowCounts,
    add_functions,
    build_words_condition,
    find_by_index,
)

LONGEST_GUARD_MS = 600_000
"""Maximum duration of the checks before a write, in milliseconds. If the checks seem to take
longer, the clock was changed."""

RARE = 10_000
"""Maximum number of matching rows for which a search uses an index. If more rows match, a scan from
the newest row fills a page faster."""

MOST_RECORDED = 2000
"""Maximum number of operations that :meth:`Journal.latest_recorded` returns."""

_KNOWN_DAMAGED = "seq IN (SELECT value FROM json_each(:damaged))"


def _marks(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)


class Journal:
    """The operations of one profile.

    Every method raises ``StoreError`` if the store cannot be used.

    Args:
        database: The local store.
        profile: The profile's name.
        service: The profile's base URL. Profiles with the same URL and account share their locks.
    """

    def __init__(self, database: Database, profile: str, service: str = "") -> None:
        self._database = database
        self._profile = profile
        self._service = service
        self.account = Account()
        """The account that the profile uses. Its name is empty until the account is known."""
        self._damaged = DamagedRows()
        count = f"SELECT 0, count(*) FROM operations WHERE {OWN}"
        self._all = RowCounts(count, profile=profile)
        self._quarters = dict[int | None, RowCounts]()
        """Maps a lock ID, or None for all locks, to the numbers of operations in each quarter of
        an hour since ``_quarters_since_ms``."""
        self._quarters_since_ms = 0

    @property
    def _here(self) -> tuple[str, str, str]:
        return self._service, self.account.name, self._profile

    def move_account(self, was: str, account: str) -> None:
        """Move the operations of an account to another name of the same account."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE operations SET account = ? WHERE service = ? AND account = ?",
                (account, self._service, was),
            )

    def prepare(self, operation: Operation) -> Operation | None:
        """Insert a new operation, unless another operation blocks it.

        An earlier operation blocks the new operation in these cases:

        - The earlier operation is unresolved and could interfere with the new one, and the new one
          does not repeat it with the same values.
        - The new operation repeats the earlier one, but the earlier one is already resolved.
        - The earlier operation is in flight, and repeats the same operation as the new one.
        - The earlier operation added the name that the new one adds, after the new one began to
          check that the name is free.

        Returns:
            None if the new operation was inserted; otherwise the operation that blocks it.
        """
        values = [stored(name, getattr(operation, name)) for name in FIELDS]
        with self._database.transaction() as connection:
            if operation.again_of:
                original = self.find(operation.again_of)
                if original is not None and not original.is_unconfirmed:
                    return original
                if rivals := self.sending_again(operation.again_of):
                    return rivals[0]
            sent = (operation.again_of, canonical(operation.body))
            for other in self._holding(operation):
                # With other values this is a second change, while the first may still land.
                if (other.id, canonical(other.body)) != sent and not other.may_precede(operation):
                    return other
            if operation.call == "add" and (namesakes := self._added_since(operation)):
                return namesakes[0]
            connection.execute(
                f"INSERT INTO operations ({COLUMNS}) VALUES ({_marks(FIELDS)})", values
            )
        return None

    def move(self, operation_id: str, come_from: Iterable[OperationState], **changes: Any) -> bool:
        """Change columns of an operation if its state is one of ``come_from``.

        Returns:
            Whether the operation was changed.
        """
        sets = ", ".join(f'"{name}" = ?' for name in changes)
        which, value = named(operation_id)
        with self._database.transaction() as connection:
            cursor = connection.execute(
                f"UPDATE operations SET {sets} WHERE {which} AND {in_states(come_from)}",
                [*(stored(*item) for item in changes.items()), value],
            )
        return cursor.rowcount == 1

    def settle_sent(
        self, operation: Operation, now_ms: int, *, state: OperationState, **changes: Any
    ) -> None:
        """Save the result of an operation that was sent.

        If the request may have arrived and repeats an earlier operation, also mark the earlier
        operation as sent again.

        Args:
            operation: The operation.
            now_ms: Now, in milliseconds.
            state: The new state.
            changes: The new values of other columns.
        """
        # A certain result also replaces UNKNOWN, which another session may have set by mistake.
        come_from = (
            IN_FLIGHT
            if state is OperationState.UNKNOWN
            else IN_FLIGHT | UNCONFIRMED - {OperationState.DAMAGED}
        )
        with self._database.transaction():
            self.move(operation.id, come_from, state=state, settled_ms=now_ms, **changes)
            if state in (OperationState.CONFIRMED, OperationState.UNKNOWN):
                self._replace(operation, now_ms)

    def find(self, operation_id: str) -> Operation | None:
        """Return the operation with an ID, of any profile; None if there is none."""
        which, value = named(operation_id)
        return next(iter(self._select(which, [value])), None)

    def some(self, ids: Collection[str]) -> list[Operation]:
        """Return the operations with the given IDs that are not damaged, the oldest first."""
        return self._sound(f"id IN ({_marks(ids)})", [*ids])

    def last_change(self, lock_id: int) -> Operation | None:
        """Return the last operation of the profile that may have changed a lock, or None."""
        # One seek for each state skips operations without effect, of which there may be many. The
        # plus sign makes SQLite use that index instead of scanning all rows of the lock.
        which = "AND lock_id = :lock_id AND +profile = :profile ORDER BY seq DESC LIMIT 1"
        known = sorted(set(KNOWN) - WITHOUT_EFFECT - {OperationState.SENT_AGAIN})
        odd = f"IN ({STATES} SELECT state FROM states WHERE state NOT IN ({quoted(KNOWN)}))"
        each = " UNION ALL ".join(
            f"SELECT * FROM (SELECT seq FROM operations WHERE state {is_one} {which})"
            for is_one in [*(f"= '{state}'" for state in known), odd]
        )
        rows = self._select(
            f"seq = (SELECT max(seq) FROM ({each}))",
            {"lock_id": lock_id, "profile": self._profile},
        )
        return rows[0] if rows else None

    def of_run(self, plan_id: str) -> list[Operation]:
        """Return the operations that the steps of a plan have sent, the oldest first."""
        which = "SELECT operation_id FROM steps WHERE plan_id = ? AND operation_id IS NOT NULL"
        return self._select(f"id IN ({which})", [plan_id])

    def latest_recorded(self, lock_id: int) -> list[Operation]:
        """Return the account's latest recorded operations on a lock, the oldest first.

        The result has at most :data:`MOST_RECORDED` operations.
        """
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                f"{WHOLE} WHERE lock_id = ? AND service = ? AND account = ?"
                f" AND {in_states(RECORDED)} ORDER BY seq DESC LIMIT ?",
                [lock_id, self._service, self.account.name, MOST_RECORDED],
            )
        return [operation_of(row) for row in reversed(rows)]

    def messages_of_run(self, plan_id: str, start: str) -> Mapping[str, str]:
        """Return those messages of a plan's operations that begin with a text, by operation ID."""
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                "SELECT id, message FROM operations WHERE id IN (SELECT operation_id FROM steps"
                " WHERE plan_id = ? AND operation_id IS NOT NULL)"
                " AND substr(message, 1, length(?)) = ?",
                [plan_id, start, start],
            )
        return {str(row[0]): str(row[1]) for row in rows}

    def list_unconfirmed(self, lock_id: int | None = None) -> list[Operation]:
        """Return the profile's unconfirmed operations, on one lock or on all, the oldest first."""
        is_on = "" if lock_id is None else " AND lock_id = :lock_id"
        where, values = f"{OWN} AND {in_states(UNCONFIRMED)}{is_on}", {"profile": self._profile}
        return self._select(where, {**values, "lock_id": lock_id})

    def history(self, selection: Selection = EVERYTHING) -> list[Operation]:
        """Return the profile's operations that match a filter, the oldest first."""
        with self._searching(selection) as (connection, where, values):
            rows = fetch(connection, f"{WHOLE} WHERE {where} ORDER BY seq", values)
        return [operation_of(row) for row in rows]

    def lines(
        self, selection: Selection = EVERYTHING, below: int | None = None, most: int = -1
    ) -> list[HistoryLine]:
        """Return summaries of the profile's operations that match a filter, the newest first.

        Args:
            selection: The filter.
            below: Sequence number of a row, to return only older rows. None for all rows.
            most: Maximum number of operations; -1 for all.
        """
        with self._searching(selection) as (connection, where, values):
            if below is not None:
                where = f"seq < :below AND {where}"
            rows = fetch(
                connection,
                f"{SHORT} WHERE {where} ORDER BY seq DESC LIMIT :most",
                {**values, "below": below, "most": most},
            )
        return [line_of(row) for row in rows]

    def count(self, selection: Selection = EVERYTHING, most: int = -1) -> int:
        """Return the number of the profile's operations that match a filter.

        Args:
            selection: The filter.
            most: Number at which counting stops; -1 to count all.
        """
        if selection == EVERYTHING:
            with self._database.reading() as connection:
                return self._all.now(connection).total()
        with self._searching(selection) as (connection, where, values):
            found = f"SELECT 1 FROM operations WHERE {where} LIMIT :most"
            rows = fetch(connection, f"SELECT count(*) FROM ({found})", {**values, "most": most})
        return int(rows[0][0])

    def count_by_quarter(self, since_ms: int, lock_id: int | None) -> Counter[int]:
        """Return the number of the profile's operations in each quarter of an hour.

        Args:
            since_ms: The time from which operations count, in milliseconds since the epoch.
            lock_id: The only lock whose operations count; None for all locks.

        Returns:
            A mapping of quarters of an hour, numbered from 1970, to the numbers of operations.
        """
        if since_ms != self._quarters_since_ms:
            self._quarters, self._quarters_since_ms = {}, since_ms
        if (counts := self._quarters.get(lock_id)) is None:
            # With "seq > 0", SQLite reads the rows in their order, which is faster than by profile.
            on_lock = "seq IN (SELECT seq FROM operations WHERE lock_id = :lock_id) AND"
            counts = self._quarters[lock_id] = RowCounts(
                f"SELECT prepared_ms / {QUARTER_MS}, count(*) FROM operations WHERE"
                f" {'' if lock_id is None else on_lock} seq > 0"
                f" AND +prepared_ms >= :since_ms AND {OWN}",
                "GROUP BY 1",
                profile=self._profile,
                since_ms=since_ms,
                lock_id=lock_id,
            )
        with self._database.reading() as connection:
            return counts.now(connection)

    def newest(
        self, selection: Selection, most: int, counted: int
    ) -> tuple[list[HistoryLine], int]:
        """Return summaries of the newest operations that match a filter, and the number of matches.

        Args:
            selection: The filter.
            most: Maximum number of summaries.
            counted: Number of matches at which counting stops.
        """
        with self._searching(selection) as (connection, where, values):
            found = f"SELECT seq FROM operations WHERE {where} ORDER BY seq DESC LIMIT :counted"
            # One row, because Python yields to the UI thread for each row that it fetches.
            places = f"SELECT json_group_array(seq) FROM ({found})"
            rows = fetch(connection, places, {**values, "counted": counted})
            seqs = sorted(json.loads(rows[0][0]), reverse=True)
            few = f"{SHORT} WHERE seq IN (SELECT value FROM json_each(:few)) ORDER BY seq DESC"
            rows = fetch(connection, few, {"few": json.dumps(seqs[:most])})
        return [line_of(row) for row in rows], len(seqs)

    def look_through(self, most: int) -> bool:
        """Check up to ``most`` more rows for damage, and return whether any row was checked."""
        with self._database.reading() as connection:
            return self._damaged.look(connection, most)

    @contextmanager
    def _searching(
        self, selection: Selection
    ) -> Iterator[tuple[sqlite3.Connection, str, dict[str, Any]]]:
        """Yield a connection, the SQL condition for a filter, and the values of its parameters."""
        every, values = [OWN], dict[str, Any](profile=self._profile)
        with self._database.reading() as connection:
            if selection.words or OperationState.DAMAGED in (selection.states or ()):
                self._damaged.look(connection)
                values["damaged"] = self._damaged.as_json
            # The plus signs keep SQLite from using an index. It then scans from the newest row and
            # stops at a full page, instead of visiting and sorting all rows of the lock or state.
            if selection.lock_id is not None:
                every.append("+lock_id = :lock_id")
                values["lock_id"] = selection.lock_id
            if selection.since_ms is not None:
                every.append("+prepared_ms >= :since_ms")
                values["since_ms"] = selection.since_ms
            if selection.until_ms is not None:
                every.append("+prepared_ms < :until_ms")
                values["until_ms"] = selection.until_ms
            found = find_by_index(selection)
            few = f"SELECT count(*) FROM ({found} LIMIT {RARE + 1})"
            if found and fetch(connection, few, values)[0][0] <= RARE:
                every.insert(0, f"seq IN ({found})")
            elif selection.states is not None and OperationState.DAMAGED in selection.states:
                every.append(f"({in_states(selection.states)} OR {_KNOWN_DAMAGED})")
            elif selection.states is not None:
                every.append(f"+state IN ({quoted(sorted(selection.states))})")
            if selection.outside_runs:
                every.append(
                    "id NOT IN (SELECT operation_id FROM steps WHERE operation_id IS NOT NULL)"
                )
            if selection.words:
                add_functions(connection, selection.zone)
                having, words = build_words_condition(selection.words, f"NOT {_KNOWN_DAMAGED}")
                every.append(having)
                values |= words
            yield connection, " AND ".join(every), values

    def restored(self, lock_id: int) -> list[Operation]:
        """Return the adds on a lock that restore remotes from backups, the oldest first."""
        where = "profile = ? AND lock_id = ? AND restores IS NOT NULL"
        return self._sound(where, [self._profile, lock_id])

    def voices(self, lock_id: int) -> list[Operation]:
        """Return the operations that set or may have set the voice of a lock, the oldest first."""
        without = {*WITHOUT_EFFECT, OperationState.SENT_AGAIN}
        which = (
            f"{HERE} AND lock_id = ? AND call = 'updateLockSetting' AND NOT {in_states(without)}"
        )
        return self._sound(which, [*self._here, lock_id])

    def restored_as(self, backup_id: str, old_id: int) -> list[Operation]:
        """Return the recorded adds that restore the remote with ``old_id`` from a backup."""
        which = f"restores = ? AND restores_remote = ? AND {in_states(RECORDED)}"
        return self._sound(which, [backup_id, old_id])

    def linked(self, operation: Operation) -> list[Operation]:
        """Return the operations that an operation repeats or restores.

        The result also has the operations that repeat or restore the given one.
        """
        own = operation.id
        # The plus sign makes SQLite use the rare columns, not the index of the profile.
        where = "+profile = ? AND (id IN (?, ?) OR again_of = ? OR restores = ?)"
        linked = [operation.again_of, operation.restores]
        return self._select(where, [self._profile, *linked, own, own])

    def recent(
        self,
        lock_id: int,
        from_ms: int,
        till_ms: int,
        ids: Collection[str] = (),
        name: str | None = None,
    ) -> list[Operation]:
        """Return the unfinished and recently resolved operations on a lock, oldest first.

        Args:
            lock_id: The ID of the lock.
            from_ms: Earliest time of the resolution by this machine's clock, in milliseconds.
            till_ms: Latest time of the resolution, in milliseconds. Callers pass a time in the
                future, in case the clock is set back.
            ids: IDs of operations to include regardless of the time of their resolution.
            name: A remote name. If none of these operations contains this name, the result is
                empty. None to ignore names.
        """
        lately = f"(settled_ms BETWEEN ? AND ? OR settled_ms IS NULL OR id IN ({_marks(ids)}))"
        where = f"lock_id = ? AND {lately} AND {HERE}"
        values = [lock_id, from_ms, till_ms, *ids, *self._here]
        if name is not None:  # fast path: each add of a run comes here, and few names are found
            query = f"SELECT 1 FROM operations WHERE {where} AND instr(body, ?) LIMIT 1"
            with self._database.reading() as connection:
                if not fetch(connection, query, [*values, json.dumps(name)]):
                    return []
        return self._sound(where, values)

    def about(self, add: Operation, remote_ids: Iterable[int]) -> list[Operation]:
        """Return the operations that show which remotes existed before an add, the oldest first.

        These operations are the add itself, clears of the same lock, and operations on the given
        remotes.
        """
        ids = list(remote_ids)
        which = f"(id = ? OR remote_id IN ({_marks(ids)}) OR call = 'clear')"
        return self._sound(
            f"{HERE} AND lock_id = ? AND {which}", [*self._here, add.lock_id, add.id, *ids]
        )

    def told_hidden(self, change: Operation, *, till_now: bool = False) -> list[Operation]:
        """Return the operations on a lock that show the values of hidden fields, the oldest first.

        Args:
            change: An operation on the lock.
            till_now: Whether to return all operations; if not, only those before ``change``.
        """
        calls = ("add", "updateRemoteUserNo", "delete", "clear")
        return self._sound(
            f"{HERE} AND lock_id = ? AND call IN ({_marks(calls)})"
            " AND (? OR seq < (SELECT seq FROM operations WHERE id = ?))",
            [*self._here, change.lock_id, *calls, till_now, change.id],
        )

    def run_of(self, operation: Operation) -> str:
        """Return the ID of the plan to which an operation belongs; empty if there is none."""
        with self._database.reading() as connection:
            query = "SELECT plan_id FROM steps WHERE operation_id = ?"
            rows = fetch(connection, query, [operation.id])
        return str(rows[0][0]) if rows else ""

    def settle_orphans(
        self,
        is_alive: Callable[[str], bool],
        now_ms: int,
        may_have_left: Callable[[str, str], bool] = lambda session, operation_id: True,
    ) -> None:
        """Resolve the operations that ended sessions have left in flight, for all profiles.

        An operation that may have left this machine becomes ``UNKNOWN``. An operation that provably
        did not leave becomes ``NOT_SENT``.

        Args:
            is_alive: A function that returns whether a session, given its ID, may still run.
            now_ms: Now, in milliseconds.
            may_have_left: A function that returns whether an operation may have left this machine,
                given the IDs of its session and of the operation.
        """
        for operation in self._select(in_states(IN_FLIGHT), []):
            if not is_alive(operation.session):
                was_sending = operation.state is not OperationState.PREPARED
                if operation.state is OperationState.SENDING:
                    was_sending = may_have_left(operation.session, operation.id)
                when = "while it was being sent" if was_sending else "before it was sent"
                if was_sending:
                    self._replace(operation, now_ms)
                self.move(
                    operation.id,
                    IN_FLIGHT if operation.state is OperationState.DAMAGED else [operation.state],
                    state=OperationState.UNKNOWN if was_sending else OperationState.NOT_SENT,
                    settled_ms=now_ms,
                    message=f"lockterm ended {when}.",
                )

    def was_sent_again(self, operation_id: str) -> bool:
        """Return whether the service recorded a full or partial repetition of an operation."""
        return bool(self._select(f"again_of = ? AND {in_states(RECORDED)}", [operation_id]))

    def sending_again(self, operation_id: str) -> list[Operation]:
        """Return the operations in flight that repeat an operation or a part of the operation."""
        return self._select(f"again_of = ? AND {in_states(IN_FLIGHT)}", [operation_id])

    def _replace(self, operation: Operation, now_ms: int) -> None:
        """Mark the earlier operation that ``operation`` repeats as sent again.

        If ``operation`` repeats only a part of the earlier one, do nothing.
        """
        original = self.find(operation.again_of) if operation.again_of else None
        if original is not None and original.call == operation.call:
            self.move(original.id, UNCONFIRMED, state=OperationState.SENT_AGAIN, settled_ms=now_ms)

    def _added_since(self, add: Operation) -> list[Operation]:
        """Return the adds of the same name that the service recorded after ``add`` began."""
        begun_ms = add.prepared_ms
        return self._select(
            f"{HERE} AND lock_id = ? AND settled_ms > ? AND settled_ms <= ?"
            f" AND call = 'add' AND remote_name = ? AND {in_states(RECORDED)}",
            [*self._here, add.lock_id, begun_ms, begun_ms + LONGEST_GUARD_MS, add.remote_name],
        )

    def _holding(self, operation: Operation) -> list[Operation]:
        """Return the account's unresolved operations that could interfere with an operation.

        For an add or a clear, these are adds and clears on the same lock. For other calls, these
        are changes of the same remote.
        """
        which, values = "remote_id = ?", list[object]([operation.remote_id])
        if operation.call in HELD_CALLS:
            which, values = f"call IN ({_marks(HELD_CALLS)})", list[object](HELD_CALLS)
        # An earlier account may be this one with other credentials. Its changes then count too.
        earlier = f"(service = ? AND account IN ({_marks(self.account.earlier)}))"
        return self._select(
            f"({HERE} OR {earlier}) AND lock_id = ?"
            f" AND {in_states(UNCONFIRMED | IN_FLIGHT)} AND {which}",
            [*self._here, self._service, *self.account.earlier, operation.lock_id, *values],
        )

    def _sound(self, where: str, values: list[Any]) -> list[Operation]:
        return [
            one for one in self._select(where, values) if one.state is not OperationState.DAMAGED
        ]

    def _select(self, where: str, values: Any) -> list[Operation]:
        with self._database.reading() as connection:
            rows = fetch(connection, f"{WHOLE} WHERE {where} ORDER BY seq", values)
        return [operation_of(row) for row in rows]
