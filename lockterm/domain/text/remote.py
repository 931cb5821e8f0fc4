"""Texts about remotes: their names, fields, changes and backups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

from lockterm.domain import dates
from lockterm.domain.constants import RemoteType, word, word_in_detail
from lockterm.domain.glyphs import quoted
from lockterm.domain.json_text import one_line, shown_object
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import ADDED, FIELDS, UNLISTED, LockInfo, Remote
from lockterm.domain.rules import OPENS_AGAIN, opens_again, touches_validity
from lockterm.domain.safe_text import clean, clean_lines, in_cell, seen_or
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.difference import find_differences, format_value
from lockterm.domain.text.validity import Validity, describe_period
from lockterm.domain.validity import RemoteState
from lockterm.domain.weekdays import format_weekdays

if TYPE_CHECKING:
    from lockterm.domain.copies import BackedUp

NO_END = "Permanent remotes have no end date."
"""The message if the user sets a new end date for a permanent remote."""

UNNAMED = "an unnamed remote"
"""The text for a missing name, if the number and the ID are shown beside it."""

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
    """Return a line for each field that an update changes, and a line with the new period.

    If the update makes an expired remote valid again, the first line is a warning.
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
        record: The remote to delete, as the service sent it.
        many: Whether more remotes from the same list are deleted.
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
    """Return sentences about the values that a restore of these remotes cannot restore.

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
