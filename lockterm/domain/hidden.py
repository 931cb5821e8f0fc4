"""The values in the journal of hidden fields, which a list never returns (2.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lockterm.domain.dates import DAY_MS
from lockterm.domain.operation import IN_FLIGHT, RECORDED, UNSETTLED, Operation, State
from lockterm.domain.remotes import UNLISTED

_DOUBTFUL = UNSETTLED | IN_FLIGHT | {State.GIVEN_UP, State.SENT_AGAIN}


def known_fields(
    operations: Iterable[Operation], backup: Iterable[Mapping[str, Any]] = ()
) -> dict[int, dict[str, Any]]:
    """Return remote ID -> the known hidden fields.

    A field with the value None was not set when lockterm added the remote. A missing field is
    unknown. A user number is unknown too if the result of its operation is uncertain.

    A service may give the ID of a deleted remote to another remote. Therefore a delete removes the
    fields of its ID. For an ID in ``backup``, only operations on that very remote count.

    Args:
        operations: The operations on a lock before the backup, the oldest first.
        backup: The remotes whose fields are wanted, as received; empty to trust every ID.
    """
    records = {record.get("id"): record for record in backup}
    known: dict[int, dict[str, Any]] = {}
    for operation in operations:
        remote_id, is_done = operation.remote_id, operation.state in RECORDED
        if operation.call == "clear" and is_done:
            for record in operation.before:
                known.pop(record.get("id", 0), None)
        elif remote_id is None or not _is_about(operation, records.get(remote_id)):
            continue
        elif operation.call == "delete" and is_done:
            known.pop(remote_id, None)
        elif operation.call == "add" and is_done:
            known[remote_id] = {field.name: operation.body.get(field.name) for field in UNLISTED}
        elif operation.call == "updateRemoteUserNo":
            fields = known.setdefault(remote_id, {})
            if is_done:
                fields["remoteUserNo"] = operation.body.get("remoteUserNo")
            elif operation.state in _DOUBTFUL:
                fields.pop("remoteUserNo", None)
    return known


def _is_about(operation: Operation, record: Mapping[str, Any] | None) -> bool:
    """Return whether an operation was about this remote, not about another remote with its ID."""
    if record is None:
        return True
    number, created = record.get("remoteNumber"), record.get("createTime")
    if operation.call == "add":
        at_ms = operation.settled_ms
        # One day is tolerated, because the clocks may differ and the service's zone may be wrong.
        is_its_time = type(created) is not int or at_ms is None or abs(created - at_ms) < DAY_MS
        return number == operation.body.get("remoteNumber", number) and is_its_time
    before = operation.before[0] if operation.before else {}
    return all(
        record[name] == before[name]
        for name in ("remoteNumber", "createTime")
        if name in record and name in before
    )
