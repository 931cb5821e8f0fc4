"""A remote field by field, in words that are safe to show: for the detail and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from lockterm.domain import dates
from lockterm.domain.constants import RemoteType, numbered, word
from lockterm.domain.glyphs import quoted
from lockterm.domain.json_text import one_line, shown_object
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import FIELDS, LockInfo, Remote
from lockterm.domain.safe_text import clean, clean_lines, in_cell
from lockterm.domain.validity import State, Validity
from lockterm.domain.weekdays import weekday_words

ABSENT = "not stated"
_ODD = "not of the contract's type: "
_UNNAMED = "not in the contract: "


@dataclass(frozen=True, slots=True)
class Detail:
    """A line of a detail: a label and what it says."""

    label: str
    """What people call it; for what the contract does not name, the service's own name."""
    shown: str
    """Clean words, of several lines for JSON."""
    raw: str
    """What copying gives: text as it came, JSON on one line."""
    name: str = ""
    """The contract's name of it; empty where it is worked out here."""
    state: State | None = None
    """The state that it tells."""

    @classmethod
    def of_words(cls, label: str, words: str, name: str = "") -> Detail:
        """Words that are copied as they are shown."""
        return cls(label, clean(words), words, name)

    @classmethod
    def of_json(cls, label: str, value: Any, note: str = "", name: str = "") -> Detail:
        """A value as indented JSON, behind a note; copied on one line."""
        return cls(label, note + clean_lines(shown_object(value)), one_line(value), name)


def remote_details(remote: Remote, valid: Validity, zone: tzinfo, now_ms: int) -> list[Detail]:
    """Every field of 2.3, the six others where they came, and what the contract does not name.

    Args:
        remote: As its detail told it.
        valid: What its dates and its status say.
        zone: In which times are shown, beside UTC.
        now_ms: What "in 3 days" is counted from.
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
            found.append(Detail.of_words("Valid", valid.words))
            found.append(Detail("State", valid.word, valid.word, state=valid.state))
        elif field.name == "status" and valid.disagreement:
            found.append(Detail.of_words("", f"! {valid.disagreement}"))
    return found + [
        Detail.of_json(clean(name, 40), value, _UNNAMED, name)
        for name, value in remote.extras.items()
    ]


def _detail(remote: Remote, field: Field, zone: tzinfo, now_ms: int) -> Detail:
    """A field; what came in another type is shown as it came."""
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
        also = f", the service says {quoted(other)}" if other and not is_same else ""
        return Detail.of_words(label, numbered(field.constants, value) + also, name)
    words = str(value)
    if name == "apiUserId":
        return Detail(label, f"{words}, an account that calls the service", words, name)
    if field.kind is Kind.WEEKDAYS:
        days = ", ".join(map(str, value))
        words = weekday_words(value) + (f" ({days})" if days else "")
    elif field.kind is Kind.DATE and not value and remote.remote_type == RemoteType.PERMANENT:
        words = "0 (permanent)"
    elif field.kind in (Kind.DATE, Kind.TIMESTAMP):
        ms = dates.as_ms(value) if field.kind is Kind.TIMESTAMP else value
        words = dates.preview(ms, zone, now_ms)
    return Detail.of_words(label, words, name)


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
        words = f"{other}, another than the lock id above"
        yield Detail.of_words(f"{label} id", words, "lockInfo")
    if info.extras:
        yield Detail.of_json(label, info.extras, _UNNAMED, "lockInfo")
