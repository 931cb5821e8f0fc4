"""What an operation of the history has left: a start does without it, and without the rules."""

from __future__ import annotations

import json
from functools import lru_cache
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
    left = _left(line.seen, line.sent)
    return None if left is None else state_by_dates(left, now_ms)


@lru_cache(maxsize=512)  # rows are painted again and again
def _left(seen: str, sent: str) -> Remote | None:
    try:
        told, wanted = _validity(seen), _validity(sent)
        before = Remote.read(told) if seen else None
        return rules.effective(before, Remote.read({**told, **wanted}))
    except (TypeError, ValueError, AttributeError, RecursionError):
        return None  # damaged


def _validity(values: str) -> dict[str, Any]:
    pairs = zip(VALIDITY, json.loads(values or "[]"), strict=False)
    return {name: value for name, value in pairs if value is not None}
