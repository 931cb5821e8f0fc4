"""A file of locks for the lock book: lines of ``id`` or ``id,name``, or CSV with a header.

The whole file is checked first: nothing is saved if one line is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lockterm.config import values
from lockterm.domain.csv_text import TextError, decode, split_csv
from lockterm.domain.glyphs import quoted
from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import clean
from lockterm.errors import LocktermError

MOST_BYTES = 4 * 1024 * 1024
"""A larger file is not read: 50,000 locks have 2 MB."""

SET = ("name", "vendor", "model", "zone")
"""The fields of ``Lock`` that a file can set."""

_COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("lockid", "lock id", "id"), "lock_id"),
    **dict.fromkeys(("name", "lockname", "lock name"), "name"),
    **{"vendor": "vendor", "model": "model"},
    **dict.fromkeys(("zone", "timezone", "time zone"), "zone"),
    **dict.fromkeys(("alias", "remotes", "opened"), ""),
}
"""Lower-case title -> the field; empty if the column is ignored."""


class BadLockFile(LocktermError):
    """A file that is refused as a whole.

    Args:
        problems: Problems with it, each with its line where it has one; clean.
    """

    title = "Not imported"

    def __init__(self, *problems: str) -> None:
        super().__init__(problems[0])
        self.problems = problems


@dataclass(frozen=True, slots=True)
class LockLine:
    """The entry of one lock in a lock file."""

    lock_id: int
    told: Mapping[str, str]
    """The values of :data:`SET` in the file, without empty ones."""

    def onto(self, known: Lock | None) -> Lock:
        """Return the new entry of the book.

        Args:
            known: The present entry, which keeps values that the file lacks; None for a new one.
        """
        told: Mapping[str, Any] = self.told
        return replace(known or Lock(self.lock_id), **told)


def read_locks(data: bytes) -> list[LockLine]:
    """Read a file.

    Args:
        data: The whole of it.

    Raises:
        BadLockFile: Something is wrong with it.
    """
    columns: Sequence[str] = ("lock_id", *SET)
    found: dict[int, LockLine] = {}
    lines: dict[int, int] = {}
    problems: list[str] = []
    begun = False
    try:
        for number, cells in split_csv(decode(data)).records():
            if not any(cell.strip() for cell in cells):
                continue
            if not begun and (header := _header(number, cells)) is not None:
                columns, begun = header, True
                continue
            begun = True
            try:
                line = _line(columns, cells)
                if line.lock_id in found:
                    first = lines[line.lock_id]
                    raise ValueError(f"lock {line.lock_id} is on line {first} already")
                found[line.lock_id], lines[line.lock_id] = line, number
            except ValueError as error:
                problems.append(f"line {number}: {clean(error, 200)}.")
    except TextError as error:
        problems.append(f"line {error.line}: {error.reason}" if error.line else error.reason)
    if problems:
        raise BadLockFile(*problems)
    if not found:
        raise BadLockFile("The file contains no locks.")
    return [*found.values()]


def _header(number: int, cells: Sequence[str]) -> list[str] | None:
    """Return the fields of the columns if a line is a header; else None.

    Raises:
        ValueError: A column is unknown or a duplicate, or the column of IDs is missing.
    """
    names = [cell.strip().casefold() for cell in cells]
    if not any(name in _COLUMNS for name in names) or names[0].isdigit():
        return None
    unknown = [cell for cell, name in zip(cells, names, strict=True) if name not in _COLUMNS]
    if unknown:
        raise BadLockFile(
            f"line {number}: unknown column {quoted(clean(unknown[0], 40))}. Columns:"
            " lockId, name, vendor, model, zone."
        )
    fields = [_COLUMNS[name] for name in names]
    told = [name for name in fields if name]
    if "lock_id" not in told or len(set(told)) < len(told):
        raise BadLockFile(f"line {number}: each column may occur once, and lockId is required.")
    return fields


def _line(columns: Sequence[str], cells: Sequence[str]) -> LockLine:
    """Return the lock of one line; raise ``ValueError`` with the problem, without a full stop."""
    if any(cell.strip() for cell in cells[len(columns) :]):
        raise ValueError(
            f"the line has {len(cells)} cells, but the table has {len(columns)} columns"
        )
    told = {name: cell.strip() for name, cell in zip(columns, cells, strict=False) if name}
    try:
        lock_id = values.lock_id(told.pop("lock_id", ""))
    except ValueError as error:
        raise ValueError(f"the id {error}") from None
    return LockLine(lock_id, checked(told))


def checked(told: Mapping[str, str]) -> dict[str, str]:
    """Return the values for a lock, without empty ones.

    Raises:
        ValueError: A text has control characters, or the zone is unknown.
    """
    found = {name: text for name, text in told.items() if text}
    for name, text in found.items():
        try:
            (values.timezone if name == "zone" else values.text)(text)
        except ValueError as error:
            raise ValueError(f"the {name} {error}") from None
    return found
