"""What an operation was about, in one line of words for people: for a list, or for a boss."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import Any

from lockterm.domain.differences import NOTHING, differences, in_words
from lockterm.domain.operation import Operation
from lockterm.domain.remotes import FIELDS, Remote
from lockterm.domain.text import clean

_TOLD = ("remoteType", "startDate", "endDate", "weekDay")
"""What is told of a remote that was added or deleted."""


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
            voice = body.get("currentVoiceTimbre")
            values = voice.values() if isinstance(voice, Mapping) else ()
            return " ".join(clean(value, 60) for value in values)
    return ""


def _remote_words(record: Mapping[str, Any], zone: tzinfo) -> str:
    remote = Remote.read(record)
    told = ((FIELDS[name], FIELDS[name].of(remote)) for name in _TOLD)
    words = ((field.label, in_words(field, value, zone)) for field, value in told if value)
    return "; ".join(f"{label}: {text}" for label, text in words if text != NOTHING)
