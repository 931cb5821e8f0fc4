"""What an operation of the history has left: a start does without it, and without the rules."""

from __future__ import annotations

import json
from typing import Any

from lockterm.domain import rules
from lockterm.domain.constants import VALIDITY
from lockterm.domain.history import HistoryLine
from lockterm.domain.operation import RECORDED
from lockterm.domain.remotes import Remote
from lockterm.domain.validity import State, state_by_dates


def left_state(line: HistoryLine, now_ms: int) -> State | None:
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
