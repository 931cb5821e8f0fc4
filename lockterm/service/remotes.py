"""The eight operations on remotes (sections 4.1 to 4.8)."""

from __future__ import annotations

import json
import sqlite3

from . import remote_table
from .codes import FOREIGN_REMOTE, NAME_EXISTS, UNKNOWN_REMOTE, Refusal
from .records import as_record, stored_validity, validity_columns
from .site import Call
from .validity import read_validity

DEFAULT_PAGE_SIZE = 20
MAX_PAGE_SIZE = 200
_FLAGS = (0, 1, 2)
_ADD_TYPES = (1, 2)
_API_USER_ID = 30017
"""Whoever calls: the contract has no authentication, so there is one API user."""


def add(call: Call) -> object:
    """Add a remote (section 4.1); ``extraData`` is ``{}`` and ``isCoerced`` 0 unless sent."""
    given, now = call.given, call.site.clock()
    firmware = given.optional_json_object("firmwareInfo")
    columns: dict[str, object] = {
        "lock_id": given.integer("lockId"),
        "name": given.text("remoteName"),
        "number": given.text("remoteNumber"),
        "add_type": given.choice("addType", _ADD_TYPES),
        **validity_columns(read_validity(given)),
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
    lock_id = given.integer("lockId")
    with call.site.database.writing() as db:
        call.site.lock(db, lock_id)
        _refuse_taken_name(db, lock_id, given.text("remoteName"))
        return {"remoteId": remote_table.insert(db, columns)}


def check_remote_name(call: Call) -> object:
    """Refuse a name that exists on the lock (section 4.2); a free one answers ``{}``."""
    lock_id, name = call.given.integer("lockId"), call.given.text("remoteName")
    with call.site.database.reading() as db:
        call.site.lock(db, lock_id)
        _refuse_taken_name(db, lock_id, name)
    return {}


def list_remotes(call: Call) -> object:
    """One page of a lock's remotes (section 4.3); one beyond the end is empty."""
    lock_id = call.given.integer("lockId")
    page_no = call.given.optional_integer("pageNo", low=1) or 1
    size = call.given.optional_integer("pageSize", 1, MAX_PAGE_SIZE) or DEFAULT_PAGE_SIZE
    with call.site.database.reading() as db:
        call.site.lock(db, lock_id)
        total = remote_table.total(db, lock_id)
        rows = remote_table.page(db, lock_id, (page_no - 1) * size, size)
    now = call.site.clock()
    return {
        "list": [as_record(row, now) for row in rows],
        "pageNo": page_no,
        "pageSize": size,
        "pages": -(-total // size),
        "total": total,
    }


def update(call: Call) -> object:
    """Change the parameters that were sent (section 4.4); the merged result has to be valid."""
    given = call.given
    lock_id, remote_id = given.integer("lockId"), given.integer("remoteId")
    name = given.optional_text("remoteName")
    coerced = given.optional_choice("isCoerced", _FLAGS)
    extra_data = given.optional_json_object("extraData")
    columns: dict[str, object] = {"updated_ms": call.site.clock()}
    with call.site.database.writing() as db:
        row = _remote_of(call, db, lock_id, remote_id)
        columns |= validity_columns(read_validity(given, stored_validity(row)))
        if name is not None:
            _refuse_taken_name(db, lock_id, given.text("remoteName"), but=remote_id)
            columns["name"] = name
        if coerced is not None:
            columns["coerced"] = coerced
        if extra_data is not None:
            columns["extra_data"] = json.dumps(extra_data)
        remote_table.change(db, remote_id, columns)
    return {}


def detail(call: Call) -> object:
    """One remote with its lock (section 4.5); the fields that lists leave out are not in it."""
    with call.site.database.reading() as db:
        row = _remote(db, call.given.integer("remoteId"))
        lock = call.site.lock(db, int(str(row["lock_id"])))
    lock_info = {"lockId": lock.id, "lockName": lock.name, "lockAlias": lock.alias}
    return as_record(row, call.site.clock()) | {"lockInfo": lock_info}


def delete(call: Call) -> object:
    """Remove a remote (section 4.6)."""
    remote_id = call.given.integer("remoteId")
    with call.site.database.writing() as db:
        remote_table.delete(db, remote_id, _remote(db, remote_id)["lock_id"])
    return {}


def clear(call: Call) -> object:
    """Remove all remotes of a lock (section 4.7)."""
    lock_id = call.given.integer("lockId")
    with call.site.database.writing() as db:
        call.site.lock(db, lock_id)
        return {"deletedCount": remote_table.clear(db, lock_id)}


def update_remote_user_no(call: Call) -> object:
    """Set a remote's user number (section 4.8)."""
    given = call.given
    lock_id, remote_id = given.integer("lockId"), given.integer("remoteId")
    columns = {
        "user_no": given.integer("remoteUserNo", low=0),
        "updated_ms": call.site.clock(),
    }
    with call.site.database.writing() as db:
        _remote_of(call, db, lock_id, remote_id)
        remote_table.change(db, remote_id, columns)
    return {}


def _remote(db: sqlite3.Connection, remote_id: int) -> dict[str, object]:
    row = remote_table.find(db, remote_id)
    if row is None:
        raise Refusal(UNKNOWN_REMOTE, f"There is no remote {remote_id}.")
    return row


def _remote_of(
    call: Call, db: sqlite3.Connection, lock_id: int, remote_id: int
) -> dict[str, object]:
    call.site.lock(db, lock_id)
    row = _remote(db, remote_id)
    if row["lock_id"] != lock_id:
        raise Refusal(FOREIGN_REMOTE, f"Remote {remote_id} is not on lock {lock_id}.")
    return row


def _refuse_taken_name(
    db: sqlite3.Connection, lock_id: int, name: str, but: int | None = None
) -> None:
    """Names are compared exactly as they are; ``but`` may keep its own."""
    if remote_table.id_of_name(db, lock_id, name) not in (None, but):
        raise Refusal(NAME_EXISTS, "The bluetooth remote name exists on this lock.")
