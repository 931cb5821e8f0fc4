"""What a list never returns of a remote (2.3), as far as the journal tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lockterm.models.operation import IN_FLIGHT, UNSETTLED, Operation, State

HIDDEN: Mapping[str, str] = {
    "mac": "mac",
    "electricQuantity": "electric_quantity",
    "firmwareInfo": "firmware_info",
    "remoteUserNo": "remote_user_no",
    "businessId": "business_id",
    "remoteRight": "remote_right",
}
"""Contract field, accepted on creation but not returned in list items -> the name it has here."""

_DONE = frozenset({State.CONFIRMED, State.CONFIRMED_BY_READING})
_DOUBTFUL = UNSETTLED | IN_FLIGHT | {State.GIVEN_UP, State.SENT_AGAIN}


def known_fields(operations: Iterable[Operation]) -> dict[int, dict[str, Any]]:
    """What the journal knows of the hidden fields, by remote id.

    A field that is there with None was not given when the remote was added from here; one that is
    missing is not known. A user number whose outcome is in doubt is not known either.

    Args:
        operations: Adds and changes of user numbers, the oldest first; others do no harm.
    """
    known: dict[int, dict[str, Any]] = {}
    for operation in operations:
        remote_id = operation.remote_id
        if remote_id is None:
            continue
        if operation.call == "add" and operation.state in _DONE:
            known[remote_id] = {name: operation.body.get(name) for name in HIDDEN}
        elif operation.call == "updateRemoteUserNo":
            fields = known.setdefault(remote_id, {})
            if operation.state in _DONE:
                fields["remoteUserNo"] = operation.body.get("remoteUserNo")
            elif operation.state in _DOUBTFUL:
                fields.pop("remoteUserNo", None)
    return known
