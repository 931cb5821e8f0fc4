"""The history: its lines, which are operations in short, and which of them are wanted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Any

from lockterm.domain import rules
from lockterm.domain.constants import VALIDITY
from lockterm.domain.operation import RECORDED, State
from lockterm.domain.remotes import Remote
from lockterm.domain.validity import State as RemoteState
from lockterm.domain.validity import state_by_dates


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """What a table shows of an operation; the fields are those of ``Operation``."""

    seq: int
    """Its place in the journal: whatever was written down later has a higher one."""
    id: str
    call: str
    lock_id: int
    lock_name: str
    remote_id: int | None
    remote_name: str
    state: State
    prepared_ms: int
    code: int | None
    message: str
    restores: str | None
    count: int
    """How many remotes its backup holds."""
    voice: str
    """Language and timbre of a voice setting, as they were sent; else empty."""
    seen: str
    """Of the remote that a change was made to ``VALIDITY``, as a JSON list; else empty."""
    sent: str
    """The same of what an add or a change has sent: what is null there was not sent."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which operations of a profile are wanted; as it is, all of them."""

    lock_id: int | None = None
    """Only this lock's; None: those of all locks."""
    states: frozenset[State] | None = None
    """Only those in one of these states; None: in any."""
    words: tuple[str, ...] = ()
    """Only those with each of these words, whatever its case, in what is shown of them."""
    zone: tzinfo = UTC
    """In which their times are shown."""
    since_ms: int | None = None
    """Only those that were begun then or later, in milliseconds; None: whenever."""
    until_ms: int | None = None
    """Only those that were begun before, in milliseconds; None: whenever."""
    outside_runs: bool = False
    """Only those that are no steps of runs."""


EVERYTHING = Selection()


# --- what an operation has left -------------------------------------------------------------------


def left_state(line: HistoryLine, now_ms: int) -> RemoteState | None:
    """The state of a remote by the dates that an operation has left it with, whatever came after.

    None: it is no add or change, the service has not recorded it, or its entry is damaged.
    """
    if line.state not in RECORDED or not line.sent:
        return None
    try:
        told, sent = _validity(line.seen), _validity(line.sent)
        before = Remote.read(told) if line.seen else None
        after = rules.effective(before, Remote.read({**told, **sent}))
    except (TypeError, ValueError, AttributeError, RecursionError):
        return None  # damaged
    return state_by_dates(after, now_ms)


def _validity(values: str) -> dict[str, Any]:
    pairs = zip(VALIDITY, json.loads(values or "[]"), strict=False)
    return {name: value for name, value in pairs if value is not None}
