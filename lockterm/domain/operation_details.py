"""What an operation was about, in one line of words for people: for a list, or for a boss."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import Any

from lockterm.domain import dates
from lockterm.domain.constants import (
    RemoteType,
    is_known_type,
    needs_dates,
    needs_weekdays,
    word,
)
from lockterm.domain.differences import NOTHING, compared, differences, in_words
from lockterm.domain.operation import Operation, voice_words
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import FIELDS, UPDATED, Remote
from lockterm.domain.rules import comparable
from lockterm.domain.safe_text import clean
from lockterm.domain.weekdays import weekday_words

_TOLD = ("remoteType", "startDate", "endDate", "weekDay")
"""What is told of a remote that was added or deleted."""

_URGENT = FIELDS["endDate"]
"""Told first of what was changed: a column may have no room for the rest."""


def operation_details(operation: Operation, zone: tzinfo) -> str:
    """What was set, changed or taken away: ``End: 2026-11-30 18:00 -> 2026-12-31 18:00``; clean.

    Args:
        operation: The operation.
        zone: In which its times are told, with their offset.
    """
    body = operation.body
    match operation.call:
        case "add":
            return _remote_words(body, zone)
        case "update":
            record = operation.before[0] if operation.before else {}
            before, after = Remote.read(record), Remote.read({**record, **body})
            return "; ".join(map(str, differences(before, after, zone)))
        case "delete":
            return "; ".join(_remote_words(record, zone) for record in operation.before)
        case "updateRemoteUserNo":
            return f"User number: {clean(body.get('remoteUserNo'), 30)}"
        case "updateLockSetting":
            return voice_words(operation)
    return ""


def _remote_words(record: Mapping[str, Any], zone: tzinfo) -> str:
    remote = Remote.read(record)
    told = ((FIELDS[name], FIELDS[name].of(remote)) for name in _TOLD)
    words = ((field.label, in_words(field, value, zone)) for field, value in told if value)
    return "; ".join(f"{label}: {text}" for label, text in words if text != NOTHING)


def change_in_brief(operation: Operation, zone: tzinfo) -> str:
    """What a column tells, whatever came of it: ``End 3 Jan 2026 -> 31 Dec 2026``; clean.

    Of an add when it opens, of a delete when it opened; of what is told elsewhere in a line of the
    history, as which voice was set, nothing.

    Args:
        operation: The operation.
        zone: In which its times are told.
    """
    before = Remote.read(operation.before[0]) if operation.before else None
    try:
        match operation.call:
            case "add":
                return f"opens {_opening(Remote.read(operation.body), zone)}"
            case "delete" if before is not None:
                return f"opened {_opening(before, zone)}"
            case "update" if before is not None:
                after = Remote.read({**before.raw, **operation.body})
                fields = [_URGENT, *(field for field in UPDATED if field is not _URGENT)]
                told = (_changed(field, before, after, zone) for field in fields)
                return "; ".join(filter(None, told))
            case "updateRemoteUserNo":
                field, after = FIELDS["remoteUserNo"], Remote.read(operation.body)
                if before is not None and field.of(before) is not None:
                    return _changed(field, before, after, zone)
                return f"{field.label} -> {in_words(field, field.of(after), zone)}"
    except RecursionError:  # JSON that is nested as deep as JSON can be read
        pass
    return ""


def _changed(field: Field, before: Remote, after: Remote, zone: tzinfo) -> str:
    one, other = (comparable(field, field.of(remote)) for remote in (before, after))
    if field.kind is Kind.DATE:
        to_day = dates.last_day if field.name == "endDate" else dates.day
        days = [to_day(ms, zone) if ms else NOTHING for ms in (one, other)]
        if days[0] != days[1]:
            return f"{field.label} {days[0]} -> {days[1]}"
    parts = compared(field, one, other, zone)
    return "; ".join(f"{part.label} {part.before} -> {part.after}" for part in parts)


def _opening(remote: Remote, zone: tzinfo) -> str:
    """``Mon-Fri, 3 Jan 2026 to 31 Dec 2026``: when a remote opens, whenever that is read."""
    kind = remote.remote_type
    if kind == RemoteType.PERMANENT:
        return "always"
    parts = [] if is_known_type(kind) else [f"type {word(RemoteType, kind)}"]
    if needs_weekdays(kind):
        parts.append(weekday_words(remote.week_day or ()))
    if needs_dates(kind):
        start, end = remote.start_ms or 0, remote.end_ms or 0
        both = [(start, dates.day(start, zone)), (end, dates.last_day(end, zone))]
        is_one_day = both[0][1] == both[1][1]
        told = [dates.day_time(ms, zone) if is_one_day else day for ms, day in both if ms]
        parts.append(" to ".join(told) if len(told) == 2 else "no start or no end")
    return ", ".join(parts)
