"""Records of which a test gives only what matters to it."""

from __future__ import annotations

from typing import Any

from lockterm.domain.operation import Operation, OperationState
from tests.conftest import NOW_MS


def an_operation(call: str = "update", **fields: Any) -> Operation:
    """A recorded operation on a remote of lock 1001."""
    usual: dict[str, Any] = {
        **{"id": "one", "profile": "p", "call": call, "path": f"/api/v1/bluetooth-remote/{call}"},
        **{"body": {}, "lock_id": 1001, "lock_name": "Main gate", "before": ()},
        **{"remote_id": 7, "remote_name": "Anna", "state": OperationState.CONFIRMED},
        **{"session": "1-a", "prepared_ms": NOW_MS},
    }
    return Operation(**usual | fields)
