"""Texts about the changes in the journal: their requests, effects and results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any

from lockterm.domain import dates
from lockterm.domain.dates import format_weekdays
from lockterm.domain.glyphs import ellipsis
from lockterm.domain.operation import IN_FLIGHT, RECORDED, UNCONFIRMED, Operation, OperationState
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import (
    ADDED,
    CALL_NAMES,
    FIELDS,
    READABLE_CALLS,
    UPDATED,
    Remote,
    RemoteType,
    is_known_type,
    needs_dates,
    needs_weekdays,
    word,
)
from lockterm.domain.rules import comparable
from lockterm.domain.safe_text import clean, seen_or
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.remote import (
    NOTHING,
    Detail,
    Difference,
    SameValue,
    compare_field,
    find_differences,
    format_value,
)

STATE_NAMES: Mapping[OperationState, str] = {
    OperationState.PREPARED: "being sent",
    OperationState.SENDING: "being sent",
    OperationState.CONFIRMED: "recorded by the service",
    OperationState.REFUSED: "refused",
    OperationState.NOT_SENT: "not sent",
    OperationState.CONFIRMED_BY_READING: "recorded, verified by reading",
    OperationState.UNKNOWN: "unconfirmed",
    OperationState.NOT_SEEN: "no effect seen yet",
    OperationState.AMBIGUOUS: "probably recorded",
    OperationState.CONFLICT: "other values found",
    OperationState.DAMAGED: "entry damaged",
    OperationState.GIVEN_UP: "dismissed",
    OperationState.SENT_AGAIN: "sent again",
}

_SHOWN = ("remoteType", "startDate", "endDate", "weekDay")
"""The fields of an added or deleted remote that texts show."""

_URGENT = FIELDS["endDate"]
"""The field whose change is shown first, because a column may be too narrow for all changes."""

MOST_LISTED = 500
"""Maximum number of deleted remotes that the details of a clear show. The export shows all of
them."""


def format_operation(operation: Operation) -> str:
    """Return the verb and the object of a change, such as ``delete Anna Weber``.

    The text may contain control characters, so callers must pass it to ``safe_text.clean``.
    """
    verb = "restore" if operation.restores else CALL_NAMES.get(operation.call, operation.call)
    if operation.call == "clear":
        return f"{verb} {format_count(len(operation.before), 'remote')}"
    if operation.call == "updateLockSetting":
        return f"set {verb} of {operation.lock_name}"
    name = _remote_name(operation)
    is_number = operation.call == "updateRemoteUserNo"
    return f"set {verb} of {name}" if is_number else f"{verb} {name}"


def ask_to_adopt(operations: Sequence[Operation]) -> str:
    """Return a question such as ``Adopt 2 unconfirmed changes of the profile "north"?``."""
    names = sorted({f'"{clean(one.profile, 40)}"' for one in operations})
    changes = "change" if len(operations) == 1 else "changes"
    profiles = "profile" if len(names) == 1 else "profiles"
    return f"Adopt {len(operations)} unconfirmed {changes} of the {profiles} {', '.join(names)}?"


def format_voice(operation: Operation) -> str:
    """Return the voice that an operation sets, such as ``zh-CN zhiming``, safe to show."""
    voice = operation.body.get("currentVoiceTimbre")
    values = voice.values() if isinstance(voice, Mapping) else ()
    return " ".join(clean(value, 60) for value in values)


def describe_operation(operation: Operation, zone: tzinfo, now_ms: int) -> str:
    """Return a line about a change: its verb, target, time, result and last verification.

    Args:
        operation: The operation.
        zone: The time zone in which times are shown.
        now_ms: Now, in milliseconds.
    """
    target = clean(_remote_name(operation), 24)
    if operation.call == "clear":
        target = format_count(len(operation.before), "remote")
    target = f"{target} " if target else ""
    verb = CALL_NAMES.get(operation.call, clean(operation.call))
    if voice := format_voice(operation):
        verb = f"set {verb} {voice}"
    if operation.call == "updateRemoteUserNo":
        verb = f"set {verb} of" if target else f"set {verb}"
    sent = _clock(operation.sent_ms or operation.prepared_ms, zone, now_ms)
    line = f"{verb} {target}on {clean(operation.lock_name, 24)}, sent {sent}: "
    line += STATE_NAMES[operation.state]
    if operation.read_ms is not None and operation.call in READABLE_CALLS:
        line += f", verified {_clock(operation.read_ms, zone, now_ms)}"
    return line


def _remote_name(operation: Operation) -> str:
    """Return the name of a remote, or ``remote`` with its ID; empty if both are missing."""
    named = f"remote {operation.remote_id}" if operation.remote_id else ""
    return seen_or(operation.remote_name, named)


def _clock(ms: int, zone: tzinfo, now_ms: int) -> str:
    is_today = dates.day(ms, zone) == dates.day(now_ms, zone)
    return dates.time_of_day(ms, zone) if is_today else dates.day_time(ms, zone, exact=False)


# --- what was changed ----------------------------------------------------------------------------


def describe_change(operation: Operation, zone: tzinfo) -> str:
    """Return the changed fields, such as ``End: 30 Nov 2026 18:00 -> 31 Dec 2026 18:00``.

    For an add or a delete, return the type, dates and weekdays of the remote. For a user number or
    a voice, return the new value. The text is empty for a clear.

    Args:
        operation: The operation.
        zone: The time zone in which times are shown.
    """
    body = operation.body
    match operation.call:
        case "add":
            return _format_record(body, zone)
        case "update":
            record = operation.before[0] if operation.before else {}
            before, after = Remote.read(record), Remote.read({**record, **body})
            return "; ".join(map(str, find_differences(before, after, zone)))
        case "delete":
            return "; ".join(_format_record(record, zone) for record in operation.before)
        case "updateRemoteUserNo":
            return f"User number: {clean(body.get('remoteUserNo'), 30)}"
        case "updateLockSetting":
            return format_voice(operation)
    return ""


def _format_record(record: Mapping[str, Any], zone: tzinfo) -> str:
    remote = Remote.read(record)
    shown = ((FIELDS[name], FIELDS[name].of(remote)) for name in _SHOWN)
    texts = ((field.label, format_value(field, value, zone)) for field, value in shown if value)
    return "; ".join(f"{label}: {text}" for label, text in texts if text != NOTHING)


def describe_change_briefly(operation: Operation, zone: tzinfo) -> str:
    """Return a change for a column, such as ``End 3 Jan 2026 -> 31 Dec 2026``, safe to show.

    For an add or a delete, the text is the period of the remote. For a voice, the text is empty,
    because another column shows the voice.

    Args:
        operation: The operation.
        zone: The time zone in which times are shown.
    """
    before = Remote.read(operation.before[0]) if operation.before else None
    try:
        match operation.call:
            case "add":
                return f"valid {_opening(Remote.read(operation.body), zone)}"
            case "delete" if before is not None:
                return f"was valid {_opening(before, zone)}"
            case "update" if before is not None:
                after = Remote.read({**before.raw, **operation.body})
                fields = [_URGENT, *(field for field in UPDATED if field is not _URGENT)]
                texts = (_changed(field, before, after, zone) for field in fields)
                return "; ".join(filter(None, texts))
            case "updateRemoteUserNo":
                field, after = FIELDS["remoteUserNo"], Remote.read(operation.body)
                if before is not None and field.of(before) is not None:
                    return _changed(field, before, after, zone)
                return f"{field.label} -> {format_value(field, field.of(after), zone)}"
    except RecursionError:  # JSON nested as deeply as Python can read it
        pass
    return ""


def _changed(field: Field, before: Remote, after: Remote, zone: tzinfo) -> str:
    one, other = (comparable(field, field.of(remote)) for remote in (before, after))
    if field.kind is Kind.DATE:
        to_day = dates.last_day if field.name == "endDate" else dates.day
        days = [to_day(ms, zone) if ms else NOTHING for ms in (one, other)]
        if days[0] != days[1]:
            return f"{field.label} {days[0]} -> {days[1]}"
    parts = compare_field(field, one, other, zone)
    return "; ".join(f"{part.label} {part.before} -> {part.after}" for part in parts)


def _opening(remote: Remote, zone: tzinfo) -> str:
    """Return when a remote opens its lock, such as ``Mon-Fri, 3 Jan 2026 to 31 Dec 2026``."""
    kind = remote.remote_type
    if kind == RemoteType.PERMANENT:
        return "always"
    parts = [] if is_known_type(kind) else [f"type {word(RemoteType, kind)}"]
    if needs_weekdays(kind):
        parts.append(format_weekdays(remote.week_day or ()))
    if needs_dates(kind):
        start, end = remote.start_ms or 0, remote.end_ms or 0
        both = [(start, dates.day(start, zone)), (end, dates.last_day(end, zone))]
        is_one_day = both[0][1] == both[1][1]
        known = [dates.day_time(ms, zone) if is_one_day else day for ms, day in both if ms]
        parts.append(" to ".join(known) if len(known) == 2 else "no start or no end")
    return ", ".join(parts)


# --- field by field ------------------------------------------------------------------------------


def describe_fields(
    operation: Operation, linked: Sequence[Operation], zone: tzinfo, here: str
) -> list[Detail]:
    """Return all details of a change as lines for a detail view.

    Args:
        operation: The operation.
        linked: The related operations: those that this operation repeats or restores, and those
            that repeat or restore this operation.
        zone: The time zone in which times are shown.
        here: The ID of this session. If this session sent the operation, a line says so.
    """
    found = [
        Detail.of_text("Change", format_operation(operation)),
        Detail.of_text("Result", STATE_NAMES[operation.state]),
        *([Detail.of_text("Code", str(operation.code))] if operation.code is not None else []),
        *([Detail.of_text("Message", operation.message)] if operation.message else []),
        *_answer(operation),
        Detail.of_text("Lock", f"{operation.lock_name} ({operation.lock_id})"),
    ]
    for label, ms in (
        ("Prepared", operation.prepared_ms),
        ("Sent", operation.sent_ms),
        ("Resolved", None if operation.is_unconfirmed else operation.settled_ms),
        ("Verified", operation.read_ms if operation.call in READABLE_CALLS else None),
    ):
        if ms is not None:
            found.append(Detail.of_text(label, dates.day_time(ms, zone)))
    mine = " (this one)" if operation.session == here else ""
    found.append(Detail.of_text("Session", f"{operation.session}{mine}"))
    found += _links(operation, linked, zone)
    found += _before_and_after(operation, zone)
    found += [
        _blank(),
        Detail.of_text("Call", f"POST {operation.path}"),
        Detail.of_json("Body", operation.body),
    ]
    return [*found, Detail.of_text("Change ID", operation.id)]


def _links(operation: Operation, linked: Sequence[Operation], zone: tzinfo) -> list[Detail]:
    found = []
    restored = [other for other in linked if other.restores == operation.id]
    for other in linked:
        if other.id == operation.again_of:
            label = "Sends again"
        elif other.again_of == operation.id:
            label = "Sent again as"
        elif other.id == operation.restores:
            label = "Restores"
        elif other in restored and len(restored) == 1:
            label = "Restored by"
        else:
            continue
        text = (
            f"{format_operation(other)}, {dates.day_time(other.prepared_ms, zone, exact=False)}: "
        )
        found.append(Detail.of_text(label, text + STATE_NAMES[other.state]))
    if len(restored) > 1:
        done = {other.restores_remote for other in restored if other.state in RECORDED}
        found.append(Detail.of_text("Restored", f"{len(done)} of {len(operation.before)}"))
    return found


def _answer(operation: Operation) -> list[Detail]:
    if operation.call == "clear" and operation.answer is not None:
        return [Detail.of_text("Deleted", f"{operation.answer} (reported by the service)")]
    if operation.remote_id is None:
        return []
    old = operation.restores_remote if operation.call == "add" else None
    more = f" (old ID: {old})" if old else ""
    return [Detail.of_text("Remote ID", f"{operation.remote_id}{more}")]


def _before_and_after(operation: Operation, zone: tzinfo) -> list[Detail]:
    if operation.call == "updateLockSetting":
        voice = operation.body.get("currentVoiceTimbre")
        words = " ".join(map(str, voice.values())) if isinstance(voice, dict) else ""
        return [_blank(), Detail.of_text("Voice", words)]
    if operation.call == "clear":
        return _listed([Remote.read(record) for record in operation.before])
    before, after = remotes_around(operation)
    if operation.call == "delete":
        return [_blank("The remote before the change:"), *_compared(before, before, zone)]
    if operation.call == "add":
        return [_blank("The remote that was sent:"), *_compared(after, after, zone)]
    if operation.state in RECORDED:
        heading = "Before -> after:"
    elif operation.state in UNCONFIRMED | IN_FLIGHT:
        heading = "Before -> possible new values:"
    else:
        heading = "Before -> requested values:"
    return [_blank(heading), *_compared(before, after, zone)]


def remotes_around(operation: Operation) -> tuple[Remote | None, Remote | None]:
    """Return the remote of an operation before and after the change.

    The remote before the change is None for an add, and if there is no backup. The remote after the
    change is None for a delete.
    """
    before = Remote.read(operation.before[0]) if operation.before else None
    if operation.call == "delete":
        return before, None
    sent = {name: value for name, value in operation.body.items() if name != "remoteId"}
    return before, Remote.read({**(before.raw if before else {}), **sent})


def _compared(before: Remote | None, after: Remote | None, zone: tzinfo) -> list[Detail]:
    found = [
        Detail.of_text(
            one.label,
            f"{one.before} -> {one.after}" if isinstance(one, Difference) else one.value,
        )
        for one in compare_remotes(before, after, zone)
    ]
    odd = {**(before.odd if before else {}), **(after.odd if after else {})}
    for name, value in odd.items():
        found.append(Detail.of_json(clean(name, 14), value, "unexpected value: "))
    return found


def compare_remotes(
    before: Remote | None, after: Remote | None, zone: tzinfo
) -> Iterator[Difference | SameValue]:
    """Yield the fields of a remote before and after a change, as texts that are safe to show.

    Fields without a value both before and after the change are left out.
    """
    for field in ADDED:
        was, will = (field.of(remote) if remote is not None else None for remote in (before, after))
        one, other = (format_value(field, value, zone) for value in (was, will))
        if one == other in (NOTHING, "", "not stated"):
            continue
        may_be_cut = isinstance(was, str | Mapping)
        parts = compare_field(field, was, will, zone) if one != other or may_be_cut else []
        for part in parts:
            yield Difference(part.label, part.before or NOTHING, part.after or NOTHING)
        if not parts:
            yield SameValue(field.label, one)


def _listed(remotes: Sequence[Remote]) -> list[Detail]:
    found = [_blank("The remotes before the change:")]
    for remote in remotes[:MOST_LISTED]:
        kind = word(RemoteType, remote.remote_type)
        words = f"{clean(remote.remote_name or 'no name', 80)}, {kind}, ID {remote.id}"
        found.append(Detail(clean(remote.remote_number or "", 40), words, words))
    if len(remotes) > MOST_LISTED:
        more = f"{len(remotes) - MOST_LISTED:,} more, all listed in the export."
        found.append(Detail.of_text("", f"{ellipsis()} and {more}"))
    return found


def _blank(heading: str = "") -> Detail:
    return Detail("", f"\n{heading}" if heading else "", "")
