"""The history of operations: summaries for tables, and the filter that selects them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Any

from lockterm.domain import rules
from lockterm.domain.constants import VALIDITY
from lockterm.domain.operation import RECORDED, OperationState
from lockterm.domain.remotes import Remote
from lockterm.domain.validity import RemoteState, state_by_dates


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A summary of an operation, for a row of a table.

    Fields without a description have the same meaning as in ``Operation``.
    """

    seq: int
    """The position in the journal. Later operations have higher positions."""
    id: str
    call: str
    lock_id: int
    lock_name: str
    remote_id: int | None
    remote_name: str
    state: OperationState
    prepared_ms: int
    code: int | None
    message: str
    restores: str | None
    count: int
    """Number of remotes in the backup of the operation."""
    voice: str
    """The language and the timbre that a voice operation sent; empty for other calls."""
    seen: str
    """The values of the ``VALIDITY`` fields of the remote before its change, as a JSON list; empty
    if the operation has no backup of the remote."""
    sent: str
    """The values of the ``VALIDITY`` fields that an add or a change sent, as a JSON list; null for
    a field that was not sent."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter for the operations of a profile. The default filter selects all operations."""

    lock_id: int | None = None
    """Only operations on this lock; None for all locks."""
    states: frozenset[OperationState] | None = None
    """Only operations in these states; None for all states."""
    words: tuple[str, ...] = ()
    """Only operations whose text in the history contains each of these words, ignoring case."""
    zone: tzinfo = UTC
    """The time zone in which the history shows times."""
    since_ms: int | None = None
    """Only operations that began at or after this time, in milliseconds; None for no limit."""
    until_ms: int | None = None
    """Only operations that began before this time, in milliseconds; None for no limit."""
    outside_runs: bool = False
    """Whether to leave out operations that are steps of runs."""


EVERYTHING = Selection()


# --- the state that an operation gave a remote ----------------------------------------------------


def left_state(line: HistoryLine, now_ms: int) -> RemoteState | None:
    """Return the state that a remote has now if only this operation has changed it.

    The state follows from the dates that the operation set. The result is None if the operation is
    not a recorded add or change, or if its journal entry is damaged.
    """
    if line.state not in RECORDED or not line.sent:
        return None
    try:
        seen, sent = _validity(line.seen), _validity(line.sent)
        before = Remote.read(seen) if line.seen else None
        after = rules.effective(before, Remote.read({**seen, **sent}))
    except (TypeError, ValueError, AttributeError, RecursionError):
        return None  # the entry is damaged
    return state_by_dates(after, now_ms)


def _validity(values: str) -> dict[str, Any]:
    pairs = zip(VALIDITY, json.loads(values or "[]"), strict=False)
    return {name: value for name, value in pairs if value is not None}
