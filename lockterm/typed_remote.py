"""What was typed into the remote form, read: values, what is wrong with them, what they mean.

Typed values are strings by the contract's field names (4.1), so that they can be kept as a draft
and put back. Reading them is pure: the form shows the result and decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from lockterm import json_text, moments
from lockterm.models.constants import AddType, Flag
from lockterm.models.remote_values import RemoteValues, values_of
from lockterm.rules import EXTRA_BYTES, NUMBERS, needs_dates, needs_weekdays, violations, warnings
from lockterm.text import clean
from lockterm.typed_moments import HELP, read_moment
from lockterm.weekdays import parse_weekdays, weekday_words

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote

MAIN = (
    "remoteName",
    "remoteNumber",
    "remoteType",
    "startDate",
    "endDate",
    "weekDay",
    "addType",
    "isCoerced",
)
"""What nearly every remote needs, in the order of the form."""

MORE = (
    "remoteUserNo",
    "remoteRight",
    "mac",
    "electricQuantity",
    "businessId",
    "firmwareInfo",
    "extraData",
)
"""Less used, and accepted on creation only, but for ``extraData``."""

EDITABLE = ("remoteName", "remoteType", "startDate", "endDate", "weekDay", "isCoerced", "extraData")
"""What an update can change (4.4)."""

LABELS = {
    "remoteName": "Name",
    "remoteNumber": "Number",
    "remoteType": "Type",
    "startDate": "Start",
    "endDate": "End",
    "weekDay": "Weekdays",
    "addType": "Added via",
    "isCoerced": "Coerced",
    "remoteUserNo": "User number",
    "remoteRight": "Admin right",
    "mac": "MAC address",
    "electricQuantity": "Battery level",
    "businessId": "Business id",
    "firmwareInfo": "Firmware info",
    "extraData": "Extra data",
}
"""Contract field -> what people call it."""

JSON_FIELDS = {"firmwareInfo": "firmware_info", "extraData": "extra_data"}
_DATES = {"startDate": "start_ms", "endDate": "end_ms"}
_CHOICES = {
    "remoteType": "remote_type",
    "addType": "add_type",
    "remoteRight": "remote_right",
    "isCoerced": "is_coerced",
}
_ATTRIBUTES = {
    **_CHOICES,
    **NUMBERS,
    **_DATES,
    **JSON_FIELDS,
    "remoteName": "remote_name",
    "remoteNumber": "remote_number",
    "weekDay": "week_day",
    "mac": "mac",
}
_MAC = re.compile(r"[0-9A-Fa-f]{2}([:-]?[0-9A-Fa-f]{2}){5}")


@dataclass(frozen=True, slots=True)
class Reading:
    """What was typed, read."""

    values: RemoteValues
    """What would be sent; only meant for sending where there are no errors."""
    errors: dict[str, str] = field(default_factory=dict)
    """Contract field -> why it cannot be sent, in the order of the form."""
    warnings: dict[str, str] = field(default_factory=dict)
    """Contract field -> what must be confirmed."""
    notes: dict[str, str] = field(default_factory=dict)
    """Contract field -> what it was understood as."""
    choices: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Contract field -> the two moments of a time that the clocks show twice."""
    missing: tuple[str, ...] = ()
    """Those of the errors that are needed fields still empty."""


def shown_fields(remote_type: int | None, *, adding: bool) -> tuple[str, ...]:
    """The fields that the form asks for, in its order."""
    hidden = set() if needs_dates(remote_type) else set(_DATES)
    if not needs_weekdays(remote_type):
        hidden.add("weekDay")
    return tuple(
        name for name in (*MAIN, *MORE) if name not in hidden and (adding or name in EDITABLE)
    )


def typed_of(before: Remote | None, zone: tzinfo) -> dict[str, str]:
    """What stands in the form at first: the remote as it is, or what most new ones need."""
    if before is None:
        typed = dict.fromkeys((*MAIN, *MORE), "")
        given = {"startDate": "now", "addType": AddType.BLUETOOTH, "isCoerced": Flag.DEFAULT_NO}
        return typed | {name: str(value) for name, value in given.items()}
    values = values_of(before)
    return {name: _typed(name, getattr(values, _ATTRIBUTES[name]), zone) for name in EDITABLE}


def _typed(name: str, value: Any, zone: tzinfo) -> str:
    if name in _DATES:
        return moments.typed(value, zone) if value else ""
    if name == "weekDay":
        known = [day for day in value if day in range(1, 8)]
        return weekday_words(known) if known else ""
    if name in JSON_FIELDS:
        return json_text.write_object(value or None)
    return "" if value is None else clean(value)


def read_typed(
    typed: Mapping[str, str], zone: tzinfo, now_ms: int, before: Remote | None = None
) -> Reading:
    """Read what stands in the form.

    Args:
        typed: Contract field -> text.
        zone: The zone of the lock.
        now_ms: Now, in milliseconds.
        before: The remote of an edit; a field whose text is still the remote's keeps its value to
            the millisecond.
    """
    values = values_of(before) if before is not None else RemoteValues()
    initial = typed_of(before, zone) if before is not None else {}
    found: dict[str, Any] = {}
    errors: dict[str, str] = {}
    notes: dict[str, str] = {}
    choices: dict[str, tuple[int, ...]] = {}
    for name in (*MAIN, *MORE):
        if (text := typed.get(name)) is None:
            continue
        if name in _DATES:
            base_ms = found.get("start_ms", values.start_ms) if name == "endDate" else None
            kept = getattr(values, _DATES[name])
            if before is not None and kept and text == initial[name]:
                notes[name] = moments.preview(kept, zone, now_ms)
            else:
                ms = _read_date(name, text, zone, now_ms, base_ms, errors, notes, choices)
                found[_DATES[name]] = ms
        elif before is None or text != initial.get(name):
            try:
                found[_ATTRIBUTES[name]] = _read_text(name, text)
            except ValueError as error:
                errors[name] = str(error)
        if name in JSON_FIELDS and text.strip():
            notes[name] = _json_note(text)
        if name == "weekDay" and name not in errors:
            words = weekday_words(found.get("week_day", values.week_day))
            notes[name] = "" if text.strip().casefold() in ("", words.casefold()) else words
    values = replace(values, **found)
    if values.mac and not _MAC.fullmatch(values.mac):
        notes["mac"] = "This does not look like AA:BB:CC:DD:EE:FF; it is sent as it stands."

    shown = shown_fields(values.remote_type, adding=before is None)
    broken = violations(values, before) | errors
    errors = {name: broken[name] for name in shown if name in broken}
    return Reading(
        values,
        errors,
        {name: text for name, text in warnings(values, now_ms, before).items() if name in shown},
        notes,
        choices,
        tuple(name for name in errors if not typed.get(name, "").strip()),
    )


def _read_date(
    name: str,
    text: str,
    zone: tzinfo,
    now_ms: int,
    base_ms: int | None,
    errors: dict[str, str],
    notes: dict[str, str],
    choices: dict[str, tuple[int, ...]],
) -> int | None:
    if not text.strip():
        notes[name] = HELP
        return None
    moment = read_moment(text, zone, now_ms, base_ms=base_ms, end=name == "endDate")
    if moment.choices:
        choices[name] = moment.choices
        errors[name] = "The clocks show that time twice: choose the first or the second."
    elif moment.error:
        errors[name] = moment.error
    elif moment.ms is not None:
        shown = moments.preview(moment.ms, zone, now_ms)
        notes[name] = f"{shown}; {moment.note}" if moment.note else shown
    return moment.ms


def _read_text(name: str, text: str) -> Any:
    text = text.strip()
    if name in ("remoteName", "remoteNumber"):
        return text
    if name == "weekDay":
        return tuple(sorted(parse_weekdays(text)))
    if not text:
        return None
    if name in JSON_FIELDS:
        return json_text.read_object(text)
    if name in _CHOICES or name in NUMBERS:
        if not re.fullmatch(r"[+-]?\d{1,30}", text, re.ASCII):
            raise ValueError("A whole number, such as 12.")
        return int(text)
    return text


def _json_note(text: str) -> str:
    try:
        bytes_ = json_text.size(json_text.read_object(text))
    except ValueError:
        bytes_ = len(text.encode(errors="replace"))
    return f"{bytes_:,} of {EXTRA_BYTES:,} bytes"
