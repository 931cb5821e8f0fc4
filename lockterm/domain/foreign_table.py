"""The reader that converts other systems' tables to rows of a table file, by means of a mapping.

A row keeps the columns and cells of the original file, so that messages about problems quote the
text that the user knows. The reader never guesses. If a cell does not have the stated format, the
reader reports a problem.

A *door column* represents one lock. Its cells state which remotes give access to the lock.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lockterm.config.values import INT64
from lockterm.domain.csv_text import TextError, decode, split_csv
from lockterm.domain.glyphs import quoted
from lockterm.domain.locks import Lock
from lockterm.domain.names import normalize_name
from lockterm.domain.safe_text import clean
from lockterm.domain.table_columns import LOCK, column_named, refuse_shortened, unguarded
from lockterm.domain.table_file import Problem, Row, Table, TableFileError, count_known, read_lines
from lockterm.domain.table_map import (
    BY_END,
    END,
    FIRST,
    IGNORE,
    LAST,
    MEANINGS,
    NAME,
    NUMBER,
    START,
    TYPE,
    WRITTEN,
    TableMap,
    column_key,
)

YES = frozenset(("yes", "y", "x", "1", "true", "✓", "✔"))
NO = frozenset(("", "no", "n", "0", "false", "-"))
"""The texts of door cells, in lower case, that give no access."""

_SAMPLED = 200
"""Number of rows in which the reader looks for a cell that shows the content of a column."""

_SEPARATORS = re.compile(r"[\s:\-\u2010-\u2015]+")
_THREE_NUMBERS = re.compile(
    r"(\d{1,4})([/.-])(\d{1,4})\2(\d{1,4})(?!\d),?(.*)", re.ASCII | re.DOTALL
)
_ORDERS: Mapping[str, tuple[int, int, int]] = {
    "day/month/year": (4, 3, 1),
    "month/day/year": (4, 1, 3),
    "year-month-day": (1, 3, 4),
}
"""Maps the order of a date to the groups of ``_THREE_NUMBERS`` that match year, month and day."""

LockIds = Mapping[str, Sequence[int]]
"""Maps lock names, as :func:`lock_key` returns them, to the IDs of the locks with that name."""


@dataclass(frozen=True, slots=True)
class TableHeader:
    """The columns of a CSV file, with a sample cell of each."""

    columns: Sequence[str]
    """The column titles as :func:`column_key` returns them, from left to right."""
    samples: Mapping[str, str]
    """Maps a column to its first cell that has text. Columns without text are missing."""

    @property
    def to_map(self) -> Sequence[str]:
        """The titles of the columns that need a meaning in the mapping, without duplicates.

        These are the columns that have a title or a cell with text.
        """
        return [*dict.fromkeys(one for one in self.columns if one or one in self.samples)]

    @property
    def is_foreign(self) -> bool:
        """Whether at least one column has a title that lockterm's own table files do not use."""
        return any(one and column_named(one) is None for one in self.columns)


def lock_key(name: str) -> str:
    """Return a lock name for comparisons: case-folded, and without surrounding spaces."""
    return normalize_name(name.strip().casefold())


def ids_by_name(book: Iterable[Lock]) -> LockIds:
    """Return a mapping of the names and aliases in a lock book to the IDs of their locks."""
    found: dict[str, list[int]] = {}
    for lock in book:
        for name in {lock_key(lock.name), lock_key(lock.alias)} - {""}:
            found.setdefault(name, []).append(lock.lock_id)
    return found


def read_header(data: bytes) -> TableHeader | None:
    """Return the header of a CSV file, or None if the file is empty, JSON, or unreadable."""
    try:
        text = decode(data)
        if not text.strip() or text.lstrip()[0] in "{[":
            return None
        records = split_csv(text, count_known).records()
        columns = [column_key(cell) for cell in next(records, (1, []))[1]]
        samples: dict[str, str] = {}
        for _, (_, cells) in zip(range(_SAMPLED), records, strict=False):
            for column, cell in zip(columns, cells, strict=False):
                if cell.strip():
                    samples.setdefault(column, unguarded(cell).strip())
    except TextError:
        return None
    return TableHeader(columns, samples)


def read_foreign(
    data: bytes, table_map: TableMap, locks: LockIds, lock_id: int | None = None
) -> Table:
    """Read the table of another system, and convert it to rows of a table file.

    Args:
        data: The whole content of the file.
        table_map: The meaning of the columns.
        locks: The locks that cells may refer to by name.
        lock_id: The ID of the lock for rows without a lock; None if each row must state its lock.

    Raises:
        TableFileError: The file is not CSV, or the mapping does not fit it.
    """
    try:
        return _ForeignTable(data, table_map, locks, lock_id).read()
    except TextError as error:
        raise TableFileError([Problem(error.line, "", "", error.reason)]) from None


class _ForeignTable:
    """The reader for one file; see :func:`read_foreign`."""

    def __init__(
        self, data: bytes, table_map: TableMap, locks: LockIds, lock_id: int | None
    ) -> None:
        text = decode(data)
        if not text.strip() or text.lstrip()[0] == "{":
            reason = (
                "The file is empty." if not text.strip() else "A mapping works only with CSV files."
            )
            raise TableFileError([Problem(0, "", "", reason)])
        self._map = table_map
        self._locks = locks
        self._lock_id = lock_id
        self._records = split_csv(text, self._count_mapped).records()
        self._line, header = next(self._records, (1, []))
        self._columns = [column_key(cell) for cell in header]
        self._doors: dict[int, str] = {}
        """Maps the index of a door column to the ID of its lock."""
        self._problems: list[Problem] = []
        self._without_lock: set[int] = set()
        self._without_access = 0

    def _count_mapped(self, cells: Sequence[str]) -> tuple[int, int]:
        return sum(self._map.is_known(column_key(cell)) for cell in cells), len(cells)

    def read(self) -> Table:
        lines = [*read_lines(self._records, len(self._columns), self._problems)]
        self._check_header(lines)
        rows = [row for line, cells in lines for row in self._rows_of_line(line, cells)]
        return Table(
            rows,
            tuple(map(int, self._doors.values())),
            without_lock=frozenset(self._without_lock),
            problems=self._problems,
            ignored=[one for one, name in self._map.columns.items() if name == IGNORE],
            without_access=self._without_access,
        )

    def _check_header(self, lines: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Raise ``TableFileError`` if the mapping does not fit the columns of the file."""
        used = [
            column
            for index, column in enumerate(self._columns)
            if column or any(cells[index].strip() for _, cells in lines)
        ]
        problems = [*self._map.find_mistakes(used)]
        if not self._map.has_lock(used) and self._lock_id is None:
            reason = (
                "The mapping has no lock. Assign a column to the lock, or add a value or doors."
            )
            problems.append(Problem(0, "", "", reason))
        for index, column in enumerate(self._columns):
            if column not in self._map.doors:
                continue
            named = self._map.doors[column]
            try:
                lock = self._lock_of(named)
                if lock in self._doors.values():
                    raise ValueError(f"Two columns are doors of lock {lock}.")
                self._doors[index] = lock
            except ValueError as error:
                problems.append(Problem(0, column, named, str(error)))
        if problems:
            where = (Problem(self._line, one.column, one.value, one.reason) for one in problems)
            raise TableFileError([*where])

    # --- rows ----------------------------------------------------------------------------------

    def _rows_of_line(self, line: int, cells: Sequence[str]) -> Sequence[Row]:
        """Return the rows for a line of the file.

        If the line is valid but gives access to no lock, count it in ``Table.without_access``.
        """
        wrong = len(self._problems)
        rows = [*self._rows(line, cells)]
        self._without_access += not rows and len(self._problems) == wrong
        return rows

    def _rows(self, line: int, cells: Sequence[str]) -> Iterator[Row]:
        """Yield a row for each lock to which a line gives access.

        If the line has problems, record them and yield no row.
        """
        found: dict[str, str] = {}
        origins: dict[str, tuple[str, str]] = {}
        joined: dict[str, tuple[str, str]] = {}
        wrong = len(self._problems)
        for column, raw in zip(self._columns, cells, strict=False):
            meaning = self._map.columns.get(column, IGNORE)
            if meaning in (FIRST, LAST):
                joined[meaning] = (column, unguarded(raw).strip())
            elif meaning != IGNORE:
                origins[meaning] = (column, raw)
                try:
                    found[meaning] = self._read_cell(meaning, unguarded(raw))
                except ValueError as error:
                    self._problems.append(Problem(line, column, raw, str(error)))
        if joined:
            parts = [joined[part] for part in (FIRST, LAST) if part in joined]
            found[NAME] = " ".join(text for _, text in parts if text)
            origins[NAME] = (" + ".join(column for column, _ in parts), found[NAME])
        filled: set[str] = set()
        for name, text in self._map.values.items():
            if not found.get(name, "").strip():
                filled.add(name)
                found[name] = self._lock_or_problem(line, text) if name == LOCK else text
                origins.pop(name, None)
        row = Row(line, found, origins=origins, filled=frozenset(filled))
        rows = [*self._at_doors(line, cells, row)]
        if len(self._problems) == wrong:
            yield from map(self._complete, rows)

    def _read_cell(self, meaning: str, cell: str) -> str:
        """Return a cell's text in the form that table files use.

        Raises:
            ValueError: The cell has the wrong format. The message is a sentence.
        """
        if meaning in (START, END):
            return read_date(cell, self._map.dates)
        if meaning == NUMBER:
            return read_number(cell, self._map.numbers)
        if meaning == LOCK and cell.strip():
            return self._lock_of(self._map.doors.get(column_key(cell), cell))
        return cell

    def _lock_or_problem(self, line: int, text: str) -> str:
        try:
            return self._lock_of(text)
        except ValueError as error:
            self._problems.append(Problem(line, MEANINGS[LOCK], text, str(error)))
            return ""

    def _lock_of(self, text: str) -> str:
        """Return the ID of the lock that a text identifies by name or ID.

        Raises:
            ValueError: The text does not refer to exactly one lock. The message is a sentence.
        """
        text = text.strip()
        refuse_shortened(text)
        if text.isascii() and text.isdigit():
            if int(text[:20]) not in INT64:
                raise ValueError("The ID must be a whole number, such as 1001.")
            return text
        ids = self._locks.get(lock_key(text), ())
        if len(ids) == 1:
            return str(ids[0])
        if ids:
            raise ValueError(f"Several locks have this name: {', '.join(map(str, ids[:5]))}.")
        raise ValueError(
            "The lock book has no lock with this name. Write the ID of the lock in the mapping."
        )

    def _at_doors(self, line: int, cells: Sequence[str], row: Row) -> Iterator[Row]:
        """Yield a copy of a row for each door column whose cell gives access to the lock.

        If the table has no door columns, yield the row itself.
        """
        if not self._doors:
            yield row
        for index, lock in self._doors.items():
            column, raw = self._columns[index], cells[index]
            text = unguarded(raw).strip()
            if text.casefold() in NO:
                continue
            origin = {LOCK: (column, raw)}
            values = {**row.cells, LOCK: lock}
            if text.casefold() not in YES:
                try:
                    values[END] = _read_access(text, self._map.dates)
                except ValueError as error:
                    self._problems.append(Problem(line, column, raw, str(error)))
                    continue
                origin[END] = (column, raw)
            yield replace(
                row,
                cells=values,
                origins={**row.origins, **origin},
                filled=row.filled - origin.keys(),
            )

    def _complete(self, row: Row) -> Row:
        """Return a row with its type and its lock filled in.

        The type depends on the end date if the mapping gives the type ``by end``. A row without a
        lock gets the default lock.
        """
        cells = dict(row.cells)
        origins = {TYPE: (MEANINGS[TYPE], ""), **row.origins}
        if cells.get(TYPE) == BY_END:
            cells[TYPE] = "time-limited" if row.text(END) else "permanent"
        if not row.text(LOCK) and self._lock_id is not None:
            cells[LOCK] = str(self._lock_id)
            self._without_lock.add(row.line)
        return replace(row, cells=cells, origins=origins)


# --- cells ---------------------------------------------------------------------------------------


def read_date(text: str, order: str) -> str:
    """Return a date in the order year, month, day.

    If the text does not begin with three numbers, return the text unchanged.

    Args:
        text: The text of the cell.
        order: The order in the file, one of ``table_map.DATE_ORDERS``; empty to change nothing.

    Raises:
        ValueError: The numbers are not a date in this order. The message is a sentence.
    """
    text = text.strip()
    match = _THREE_NUMBERS.fullmatch(text) if order else None
    if match is None:
        return text
    year, month, day = (match[group] for group in _ORDERS[order])
    if len(year) != 4:
        raise ValueError(f"The date must have the order {order}, with four digits for the year.")
    if len(month) > 2 or len(day) > 2 or not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        raise ValueError(f"The date does not exist in the order {order}.")
    return f"{year}-{month:>02}-{day:>02}{match[5]}"


def _read_access(text: str, order: str) -> str:
    """Return the end date in a door cell.

    Raises:
        ValueError: The cell contains no digit, or its text is not a date. The message is a
            sentence.
    """
    if not any(char.isdecimal() for char in text):
        raise ValueError("Write yes, x, 1 or a date, or leave the cell empty.")
    return read_date(text, order)


def read_number(text: str, how: str) -> str:
    """Return the number of a remote as contract field ``remoteNumber``, without separators.

    The contract does not define what the text of a number means. Therefore this function checks the
    digits, but does not change their base or their order. The function also keeps leading zeros.

    Args:
        text: The text of the cell.
        how: The format in the file, one of ``table_map.NUMBER_FORMATS``.

    Raises:
        ValueError: The text has another format. The message is a sentence.
    """
    text = text.strip()
    if how == WRITTEN or not text:
        return text
    refuse_shortened(text)
    groups = _SEPARATORS.split(text)
    bare = "".join(groups)
    if how == "decimal":
        if not (bare.isascii() and bare.isdigit()):
            raise ValueError(
                f"{quoted(clean(text, 40))} is not a decimal number. Only digits, spaces, hyphens"
                " and colons are valid."
            )
        return bare
    if bare[:2] in ("0x", "0X"):
        bare, groups = bare[2:], [groups[0][2:], *groups[1:]]
    if not re.fullmatch("[0-9A-Fa-f]+", bare):
        raise ValueError(
            f"{quoted(clean(text, 40))} is not a hex number. Only 0 to 9, A to F, spaces, hyphens"
            " and colons are valid."
        )
    if len({len(group) for group in groups}) > 1:
        raise ValueError("The groups of digits have different lengths. A zero may be missing.")
    return bare.upper() if how == "hex" else bare.lower()
