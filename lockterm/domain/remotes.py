"""Bluetooth remotes (contract 2.3, 4.1, 4.3 to 4.5), their constants and the table of their fields.

The attributes of :class:`Remote` are the table, in the order in which views show them. All other
code uses this one table: the form, the detail view, differences, confirmations, the options of
``lockterm remotes``, request bodies, backups and CSV columns. To add a field, add it here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from lockterm.domain.json_text import canonical
from lockterm.domain.reading import Field, Kind, Record, Sent, number, text, wire_field

# --- constants -----------------------------------------------------------------------------------


class RemoteType(IntEnum):
    """The type of a remote, which decides its kind of validity (contract 2.2, ``remoteType``)."""

    PERMANENT = 1
    TIME_LIMITED = 2
    RECURRING = 4


class AddType(IntEnum):
    """The way in which a remote was added (contract 2.2, ``addType``)."""

    BLUETOOTH = 1
    GATEWAY = 2


class RemoteStatus(IntEnum):
    """The status that the service reports for a remote (contract 2.2 and 3, ``status``)."""

    NORMAL = 1
    INVALID = 2


class Flag(IntEnum):
    """The values of ``isCoerced`` and ``remoteRight`` (contract 2.2), which are not booleans."""

    DEFAULT_NO = 0
    YES = 1
    NO = 2


VALIDITY = ("remoteType", "startDate", "endDate", "weekDay")
"""The fields that decide when a remote opens its lock. An update sends all four or none of them
(contract 4.4)."""

READABLE_CALLS = frozenset({"add", "update", "delete", "clear"})
"""The calls whose result lockterm can verify, because other calls of the contract read the changed
values."""

CALL_NAMES: Mapping[str, str] = {
    "add": "add",
    "update": "change",
    "delete": "delete",
    "clear": "clear",
    "updateRemoteUserNo": "user number",
    "updateLockSetting": "voice",
}
"""Maps the contract's name of a call to the word that lockterm shows for it."""


def is_known_type(remote_type: int | None) -> bool:
    """Return whether the contract defines this type of remote; false for None."""
    return remote_type in RemoteType.__members__.values()


def needs_dates(remote_type: int | None) -> bool:
    """Return whether a remote of the type needs a start and an end."""
    return remote_type in (RemoteType.TIME_LIMITED, RemoteType.RECURRING)


def needs_weekdays(remote_type: int | None) -> bool:
    """Return whether a remote of the type needs weekdays."""
    return remote_type == RemoteType.RECURRING


WORDS: dict[type[IntEnum], dict[int, str]] = {
    RemoteType: {1: "permanent", 2: "time-limited", 4: "recurring"},
    AddType: {1: "bluetooth", 2: "gateway"},
    RemoteStatus: {1: "normal", 2: "invalid"},
    Flag: {0: "default (no)", 1: "yes", 2: "no"},
}


def choices(kind: type[IntEnum]) -> dict[str, int]:
    """Return a dict that maps command-line words to values, such as ``time-limited`` to 2."""
    return {shown.partition(" ")[0]: value for value, shown in WORDS[kind].items()}


def word(kind: type[IntEnum], value: object) -> str:
    """Return the word for a value of a constant; ``unknown (7)`` if the contract does not list 7.

    The word for None is ``not stated``.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value in WORDS[kind]:
        return WORDS[kind][value]
    return "not stated" if value is None else f"unknown ({value})"


def word_in_detail(kind: type[IntEnum], value: object) -> str:
    """Return the word for a value of a constant, for a detail view.

    Unlike the result of :func:`word`, the text for a value that the contract does not list begins
    with the value, as in ``7 (unknown value)``.
    """
    if value is not None and (not isinstance(value, int) or value not in WORDS[kind]):
        return f"{value} (unknown value)"
    return word(kind, value)


# --- remotes -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LockInfo(Record):
    """The lock of a remote, as in the answer to ``detail`` (contract 2.3)."""

    lock_id: int | None = number("lockId")
    lock_name: str | None = text("lockName")
    lock_alias: str | None = text("lockAlias")


_UNLISTED: Mapping[str, Any] = {"sent": Sent.ON_CREATION, "listed": False, "rare": True}
"""The properties of a hidden field: an add can set it, but lists do not contain it (contract
2.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote(Record):
    """A bluetooth remote, with values from the service or values to send.

    Any field may be missing. Types and flags are plain numbers, because a service may send values
    that the contract does not list. A remote to send has no ``raw`` and no ``odd``.
    """

    # fmt: off
    # name, kind, position in the contract, label, option, help text; then special properties
    remote_name: str | None = wire_field(
        "remoteName", Kind.TEXT, 3, "Name", "name", "Name.",
        sent=Sent.ALWAYS, required=True, example="Anna Weber",
    )
    remote_number: str | None = wire_field(
        "remoteNumber", Kind.TEXT, 4, "Number", "number", "Number.",
        sent=Sent.ON_CREATION, required=True, example="A-2041",
    )
    id: int | None = wire_field("id", Kind.NUMBER, 1, "ID")
    remote_type: int | None = wire_field(
        "remoteType", Kind.CONSTANT, 5, "Type", "type", "Type.",
        sent=Sent.ALWAYS, required=True, constants=RemoteType,
    )
    remote_type_name: str | None = wire_field("remoteTypeName", Kind.TEXT, 6)
    start_ms: int | None = wire_field(
        "startDate", Kind.DATE, 9, "Start", "start", "Start of the access.",
        sent=Sent.ALWAYS, first="now",
    )
    end_ms: int | None = wire_field(
        "endDate", Kind.DATE, 10, "End", "end", "End of the access.", sent=Sent.ALWAYS
    )
    week_day: Sequence[int] | None = wire_field(
        "weekDay", Kind.WEEKDAYS, 11, "Weekdays", "days", "Weekdays of a recurring remote.",
        sent=Sent.ALWAYS,
    )
    status: int | None = wire_field("status", Kind.CONSTANT, 14, "Status", constants=RemoteStatus)
    status_name: str | None = wire_field("statusName", Kind.TEXT, 15)
    add_type: int | None = wire_field(
        "addType", Kind.CONSTANT, 7, "Added via", "via", "How the remote was added.",
        sent=Sent.ON_CREATION, required=True, constants=AddType, first="1", noun="way of adding",
    )
    add_type_name: str | None = wire_field("addTypeName", Kind.TEXT, 8)
    is_coerced: int | None = wire_field(
        "isCoerced", Kind.CONSTANT, 12, "Coerced", "coerced",
        "The service defines what this flag does.",
        sent=Sent.ALWAYS, constants=Flag, first="0", noun="coerced flag", is_explained=True,
    )
    remote_user_no: int | None = wire_field(
        "remoteUserNo", Kind.NUMBER, 22, "User number", "user-number", "User number on the lock.",
        **_UNLISTED, of_device=True, example="12",
    )
    remote_right: int | None = wire_field(
        "remoteRight", Kind.CONSTANT, 24, "Admin right", "admin-right",
        "Administrator right.",
        **_UNLISTED, constants=Flag,
    )
    mac: str | None = wire_field(
        "mac", Kind.TEXT, 19, "MAC address", "mac", "MAC address.",
        **_UNLISTED, of_device=True, example="C4:4E:AC:01:02:03",
    )
    electric_quantity: int | None = wire_field(
        "electricQuantity", Kind.NUMBER, 20, "Battery level", "battery", "Battery level, 0 to 100.",
        **_UNLISTED, of_device=True, example="87",
    )
    business_id: int | None = wire_field(
        "businessId", Kind.NUMBER, 23, "Business ID", "business-id",
        "ID of a record in your business system.", **_UNLISTED, example="9001",
    )
    firmware_info: dict[str, Any] | None = wire_field(
        "firmwareInfo", Kind.OBJECT, 21, "Firmware info", "firmware-info", "JSON object.",
        **_UNLISTED, of_device=True,
    )
    create_time: int | None = wire_field("createTime", Kind.TIMESTAMP, 17, "Created")
    update_time: int | None = wire_field("updateTime", Kind.TIMESTAMP, 18, "Updated")
    api_user_id: int | None = wire_field("apiUserId", Kind.NUMBER, 16, "API user")
    lock_id: int | None = wire_field("lockId", Kind.NUMBER, 2, "Lock ID")
    lock_info: LockInfo | None = wire_field("lockInfo", Kind.RECORD, 0, "Lock info")
    extra_data: dict[str, Any] | None = wire_field(
        "extraData", Kind.OBJECT, 13, "Extra data", "extra-data", "JSON object of your own.",
        sent=Sent.ALWAYS, rare=True,
    )
    # fmt: on

    @classmethod
    def read_parts(cls, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``lockInfo`` as a record if it is a JSON object; otherwise an empty dict."""
        info = raw.get("lockInfo")
        return {"lockInfo": LockInfo.read(info)} if isinstance(info, Mapping) else {}

    def other_lock(self, lock_id: int) -> int | None:
        """Return the ID of the remote's lock if it is not ``lock_id``; otherwise None.

        The result is also None if the ID of the lock is unknown.
        """
        lock_ids = (self.lock_id, self.lock_info.lock_id if self.lock_info else None)
        return next((other for other in lock_ids if other not in (None, lock_id)), None)


FIELDS: Mapping[str, Field] = Remote.fields()
"""Maps the contract's names to the fields of a remote, in the order in which views show them."""

ADDED = tuple(field for field in FIELDS.values() if field.sent is not Sent.NEVER)
"""The fields that an add can send (contract 4.1), in the order of the form."""

UPDATED = tuple(field for field in ADDED if field.sent is Sent.ALWAYS)
"""The fields that an update can change (contract 4.4)."""

RECOGNIZED = tuple(field for field in ADDED if field in UPDATED or field.name == "remoteNumber")
"""The fields by which lockterm recognizes an added or updated remote: the updatable fields and the
number."""

UNLISTED = tuple(field for field in ADDED if not field.listed)
"""The hidden fields, which lists never contain and a detail may omit (contract 2.3)."""


def is_still(before: Mapping[str, Any], now: Remote) -> bool:
    """Return whether two records with the same ID belong to the same remote.

    The service may give the ID of a deleted remote to a new remote. This function compares the
    number and the creation time, because no update can change them (contract 4.4).

    Args:
        before: The earlier record, by the contract's names.
        now: The present remote.
    """
    return all(
        canonical(before[name]) == canonical(now.raw[name])
        for name in ("remoteNumber", "createTime")
        if name in before and name in now.raw
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RemotePage(Record):
    """A page of a lock's remotes (contract 4.3), with the counts that the service reported.

    A missing or impossible count is computed from other values, and ``odd`` contains its name.
    """

    remotes: tuple[Remote, ...] = ()
    page_no: int
    page_size: int
    pages: int
    total: int
    answer_bytes: int = 0
    """Size of the answer in bytes; 0 if lockterm did not just receive the page from the service."""
    unreadable: int = 0
    """Number of list items that are not JSON objects."""

    @property
    def least(self) -> int:
        """The minimum number of remotes on the lock.

        This is the total, or the length of the page if the page is longer.
        """
        return max(self.total, len(self.remotes) + self.unreadable)
