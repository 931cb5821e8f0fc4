"""Stored plans with the progress of their steps.

When the state of a step changes, the run stores the new state before it does anything else.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from lockterm.domain.operation import OperationState
from lockterm.domain.plan import Action, Plan, RunLine, Step, StepState, outcome_of
from lockterm.errors import StoreDamagedError
from lockterm.store.database import Database, fetch
from lockterm.store.journal_rows import KNOWN
from lockterm.store.sessions import StoreSession

_STEP = tuple(Step.__dataclass_fields__)
_STEP_COLUMNS = ", ".join(f'"{name}"' for name in _STEP)
_JSON = ("wanted", "before")
_MOVED = ("state", "message", "operation_id", "remote_id")
"""The columns of a step that change while its plan runs."""
_AT_ONCE = 200
"""Number of steps read per query."""

_PLAN_COLUMNS = "id, profile, service, title, made_ms"
_MORE_COLUMNS = "losses, credentials"
"""The columns of a plan that its summary, a ``RunLine``, does not have."""


class RunStore:
    """The plans of all profiles. Every method raises ``StoreError`` if the store cannot be used.

    Args:
        database: The local store.
        session: This session, which may run plans, and knows whether other sessions are alive.
    """

    def __init__(self, database: Database, session: StoreSession) -> None:
        self._database = database
        self._session = session

    def keep(self, plan: Plan) -> None:
        """Save a plan with its steps. If the plan is already saved, do not change it."""
        head = (plan.id, plan.profile, plan.service, plan.title, plan.made_ms)
        more = (json.dumps(plan.losses), plan.credentials)
        with self._database.transaction() as connection:
            cursor = connection.execute(
                f"INSERT OR IGNORE INTO plans ({_PLAN_COLUMNS}, {_MORE_COLUMNS})"
                f" VALUES ({', '.join('?' for _ in head + more)})",
                head + more,
            )
            if cursor.rowcount:
                marks = ", ".join("?" for _ in _STEP)
                connection.executemany(
                    f"INSERT INTO steps (plan_id, {_STEP_COLUMNS}) VALUES (?, {marks})",
                    ([plan.id, *_values(step)] for step in plan.steps),
                )

    def ids(self, start: str) -> list[str]:
        """Return at most two IDs of plans that begin with a text.

        Two IDs show that the text is ambiguous. If an ID equals the text, only this ID is returned.
        """
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                "SELECT id FROM plans WHERE substr(id, 1, length(:start)) = :start"
                " ORDER BY id <> :start, seq LIMIT 2",
                {"start": start},
            )
        ids = [row[0] for row in rows]
        return [start] if start in ids else ids

    def read(self, plan_id: str) -> Plan:
        """Return a saved plan.

        Raises:
            StoreDamagedError: The plan is missing, or a part of it cannot be read.
        """
        with self._database.reading() as connection:
            head = fetch(
                connection,
                f"SELECT {_PLAN_COLUMNS}, {_MORE_COLUMNS} FROM plans WHERE id = ?",
                [plan_id],
            )
            steps: list[Step] = []
            try:
                # Read in parts, so that the JSON of thousands of steps is not in memory at once.
                while rows := fetch(
                    connection,
                    f"SELECT {_STEP_COLUMNS} FROM steps WHERE plan_id = ? AND number > ?"
                    " ORDER BY number LIMIT ?",
                    [plan_id, steps[-1].number if steps else -(2**63), _AT_ONCE],
                ):
                    steps += map(_step, rows)
                values = dict(head[0])
                values["credentials"] = str(values["credentials"] or "")
                values["losses"] = tuple(map(str, json.loads(values["losses"])))
                return Plan(**values, steps=tuple(steps))
            except (IndexError, TypeError, ValueError, RecursionError) as error:
                raise _damaged(plan_id) from error

    def changed(self, plan: Plan) -> list[Step]:
        """Return the stored steps whose progress differs from that in ``plan``.

        Raises:
            StoreDamagedError: A state is invalid, or a step is not in the plan.
        """
        known = {step.number: step for step in plan.steps}
        with self._database.reading() as connection:
            rows = fetch(
                connection,
                f"SELECT number, {', '.join(_MOVED)} FROM steps WHERE plan_id = ?",
                [plan.id],
            )
        found = []
        for number, state, *others in rows:
            if state not in _STATES or number not in known:
                raise _damaged(plan.id)
            step = known[number]
            now = (StepState(state), *others)
            if now != _moved(step):
                found.append(replace(step, **dict(zip(_MOVED, now, strict=True))))
        return found

    def lines(self, profile: str) -> list[RunLine]:
        """Return summaries of a profile's plans, the newest first."""
        with self._database.reading() as connection:
            heads = fetch(
                connection,
                f"SELECT {_PLAN_COLUMNS}, session FROM plans WHERE profile = ? ORDER BY seq DESC",
                [profile],
            )
            counts = fetch(
                connection,
                # The journal shows whether a step of unknown result was resolved later.
                "SELECT plan_id, step.state, sent.state, count(*), is_planned FROM steps AS step"
                " LEFT JOIN operations AS sent ON step.state = ? AND sent.id = step.operation_id"
                " WHERE plan_id IN (SELECT id FROM plans WHERE profile = ?)"
                " GROUP BY plan_id, step.state, sent.state, is_planned",
                [StepState.UNKNOWN, profile],
            )
        states: dict[str, Counter[StepState]] = defaultdict(Counter)
        left_out: dict[str, int] = {}
        begun = set()
        for plan_id, state, sent, count, is_planned in counts:
            if state in _STATES:
                now = outcome_of(OperationState(sent)) if sent in KNOWN else StepState(state)
                states[plan_id][now] += count
            if not is_planned and state == StepState.REFUSED:
                left_out[plan_id] = count
            if is_planned and state != StepState.TO_DO:
                begun.add(plan_id)
        lines = []
        for row in heads:
            values = dict(row)
            session = values.pop("session")
            is_running = bool(session) and self._session.is_alive(session)
            plan_id = row["id"]
            lines.append(
                RunLine(
                    **values,
                    is_running=is_running,
                    is_begun=plan_id in begun,
                    states=states[plan_id],
                    left_out=left_out.get(plan_id, 0),
                )
            )
        return lines

    def holder(self, plan_id: str) -> str:
        """Return the ID of the live session that runs a plan; empty if there is none."""
        with self._database.reading() as connection:
            rows = fetch(connection, "SELECT session FROM plans WHERE id = ?", [plan_id])
        holder = str(rows[0][0]) if rows else ""
        return holder if holder and self._session.is_alive(holder) else ""

    def take(self, plan_id: str) -> str:
        """Record that this session runs a plan, unless another live session runs it.

        Returns:
            The ID of the other session; empty if this session now runs the plan.
        """
        with self._database.transaction() as connection:
            holder, own = self.holder(plan_id), self._session.id
            if holder not in ("", own):
                return holder
            connection.execute("UPDATE plans SET session = ? WHERE id = ?", [own, plan_id])
        return ""

    def release(self, plan_id: str) -> None:
        """Record that no session runs a plan any more."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE plans SET session = '' WHERE id = ?", [plan_id])

    def note_credentials(self, plan_id: str, credentials: str) -> None:
        """Save the digest of the credentials with which a plan runs from now on."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE plans SET credentials = ? WHERE id = ?", (credentials, plan_id)
            )

    def note(self, plan_id: str, steps: Iterable[Step]) -> None:
        """Save the progress of steps: state, message, operation ID and remote ID."""
        with self._database.transaction() as connection:
            connection.executemany(
                f"UPDATE steps SET {', '.join(f'{name} = ?' for name in _MOVED)}"
                " WHERE plan_id = ? AND number = ?",
                ((*_moved(one), plan_id, one.number) for one in steps),
            )


_STATES = frozenset(StepState)


def _moved(step: Step) -> tuple[Any, ...]:
    return tuple(getattr(step, name) for name in _MOVED)


def _damaged(plan_id: str) -> StoreDamagedError:
    return StoreDamagedError(
        f"The plan {plan_id} is damaged: its steps cannot be read.",
        hint="Nothing more was sent. Check the history, then make a new plan.",
    )


def _values(step: Step) -> list[Any]:
    values = {name: getattr(step, name) for name in _STEP}
    return [json.dumps(dict(one)) if name in _JSON else one for name, one in values.items()]


def _shared(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object with interned keys, because many steps have the same keys."""
    return {sys.intern(name): value for name, value in pairs}


def _step(row: sqlite3.Row) -> Step:
    """Return the step of a row.

    Raises:
        ValueError, TypeError: The row is damaged.
    """
    values = dict(row)
    for name in _JSON:
        values[name] = json.loads(values[name], object_pairs_hook=_shared)
        if not isinstance(values[name], dict):
            raise ValueError(f"{name} is no object")
    for name in ("number", "lock_id"):
        if not isinstance(values[name], int):
            raise ValueError(f"{name} is no number")
    values["action"] = Action(values["action"])
    values["state"] = StepState(values["state"])
    values["is_planned"] = bool(values["is_planned"])
    return Step(**values)
