"""Mappings, which describe how the table of another system becomes a table of remotes.

A mapping is a small TOML file:

- ``[columns]`` maps each column title to its meaning: a column of a table file, ``first name``,
  ``last name`` or ``ignore``.
- ``[doors]`` maps each column that represents a door, or each door in a cell, to its lock.
- ``[format]`` states the order of day and month, and how numbers are written.
- ``[values]`` has values for empty cells and missing columns.

lockterm uses a mapping for a file only if every column of the file has a meaning in the mapping.
:mod:`lockterm.domain.foreign_table` parses the rows.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from operator import attrgetter
from typing import Any

from lockterm.config.file import BYTE_ORDER_MARK, line_of
from lockterm.domain.date_input import SOME_TIME_MS
from lockterm.domain.glyphs import quoted
from lockterm.domain.names import normalize_name
from lockterm.domain.safe_text import clean
from lockterm.domain.table_columns import ACTION, LOCK, REMOTE, SETTABLE, column_named, typed_cell
from lockterm.domain.table_file import Problem, TableFileError

MOST_BYTES = 1_000_000
"""Size in bytes from which lockterm refuses a mapping file."""

NAMELESS = "(no name)"
"""The text that lockterm shows for a column without a title."""

NAME, NUMBER, TYPE, START, END = (
    *("remoteName", "remoteNumber", "remoteType"),
    *("startDate", "endDate"),
)
FIRST, LAST, IGNORE = "first name", "last name", "ignore"
"""Meanings that only a mapping can give to a column. lockterm joins the first and the last name to
one name."""

WRITTEN = "as written"
"""The format of numbers that are used as they are in the file."""
DATE_ORDERS = ("day/month/year", "month/day/year", "year-month-day")
NUMBER_FORMATS = (WRITTEN, "hex", "lower-case hex", "decimal")

BY_END = "by end"
"""The type value that makes a row time-limited if the row has an end date, and otherwise
permanent."""

MEANINGS: Mapping[str, str] = {
    **{NAME: "name", FIRST: FIRST, LAST: LAST},
    **{name: SETTABLE[name].called for name in (NUMBER, START, END, TYPE)},
    **{LOCK: "lock", IGNORE: IGNORE},
    **{name: one.called for name, one in SETTABLE.items() if one.listed},
    **{REMOTE: "remote ID", ACTION: "action"},
    **{name: one.called for name, one in SETTABLE.items()},
}
"""Maps each meaning of a column, such as ``remoteName``, to its name in a mapping file, such as
``name``. The most frequent meanings are first."""

CONSTANT = (TYPE, START, END, "weekDay", LOCK)
"""The columns for which a mapping often has one value for all rows, the most useful first."""

_NAMED = {text.casefold(): name for name, text in MEANINGS.items()}
_SECTIONS = ("columns", "doors", "format", "values")

_PLACE = re.compile(r" ?\(at line (\d+), column (\d+)\)")


@dataclass(frozen=True, slots=True)
class TableMap:
    """A mapping: the meaning of each column in another system's table.

    All column titles have the form that :func:`column_key` returns.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    """Maps column titles to keys of :data:`MEANINGS`."""
    doors: Mapping[str, str] = field(default_factory=dict)
    """Maps each door to its lock, which is given by ID or by name in the lock book.

    A door is the title of a column, or a text in the cells of the column of doors.
    """
    values: Mapping[str, str] = field(default_factory=dict)
    """Maps columns of a table file to the text for empty cells and missing columns."""
    dates: str = ""
    """The order of dates, one of :data:`DATE_ORDERS`; empty if dates are written as in lockterm's
    table files."""
    numbers: str = WRITTEN
    """The format in which numbers are written, one of :data:`NUMBER_FORMATS`."""

    def is_known(self, column: str) -> bool:
        """Return whether the mapping has a meaning for a column."""
        return column in self.columns or column in self.doors

    def fits(self, columns: Iterable[str]) -> bool:
        """Return whether the mapping has a meaning for exactly these columns."""
        return {*columns} == self.columns.keys() | self.doors.keys()

    @property
    def has_type(self) -> bool:
        """Whether the mapping gives a type to rows, by a column or by a value."""
        return TYPE in self.values or TYPE in self.columns.values()

    def find_mistakes(self, columns: Sequence[str]) -> list[Problem]:
        """Return the problems with using the mapping for a file, without line numbers.

        Args:
            columns: The titles of the file's columns, without empty columns that have no title.
        """
        problems = [
            Problem(0, column or NAMELESS, column, describe_unknown(column))
            for column in dict.fromkeys(columns)
            if not self.is_known(column)
        ]
        expected = [column for column, meaning in self.columns.items() if meaning != IGNORE]
        if LOCK not in self.columns.values():
            expected += self.doors
        problems += [
            Problem(0, column, "", "The mapping names this column, but the file does not have it.")
            for column in expected
            if column not in columns
        ]
        meanings: dict[str, str] = {}
        for column in columns:
            meaning = self.columns.get(column, IGNORE)
            is_named = meaning == NAME and {FIRST, LAST} & {*self.columns.values()}
            if column in self.doors and column in self.columns:
                reason = "The column is in [columns] and in [doors]. Remove one of the two."
                problems.append(Problem(0, column, "", reason))
            elif meaning != IGNORE and (meaning in meanings or is_named):
                other = meanings.get(meaning, "first name or last name")
                reason = f"Two columns mean the {MEANINGS[meaning]}: also {quoted(clean(other))}."
                problems.append(Problem(0, column, column, reason))
            elif column in self.doors and columns.count(column) > 1:
                problems.append(Problem(0, column, column, "Duplicate column."))
            meanings.setdefault(meaning, column)
        if {REMOTE, NUMBER, NAME, FIRST, LAST}.isdisjoint(meanings):
            reason = "No column identifies the remote. Assign a column to the number or the name."
            problems.append(Problem(0, "", "", reason))
        is_wide = any(column in self.doors for column in columns)
        if is_wide and (LOCK in meanings or LOCK in self.values):
            reason = "The table has columns for doors and a lock. Remove the lock."
            problems.append(Problem(0, meanings.get(LOCK, ""), "", reason))
        return problems

    def has_lock(self, columns: Iterable[str]) -> bool:
        """Return whether the mapping gives a lock to every row of a table with these columns."""
        is_wide = any(column in self.doors for column in columns)
        return is_wide or LOCK in self.values or LOCK in self.columns.values()


def column_key(text: str) -> str:
    """Return a column title as mappings use it: without line breaks and repeated spaces."""
    return normalize_name(" ".join(text.split()))


def describe_unknown(column: str) -> str:
    """Return the message for a column without a meaning, with the line to add to the mapping."""
    line = clean(f"{_string(column)} = {_string(IGNORE)}", 80)
    return (
        f"The mapping has no meaning for this column. To leave it out, add under [columns]: {line}"
    )


def meaning_named(text: str) -> str | None:
    """Return the key of :data:`MEANINGS` for the name of a meaning or the title of a column.

    Case is ignored. The result is None if there is no such meaning.
    """
    return _NAMED.get(" ".join(text.split()).casefold()) or column_named(text)


def suggest_map(columns: Iterable[str]) -> TableMap:
    """Return a mapping for the columns whose titles are names of meanings, such as ``number``.

    Other columns are not in the mapping.
    """
    meanings: dict[str, str] = {}
    for column in columns:
        meaning = meaning_named(column)
        if meaning and meaning != IGNORE and meaning not in meanings.values():
            meanings[column] = meaning
    return TableMap(meanings)


# --- the file ------------------------------------------------------------------------------------


def parse_map(data: bytes) -> TableMap:
    """Return the mapping in a TOML file.

    Raises:
        TableFileError: The file is not a valid mapping. Problems have line numbers where possible.
    """
    try:
        text = data.decode().removeprefix(BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TableFileError(
            [Problem(line, "", "", "Not UTF-8. Save the file as UTF-8.")]
        ) from None
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise TableFileError([_not_toml(error)]) from None
    return _Reader(text, document).read()


def _not_toml(error: Exception) -> Problem:
    hint = 'Write each column as in the example: "Card no" = "number"'
    if (match := _PLACE.search(str(error))) is None:
        return Problem(0, "", "", f"The file is not valid TOML. {hint}")
    reason = f"The line is not valid TOML from column {match[2]} on. {hint}"
    return Problem(int(match[1]), "", "", reason)


class _Reader:
    """The parser of a mapping, which collects all problems.

    Args:
        source: The TOML text, to find the line of each problem.
        document: The parsed TOML.
    """

    def __init__(self, source: str, document: Mapping[str, Any]) -> None:
        self._source = source
        self._document = document
        self._problems: list[Problem] = []

    def read(self) -> TableMap:
        for name in self._document:
            if name not in _SECTIONS:
                listed = ", ".join(f"[{one}]" for one in _SECTIONS)
                self._refuse((name,), "", f"Unknown section. Sections: {listed}.")
        columns = self._columns()
        doors = {column_key(door): lock for door, lock in self._texts("doors").items()}
        values = self._values()
        stated = self._texts("format")
        dates = self._choice(stated, "dates", DATE_ORDERS, "")
        numbers = self._choice(stated, "numbers", NUMBER_FORMATS, WRITTEN)
        for name in stated.keys() - {"dates", "numbers"}:
            self._refuse(("format", name), stated[name], "Unknown key. Keys: dates, numbers.")
        if self._problems:
            raise TableFileError(sorted(self._problems, key=attrgetter("line")))
        return TableMap(columns, doors, values, dates, numbers)

    def _refuse(self, keys: tuple[str, ...], value: str, reason: str) -> None:
        line = line_of(self._source, keys) or 0
        self._problems.append(Problem(line, keys[-1], value, reason))

    def _texts(self, section: str) -> dict[str, str]:
        """Return the keys of a section with their values as texts.

        A value that is neither a text nor a whole number becomes a problem and is left out.
        """
        table = self._document.get(section, {})
        if not isinstance(table, dict):
            self._refuse((section,), "", f"Write a section: [{section}]")
            return {}
        found: dict[str, str] = {}
        for key, value in table.items():
            if isinstance(value, str) or type(value) is int:
                found[key] = str(value).strip()
            else:
                self._refuse((section, key), str(value), "Write the value in double quotes.")
        return found

    def _columns(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for column, text in self._texts("columns").items():
            meaning = meaning_named(text)
            if meaning is None:
                listed = ", ".join(dict.fromkeys(MEANINGS.values()))
                reason = f"Unknown meaning. Meanings: {listed}."
                self._refuse(("columns", column), text, reason)
            elif column_key(column) in found:
                self._refuse(("columns", column), text, "Duplicate column.")
            else:
                found[column_key(column)] = meaning
        return found

    def _values(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for key, text in self._texts("values").items():
            name = meaning_named(key)
            if name is None or name in (IGNORE, FIRST, LAST):
                self._refuse(("values", key), text, "Unknown name. Write a column such as type.")
            elif name in found:
                self._refuse(("values", key), text, f"Two keys mean the {MEANINGS[name]}.")
            elif reason := find_value_error(name, text):
                self._refuse(("values", key), text, reason)
            elif text:
                found[name] = text
        return found

    def _choice(
        self, stated: Mapping[str, str], key: str, choices: Sequence[str], default: str
    ) -> str:
        text = " ".join(stated.get(key, default).split()).casefold()
        if text in choices or text == default:
            return text
        listed = " or ".join(quoted(one) for one in choices)
        self._refuse(("format", key), stated[key], f"Write {listed}.")
        return default


def find_value_error(name: str, text: str) -> str:
    """Return why a text cannot be the value of a column in ``[values]``; empty if it can."""
    if name == TYPE and text == BY_END:
        return ""
    try:
        if name in SETTABLE:
            # Relative times and the clocks of a lock are checked when the row is read.
            typed_cell(SETTABLE[name], text, UTC, SOME_TIME_MS)
    except ValueError as error:
        return str(error)
    return ""


def format_map(table_map: TableMap) -> str:
    """Return a mapping as the TOML that :func:`parse_map` accepts."""
    formats = {"dates": table_map.dates, "numbers": table_map.numbers}
    sections: Mapping[str, Mapping[str, str]] = {
        "columns": {column: MEANINGS[name] for column, name in table_map.columns.items()},
        "doors": table_map.doors,
        "format": {key: text for key, text in formats.items() if text not in ("", WRITTEN)},
        "values": {MEANINGS[name]: text for name, text in table_map.values.items()},
    }
    parts = []
    for name, section in sections.items():
        if section:
            lines = [f"{_string(key)} = {_string(text)}\n" for key, text in section.items()]
            parts.append(f"[{name}]\n{''.join(lines)}")
    return "\n".join(parts)


def _string(text: str) -> str:
    """Return a text as a TOML string, which has the escapes of JSON and also escapes DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
