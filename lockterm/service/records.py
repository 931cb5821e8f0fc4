"""A stored remote as the record of section 2.3, and its validity to and from columns."""

from __future__ import annotations

import json
from typing import Any

from .validity import Validity

_TYPE_NAMES = {1: "permanent remote", 2: "time-limited remote", 4: "recurring remote"}
_ADD_TYPE_NAMES = {1: "added via bluetooth", 2: "added via gateway"}
_NORMAL, _INVALID = 1, 2
_STATUS_NAMES = {_NORMAL: "normal", _INVALID: "invalid"}


def as_record(row: dict[str, Any], now_ms: int) -> dict[str, object]:
    """The record as list and detail return it: 18 fields, none of the six that lists leave out.

    The contract does not say what moves a remote to status 2. Here it is the end date having
    passed; a remote whose time has not begun is normal.
    """
    end_ms = row["end_ms"]
    status = _INVALID if end_ms and end_ms < now_ms else _NORMAL
    return {
        "id": row["id"],
        "lockId": row["lock_id"],
        "remoteName": row["name"],
        "remoteNumber": row["number"],
        "remoteType": row["type"],
        "remoteTypeName": _TYPE_NAMES[row["type"]],
        "addType": row["add_type"],
        "addTypeName": _ADD_TYPE_NAMES[row["add_type"]],
        "startDate": row["start_ms"],
        "endDate": end_ms,
        "weekDay": json.loads(row["weekdays"]),
        "isCoerced": row["coerced"],
        "extraData": json.loads(row["extra_data"]),
        "status": status,
        "statusName": _STATUS_NAMES[status],
        "apiUserId": row["api_user_id"],
        "createTime": row["created_ms"],
        "updateTime": row["updated_ms"],
    }


def stored_validity(row: dict[str, Any]) -> Validity:
    """The validity in the columns of a stored remote."""
    return Validity(row["type"], row["start_ms"], row["end_ms"], json.loads(row["weekdays"]))


def validity_columns(validity: Validity) -> dict[str, object]:
    """The columns that keep a validity."""
    return {
        "type": validity.type,
        "start_ms": validity.start_ms,
        "end_ms": validity.end_ms,
        "weekdays": json.dumps(validity.weekdays),
    }
