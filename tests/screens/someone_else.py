"""Someone else at the same service: calls that the app under test knows nothing of.

Nothing is encrypted, and to read who is to be trusted would take longer than a call.
"""

from __future__ import annotations

from typing import Any

import httpx

from lockterm.service.running import RunningService

_REMOTE = "/api/v1/bluetooth-remote"


def post(service: RunningService, call: str, **parameters: Any) -> Any:
    """Carry out a call on remotes and return its data."""
    answer = httpx.post(f"{service.base_url}{_REMOTE}/{call}", json=parameters, verify=False).json()
    assert answer["errcode"] == 0, answer
    return answer["data"]


def page(service: RunningService, lock_id: int, page_no: int = 1, size: int = 20) -> list[Any]:
    """The records of a page."""
    query = {"lockId": lock_id, "pageNo": page_no, "pageSize": size}
    answer = httpx.get(f"{service.base_url}{_REMOTE}/list", params=query, verify=False).json()
    assert answer["errcode"] == 0, answer
    records: list[Any] = answer["data"]["list"]
    return records


def add(service: RunningService, lock_id: int, name: str, **other: Any) -> int:
    """Add a permanent remote and return its id."""
    fields = {"remoteNumber": "X-1", "remoteType": 1, "addType": 1} | other
    data = post(service, "add", lockId=lock_id, remoteName=name, **fields)
    remote_id: int = data["remoteId"]
    return remote_id


def counted(service: RunningService, call: str) -> int:
    """How often a call on remotes has reached the service so far."""
    return sum(path == f"{_REMOTE}/{call}" for _, path in service.requests)
