"""Texts about remotes: their names, fields, differences, changes and backups."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from lockterm.domain import dates
from lockterm.domain.dates import format_weekdays
from lockterm.domain.glyphs import ellipsis, quoted
from lockterm.domain.json_text import EDITED, canonical, one_line, shown_object
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import (
    ADDED,
    FIELDS,
    UNLISTED,
    UPDATED,
    LockInfo,
    Remote,
    RemoteType,
    word,
    word_in_detail,
)
from lockterm.domain.rules import OPENS_AGAIN, comparable, opens_again, touches_validity
from lockterm.domain.safe_text import clean, clean_lines, in_cell, seen_or
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.validity import Validity, describe_period
from lockterm.domain.validity import RemoteState

if TYPE_CHECKING:
    from lockterm.domain.copies import BackedUp


NO_END = "Permanent remotes have no end date."
"""The message if the user sets a new end date for a permanent remote."""

UNNAMED = "an unnamed remote"
"""The text for a missing name, where lockterm also shows the number and the ID."""

_NAMED = 5
"""Maximum number of fields outside the contract that a sentence lists."""

ABSENT = "not stated"
_ODD = "(unexpected value) "
_UNNAMED = "(unknown field) "


# --- names ---------------------------------------------------------------------------------------


def format_remote(remote: Remote) -> str:
    """Return the name and the number of a remote, such as ``Anna Weber (A-2041)``, safe to show."""
    return format_name(seen_or(remote.remote_name, f"remote {remote.id}"), remote.remote_number)


def format_remote_name(remote: Remote, instead: str) -> str:
    """Return the name of a remote, safe to show, or ``instead`` if the name is empty or blank."""
    return clean(seen_or(remote.remote_name, instead), 60)


def format_name(name: str, number: str | None) -> str:
    """Return a name and a number as in ``Anna Weber (A-2041)``, safe to show."""
    number = clean(seen_or(number, ""), 30)
    return f"{clean(name, 60)} ({number})" if number else clean(name, 60)


# --- values and differences ----------------------------------------------------------------------


NOTHING = "none"

LONGEST = 60
"""Maximum number of characters of a value in a sentence."""

BEFORE = 12
"""Number of characters before the first difference that remain when a long text is cut."""

MOST_PARTS = 6
"""Maximum number of differing parts of one JSON value that a list of differences shows."""

_MISSING = "\udfff missing"
"""The placeholder for a missing value. It begins with a lone surrogate, which JSON text cannot
contain, so that no received value equals it."""


class Difference(NamedTuple):
    """A field whose values before and after a change differ.

    The label and the two values are texts that are safe to show.
    """

    label: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.label}: {self.before} -> {self.after}"


class SameValue(NamedTuple):
    """A field whose value is the same before and after a change.

    The label and the value are texts that are safe to show.
    """

    label: str
    value: str


def find_differences(
    before: Remote, after: Remote, zone: tzinfo, fields: Sequence[Field] = UPDATED
) -> list[Difference]:
    """Return the fields of a remote that differ before and after a change, with both values.

    The values ``1``, ``1.0`` and ``true`` count as different.
    """
    found = []
    for field in fields:
        one, other = (comparable(field, field.of(remote)) for remote in (before, after))
        found += compare_field(field, one, other, zone)
    return found


def compare_field(field: Field, one: Any, other: Any, zone: tzinfo) -> list[Difference]:
    """Return the differences between two values of a field; empty if the values are equal.

    Two JSON objects may have several differences, one for each differing part.

    Args:
        field: The field that both values belong to.
        one: The value before.
        other: The value after.
        zone: The time zone in which times are shown.
    """
    if one is other or canonical(one) == canonical(other):
        return []
    label = field.label
    if isinstance(one, Mapping) and isinstance(other, Mapping) and one and other:
        old, new = format_json_line(one), format_json_line(other)
        # Comparing a large object level by level would block key presses.
        if max(len(old), len(new)) <= LONGEST or max(len(old), len(new)) > EDITED:
            return [Difference(label, *clip_both(old, new))]
        parts = [*_parts(one, other, "")]
        found = [Difference(f"{label} {clean(path, 40)}", *clip_both(*two)) for path, *two in parts]
        left = len(found) - MOST_PARTS
        more = [Difference(label, f"{left} more values", "also changed")] if left > 0 else []
        return [*found[:MOST_PARTS], *more]
    if isinstance(one, str) and isinstance(other, str) and one and other:
        return [Difference(label, *clip_both(one, other))]
    return [Difference(label, format_value(field, one, zone), format_value(field, other, zone))]


def _parts(one: Any, other: Any, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield each path at which two JSON values differ, such as ``doors[2]``, and both values."""
    if canonical(one) == canonical(other):
        return
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in (*one, *(name for name in other if name not in one)):
            yield from _parts(one.get(name, _MISSING), other.get(name, _MISSING), f"{path}.{name}")
    elif isinstance(one, list) and isinstance(other, list):
        for place, two in enumerate(zip_longest(one, other, fillvalue=_MISSING)):
            yield from _parts(*two, f"{path}[{place}]")
    else:
        texts = (NOTHING if side == _MISSING else format_json_line(side) for side in (one, other))
        yield (path.removeprefix("."), *texts)  # type: ignore[misc]


def format_json_line(value: Any) -> str:
    """Return a JSON value on one line, with sorted keys and without escapes for letters."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def clip_both(one: str, other: str) -> tuple[str, str]:
    """Return two different texts, cut so that the first difference is visible; safe to show."""
    begin = 0
    if max(len(one), len(other)) > LONGEST:
        same = next(
            (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
            min(len(one), len(other)),
        )
        begin = max(same - BEFORE, 0)
    shown = [
        (ellipsis() if begin else "") + clean(text[begin:], LONGEST - 1 if begin else LONGEST)
        for text in (one, other)
    ]
    if shown[0] == shown[1]:  # the difference is invisible, so escapes show it
        shown = [clean(json.dumps(text[begin:]), LONGEST) for text in (one, other)]
    return shown[0], shown[1]


def format_value(field: Field, value: Any, zone: tzinfo) -> str:
    """Return the value of a field as one line that is safe to show."""
    if field.constants is not None:
        return word(field.constants, value)
    if value in (None, "") or (not value and field.kind is not Kind.NUMBER):
        return NOTHING
    match field.kind:
        case Kind.DATE:
            return dates.day_time(value, zone)
        case Kind.WEEKDAYS:
            return format_weekdays(value)
        case Kind.OBJECT:
            return clean(format_json_line(value), LONGEST)
    return clean(value, LONGEST)


# --- fields --------------------------------------------------------------------------------------


class Detail(NamedTuple):
    """A line of a detail view, with a label and a text."""

    label: str
    """The label of the line. If the contract does not define the field, this is the service's name
    of the field."""
    shown: str
    """The text to show, without control characters. A JSON value has several lines."""
    raw: str
    """The text for the clipboard, which is as received, with JSON on one line."""
    name: str = ""
    """The contract's name of the field; empty if lockterm computed the text."""
    state: RemoteState | None = None
    """The state of a remote if the line shows it; otherwise None."""

    @classmethod
    def of_text(cls, label: str, words: str, name: str = "") -> Detail:
        """Return a line with a text. Control characters stay only in the copy for the clipboard."""
        return cls(label, clean(words), words, name)

    @classmethod
    def of_json(cls, label: str, value: Any, note: str = "", name: str = "") -> Detail:
        """Return a line with ``note`` and a value as indented JSON.

        The copy for the clipboard is the value as JSON on one line.
        """
        return cls(label, note + clean_lines(shown_object(value)), one_line(value), name)


def describe_remote(remote: Remote, valid: Validity, zone: tzinfo, now_ms: int) -> list[Detail]:
    """Return a line for each field of a remote, including fields that the contract does not define.

    Args:
        remote: The remote, as the detail call returned it.
        valid: The validity of the remote.
        zone: The time zone in which times are shown, in addition to UTC.
        now_ms: Now, in milliseconds.
    """
    found: list[Detail] = []
    for field in FIELDS.values():
        if not field.label or not (field.listed or field.name in remote.raw):
            continue
        if field.name == "lockInfo" and remote.lock_info is not None:
            found += _lock_info(field.label, remote.lock_info, remote.lock_id)
        else:
            found.append(_detail(remote, field, zone, now_ms))
        if field.name == "remoteType":
            found.append(Detail.of_text("Valid", valid.words))
            found.append(Detail("State", valid.word, valid.word, state=valid.state))
        elif field.name == "status" and valid.disagreement:
            found.append(Detail.of_text("", f"! {valid.disagreement}"))
    return found + [
        Detail.of_json(clean(name, 40), value, _UNNAMED, name)
        for name, value in remote.extras.items()
    ]


def _detail(remote: Remote, field: Field, zone: tzinfo, now_ms: int) -> Detail:
    """Return the line of a field. A value of an unexpected type is shown as received."""
    label, name = field.label, field.name
    if name in remote.odd:
        return Detail.of_json(label, remote.odd[name], _ODD, name)
    value = field.of(remote)
    if value is None:
        return Detail(label, ABSENT, "", name)
    if field.kind is Kind.OBJECT:
        return Detail.of_json(label, value, name=name)
    if field.kind is Kind.TEXT:
        return _text(label, value, name)
    if field.constants is not None:
        called = FIELDS.get(f"{name}Name")  # the service's own word for it
        other = called.of(remote) if called is not None else None
        is_same = other and word(field.constants, value) in other.casefold()
        also = f", but {quoted(other)} at the service" if other and not is_same else ""
        words = word_in_detail(field.constants, value) + also
        more = f". {field.explanation}" if field.explanation else ""
        return Detail(label, clean(words) + more, words, name)
    words = str(value)
    if name == "apiUserId":
        return Detail(label, f"{words} (an account that calls the service)", words, name)
    if field.kind is Kind.WEEKDAYS:
        words = format_weekdays(value)
    elif field.kind is Kind.DATE and not value and remote.remote_type == RemoteType.PERMANENT:
        words = "none (permanent)"
    elif field.kind in (Kind.DATE, Kind.TIMESTAMP):
        ms = dates.as_ms(value) if field.kind is Kind.TIMESTAMP else value
        words = dates.preview(ms, zone, now_ms)
    return Detail.of_text(label, words, name)


def _text(label: str, value: str | None, name: str) -> Detail:
    shown = ABSENT if value is None else in_cell(value)
    return Detail(label, shown, value or "", name)


def _lock_info(label: str, info: LockInfo, lock_id: int | None) -> Iterator[Detail]:
    for part, name, value in (
        ("Lock name", "lockName", info.lock_name),
        ("Lock alias", "lockAlias", info.lock_alias),
    ):
        yield _text(part, value if name not in info.odd else f"{_ODD}{info.odd[name]}", name)
    if info.lock_id != lock_id or "lockId" in info.odd:
        other = info.odd.get("lockId", info.lock_id)
        words = f"{other} (differs from the lock ID above)"
        yield Detail.of_text(f"{label} ID", words, "lockInfo")
    if info.extras:
        yield Detail.of_json(label, info.extras, _UNNAMED, "lockInfo")


# --- what is sent --------------------------------------------------------------------------------


def describe_add(wanted: Remote, now_ms: int, zone: tzinfo) -> list[str]:
    """Return a line for each value that an add sets, except the name of the remote.

    Fields with their default values are left out.
    """
    added = FIELDS["addType"]
    lines = [
        f"Number: {clean(wanted.remote_number, 60)}",
        _format_validity(wanted, now_ms, zone),
        f"{added.label} {format_value(added, added.of(wanted), zone)}",
    ]
    for field in ADDED:  # other fields only if they differ from the default
        value = field.of(wanted)
        is_shown = field.required or field.kind in (Kind.DATE, Kind.WEEKDAYS)
        if not is_shown and value is not None and str(value) != field.first:
            lines.append(f"{field.label}: {format_value(field, value, zone)}")
    return lines


def describe_update(before: Remote, after: Remote, now_ms: int, zone: tzinfo) -> list[str]:
    """Return a line for each field that an update changes.

    If the update makes an expired remote valid again, the first line is a warning. If the update
    changes the type, a date or the weekdays, the last line has the new type and period.
    """
    lines = [OPENS_AGAIN] if opens_again(before, after, now_ms, zone) else []
    lines += [str(item) for item in find_differences(before, after, zone)]
    if touches_validity(before, after):
        lines.append(f"Result: {_format_validity(after, now_ms, zone)}")
    return lines


def _format_validity(wanted: Remote, now_ms: int, zone: tzinfo) -> str:
    kind = word(RemoteType, wanted.remote_type).capitalize()
    return f"{kind}: {describe_period(wanted, now_ms, zone)}"


# --- backups -------------------------------------------------------------------------------------


def describe_backup(record: Mapping[str, Any], *, many: bool = False) -> str:
    """Return sentences about the backup that a delete makes, and about the values missing from it.

    Args:
        record: The remote to delete, as the service sent it. Only the names of its fields count.
        many: Whether several remotes are deleted, of which ``record`` is an example.
    """
    new = "Restored remotes get new IDs." if many else "A restored remote gets a new ID."
    hidden = [field.called for field in UNLISTED if field.name not in record]
    if not hidden:
        return f"lockterm keeps a backup. {new}"
    them = "it" if len(hidden) == 1 else "them"
    return (
        f"lockterm keeps a backup. It lacks {_listed(hidden)}, because the service does not"
        f" return {them}. {new}"
    )


def describe_beyond_backup(deleted: int | None, kept: int) -> str:
    """Return a warning if a clear deleted more remotes than its backup has; otherwise empty.

    Args:
        deleted: The number of deleted remotes that the service reported; None if unknown.
        kept: The number of remotes in the backup.
    """
    if deleted is None or deleted <= kept:
        return ""
    more = deleted - kept
    return (
        f"The service deleted {deleted:,} remotes, but the backup contains {kept:,}."
        f" {format_count(more, 'remote')} {'was' if more == 1 else 'were'} added after the backup."
    )


def describe_losses(remotes: Sequence[BackedUp]) -> list[str]:
    """Return sentences about how restored remotes will differ from the remotes in the backup.

    The result is empty if no remote can be restored.
    """
    some = [remote for remote in remotes if remote.request is not None]
    if not some:
        return []
    many = len(some) > 1
    sentences = [
        "Each remote gets a new ID and a new creation time."
        if many
        else "The remote gets a new ID and a new creation time."
    ]
    if sentence := _describe_unknown(some):
        sentences.append(sentence)
    if unnamed := sorted({name for remote in some for name in remote.unnamed}):
        more = [f"{len(unnamed) - _NAMED} more"] if len(unnamed) > _NAMED else []
        listed = _listed([clean(name, 24) for name in unnamed[:_NAMED]] + more)
        sentences.append(f"Not restored, because lockterm does not know these fields: {listed}.")
    if switched_off := sum(remote.was_invalid for remote in some):
        whose = (
            f"{switched_off} remotes" if switched_off > 1 else "1 remote" if many else "The remote"
        )
        sentences.append(f'{whose} had the status "invalid" and may open the lock again.')
    return sentences


def _describe_unknown(remotes: Sequence[BackedUp]) -> str:
    """Return a sentence about the hidden fields whose values are unknown; empty if all are known.

    If there are several remotes, the sentence has the number of remotes for each field.
    """
    counts = Counter(field.name for remote in remotes for field in remote.unknown)
    if not counts:
        return ""
    fields: dict[int, list[str]] = {}
    for field in (field for field in UNLISTED if field.name in counts):
        fields.setdefault(counts[field.name], []).append(field.called)
    total = len(remotes)
    parts = []
    for count, names in sorted(fields.items(), reverse=True):
        whose = f" of {'all ' * (count == total)}{format_count(count, 'remote')}"
        parts.append(_listed(names) + whose * (total > 1))
    return f"Not restored, because lockterm does not know the values: {'; '.join(parts)}."


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
