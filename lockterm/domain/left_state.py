"""What an operation of the history has left: a start does without it, and without the rules."""

from __future__ import annotations

import json

from lockterm.domain import rules
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
        before = Remote.read(json.loads(line.seen)) if line.seen else None
        told = before.raw if before is not None else {}
        after = rules.effective(before, Remote.read({**told, **json.loads(line.sent)}))
    except (TypeError, ValueError, AttributeError, RecursionError):
        return None  # damaged
    return state_by_dates(after, now_ms)
