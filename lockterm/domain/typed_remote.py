"""The input in the remote form: its parser, which explains values and errors, and initial texts.

The input is a mapping of the contract's field names (contract 4.1) to typed texts, so that a draft
can store it. Parsing has no side effects, and the form shows the result.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from datetime import tzinfo
from typing import Any

from lockterm.domain import dates, json_text
from lockterm.domain.date_input import HELP, Moment, read_moment
from lockterm.domain.dates import WEEK, format_weekdays, parse_weekdays
from lockterm.domain.glyphs import UNICODE
from lockterm.domain.names import is_same_name, near_key, near_note, normalize_name
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import (
    ADDED,
    FIELDS,
    UPDATED,
    Remote,
    needs_dates,
    needs_weekdays,
    word,
)
from lockterm.domain.rules import (
    EXTRA_BYTES,
    comparable,
    effective,
    touches_validity,
    violations,
    warnings,
)
from lockterm.domain.safe_text import clean
from lockterm.domain.shortening import describe_shortened_fields, find_shortening
from lockterm.domain.text.validity import describe_never_opens
from lockterm.domain.validity import end_of

_SHOWN_TWICE = "That time occurs twice when the clocks go back. Choose the first or the second."
_WHOLE_DAYS = "Access is for whole days, because the service stores no hours."
_MAC = re.compile(r"[0-9A-Fa-f]{2}([:-]?[0-9A-Fa-f]{2}){5}")


@dataclass(frozen=True, slots=True)
class TypedRemote:
    """The result of parsing the input for a remote."""

    values: Remote
    """The remote to send, which may be used only if there are no errors."""
    errors: dict[str, str] = attribute(default_factory=dict)
    """Explanations of why values cannot be sent, by contract field in the order of the form."""
    warnings: dict[str, str] = attribute(default_factory=dict)
    """Warnings that the user must confirm, by contract field."""
    shortens: dict[str, str] = attribute(default_factory=dict)
    """Sentences about access that the change takes away, by contract field. The user must confirm
    them too."""
    notes: dict[str, str] = attribute(default_factory=dict)
    """Explanations of how lockterm understands the values, by contract field."""
    choices: dict[str, tuple[int, ...]] = attribute(default_factory=dict)
    """Maps each field whose time the clocks show twice to the two moments, in milliseconds."""
    missing: tuple[str, ...] = ()
    """The names of the fields that have an error because their text is empty."""


def shown_fields(remote_type: int | None, *, adding: bool) -> tuple[str, ...]:
    """Return the contract's names of the fields that the form shows for a type, in order.

    Args:
        remote_type: The type of the remote; None if no type is chosen.
        adding: Whether the form adds a remote. If false, the form edits a remote.
    """
    hidden = set() if needs_dates(remote_type) else {Kind.DATE}
    if not needs_weekdays(remote_type):
        hidden.add(Kind.WEEKDAYS)
    return tuple(field.name for field in (ADDED if adding else UPDATED) if field.kind not in hidden)


def typed_of(before: Remote | None, zone: tzinfo) -> dict[str, str]:
    """Return the initial texts of the form, by contract field.

    Args:
        before: The remote to edit; None for a new remote, whose fields have default texts.
        zone: The time zone of the lock.
    """
    if before is None:
        return {field.name: field.first for field in ADDED}
    return {field.name: _typed(field, field.of(before), zone) for field in UPDATED}


def typed_like(remote: Remote, zone: tzinfo) -> dict[str, str]:
    """Return the initial texts, by contract field, of the form that duplicates a remote."""
    texts = {field.name: _typed(field, field.of(remote), zone) for field in ADDED}
    return {name: texts[name] or first for name, first in typed_of(None, zone).items()}


def _typed(field: Field, value: Any, zone: tzinfo) -> str:
    if not comparable(field, value) and field.kind not in (Kind.NUMBER, Kind.CONSTANT):
        return ""
    match field.kind:
        case Kind.DATE:
            return dates.typed(value, zone)
        case Kind.WEEKDAYS:
            known = [day for day in value if day in WEEK]
            return format_weekdays(known) if known else ""
        case Kind.OBJECT:
            return json_text.write_object(value)
    text, limit = "" if value is None else clean(value), json_text.EDITED
    # The result is compared with the typed text, so the ellipsis must not depend on the terminal.
    return text if len(text) <= limit else text[: limit - 1] + UNICODE.ellipsis


def format_typed(name: str, text: str) -> str:
    """Return the label of a field and its typed text or choice, as a line that is safe to show.

    Args:
        name: The contract's name of the field, as stored in a draft.
        text: The typed text. If the field is a choice, the number of the chosen value.
    """
    field = FIELDS.get(name)
    label = field.label if field is not None else clean(name, 30)
    if field is not None and field.constants and text.isascii() and text.isdecimal():
        return f"{label}: {word(field.constants, int(text))}"
    return f"{label}: {clean(text, 60)}"


def read_typed(
    typed: Mapping[str, str], zone: tzinfo, now_ms: int, before: Remote | None = None
) -> TypedRemote:
    """Parse the texts of the form.

    Args:
        typed: The texts by contract field.
        zone: The time zone of the lock.
        now_ms: Now, in milliseconds.
        before: The remote to edit; None for a new remote. A field with an unchanged text keeps its
            exact value, to the millisecond.
    """
    initial = typed_of(before, zone) if before is not None else {}
    was = before if before is not None else Remote()
    found: dict[str, Any] = {}
    errors: dict[str, str] = {}
    notes: dict[str, str] = {}
    choices: dict[str, tuple[int, ...]] = {}
    for field in ADDED:
        name, kind = field.name, field.kind
        if (text := typed.get(name)) is None:
            continue
        value, is_kept = field.of(was), text == initial.get(name)
        if kind is Kind.DATE and is_kept and value:
            notes[name] = dates.preview(value, zone, now_ms)
            if isinstance(zone, dates.UnknownZone):
                notes[name] += f". {clean(zone.reason, 200)}"
        elif kind is Kind.DATE:
            if name == "endDate":
                start_ms, end_ms = found.get("start_ms", was.start_ms), end_of(was)
                moment = read_moment(text, zone, now_ms, end=True, start_ms=start_ms, end_ms=end_ms)
            else:
                moment = read_moment(text, zone, now_ms)
            found[field.attribute] = moment.ms
            if moment.choices:
                choices[name] = moment.choices
                errors[name] = _SHOWN_TWICE
            elif text.strip() and moment.error:
                errors[name] = moment.error
            else:
                notes[name] = _understood(moment, zone, now_ms)
        elif not is_kept:
            try:
                found[field.attribute] = value = read_text(field, text)
            except ValueError as error:
                errors[name] = str(error)
        if kind is Kind.OBJECT and text.strip():
            notes[name] = _json_note(text)
        if kind is Kind.WEEKDAYS and name not in errors:
            days = format_weekdays(value or ())
            is_same_text = text.strip().casefold() in ("", days.casefold())
            notes[name] = _WHOLE_DAYS if is_same_text else f"{days}. {_WHOLE_DAYS}"
    wanted = replace(was, raw={}, odd={}, **found)
    if wanted.mac and not _MAC.fullmatch(wanted.mac):
        notes["mac"] = "This does not look like AA:BB:CC:DD:EE:FF. lockterm will send it as it is."

    confirm = warnings(wanted, now_ms, before)
    if touches_validity(before, wanted) and (warning := describe_never_opens(wanted, now_ms, zone)):
        confirm["endDate"] = warning
    shown = shown_fields(wanted.remote_type, adding=before is None)
    broken = violations(wanted, before) | errors
    errors = {name: broken[name] for name in shown if name in broken}
    shortened: dict[str, str] = {}
    if before is not None and not broken:
        found_shorter = find_shortening(before, effective(before, wanted), now_ms, zone)
        shortened = describe_shortened_fields(found_shorter, now_ms, zone)
    return TypedRemote(
        wanted,
        errors,
        {name: text for name, text in confirm.items() if name in shown},
        shortened,
        notes,
        choices,
        tuple(name for name in errors if not typed.get(name, "").strip()),
    )


def _understood(moment: Moment, zone: tzinfo, now_ms: int) -> str:
    if moment.ms is None:
        return HELP
    shown = dates.preview(moment.ms, zone, now_ms)
    return f"{shown}; {moment.note}" if moment.note else shown


def read_text(field: Field, text: str) -> Any:
    """Return the value that a text means for a field that is not a date.

    Raises:
        ValueError: The text is not a value of the field. The message is a sentence.
    """
    text = text.strip()
    if field.kind is Kind.WEEKDAYS:
        return tuple(sorted(parse_weekdays(text)))
    if not text:
        return "" if field.required and field.kind is Kind.TEXT else None
    if field.kind is Kind.OBJECT:
        return json_text.read_object(text)
    if field.kind in (Kind.CONSTANT, Kind.NUMBER):
        if not re.fullmatch(r"[+-]?\d{1,30}", text, re.ASCII):
            raise ValueError("Type a whole number, such as 12.")
        return int(text)
    return text


def _json_note(text: str) -> str:
    try:
        bytes_ = json_text.size(json_text.read_object(text))
    except ValueError:
        bytes_ = len(text.encode(errors="replace"))
    return f"{bytes_:,} of {EXTRA_BYTES:,} bytes"


# --- a series of remotes -------------------------------------------------------------------------


_DIGITS = re.compile(r"[0-9]+")
_MOST_DIGITS = 4000
"""Maximum number of digits in a number that :func:`counted_up` increases. Python does not convert
much longer numbers."""


class NamesInUse:
    """The names and numbers in use on a lock, as far as lockterm knows its remotes.

    Args:
        remotes: The known remotes; duplicates are allowed.
        total: The number of remotes on the lock; None if unknown.
        is_read: Whether lockterm has read the complete list of the lock, or has found it too large
            to read. If false, it is useful to read the list again.
    """

    def __init__(
        self,
        remotes: Iterable[Remote] = (),
        total: int | None = None,
        *,
        is_read: bool = False,
    ) -> None:
        self.names = set[str]()
        self.numbers = dict[str, str]()
        """Maps the number of a remote to its name, which is safe to show."""
        self._near = dict[str, str]()
        self._near_names = dict[str, list[str]]()
        ids = set[int | None]()
        for remote in remotes:
            self.add(remote.remote_name or "", remote.remote_number or "")
            ids.add(remote.id)
        self.is_read = is_read
        self.words = ""
        """A warning if lockterm knows only some of the remotes; otherwise empty."""
        if total is not None and len(ids) < total:
            known = f"Only {len(ids):,} of {total:,} remotes were read"
            self.words = f"{known}, so another remote may have this number."

    def add(self, name: str, number: str) -> None:
        """Add the name and the number of one remote."""
        number = normalize_name(number)
        self.names.add(normalize_name(name))
        self._near_names.setdefault(near_key(name), []).append(name)
        self.numbers[number] = clean(name, 60) or "Another remote"
        if number:
            self._near[near_key(number)] = number

    def describe_name(self, name: str) -> str:
        """Return a warning if a known remote has a name similar to this one, but not the same name.

        The text is empty if there is no such remote.
        """
        some = self._near_names.get(near_key(name), []) if near_key(name) else []
        others = [one for one in some if not is_same_name(one, name)]
        return near_note(others) if others else ""

    def describe_number(self, number: str) -> str:
        """Return a warning if a known remote has this number or a similar one; otherwise empty."""
        number = normalize_name(number)
        if not number:
            return ""
        if number in self.numbers:
            return f"{self.numbers[number]} on this lock has the same number."
        if (near := self._near.get(near_key(number))) is not None:
            return (
                f"{self.numbers[near]} on this lock has nearly the same number, {clean(near, 40)}."
            )
        return ""


def counted_up(text: str, taken: Collection[str]) -> str:
    """Return the next free name or number of a series, such as ``A-0100`` after ``A-0099``.

    The function increases the last number in the text until the text is free. The number keeps its
    leading zeros. If the text has no number, the function adds one, as in ``Anna 2``.

    Args:
        text: The name or number of the previous remote.
        taken: The names or numbers in use on the lock.
    """
    found = [*_DIGITS.finditer(text)]
    if found and len(digits := found[-1][0]) <= _MOST_DIGITS:
        head, count, width = text[: found[-1].start()], int(digits), len(digits)
        tail = text[found[-1].end() :]
    else:
        head, count, width, tail = f"{text} ".lstrip(), 1, 1, ""
    while True:
        count += 1
        following = f"{head}{count:0{width}}{tail}"
        if following not in taken and normalize_name(following) not in taken:
            return following


def next_like(typed: Mapping[str, str], taken: NamesInUse) -> dict[str, str]:
    """Return the initial input for the next remote of a series.

    Args:
        typed: The input for the previous remote, by contract field.
        taken: The names and numbers in use on the lock.
    """
    return {
        **typed,
        **{field.name: "" for field in ADDED if field.of_device},
        "remoteName": counted_up(typed["remoteName"].strip(), taken.names),
        "remoteNumber": counted_up(typed["remoteNumber"].strip(), taken.numbers),
    }
