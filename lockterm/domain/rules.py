"""The contract's rules for a remote: the fields that each type requires and that requests send.

| type | start and end | weekdays | sent |
|---|---|---|---|
| 1 permanent | none | none | ``startDate`` 0, ``endDate`` 0, ``weekDay`` [] |
| 2 time-limited | both, end after start | none | the two dates, ``weekDay`` [] |
| 4 recurring | both, end after start | 1 to 7; none if the user confirms | dates and weekdays |

An update that changes the type, start, end or weekdays sends all four of these fields. An update
sends any other field only if the field changes. Fields that the contract does not define are never
sent back (contract 2.2, 4.1 and 4.4).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lockterm.config.values import INT64
from lockterm.domain.dates import WEEK
from lockterm.domain.json_text import canonical, size
from lockterm.domain.names import normalize_name
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import (
    ADDED,
    FIELDS,
    UPDATED,
    VALIDITY,
    Remote,
    RemoteType,
    is_known_type,
    needs_dates,
    needs_weekdays,
)
from lockterm.domain.safe_text import is_seen
from lockterm.domain.validity import Phase, never_opens, phase_of
from lockterm.errors import CORRECT_FIELDS, RuleViolationError

if TYPE_CHECKING:
    from datetime import tzinfo

    from lockterm.domain.requests import NewRemote, RemoteChanges

EXTRA_BYTES = 1024
"""Recommended maximum size of ``extraData`` in bytes (contract 8)."""

OPENS_AGAIN = "This reactivates an expired remote."
"""The warning about an update that makes an expired remote valid again; see :func:`opens_again`."""


def comparable(field: Field, value: Any) -> Any:
    """Return the normalized value of a field, for a comparison.

    Missing and empty values become the same value, weekdays are sorted, and texts are in Unicode
    normal form C.
    """
    match field.kind:
        case Kind.TEXT:
            return normalize_name(value) if isinstance(value, str) else value or ""
        case Kind.DATE:
            return value or 0
        case Kind.WEEKDAYS:
            return sorted(set(value or ()))
        case Kind.OBJECT:
            return value or {}
    return value


def is_same(field: Field, one: Any, other: Any) -> bool:
    """Return whether two values of a field are equal after :func:`comparable`.

    ``1`` differs from ``true``.
    """
    return one is other or canonical(comparable(field, one)) == canonical(comparable(field, other))


def validity_of(remote: Remote) -> tuple[int | None, int | None, int | None, tuple[int, ...]]:
    """Return the type, start, end and weekdays that a request sends for a remote."""
    if remote.remote_type == RemoteType.PERMANENT:
        return (remote.remote_type, 0, 0, ())
    days = tuple(sorted({day for day in remote.week_day or () if day in WEEK}))
    if not needs_weekdays(remote.remote_type):
        days = ()
    return (remote.remote_type, remote.start_ms, remote.end_ms, days)


def effective(before: Remote | None, after: Remote) -> Remote:
    """Return a wanted remote with the validity that the remote will have after the request.

    If the request does not change the validity, the remote keeps the validity of ``before``.
    """
    if before is not None and not touches_validity(before, after):
        days = tuple(before.week_day or ())
        four = (before.remote_type, before.start_ms, before.end_ms, days)
    else:
        four = validity_of(after)
    kind, start, end, days = four
    return replace(after, remote_type=kind, start_ms=start, end_ms=end, week_day=days)


def touches_validity(before: Remote | None, after: Remote) -> bool:
    """Return whether a request sends type, start, end and weekdays. Every add sends them."""
    return before is None or validity_of(after) != validity_of(before)


def opens_again(before: Remote, after: Remote, now_ms: int, zone: tzinfo | None = None) -> bool:
    """Return whether an update makes an expired remote valid again, now or in the future.

    Args:
        before: The remote before the update.
        after: The remote after the update.
        now_ms: Now, in milliseconds.
        zone: The time zone of the lock. If given, the result is false for a recurring remote that
            has no weekday before its end.
    """
    is_over = phase_of(before, now_ms) is Phase.OVER
    if zone is not None and never_opens(after, zone, now_ms):
        return False
    return is_over and phase_of(after, now_ms) not in (Phase.OVER, Phase.UNCLEAR)


def unread(before: Remote, wanted: Remote) -> dict[str, str]:
    """Return explanations for unreadable values that an update would lose, by contract field.

    An update sends type, dates and weekdays together. If lockterm cannot read one of them, or the
    service sent no weekdays, even a new end date would overwrite the unknown value. The result is
    empty if the update loses nothing.
    """
    if not touches_validity(before, wanted):
        return {}
    fields = [FIELDS[name] for name in VALIDITY]
    was_recurring = needs_weekdays(before.remote_type) and needs_weekdays(wanted.remote_type)
    return {
        field.name: f"lockterm cannot read the {field.called}, and the change would delete it."
        f" Set the {field.called} too, or edit this remote alone."
        for field in fields
        if is_same(field, field.of(before), field.of(wanted))
        and (
            field.name in before.odd
            or (field.kind is Kind.WEEKDAYS and was_recurring and field.of(before) is None)
        )
    }


def sends_dates(before: Remote | None, wanted: Remote) -> bool:
    """Return whether a request sends a start and an end, which may be wrong if a clock is wrong."""
    return needs_dates(wanted.remote_type) and touches_validity(before, wanted)


def violations(wanted: Remote, before: Remote | None = None) -> dict[str, str]:
    """Return the reasons why values cannot be sent, by contract field; empty if all are valid.

    Args:
        wanted: The remote with the typed values.
        before: The remote to edit; None for a new remote. Fields with unchanged values are not
            checked, because they are not sent.
    """
    reasons = _wrong_validity(wanted) if touches_validity(before, wanted) else {}
    for field in ADDED if before is None else UPDATED:
        value = field.of(wanted)
        is_kept = before is not None and is_same(field, value, field.of(before))
        if field.name not in VALIDITY and not is_kept and (reason := _wrong(field, value)):
            reasons[field.name] = reason
    return reasons


def _wrong(field: Field, value: Any) -> str:
    """Return the problem with a single value; empty if there is none."""
    listed = tuple(field.constants or ())
    if field.name == "addType" and value not in listed:
        return "Choose how the remote was added: via bluetooth or via gateway."
    if field.kind is Kind.TEXT and field.required:
        if not (value or "").strip():
            return f"A {field.called} is required."
        if not all(map(is_seen, value)):
            return "The text contains an invisible character. Type the text again."
        if "\N{REPLACEMENT CHARACTER}" in value:
            return (
                "The text contains \N{REPLACEMENT CHARACTER}, which replaces a lost character."
                " Type the text again."
            )
    elif field.kind is Kind.NUMBER and value is not None and value not in INT64:
        return "The number is too large. The service stores 64-bit numbers."
    elif listed and value is not None and value not in listed:
        return f"There is no value {value}. Choose one of the three options."
    return ""


def _wrong_validity(wanted: Remote) -> dict[str, str]:
    if not is_known_type(wanted.remote_type):
        return {"remoteType": "Choose a type: permanent, time-limited or recurring."}
    if not needs_dates(wanted.remote_type):
        return {}
    reasons: dict[str, str] = {}
    start, end, days = wanted.start_ms, wanted.end_ms, wanted.week_day or ()
    for field, ms, what in (("startDate", start, "A start date"), ("endDate", end, "An end date")):
        if not ms:  # a permanent remote has 0 (2.3)
            reasons[field] = f"{what} is required, because the remote is not permanent."
        elif not 0 < ms < INT64.stop:
            reasons[field] = f"{what} must be between 1970 and the largest 64-bit time."
    if not reasons and start and end and end <= start:
        reasons["endDate"] = "The end must be after the start."
    if needs_weekdays(wanted.remote_type) and (
        len(set(days)) != len(days) or not set(days) <= set(WEEK)
    ):
        reasons["weekDay"] = "Use weekdays from 1 (Monday) to 7 (Sunday), each at most once."
    return reasons


def warnings(wanted: Remote, now_ms: int, before: Remote | None = None) -> dict[str, str]:
    """Return warnings about valid values that the user must confirm, by contract field.

    Args:
        wanted: The remote with the typed values.
        now_ms: Now, in milliseconds.
        before: The remote to edit; None for a new remote. Unchanged values give no warning.
    """
    found: dict[str, str] = {}
    if touches_validity(before, wanted) and needs_dates(wanted.remote_type):
        if wanted.end_ms is not None and wanted.end_ms <= now_ms:
            found["endDate"] = "The end date has passed, so this remote will not open the lock."
        if needs_weekdays(wanted.remote_type) and not wanted.week_day:
            found["weekDay"] = (
                "No weekday is chosen. The service does not define when a recurring"
                " remote without weekdays opens."
            )
    extra, kept = wanted.extra_data, before.extra_data if before is not None else None
    if extra and not is_same(FIELDS["extraData"], extra, kept):
        bytes_ = size(extra)
        if bytes_ > EXTRA_BYTES:
            found["extraData"] = (
                f"The extra data has {bytes_:,} bytes. The service may cut or refuse more than"
                f" {EXTRA_BYTES:,} bytes."
            )
    return found


def new_remote(lock_id: int, wanted: Remote) -> NewRemote:
    """Return the request that adds a remote (contract 4.1), without fields that are None.

    Raises:
        RuleViolationError: A value of ``wanted`` breaks a rule.
    """
    from lockterm.domain.requests import NewRemote

    if reasons := violations(wanted):
        raise RuleViolationError(reasons, hint=CORRECT_FIELDS)
    given = {field: field.of(wanted) for field in ADDED}
    body = {
        field.name: normalize_name(value) if field.kind is Kind.TEXT else value
        for field, value in given.items()
        if value is not None
    }
    request: NewRemote = NewRemote.checked({"lockId": lock_id, **body, **_validity_body(wanted)})
    return request


def added_again(lock_id: int, was: Remote) -> NewRemote:
    """Return the request that adds a remote again, even if its name or number breaks a rule.

    Raises:
        RuleViolationError: A value other than the name and the number breaks a rule.
    """
    names = {
        field.attribute: field.of(was) for field in (FIELDS["remoteName"], FIELDS["remoteNumber"])
    }
    request = new_remote(lock_id, replace(was, remote_name="-", remote_number="-"))
    again: NewRemote = request.model_copy(update=names)
    return again


def changes(before: Remote, wanted: Remote) -> RemoteChanges:
    """Return the request of an update (contract 4.4).

    The request contains the changed fields. If type, start, end or weekdays change, the request
    contains all four of them.

    Raises:
        RuleViolationError: A changed value breaks a rule.
    """
    from lockterm.domain.requests import RemoteChanges

    if reasons := violations(wanted, before):
        raise RuleViolationError(reasons, hint=CORRECT_FIELDS)
    body = _validity_body(wanted) if touches_validity(before, wanted) else {}
    for field in UPDATED:
        value = comparable(field, field.of(wanted))
        is_sent = value is not None and not is_same(field, value, field.of(before))
        if field.name not in VALIDITY and is_sent:
            body[field.name] = value
    request: RemoteChanges = RemoteChanges.checked(body)
    return request


def differing(before: Remote, wanted: Remote) -> dict[str, Any]:
    """Return the new values of the fields that an update changes, by contract field.

    Raises:
        RuleViolationError: A changed value breaks a rule.
    """
    return {
        name: value
        for name, value in changes(before, wanted).body().items()
        if not is_same(FIELDS[name], value, FIELDS[name].of(before))
    }


def _validity_body(wanted: Remote) -> dict[str, Any]:
    kind, start, end, days = validity_of(wanted)
    four = zip(VALIDITY, (kind, start, end, list(days)), strict=True)
    return {name: value for name, value in four if value is not None}
