"""The constants of contract 2.2, and the words that lockterm shows for them.

This module does not import pydantic, because screens need the constants at startup.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum


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
    """Return the word for a value, such as ``unknown (7)`` if the contract does not list it.

    The word for None is ``not stated``.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value in WORDS[kind]:
        return WORDS[kind][value]
    return "not stated" if value is None else f"unknown ({value})"


def word_in_detail(kind: type[IntEnum], value: object) -> str:
    """Return the word for a value, as :func:`word` does.

    If the contract does not list the value, return a text such as ``7 (unknown value)`` instead.
    """
    if value is not None and (not isinstance(value, int) or value not in WORDS[kind]):
        return f"{value} (unknown value)"
    return word(kind, value)
