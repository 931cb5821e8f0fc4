"""An operation field by field: when, what, what came of it, what was before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo

from lockterm.domain import dates
from lockterm.domain.constants import RemoteType, word
from lockterm.domain.differences import NOTHING, compared, in_words
from lockterm.domain.glyphs import ellipsis
from lockterm.domain.operation import (
    IN_FLIGHT,
    READABLE_CALLS,
    RECORDED,
    STATE_WORDS,
    UNSETTLED,
    Operation,
    title_of,
)
from lockterm.domain.remote_details import Detail
from lockterm.domain.remotes import ADDED, Remote
from lockterm.domain.text import clean

MOST_LISTED = 500
"""Remotes of a clear that are listed; the export has all."""


def operation_fields(
    operation: Operation, linked: Sequence[Operation], zone: tzinfo, here: str
) -> list[Detail]:
    """Everything about an operation, in words that are safe to show.

    Args:
        operation: The operation.
        linked: What it sends again or restores from, and what does so with it.
        zone: In which times are shown, with their offset.
        here: The id of this session.
    """
    found = [
        Detail.of_words("What", title_of(operation)),
        Detail.of_words("Result", STATE_WORDS[operation.state]),
        *([Detail.of_words("Code", str(operation.code))] if operation.code is not None else []),
        *([Detail.of_words("Message", operation.message)] if operation.message else []),
        *_answer(operation),
        Detail.of_words("Lock", f"{operation.lock_name} ({operation.lock_id})"),
    ]
    for label, ms in (
        ("Prepared", operation.prepared_ms),
        ("Sent", operation.sent_ms),
        ("Settled", None if operation.unsettled else operation.settled_ms),
        ("Read back", operation.read_ms if operation.call in READABLE_CALLS else None),
    ):
        if ms is not None:
            found.append(Detail.of_words(label, dates.day_time(ms, zone)))
    mine = " (this one)" if operation.session == here else ""
    found.append(Detail.of_words("Session", f"{operation.session}{mine}"))
    found += _links(operation, linked, zone)
    found += _before_and_after(operation, zone)
    found += [
        _blank(),
        Detail.of_words("Call", f"POST {operation.path}"),
        Detail.of_json("Body", operation.body),
    ]
    return [*found, Detail.of_words("Operation", operation.id)]


def _links(operation: Operation, linked: Sequence[Operation], zone: tzinfo) -> list[Detail]:
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
        words = f"{title_of(other)}, {dates.day_time(other.prepared_ms, zone, exact=False)}: "
        found.append(Detail.of_words(label, words + STATE_WORDS[other.state]))
    if len(restored) > 1:
        done = {other.restores_remote for other in restored if other.state in RECORDED}
        found.append(Detail.of_words("Restored", f"{len(done)} of {len(operation.before)}"))
    return found


def _answer(operation: Operation) -> list[Detail]:
    if operation.call == "add" and operation.remote_id is not None:
        old = operation.restores_remote
        return [
            Detail.of_words(
                "Remote id", f"{operation.remote_id}" + (f", was {old}" if old else "")
            ),
        ]
    if operation.call == "clear" and operation.answer is not None:
        return [Detail.of_words("Deleted", f"{operation.answer}, says the service")]
    if operation.remote_id is not None:
        return [Detail.of_words("Remote id", str(operation.remote_id))]
    return []


def _before_and_after(operation: Operation, zone: tzinfo) -> list[Detail]:
    if operation.call == "updateLockSetting":
        voice = operation.body.get("currentVoiceTimbre")
        words = " ".join(map(str, voice.values())) if isinstance(voice, dict) else ""
        return [_blank(), Detail.of_words("Voice", words)]
    if operation.call == "clear":
        return _listed([Remote.read(record) for record in operation.before])
    before = Remote.read(operation.before[0]) if operation.before else None
    sent = {name: value for name, value in operation.body.items() if name != "remoteId"}
    if operation.call == "delete":
        return [_blank(_HEADINGS["delete"]), *_compared(before, before, zone)]
    after = Remote.read({**(before.raw if before else {}), **sent})
    if operation.call == "add":
        return [_blank(_HEADINGS["add"]), *_compared(after, after, zone)]
    if operation.state in RECORDED:
        heading = "Before -> after:"
    elif operation.state in UNSETTLED | IN_FLIGHT:
        heading = "Before -> as it may be now:"
    else:
        heading = "Before -> as it was wanted:"
    return [_blank(heading), *_compared(before, after, zone)]


_HEADINGS = {"delete": "The remote as it was:", "add": "The remote as it was sent:"}


def _compared(before: Remote | None, after: Remote | None, zone: tzinfo) -> list[Detail]:
    found = []
    for field in ADDED:
        was, will = (field.of(remote) if remote is not None else None for remote in (before, after))
        one, other = (in_words(field, value, zone) for value in (was, will))
        if one == other in (NOTHING, "", "not stated"):
            continue
        may_be_cut = isinstance(was, str | Mapping)
        parts = compared(field, was, will, zone) if one != other or may_be_cut else []
        for part in parts:
            words = f"{part.before or NOTHING} -> {part.after or NOTHING}"
            found.append(Detail.of_words(part.label, words))
        if not parts:
            found.append(Detail.of_words(field.label, one))
    odd = {**(before.odd if before else {}), **(after.odd if after else {})}
    for name, value in odd.items():
        found.append(Detail.of_json(clean(name, 14), value, "not of the contract's type: "))
    return found


def _listed(remotes: Sequence[Remote]) -> list[Detail]:
    found = [_blank("The remotes as they were:")]
    for remote in remotes[:MOST_LISTED]:
        kind = word(RemoteType, remote.remote_type)
        words = f"{clean(remote.remote_name or 'no name', 80)}, {kind}, id {remote.id}"
        found.append(Detail(clean(remote.remote_number or "", 40), words, words))
    if len(remotes) > MOST_LISTED:
        found.append(
            Detail.of_words(
                "", f"{ellipsis()} and {len(remotes) - MOST_LISTED:,} more: the export has all."
            )
        )
    return found


def _blank(heading: str = "") -> Detail:
    return Detail("", f"\n{heading}" if heading else "", "")
