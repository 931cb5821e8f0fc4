"""An operation field by field: when, what, what came of it, what was before and after."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields as fields_of
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from lockterm import moments
from lockterm.comparison import LABELS, NOTHING, in_words
from lockterm.models.operation import (
    CALL_WORDS,
    IN_FLIGHT,
    STATE_WORDS,
    UNSETTLED,
    Operation,
    State,
)
from lockterm.models.remote_values import RemoteValues
from lockterm.text import clean, clean_lines
from lockterm.widgets.remote_fields import Field

if TYPE_CHECKING:
    from lockterm.models.remotes import Remote

MOST_LISTED = 500
"""Remotes of a clear that are listed; the export has all."""

_DONE = (State.CONFIRMED, State.CONFIRMED_BY_READING)


def operation_fields(
    operation: Operation, linked: Sequence[Operation], zone: tzinfo, here: str
) -> list[Field]:
    """Everything about an operation, in words that are safe to show.

    Args:
        operation: The operation.
        linked: What it sends again or restores from, and what does so with it.
        zone: In which times are shown, with their offset.
        here: The id of this session.
    """
    found = [
        _text("What", title_of(operation)),
        _text("Outcome", STATE_WORDS[operation.state]),
        *([_text("Code", str(operation.code))] if operation.code is not None else []),
        *([_text("Message", operation.message)] if operation.message else []),
        *_answer(operation),
        _text("Lock", f"{operation.lock_name} ({operation.lock_id})"),
    ]
    for label, ms in (
        ("Prepared", operation.prepared_ms),
        ("Sent", operation.sent_ms),
        ("Settled", operation.settled_ms),
        ("Read back", operation.read_ms),
    ):
        if ms is not None:
            found.append(_text(label, moments.stamp(ms, zone, exact=True)))
    mine = " (this one)" if operation.session == here else ""
    found.append(_text("Session", f"{operation.session}{mine}"))
    found += _links(operation, linked, zone)
    found += _before_and_after(operation, zone)
    found += [_blank(), _text("Call", f"POST {operation.path}"), _json("Body", operation.body)]
    return [*found, _text("Operation", operation.id)]


def title_of(operation: Operation) -> str:
    """``delete Anna Weber``: what was done to what, as it came: clean it."""
    verb = "restore" if operation.restores else CALL_WORDS.get(operation.call, operation.call)
    if operation.call == "clear":
        return f"{verb} {len(operation.before)} remotes"
    if operation.call == "updateLockSetting":
        return f"{verb} of {operation.lock_name}"
    name = operation.remote_name or (f"remote {operation.remote_id}" if operation.remote_id else "")
    return f"{verb} of {name}" if operation.call == "updateRemoteUserNo" else f"{verb} {name}"


def _links(operation: Operation, linked: Sequence[Operation], zone: tzinfo) -> list[Field]:
    found = []
    restored = [other for other in linked if other.restores == operation.id]
    for other in linked:
        if other.id == operation.again_of:
            label = "Sends again"
        elif other.again_of == operation.id:
            label = "Sent again as"
        elif other.id == operation.restores:
            label = "Restores from"
        elif other in restored and len(restored) == 1:
            label = "Restored by"
        else:
            continue
        words = f"{title_of(other)}, {moments.stamp(other.prepared_ms, zone)}: "
        found.append(_text(label, words + STATE_WORDS[other.state]))
    if len(restored) > 1:
        done = {other.restores_remote for other in restored if other.state in _DONE}
        found.append(_text("Restored", f"{len(done)} of {len(operation.before)}"))
    return found


def _answer(operation: Operation) -> list[Field]:
    if operation.call == "add" and operation.remote_id is not None:
        old = operation.restores_remote
        return [
            _text("Remote id", f"{operation.remote_id}" + (f", was {old}" if old else "")),
        ]
    if operation.call == "clear" and operation.answer is not None:
        return [_text("Deleted", f"{operation.answer}, says the service")]
    if operation.remote_id is not None:
        return [_text("Remote id", str(operation.remote_id))]
    return []


def _before_and_after(operation: Operation, zone: tzinfo) -> list[Field]:
    if operation.call == "updateLockSetting":
        voice = operation.body.get("currentVoiceTimbre")
        words = " ".join(map(str, voice.values())) if isinstance(voice, dict) else ""
        return [_blank(), _text("Voice", words)]
    from lockterm.models.remotes import Remote

    if operation.call == "clear":
        return _listed([Remote.read(record) for record in operation.before])
    before = Remote.read(operation.before[0]) if operation.before else None
    sent = {name: value for name, value in operation.body.items() if name != "remoteId"}
    if operation.call == "delete":
        return [_blank(_HEADINGS["delete"]), *_compared(before, before, zone)]
    after = Remote.read({**(before.raw if before else {}), **sent})
    if operation.call == "add":
        return [_blank(_HEADINGS["add"]), *_compared(after, after, zone)]
    if operation.state in _DONE:
        heading = "Before -> after:"
    elif operation.state in UNSETTLED | IN_FLIGHT:
        heading = "Before -> as it may be now:"
    else:
        heading = "Before -> as it was wanted:"
    return [_blank(heading), *_compared(before, after, zone)]


_HEADINGS = {"delete": "The remote as it was:", "add": "The remote as it was sent:"}


def _compared(before: Remote | None, after: Remote | None, zone: tzinfo) -> list[Field]:
    from lockterm.models.remote_values import values_of

    old = values_of(before) if before is not None else RemoteValues()
    new = values_of(after) if after is not None else RemoteValues()
    found = []
    for field in sorted(fields_of(RemoteValues), key=lambda field: list(LABELS).index(field.name)):
        one, other = (in_words(field.name, getattr(side, field.name), zone) for side in (old, new))
        if one == other in (NOTHING, "", "not stated"):
            continue
        words = one if one == other else f"{one or NOTHING} -> {other or NOTHING}"
        found.append(Field(LABELS[field.name], clean(words), words))
    odd = {**(before.odd if before else {}), **(after.odd if after else {})}
    for name, value in odd.items():
        found.append(_json(clean(name, 14), value, "not of the contract's type: "))
    return found


def _listed(remotes: Sequence[Remote]) -> list[Field]:
    from lockterm.models.constants import RemoteType, word

    found = [_blank("The remotes as they were:")]
    for remote in remotes[:MOST_LISTED]:
        kind = word(RemoteType, remote.remote_type)
        words = f"{clean(remote.remote_name or 'no name', 80)}, {kind}, id {remote.id}"
        found.append(Field(clean(remote.remote_number or "", 40), words, words))
    if len(remotes) > MOST_LISTED:
        found.append(_text("", f"… and {len(remotes) - MOST_LISTED:,} more: the export has all."))
    return found


def _text(label: str, words: str) -> Field:
    return Field(label, clean(words), words)


def _blank(heading: str = "") -> Field:
    return Field("", f"\n{heading}" if heading else "", "")


def _json(label: str, value: Any, note: str = "") -> Field:
    pretty = json.dumps(value, ensure_ascii=False, indent=2)
    return Field(label, note + clean_lines(pretty), pretty)
