"""A remote field by field, in words that are safe to show: for the detail and the pane."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from lockterm import moments
from lockterm.models.constants import AddType, Flag, RemoteStatus, RemoteType, numbered
from lockterm.text import clean, clean_lines
from lockterm.validity import Validity
from lockterm.weekdays import weekday_words

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote

ABSENT = "not stated"


@dataclass(frozen=True, slots=True)
class Field:
    """One value of a remote."""

    label: str
    """What people call it; for what the contract does not name, the service's own name."""
    shown: str
    """Clean words, of several lines for JSON."""
    raw: str
    """What copying gives: text as it came, JSON indented."""
    name: str = ""
    """The contract's name of it; empty where it is worked out here."""


class _Reader:
    """Collects the fields of one remote; what came in another type is shown as it came."""

    def __init__(self, remote: Remote, zone: tzinfo, now_ms: int) -> None:
        self.remote, self.zone, self.now_ms = remote, zone, now_ms
        self.fields: list[Field] = []

    def add(self, label: str, name: str, words: str | None, raw: str | None = None) -> None:
        if name in self.remote.odd:
            self.json(label, name, self.remote.odd[name], note="not of the contract's type: ")
        elif words is not None:
            self.fields.append(Field(label, clean(words), words if raw is None else raw, name))
        else:
            self.fields.append(Field(label, ABSENT, "", name))

    def text(self, label: str, name: str, value: str | None) -> None:
        self.add(label, name, '""' if value == "" else value, value)

    def number(self, label: str, name: str, value: int | None, unit: str = "") -> None:
        self.add(label, name, None if value is None else f"{value}{unit}", str(value))

    def constant(self, label: str, name: str, value: str, service_name: str | None = "") -> None:
        quoted = f", called “{service_name}”" if service_name else ""
        self.add(label, name, value + quoted)

    def moment(self, label: str, name: str, ms: int | None, *, zero: str = "") -> None:
        if ms == 0 and zero:
            self.add(label, name, f"0 ({zero})")
            return
        if ms is None:
            self.add(label, name, None)
            return
        at = moments.as_ms(ms) if label in ("Created", "Updated") else ms
        self.add(label, name, moments.preview(at, self.zone, self.now_ms))

    def json(self, label: str, name: str, value: Any, note: str = "") -> None:
        if value is None and name not in self.remote.odd:
            self.fields.append(Field(label, ABSENT, "", name))
            return
        pretty = json.dumps(value, ensure_ascii=False, indent=2)
        self.fields.append(Field(label, note + clean_lines(pretty), pretty, name))


def remote_fields(remote: Remote, valid: Validity, zone: tzinfo, now_ms: int) -> list[Field]:
    """Every field of 2.3, the six others where they came, and what the contract does not name.

    Args:
        remote: As its detail told it.
        valid: What its dates and its status say.
        zone: In which times are shown, beside UTC.
        now_ms: What "in 3 days" is counted from.
    """
    read = _Reader(remote, zone, now_ms)
    read.text("Name", "remoteName", remote.remote_name)
    read.text("Number", "remoteNumber", remote.remote_number)
    read.number("Id", "id", remote.id)
    kind = numbered(RemoteType, remote.remote_type)
    read.constant("Type", "remoteType", kind, _other(remote.remote_type_name, kind))
    read.fields.append(Field("Valid", clean(valid.words), valid.words))
    permanent = "permanent" if remote.remote_type == RemoteType.PERMANENT else ""
    read.moment("Start", "startDate", remote.start_ms, zero=permanent)
    read.moment("End", "endDate", remote.end_ms, zero=permanent)
    days = None if remote.week_day is None else weekday_words(remote.week_day)
    read.add(
        "Weekdays", "weekDay", days if not remote.week_day else f"{days} ({_list(remote.week_day)})"
    )
    status = numbered(RemoteStatus, remote.status)
    read.constant("Status", "status", status, _other(remote.status_name, status))
    if valid.disagreement:
        read.fields.append(Field("", f"! {valid.disagreement}", valid.disagreement))
    added = numbered(AddType, remote.add_type)
    read.constant("Added via", "addType", added, _other(remote.add_type_name, added))
    read.constant("Coerced", "isCoerced", numbered(Flag, remote.is_coerced))
    _add_rarely_returned(read)
    read.moment("Created", "createTime", remote.create_time)
    read.moment("Updated", "updateTime", remote.update_time)
    read.number("API user", "apiUserId", remote.api_user_id)
    read.number("Lock id", "lockId", remote.lock_id)
    _add_lock_info(read)
    read.json("Extra data", "extraData", remote.extra_data)
    for name, value in remote.extras.items():
        read.json(clean(name, 40), name, value, note="not in the contract: ")
    return read.fields


def _add_rarely_returned(read: _Reader) -> None:
    """The six that the contract lets a service keep to itself: shown where they came (2.3)."""
    remote, came = read.remote, read.remote.raw
    if "mac" in came:
        read.text("MAC address", "mac", remote.mac)
    if "electricQuantity" in came:
        read.number("Battery", "electricQuantity", remote.electric_quantity)
    if "remoteUserNo" in came:
        read.number("User number", "remoteUserNo", remote.remote_user_no)
    if "businessId" in came:
        read.number("Business id", "businessId", remote.business_id)
    if "remoteRight" in came:
        read.constant("Admin right", "remoteRight", numbered(Flag, remote.remote_right))
    if "firmwareInfo" in came:
        read.json("Firmware info", "firmwareInfo", remote.firmware_info)


def _add_lock_info(read: _Reader) -> None:
    info = read.remote.lock_info
    if info is None:
        read.add("Lock info", "lockInfo", None)
        return
    for label, name, value in (
        ("Lock name", "lockName", info.lock_name),
        ("Lock alias", "lockAlias", info.lock_alias),
    ):
        shown = value if name not in info.odd else f"not of the contract's type: {info.odd[name]}"
        read.text(label, name, shown)
    if info.lock_id != read.remote.lock_id or "lockId" in info.odd:
        other = info.odd.get("lockId", info.lock_id)
        read.add("Lock info id", "lockInfo", f"{other}, another than the lock id above")
    if info.extras:
        read.json("Lock info", "lockInfo", info.extras, note="not in the contract: ")


def _other(service_name: str | None, words: str) -> str:
    """The service's own name of a constant where it says something else than ours."""
    return service_name if service_name and service_name not in words else ""


def _list(days: list[int] | None) -> str:
    return ", ".join(map(str, days or ())) or "none"
