"""Two states of a remote, field by field and in words: for confirmations and for conflicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from lockterm import moments
from lockterm.json_text import canonical
from lockterm.models.constants import AddType, Flag, RemoteType, word
from lockterm.models.remote_values import RemoteValues
from lockterm.text import clean
from lockterm.weekdays import weekday_words

LABELS = {
    "remote_name": "Name",
    "remote_number": "Number",
    "remote_type": "Type",
    "start_ms": "Start",
    "end_ms": "End",
    "week_day": "Weekdays",
    "is_coerced": "Coerced",
    "extra_data": "Extra data",
    "add_type": "Added via",
    "mac": "MAC address",
    "electric_quantity": "Battery",
    "firmware_info": "Firmware info",
    "remote_user_no": "User number",
    "business_id": "Business id",
    "remote_right": "Admin right",
}
"""Field of :class:`RemoteValues` -> what people call it."""

NOTHING = "none"


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that differs, in words that are safe to show."""

    label: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.label}: {self.before} -> {self.after}"


UPDATABLE = (
    "remote_name",
    "remote_type",
    "start_ms",
    "end_ms",
    "week_day",
    "is_coerced",
    "extra_data",
)
"""What an update can change (4.4)."""

RECOGNISED = ("remote_name", "remote_number", *UPDATABLE[1:])
"""What a remote is known by when it is read again: with another number, it may be another one."""


def differences(
    before: RemoteValues,
    after: RemoteValues,
    zone: tzinfo,
    fields: Sequence[str] = UPDATABLE,
) -> list[Difference]:
    """What an update changed or would change; ``1``, ``1.0`` and ``true`` are not the same."""
    found = []
    for name in fields:
        one, other = getattr(before, name), getattr(after, name)
        if name == "week_day":
            one, other = sorted(set(one)), sorted(set(other))
        if name in ("start_ms", "end_ms"):
            one, other = one or 0, other or 0
        if isinstance(one, Mapping) or isinstance(other, Mapping):
            one, other = one or {}, other or {}
        if canonical(one) != canonical(other):
            old, new = in_words(name, one, zone), in_words(name, other, zone)
            found.append(Difference(LABELS[name], old, new))
    return found


def in_words(name: str, value: Any, zone: tzinfo) -> str:
    """A field of :class:`RemoteValues` as a person reads it, on one line, safe to show."""
    if name in ("start_ms", "end_ms"):
        return moments.stamp(value, zone, exact=True) if value else NOTHING
    if name == "week_day":
        return weekday_words(value) if value else NOTHING
    if name == "remote_type":
        return word(RemoteType, value)
    if name == "add_type":
        return word(AddType, value)
    if name in ("is_coerced", "remote_right"):
        return word(Flag, value)
    if isinstance(value, Mapping):
        return clean(canonical(value), 60) if value else NOTHING
    return clean(value, 60) if value not in (None, "") else NOTHING
