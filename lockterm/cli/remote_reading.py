"""``remotes list``, ``show`` and ``check-name``: what is asked and nothing changed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from lockterm import moments
from lockterm.cli.door import Door
from lockterm.cli.ending import DONE, FAILED, Misused
from lockterm.cli.options import Form
from lockterm.cli.output import put, put_csv, put_fields, put_json, put_table
from lockterm.cli.which_lock import find_lock, lock_words
from lockterm.config import Options
from lockterm.models.constants import RemoteType, word
from lockterm.text import clean
from lockterm.validity import validity

if TYPE_CHECKING:
    from lockterm.models.locks import Lock
    from lockterm.models.remotes import Remote

TITLES = ("Id", "Name", "Number", "Type", "Valid", "State")
COLUMNS = (
    "id",
    "lockId",
    "remoteName",
    "remoteNumber",
    "remoteType",
    "remoteTypeName",
    "addType",
    "addTypeName",
    "startDate",
    "endDate",
    "weekDay",
    "isCoerced",
    "extraData",
    "status",
    "statusName",
    "apiUserId",
    "createTime",
    "updateTime",
    "mac",
    "electricQuantity",
    "firmwareInfo",
    "remoteUserNo",
    "businessId",
    "remoteRight",
    "start",
    "end",
)
"""The CSV's columns: the contract's fields as they came (2.3), and the two times as people and
spreadsheets read them."""


def run_list(
    options: Options,
    typed_lock: str,
    form: Form,
    *,
    page_no: int,
    page_size: int | None,
    everything: bool,
) -> int:
    """Print a page of a lock's remotes, or all of them."""
    with Door(options) as door:
        lock = find_lock(door, typed_lock)
        operations = door.operations
        if everything:
            remotes = door.run(operations.all_remotes(lock.lock_id))
            counts: dict[str, Any] = dict.fromkeys(("pageNo", "pageSize", "pages"))
            counts |= {"total": len(remotes), "unreadable": 0}
        else:
            size = page_size or door.profile.page_size
            page = door.run(operations.page(lock.lock_id, page_no, size, fresh=True)).value
            remotes = list(page.remotes)
            counts = {
                "pageNo": page.page_no,
                "pageSize": page.page_size,
                "pages": page.pages,
                "total": page.total,
                "unreadable": page.unreadable,
            }
        zone, now_ms = operations.zone(lock), operations.now_ms()
    if form is Form.JSON:
        put_json({"lock": lock_json(lock), **counts, "remotes": [one.raw for one in remotes]})
    elif form is Form.CSV:
        put_csv(COLUMNS, _rows(remotes, zone))
    else:
        put_table(TITLES, [_cells(remote, zone, now_ms) for remote in remotes])
        put(_summary(lock, counts, len(remotes)))
    return DONE


def run_show(options: Options, typed_lock: str, remote_id: int, form: Form) -> int:
    """Print every field of a remote."""
    with Door(options) as door:
        lock = find_lock(door, typed_lock)
        remote = read_remote(door, lock, remote_id)
        zone, now_ms = door.operations.zone(lock), door.operations.now_ms()
    if form is Form.JSON:
        put_json({"lock": lock_json(lock), "remote": remote.raw})
    elif form is Form.CSV:
        put_csv(COLUMNS, _rows([remote], zone))
    else:
        from lockterm.widgets.remote_fields import remote_fields

        fields = remote_fields(remote, validity(remote, now_ms, zone), zone, now_ms)
        put_fields((field.label, field.shown) for field in fields)
    return DONE


def run_check_name(options: Options, typed_lock: str, name: str, *, as_json: bool) -> int:
    """Say whether a name is free.

    Returns:
        The exit code: 1 where it is taken.
    """
    with Door(options) as door:
        lock = find_lock(door, typed_lock)
        if not name.strip():
            raise Misused("NAME is empty; nothing was asked.")
        free = door.run(door.operations.is_name_free(lock.lock_id, name.strip()))
    if as_json:
        put_json({"lock": lock_json(lock), "remoteName": name.strip(), "free": free})
    else:
        state = "is free on" if free else "is taken on"
        put(f"{clean(name.strip(), 60)} {state} {lock_words(lock)}.")
    return DONE if free else FAILED


def read_remote(door: Door, lock: Lock, remote_id: int) -> Remote:
    """The detail of a remote, read now.

    Raises:
        Misused: It belongs to another lock than the one that was typed.
    """
    remote = door.run(door.operations.remote(remote_id))
    if remote.lock_id not in (None, lock.lock_id):
        raise Misused(
            f"Remote {remote_id} belongs to lock {remote.lock_id}, not to {lock_words(lock)}:"
            " nothing was changed.",
            hint="See that lock and remote are the ones you mean.",
        )
    return remote


def remote_words(remote: Remote) -> str:
    """``Anna Weber (A-2041)``: clean."""
    name = clean(remote.remote_name or f"remote {remote.id}", 60)
    return f"{name} ({clean(remote.remote_number, 30)})" if remote.remote_number else name


def lock_json(lock: Lock) -> dict[str, Any]:
    """What programs are told of the lock: its id, and its name in the lock book or null."""
    return {"lockId": lock.lock_id, "name": lock.name or None}


def _cells(remote: Remote, zone: tzinfo, now_ms: int) -> tuple[object, ...]:
    valid = validity(remote, now_ms, zone)
    odd = remote.odd
    return (
        odd.get("id", "-") if remote.id is None else remote.id,
        odd.get("remoteName", "(no name)") if remote.remote_name is None else remote.remote_name,
        odd.get("remoteNumber", "-") if remote.remote_number is None else remote.remote_number,
        odd.get("remoteType", word(RemoteType, remote.remote_type)),
        valid.short,
        valid.state,
    )


def _summary(lock: Lock, counts: dict[str, Any], shown: int) -> str:
    total = counts["total"]
    words = f"{lock_words(lock)}: {total:,} remote{'' if total == 1 else 's'}"
    if counts["pageNo"] is not None:
        words += f", page {counts['pageNo']} of {counts['pages']}"
    if counts["unreadable"]:
        words += f", {counts['unreadable']} that cannot be read"
    return words if total or shown else f"{lock_words(lock)} has no remotes."


def _rows(remotes: Iterable[Remote], zone: tzinfo) -> Iterable[dict[str, Any]]:
    for remote in remotes:
        yield {
            **remote.raw,
            "start": _time(remote.start_ms, zone),
            "end": _time(remote.end_ms, zone),
        }


def _time(ms: int | None, zone: tzinfo) -> str:
    at = moments.local(ms, zone) if ms else None
    return at.isoformat(timespec="seconds") if at else ""
