"""The parser of table files: CSV from any spreadsheet, and the JSON of an export.

The functions parse a whole file, return its rows as texts, and report each problem with its line.
:mod:`lockterm.domain.table_columns` defines the meaning of the cells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lockterm.domain.csv_text import TextError, decode, split_csv
from lockterm.domain.glyphs import quoted
from lockterm.domain.json_text import NamedTwiceError, describe_error, unique
from lockterm.domain.reading import Kind, is_number
from lockterm.domain.safe_text import clean
from lockterm.domain.table_columns import (
    ACTION,
    LOCK,
    NAMES,
    REMOTE,
    SETTABLE,
    column_named,
    unguarded,
)
from lockterm.errors import LocktermError

TOO_MANY_BYTES = 100_000_000
"""Size in bytes from which lockterm refuses a table file. No table of remotes is that large."""

MOST_PROBLEMS = 100
"""Maximum number of problems that are listed for one file."""

FORMAT, VERSION = "lockterm-remotes", 1
"""The values of ``format`` and ``version`` in the JSON of an export."""

_OF_THE_FILE = ("format", "version", "exported", "service", "locks")
_UNKNOWN = (
    "Unknown column. For the table of another system, use --map. Columns of a table file:"
    f" {', '.join(NAMES)}."
)
_OF_A_LOCK = ("lockId", "name", "timezone", "remotes")
_OF_A_LIST = {"status", "createTime", "start", "end"}
"""Columns that only the CSV of ``remotes list``, ``find`` and ``report`` has. lockterm refuses to
import such a file."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a table file."""

    line: int
    """The number of the line, from 1; 0 if the problem concerns the whole file."""
    column: str
    value: str
    """The text in the file that causes the problem; may contain control characters."""
    reason: str
    """A sentence that is safe to show."""

    def __str__(self) -> str:
        parts = [f"line {self.line}"] if self.line else []
        parts += [f"column {clean(self.column, 40)}"] if self.column else []
        parts += [quoted(clean(self.value, 40))] if self.column else []
        return f"{', '.join(parts)}: {self.reason}" if parts else self.reason


class TableFileError(LocktermError):
    """An error for a table file that lockterm does not import, because it has problems.

    Args:
        problems: The problems, at least one.
    """

    title = "Not sent"

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(" ".join(map(str, problems[:MOST_PROBLEMS])))
        self.problems = tuple(problems)

    @property
    def counted(self) -> str:
        """The number of problems as text, such as ``120 problems, of which 100 are listed``."""
        count = len(self.problems)
        more = f", of which {MOST_PROBLEMS} are listed" if count > MOST_PROBLEMS else ""
        return f"{count:,} problems{more}" if count > 1 else "1 problem"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table file, which describes one remote."""

    line: int
    """The number of the line where the row begins, from 1."""
    cells: Mapping[str, str]
    """Maps columns to the texts of their cells, without columns that the file does not have."""
    raw: Mapping[str, Any] | None = None
    """The original JSON record; None if the file is CSV."""
    odd: frozenset[str] = field(default_factory=frozenset)
    """The columns whose JSON values do not have the contract's type; empty if the file is CSV."""
    origins: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Maps a column to the title and the text of its cell in the original file; empty unless a
    mapping has converted the file."""
    filled: frozenset[str] = field(default_factory=frozenset)
    """The columns whose text is from ``[values]`` of a mapping, because the file has no text for
    them."""

    def text(self, column: str) -> str:
        """Return the text of the row's cell in a column, without spaces around it.

        The text is empty if the row does not have the column.
        """
        return self.cells.get(column, "").strip()

    def problem(self, column: str, reason: str, value: str | None = None) -> Problem:
        """Return a problem with a cell, with the cell's title and text as in the original file.

        Args:
            column: The name of the column.
            reason: A sentence that is safe to show.
            value: The text to show; None to show the text of the cell.
        """
        name, text = self.origins.get(column, (column, self.cells.get(column, "")))
        return Problem(self.line, name, text if value is None else value, reason)


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table file, with its problems."""

    rows: Sequence[Row]
    locks: Sequence[int] = ()
    """The IDs of the locks in a JSON export, or of the locks that door columns represent. Locks
    without rows are included."""
    service: str = ""
    """The base URL of the service that the file was exported from; empty if not stated."""
    without_lock: frozenset[int] = field(default_factory=frozenset)
    """The line numbers of rows that state no lock. Such a row gets the lock ID that the caller gave
    to the parser."""
    problems: Sequence[Problem] = ()
    """Problems with the structure of the file. If there are any, lockterm plans no rows, but still
    checks the rows to report all problems together."""
    ignored: Sequence[str] = ()
    """The titles of columns that a mapping ignores; may contain control characters."""
    without_access: int = 0
    """The number of lines in the original file that give access to no lock."""


def read_table(data: bytes, lock_id: int | None = None) -> Table:
    """Parse a table file.

    Args:
        data: The whole content of the file.
        lock_id: The ID of the lock for CSV rows without a lock; None if each row must have one.

    Raises:
        TableFileError: The file is not a table of remotes.
    """
    try:
        text = decode(data)
        if not text.strip():
            raise _refused("The file is empty.")
        if text.lstrip()[0] in "{[":
            return _read_json(text)
        rows, problems = _read_csv(text, needs_lock=lock_id is None)
    except TextError as error:
        raise _refused(error.reason, error.line) from None
    if lock_id is None:
        return Table(rows, problems=problems)
    without = frozenset(row.line for row in rows if not row.text(LOCK))
    here = {LOCK: str(lock_id)}
    rows = [row if row.text(LOCK) else replace(row, cells={**row.cells, **here}) for row in rows]
    return Table(rows, without_lock=without, problems=problems)


def _refused(reason: str, line: int = 0) -> TableFileError:
    return TableFileError([Problem(line, "", "", reason)])


# --- CSV -----------------------------------------------------------------------------------------


def _read_csv(text: str, *, needs_lock: bool) -> tuple[list[Row], list[Problem]]:
    records = split_csv(text, count_known).records()
    line, header = next(records, (1, []))
    columns, problems = _columns(line, header, needs_lock=needs_lock)
    rows: list[Row] = []
    for line, cells in read_lines(records, len(columns), problems):
        named = [*zip(columns, cells, strict=False)]
        nameless = next((cell for name, cell in named if name is None and cell.strip()), None)
        if nameless is not None:
            problems.append(_nameless(line, nameless))
        else:
            rows.append(Row(line, {name: unguarded(cell) for name, cell in named if name}))
    return rows, problems


def read_lines(
    records: Iterable[tuple[int, Sequence[str]]], width: int, problems: list[Problem]
) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the line number and cells of each complete row that is not empty.

    Args:
        records: The rows after the header, each with its line number and its cells.
        width: The number of columns.
        problems: The list to which this function adds the problems of incomplete rows.
    """
    for line, cells in records:
        if not any(cell.strip() for cell in cells):
            continue
        extra = next((cell for cell in cells[width:] if cell.strip()), None)
        if len(cells) < width:
            reason = f"Part of the line is missing: it has {len(cells)} of {width} cells."
            problems.append(Problem(line, "", "", reason))
        elif extra is not None:
            problems.append(_nameless(line, extra))
        else:
            yield line, cells


def _nameless(line: int, cell: str) -> Problem:
    value = quoted(clean(cell, 40))
    return Problem(line, "", "", f"{value} is in a column without a name.")


def count_known(cells: Sequence[str]) -> tuple[int, int]:
    """Return the number of known columns in a header, and the number of all its columns."""
    return sum(column_named(name) is not None for name in cells), len(cells)


def _columns(
    line: int, header: Sequence[str], *, needs_lock: bool
) -> tuple[list[str | None], list[Problem]]:
    """Return the column for each cell of the header, and the problems with the header.

    The column is None for an empty cell, and an empty string for an unknown column.

    Raises:
        TableFileError: A column is a duplicate, or a required column is missing.
    """
    if set(header) >= _OF_A_LIST:
        raise _refused(
            'The output of "remotes list", "find" and "report" cannot be imported. Write'
            ' the file with "lockterm export LOCK --csv".'
        )
    problems: list[Problem] = []
    columns: list[str | None] = []
    is_twice = False
    for text in header:
        name = column_named(text)
        if name is None and text.strip():
            name = ""
            problems.append(Problem(line, text, text, _UNKNOWN))
        elif name is not None and name in columns:
            is_twice = True
            problems.append(Problem(line, text, text, "Duplicate column."))
        columns.append(name)
    missing = _missing(line, columns, needs_lock=needs_lock)
    if is_twice or missing:
        raise TableFileError([*problems, *missing])
    return columns, problems


def _missing(line: int, columns: Iterable[str | None], *, needs_lock: bool) -> list[Problem]:
    there = set(columns)
    if needs_lock and LOCK not in there:
        return [Problem(line, "", "", "The column lockId is missing.")]
    if there.isdisjoint((REMOTE, "remoteNumber", "remoteName")):
        reason = "No column identifies the remote. Add remoteId, remoteNumber or remoteName."
        return [Problem(line, "", "", reason)]
    return []


# --- JSON ----------------------------------------------------------------------------------------


def _read_json(text: str) -> Table:
    try:
        whole = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise _refused(describe_error(error, f"column {error.colno}"), error.lineno) from None
    except NamedTwiceError as error:
        raise _refused(
            f"The key {quoted(clean(error.name, 40))} occurs twice in one object."
        ) from None
    except (RecursionError, ValueError):
        raise _refused("The JSON cannot be read: too many brackets or digits.") from None
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise _refused('Not an export of lockterm: "format" is not "lockterm-remotes".')
    if (version := whole.get("version")) != VERSION:
        raise _refused(
            f"The export has version {clean(version, 20)}, but this lockterm reads version"
            f" {VERSION}."
        )
    unknown = [name for name in whole if name not in _OF_THE_FILE]
    locks, service = whole.get("locks"), whole.get("service", "")
    if unknown or not isinstance(locks, list) or not isinstance(service, str):
        name = unknown[0] if unknown else "locks"
        raise _refused(f"{quoted(clean(name, 40))} does not have the format of an export.")
    lines = _record_lines(text)
    rows: list[Row] = []
    lock_ids: list[int] = []
    problems: list[Problem] = []
    for place, lock in enumerate(locks, 1):
        lock_id: Any = lock.get("lockId") if isinstance(lock, dict) else None
        remotes = lock.get("remotes") if isinstance(lock, dict) else None
        if (
            not is_number(lock_id)
            or not isinstance(remotes, list)
            or not lock.keys() <= set(_OF_A_LOCK)
            or not all(isinstance(lock.get(name, ""), str) for name in ("name", "timezone"))
            or not all(isinstance(one, dict) for one in remotes)
        ):
            raise _refused(f"Lock {place} of the file does not have the format of an export.")
        lock_ids.append(lock_id)
        for raw in remotes:
            row = _json_row(next(lines, 0), str(lock_id), raw)
            if raw.get("lockId", lock_id) != lock_id:
                reason = f"The remote is listed under lock {lock_id}."
                problems.append(Problem(row.line, LOCK, str(raw["lockId"]), reason))
            rows.append(row)
    if problems:
        raise TableFileError(problems)
    return Table(rows, lock_ids, service)


def _json_row(line: int, lock_id: str, raw: Mapping[str, Any]) -> Row:
    cells = {LOCK: lock_id}
    odd = set()
    for name in (ACTION, REMOTE, "id"):
        if raw.get(name) is not None:
            cells[REMOTE if name == "id" else name] = str(raw[name])
    for name, one in SETTABLE.items():
        if name not in raw:
            continue
        value = raw[name]
        match one.kind:
            case _ if value is None:
                cells[name] = ""
            case _ if isinstance(value, str):  # as it would be typed
                cells[name] = value
            case Kind.WEEKDAYS if isinstance(value, list) and all(map(is_number, value)):
                cells[name] = ",".join(map(str, value))
            case Kind.OBJECT if isinstance(value, dict):
                cells[name] = json.dumps(value) if value else ""
            case Kind.NUMBER | Kind.CONSTANT | Kind.DATE if is_number(value):
                cells[name] = str(value)
            case _:
                cells[name] = json.dumps(value)
                odd.add(name)
    return Row(line, cells, raw, frozenset(odd))


def _record_lines(text: str) -> Iterator[int]:
    """Yield the number of the line where each remote of a JSON export begins, from 1.

    In an export, remotes are the only objects that begin at nesting depth 5. The caller must check
    the structure of the export first.
    """
    line, depth = 1, 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{}\n]', text, re.DOTALL):
        char = match[0]
        if char == "\n":
            line += 1
        elif char in "[{":
            depth += 1
            if depth == 5:
                yield line
        elif char in "]}":
            depth -= 1
