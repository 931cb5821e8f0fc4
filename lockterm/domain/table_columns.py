"""The columns of a table file: their names, and how their cells are written and parsed.

lockterm parses a cell like a field of the remote form. In addition, times may be milliseconds, and
a number that a spreadsheet has changed is refused. If lockterm exports a value and imports the
text, the value is exactly the same, to the millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, tzinfo
from typing import Any

from lockterm.domain import dates, json_text
from lockterm.domain.date_input import is_relative, read_moment
from lockterm.domain.dates import WEEK, format_weekdays
from lockterm.domain.glyphs import quoted
from lockterm.domain.reading import Field, Kind
from lockterm.domain.remotes import ADDED, FIELDS, UNLISTED, WORDS, Remote, choices
from lockterm.domain.safe_text import clean
from lockterm.domain.typed_remote import read_text

ACTION, LOCK, REMOTE = "action", "lockId", "remoteId"

SETTABLE: Mapping[str, Field] = {
    field.name: field
    for field in sorted(ADDED, key=lambda field: (field in UNLISTED, field.name == "addType"))
}
"""Maps the contract's names to fields, for each field that a table can set."""

NAMES = (
    *(ACTION, LOCK, REMOTE),
    *sorted(SETTABLE, key=lambda name: (not FIELDS[name].listed, FIELDS[name].row)),
)
"""All columns of a table file, by the names that error messages use."""

_COLUMNS = {
    **{name.casefold(): name for name in NAMES},
    **{field.label.casefold(): name for name, field in SETTABLE.items()},
    **{"id": REMOTE, "remote id": REMOTE, FIELDS[LOCK].label.casefold(): LOCK},
}

_SHORTENED = re.compile(r"[+-]?\d+([.,]\d+)?E[+-]\d+", re.ASCII | re.IGNORECASE)
"""Matches a number that a spreadsheet has shortened, such as ``1.2E+10``."""

_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?=$|[ T])", re.ASCII)
_AMBIGUOUS = re.compile(
    r"(0?[1-9]|1[0-2])/(0?[1-9]|1[0-2])/\d|\d{1,2}([./])\d{1,2}\3\d{2}(?!\d)", re.ASCII
)
"""Matches a date with ambiguous day and month, or with a two-digit year."""
_FIRST_MS = 10**11
"""The smallest number that counts as milliseconds. Smaller numbers may be seconds, or days as in a
spreadsheet."""

_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Matches a control character or half of a surrogate pair."""

_BEGINS = r"(^|[;\t\n\r\v\f])([\s\"]*)"
_FORMULA = r"[=+\-@＝＋－＠]"
_ESCAPED = re.compile(rf"{_BEGINS}(?='*{_FORMULA})")
_ESCAPES = re.compile(rf"{_BEGINS}'(?='*{_FORMULA})")

NO_TYPE = (
    "A new remote needs a type. Write permanent, time-limited or recurring in the column"
    " remoteType."
)
"""The message for a row that adds a remote without a type, if the file has no mapping."""
NO_TYPE_MAPPED = (
    "A new remote needs a type, and this row has none. Set a type for such rows in the mapping."
)
"""The message for a row that adds a remote without a type, if the file has a mapping."""


def column_named(text: str) -> str | None:
    """Return the column of :data:`NAMES` with a name or label; None if there is no such column."""
    return _COLUMNS.get(" ".join(text.split()).casefold())


def visible(text: str) -> str:
    """Return a text in which control characters and surrogates are escaped as in Python."""
    return _UNWRITABLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def guarded(text: str) -> str:
    """Return a text with a single quote (``'``) before each formula that a spreadsheet might run.

    The function also looks for formulas after tabs, ``;`` and line ends, because some spreadsheets
    begin a new cell there.
    """
    return _ESCAPED.sub(r"\1\2'", text)


def unguarded(text: str) -> str:
    """Return the original text from a text that :func:`guarded` returned."""
    return _ESCAPES.sub(r"\1\2", text)


def written(field: Field, value: Any, zone: tzinfo) -> str:
    """Return the text that an export writes into a cell for a value.

    Args:
        field: The field that the value belongs to.
        value: The value, which has the contract's type.
        zone: The time zone of the lock. Times are written with their UTC offset.
    """
    if value is None:
        return ""
    match field.kind:
        case Kind.DATE:
            return dates.stamp(value, zone, exact=True) if value else ""
        case Kind.WEEKDAYS:
            if not value or not set(value) <= set(WEEK):
                return ",".join(map(str, value))
            return format_weekdays(value)
        case Kind.OBJECT:
            return json_text.one_line(value) if value else ""
        case Kind.TEXT:
            return visible(value)
    words = choices(field.constants) if field.constants else {}
    return next((shown for shown, number in words.items() if number == value), str(value))


def cell_of(field: Field, remote: Remote, zone: tzinfo) -> str:
    """Return the text that an export writes into a cell for a field of a remote.

    A value that does not have the contract's type is written as received.
    """
    if field.name in remote.odd:
        odd = remote.odd[field.name]
        return visible(odd if isinstance(odd, str) else json_text.one_line(odd))
    return written(field, field.of(remote), zone)


def typed_cell(field: Field, text: str, zone: tzinfo, now_ms: int) -> str:
    """Check the text of a cell, and return it in the form in which a user would type the value.

    Args:
        field: The field that the column sets.
        text: The text of the cell.
        zone: The time zone of the lock.
        now_ms: Now, in milliseconds.

    Raises:
        ValueError: The cell has no valid value. The message is a sentence.
    """
    text = text.strip()
    if not text:
        return ""
    if field.kind is not Kind.OBJECT:
        refuse_shortened(text)
    match field.kind:
        case Kind.DATE:
            return _typed_date(field, text, zone, now_ms)
        case Kind.CONSTANT:
            return _typed_constant(field, text)
    read_text(field, text)
    return text


def refuse_shortened(text: str) -> None:
    """Check that a text is not a number that a spreadsheet has shortened, such as ``1.2E+10``.

    Raises:
        ValueError: The text is a shortened number. The message is a sentence.
    """
    if _SHORTENED.fullmatch(text.strip()):
        raise ValueError(
            "A spreadsheet has shortened a long number, and its last digits are lost. Format the"
            " column as text and type the number again."
        )


def same_but_for_zeros(one: str, other: str) -> bool:
    """Return whether two texts are numbers that differ only in leading zeros."""
    are_digits = all(text.isascii() and text.isdigit() for text in (one, other))
    return are_digits and one != other and one.lstrip("0") == other.lstrip("0")


def _typed_date(field: Field, text: str, zone: tzinfo, now_ms: int) -> str:
    if text.isascii() and text.isdigit():
        ms = int(text) if len(text) < 20 else 0
        if not ms and set(text) == {"0"}:
            return ""
        if ms < _FIRST_MS or dates.local(ms, UTC) is None:
            raise ValueError(
                "The number is not a time in milliseconds since 1970. Type a date such as"
                " 2026-12-01 09:00."
            )
        return f"{dates.typed(ms, UTC)} Z"
    if _AMBIGUOUS.match(text):
        raise ValueError("Day, month and year are ambiguous. Put the year first, as in 2026-12-31.")
    text = _DOTTED.sub(r"\3-\2-\1", text, count=1) if _DOTTED.match(text) else text
    if is_relative(text):  # its base is known only when the whole row is read
        return text
    moment = read_moment(text, zone, now_ms, end=field.name == "endDate")
    if moment.choices:
        raise ValueError(shown_twice(moment.choices, zone))
    if moment.error:
        raise ValueError(moment.error)
    return text


def shown_twice(choices: Sequence[int], zone: tzinfo) -> str:
    """Return a sentence that shows how to write each moment of a time that occurs twice."""
    ways = " or ".join(quoted(dates.typed(ms, zone)) for ms in choices)
    return f"That time occurs twice when the clocks go back. Write {ways}."


def _typed_constant(field: Field, text: str) -> str:
    assert field.constants is not None
    words = {shown: number for number, shown in WORDS[field.constants].items()}
    words |= choices(field.constants)
    if (number := words.get(text.casefold())) is not None:
        return str(number)
    if text.isascii() and text.isdigit() and int(text[:20]) in words.values():
        return str(int(text))
    *first, last = (f"{shown} ({number})" for shown, number in choices(field.constants).items())
    raise ValueError(
        f"{quoted(clean(text, 40))} is not a valid {field.called}. Write"
        f" {', '.join(first)} or {last}."
    )
