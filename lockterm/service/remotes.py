"""The eight operations on remotes (contract 4.1 to 4.8), and the rules for periods of validity.

The service chose these rules, because the contract does not state them:

* The end is after the start.
* A permanent remote may be sent with dates, but the service does not store them.
* Only a recurring remote has weekdays. Weekdays for another type are refused, and a change of the
  type removes them.
* The weekdays of a recurring remote can be missing.
"""

from __future__ import annotations

import json

from . import remote_table
from .answers import Code, RequestRefusedError
from .calls import Call, Parameters, no_lock
from .remote_table import Remote
from .storage import Connection, DuplicateNameError

DEFAULT_PAGE_SIZE = 20
MAX_PAGE_SIZE = 200
_FLAGS = (0, 1, 2)
_API_USER_ID = 30017
"""ID of the API user. There is only one, because the contract has no authentication."""

PERMANENT, TIME_LIMITED, RECURRING = 1, 2, 4
_TYPE_NAMES = {
    PERMANENT: "permanent remote",
    TIME_LIMITED: "time-limited remote",
    RECURRING: "recurring remote",
}
_ADD_TYPE_NAMES = {1: "added via bluetooth", 2: "added via gateway"}
_NORMAL, _INVALID = 1, 2
_STATUS_NAMES = {_NORMAL: "normal", _INVALID: "invalid"}


def add(call: Call) -> object:
    """Add a remote (contract 4.1); by default ``extraData`` is ``{}`` and ``isCoerced`` is 0."""
    given, now = call.given, call.site.clock()
    lock_id, name = given.integer("lockId"), given.text("remoteName")
    firmware = given.optional_json_object("firmwareInfo")
    columns: dict[str, object] = {
        "lock_id": lock_id,
        "name": name,
        "number": given.text("remoteNumber"),
        "add_type": given.choice("addType", tuple(_ADD_TYPE_NAMES)),
        **_validity(given),
        "coerced": given.optional_choice("isCoerced", _FLAGS) or 0,
        "extra_data": json.dumps(given.optional_json_object("extraData") or {}),
        "mac": given.optional_text("mac"),
        "electric_quantity": given.optional_integer("electricQuantity", 0, 100),
        "firmware_info": None if firmware is None else json.dumps(firmware),
        "user_no": given.optional_integer("remoteUserNo"),
        "business_id": given.optional_integer("businessId"),
        "remote_right": given.optional_choice("remoteRight", _FLAGS),
        "api_user_id": _API_USER_ID,
        "created_ms": now,
        "updated_ms": now,
    }
    with call.site.database.writing(lock_id) as db:
        call.site.lock(db, lock_id)
        return {"remoteId": remote_table.insert(db, columns)}


def check_remote_name(call: Call) -> object:
    """Refuse a name that a remote of the lock has; otherwise return ``{}`` (contract 4.2)."""
    lock_id, name = call.given.integer("lockId"), call.given.text("remoteName")
    with call.site.database.reading() as db:
        call.site.lock(db, lock_id)
        if remote_table.has_name(db, lock_id, name):
            raise DuplicateNameError
    return {}


def list_remotes(call: Call) -> object:
    """Return a page of a lock's remotes (contract 4.3). A page beyond the end is empty."""
    lock_id = call.given.integer("lockId")
    page_no = call.given.optional_integer("pageNo", low=1) or 1
    size = call.given.optional_integer("pageSize", 1, MAX_PAGE_SIZE) or DEFAULT_PAGE_SIZE
    page = remote_table.page(call.site.database, lock_id, (page_no - 1) * size, size)
    if not (page.is_lock or call.site.any_lock):
        raise no_lock(lock_id)
    now = call.site.clock()
    return {
        "list": [as_record(remote, now) for remote in page.remotes],
        "pageNo": page_no,
        "pageSize": size,
        "pages": -(-page.total // size),
        "total": page.total,
    }


def update(call: Call) -> object:
    """Change the given parameters of a remote if the resulting remote is valid (contract 4.4)."""
    given = call.given
    lock_id, remote_id = given.integer("lockId"), given.integer("remoteId")
    name = given.optional_text("remoteName")
    coerced = given.optional_choice("isCoerced", _FLAGS)
    extra_data = given.optional_json_object("extraData")
    columns: dict[str, object] = {"updated_ms": call.site.clock()}
    with call.site.database.writing(lock_id) as db:
        row = _remote_of(call, db, lock_id, remote_id)
        columns |= _validity(given, row)
        if name is not None:
            columns["name"] = given.text("remoteName")
        if coerced is not None:
            columns["coerced"] = coerced
        if extra_data is not None:
            columns["extra_data"] = json.dumps(extra_data)
        remote_table.change(db, remote_id, columns)
    return {}


def detail(call: Call) -> object:
    """Return a remote as :func:`as_record` does, with its lock in ``lockInfo`` (contract 4.5)."""
    with call.site.database.reading() as db:
        row = _remote(db, call.given.integer("remoteId"))
        lock = call.site.lock(db, row.lock_id)
    lock_info = {"lockId": lock.id, "lockName": lock.name, "lockAlias": lock.alias}
    return as_record(row, call.site.clock()) | {"lockInfo": lock_info}


def delete(call: Call) -> object:
    """Delete a remote (contract 4.6)."""
    remote_id = call.given.integer("remoteId")
    with call.site.database.reading() as db:
        lock_id = _remote(db, remote_id).lock_id
    with call.site.database.writing(lock_id) as db:
        _remote(db, remote_id)  # another request may have deleted it
        remote_table.delete(db, remote_id, lock_id)
    return {}


def clear(call: Call) -> object:
    """Delete all remotes of a lock, and return their number (contract 4.7)."""
    lock_id = call.given.integer("lockId")
    with call.site.database.writing(lock_id) as db:
        call.site.lock(db, lock_id)
        return {"deletedCount": remote_table.clear(db, lock_id)}


def update_remote_user_no(call: Call) -> object:
    """Set a remote's user number (contract 4.8)."""
    given = call.given
    lock_id, remote_id = given.integer("lockId"), given.integer("remoteId")
    user_no = given.integer("remoteUserNo", low=0)
    with call.site.database.writing(lock_id) as db:
        _remote_of(call, db, lock_id, remote_id)
        columns = {"user_no": user_no, "updated_ms": call.site.clock()}
        remote_table.change(db, remote_id, columns)
    return {}


def _remote(db: Connection, remote_id: int) -> Remote:
    row = remote_table.find(db, remote_id)
    if row is None:
        raise RequestRefusedError(Code.UNKNOWN_REMOTE, f"There is no remote {remote_id}.")
    return row


def _remote_of(call: Call, db: Connection, lock_id: int, remote_id: int) -> Remote:
    call.site.lock(db, lock_id)
    row = _remote(db, remote_id)
    if row.lock_id != lock_id:
        raise RequestRefusedError(
            Code.FOREIGN_REMOTE, f"Remote {remote_id} is not on lock {lock_id}."
        )
    return row


def as_record(row: Remote, now_ms: int) -> dict[str, object]:
    """Return the 18 fields of a remote that the answers of ``list_remotes`` and ``detail`` contain.

    Six stored values are not among the fields, such as the MAC address.
    The contract does not define when a remote gets status 2. In this service, a remote has status 2
    after its end date. An upcoming remote has status 1.
    """
    end_ms = row.end_ms
    status = _INVALID if end_ms and end_ms < now_ms else _NORMAL
    return {
        "id": row.id,
        "lockId": row.lock_id,
        "remoteName": row.name,
        "remoteNumber": row.number,
        "remoteType": row.type,
        "remoteTypeName": _TYPE_NAMES[row.type],
        "addType": row.add_type,
        "addTypeName": _ADD_TYPE_NAMES[row.add_type],
        "startDate": row.start_ms,
        "endDate": end_ms,
        "weekDay": _decoded(row.weekdays),
        "isCoerced": row.coerced,
        "extraData": _decoded(row.extra_data),
        "status": status,
        "statusName": _STATUS_NAMES[status],
        "apiUserId": row.api_user_id,
        "createTime": row.created_ms,
        "updateTime": row.updated_ms,
    }


def _decoded(stored: str) -> object:
    """Return a stored JSON value as Python objects.

    Empty values are not parsed, because most remotes have only these.
    """
    match stored:
        case "[]":
            return []
        case "{}":
            return {}
    return json.loads(stored)


def _validity(given: Parameters, before: Remote | None = None) -> dict[str, object]:
    """Return a mapping of the columns of a remote's validity to their values after a request.

    Args:
        given: The parameters; an update may have only some of the four parameters of the validity.
        before: The stored remote before an update; None for a new remote.

    Raises:
        RequestRefusedError: If a parameter is wrong, or the result breaks the rules.
    """
    if before is None:
        kind = given.choice("remoteType", tuple(_TYPE_NAMES))
    else:
        kind = given.optional_choice("remoteType", tuple(_TYPE_NAMES)) or before.type
    start = given.optional_integer("startDate")
    end = given.optional_integer("endDate")
    weekdays = given.weekdays("weekDay")
    if weekdays and kind != RECURRING:
        raise RequestRefusedError(Code.BAD_PERIOD, "Only a recurring remote (type 4) has weekdays.")
    if kind == PERMANENT:  # its dates "may be 0" (4.1): others are taken, and 0 is returned (2.3)
        return {"type": kind, "start_ms": 0, "end_ms": 0, "weekdays": "[]"}
    if before is not None:
        start = before.start_ms if start is None else start
        end = before.end_ms if end is None else end
    if not start or not end:
        raise RequestRefusedError(Code.BAD_PERIOD, f"Type {kind} requires startDate and endDate.")
    if end <= start:
        raise RequestRefusedError(Code.BAD_PERIOD, "endDate must be after startDate.")
    stored_weekdays = "[]"
    if kind == RECURRING and weekdays is not None:
        stored_weekdays = json.dumps(weekdays)
    elif kind == RECURRING and before is not None:
        stored_weekdays = before.weekdays
    return {"type": kind, "start_ms": start, "end_ms": end, "weekdays": stored_weekdays}
