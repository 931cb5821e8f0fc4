"""The rules of the contract for a remote: what each type needs, and what is sent for it.

| type | start and end | weekdays | sent |
|---|---|---|---|
| 1 permanent | none | none | ``startDate`` 0, ``endDate`` 0, ``weekDay`` [] |
| 2 time-limited | both, end after start | none | the two dates, ``weekDay`` [] |
| 4 recurring | both, end after start | 1-7; none only after asking | all three |

An update that touches type, start, end or weekdays sends all four together; otherwise only what
changed. What the contract does not know is never written back (2.2, 4.1, 4.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lockterm.errors import RuleViolation
from lockterm.json_text import canonical, size
from lockterm.models.constants import AddType, Flag, RemoteType

if TYPE_CHECKING:
    from lockterm.models.remote_values import RemoteValues
    from lockterm.models.remotes import Remote
    from lockterm.models.requests import NewRemote, RemoteChanges

EXTRA_BYTES = 1024
"""``extraData`` is recommended to be at most 1 KB (8)."""

_INT64 = range(-(2**63), 2**63)
_WEEK = range(1, 8)


NUMBERS = {
    "electricQuantity": "electric_quantity",
    "remoteUserNo": "remote_user_no",
    "businessId": "business_id",
}
"""The contract's whole numbers that a person types -> the attribute."""


def is_known_type(remote_type: int | None) -> bool:
    """Whether the contract lists the type."""
    return remote_type in RemoteType.__members__.values()


def needs_dates(remote_type: int | None) -> bool:
    """Whether a remote of the type needs a start and an end."""
    return remote_type in (RemoteType.TIME_LIMITED, RemoteType.RECURRING)


def needs_weekdays(remote_type: int | None) -> bool:
    """Whether weekdays belong to a remote of the type."""
    return remote_type == RemoteType.RECURRING


def validity_of(values: RemoteValues) -> tuple[int | None, int | None, int | None, tuple[int, ...]]:
    """Type, start, end and weekdays as they are sent together for the type."""
    if values.remote_type == RemoteType.PERMANENT:
        return (values.remote_type, 0, 0, ())
    days = tuple(sorted({day for day in values.week_day if day in _WEEK}))
    if not needs_weekdays(values.remote_type):
        days = ()
    return (values.remote_type, values.start_ms, values.end_ms, days)


def effective(before: Remote | None, after: RemoteValues) -> RemoteValues:
    """The values as they will be: the four of the validity as sent, or left as they are."""
    if before is not None and not touches_validity(before, after):
        from lockterm.models.remote_values import values_of

        old = values_of(before)
        four = (old.remote_type, old.start_ms, old.end_ms, old.week_day)
    else:
        four = validity_of(after)
    kind, start, end, days = four
    return replace(after, remote_type=kind, start_ms=start, end_ms=end, week_day=days)


def touches_validity(before: Remote | None, after: RemoteValues) -> bool:
    """Whether type, start, end or weekdays become others; a new remote always sets them."""
    from lockterm.models.remote_values import values_of

    return before is None or validity_of(after) != validity_of(values_of(before))


def violations(values: RemoteValues, before: Remote | None = None) -> dict[str, str]:
    """What must be corrected before anything is sent: contract field -> reason, in words.

    Args:
        values: What was typed.
        before: The remote of an edit: what stays as it is breaks no rule, for it is not sent.
    """
    reasons: dict[str, str] = {}
    if before is None or values.remote_name != (before.remote_name or ""):
        _check_text(reasons, "remoteName", values.remote_name, "A name")
    if touches_validity(before, values):
        _check_validity(reasons, values)
    if before is None:
        _check_text(reasons, "remoteNumber", values.remote_number, "A number")
        if values.add_type not in AddType.__members__.values():
            reasons["addType"] = "Choose how it was added: via bluetooth or via gateway."
        for field, attribute in NUMBERS.items():
            number = getattr(values, attribute)
            if number is not None and number not in _INT64:
                reasons[field] = "Too large: the service keeps 64-bit numbers."
        _check_flag(reasons, "remoteRight", values.remote_right)
    if before is None or values.is_coerced != before.is_coerced:
        _check_flag(reasons, "isCoerced", values.is_coerced)
    return reasons


def _check_text(reasons: dict[str, str], field: str, text: str, what: str) -> None:
    if not text.strip():
        reasons[field] = f"{what} is needed."
    elif not all(char.isprintable() or char in "\u200c\u200d" for char in text):
        reasons[field] = "It holds a character that cannot be seen: type it anew."
    elif "\N{REPLACEMENT CHARACTER}" in text:
        reasons[field] = (
            "\N{REPLACEMENT CHARACTER} stands for a character that was lost: retype it."
        )


def _check_flag(reasons: dict[str, str], field: str, value: int | None) -> None:
    if value is not None and value not in Flag.__members__.values():
        reasons[field] = f"There is no value {value}: choose one of the three."


def _check_validity(reasons: dict[str, str], values: RemoteValues) -> None:
    if not is_known_type(values.remote_type):
        reasons["remoteType"] = "Choose a type: permanent, time-limited or recurring."
    if not needs_dates(values.remote_type):
        return
    for field, ms, what in (
        ("startDate", values.start_ms, "A start"),
        ("endDate", values.end_ms, "An end"),
    ):
        if ms is None:
            reasons[field] = f"{what} is needed: it is not permanent."
        elif not 0 < ms < _INT64.stop:
            reasons[field] = f"{what} must lie between 1970 and what 64 bits can hold."
    start, end = values.start_ms, values.end_ms
    if "endDate" not in reasons and start is not None and end is not None and end <= start:
        reasons["endDate"] = "The end must come after the start."
    if needs_weekdays(values.remote_type):
        days = values.week_day
        if len(set(days)) != len(days) or not set(days) <= set(_WEEK):
            reasons["weekDay"] = "Weekdays are 1 (Monday) to 7 (Sunday), each once."


def warnings(values: RemoteValues, now_ms: int, before: Remote | None = None) -> dict[str, str]:
    """What is allowed but must be confirmed: contract field -> what it means, in words."""
    found: dict[str, str] = {}
    if touches_validity(before, values) and needs_dates(values.remote_type):
        if values.end_ms is not None and values.end_ms <= now_ms:
            found["endDate"] = "The end has passed: this remote will open nothing."
        if needs_weekdays(values.remote_type) and not values.week_day:
            found["weekDay"] = (
                "No weekday chosen: the service does not say when a recurring remote without "
                "weekdays opens."
            )
    if before is None or _objects_differ(before.extra_data, values.extra_data):
        bytes_ = size(values.extra_data) if values.extra_data else 0
        if bytes_ > EXTRA_BYTES:
            found["extraData"] = (
                f"{bytes_:,} bytes: at most {EXTRA_BYTES:,} are recommended; the service "
                "may cut or refuse it."
            )
    return found


def _objects_differ(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Compared as they are sent: for Python ``1``, ``1.0`` and ``true`` would be the same."""
    return canonical(one or {}) != canonical(other or {})


def new_remote(lock_id: int, values: RemoteValues) -> NewRemote:
    """The request that adds a remote (4.1); what was not given is left out.

    Raises:
        RuleViolation: A rule is broken.
    """
    from lockterm.models.requests import NewRemote

    if reasons := violations(values):
        raise RuleViolation(reasons)
    kind, start, end, days = validity_of(values)
    optional = {
        "mac": values.mac,
        "electricQuantity": values.electric_quantity,
        "firmwareInfo": values.firmware_info,
        "remoteUserNo": values.remote_user_no,
        "businessId": values.business_id,
        "remoteRight": values.remote_right,
        "isCoerced": values.is_coerced,
        "extraData": values.extra_data,
    }
    return NewRemote.model_validate(
        {
            "lockId": lock_id,
            "remoteName": values.remote_name,
            "remoteNumber": values.remote_number,
            "remoteType": kind,
            "addType": values.add_type,
            "startDate": start,
            "endDate": end,
            "weekDay": list(days),
            **{field: value for field, value in optional.items() if value is not None},
        }
    )


def changes(before: Remote, after: RemoteValues) -> RemoteChanges:
    """What an update has to send (4.4); nothing where nothing changed.

    Raises:
        RuleViolation: A rule is broken.
    """
    from lockterm.models.requests import RemoteChanges

    if reasons := violations(after, before):
        raise RuleViolation(reasons)
    body: dict[str, Any] = {}
    if after.remote_name != (before.remote_name or ""):
        body["remoteName"] = after.remote_name
    if touches_validity(before, after):
        kind, start, end, days = validity_of(after)
        body |= {"remoteType": kind, "startDate": start, "endDate": end, "weekDay": list(days)}
    if after.is_coerced != before.is_coerced and after.is_coerced is not None:
        body["isCoerced"] = after.is_coerced
    if _objects_differ(before.extra_data, after.extra_data):
        body["extraData"] = dict(after.extra_data or {})
    return RemoteChanges.model_validate(body)
