"""The reader of lock files, from which lockterm fills the lock book.

A lock file has lines like ``id`` or ``id,name``, or is a CSV table with a header.

The reader checks the whole file. If any line is wrong, the reader raises one error that lists all
problems.
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
"""Size in bytes from which lockterm refuses a lock file. 50,000 locks take 2 MB."""

SET = ("name", "vendor", "model", "zone")
"""The fields of ``Lock`` that a lock file can set."""

_COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("lockid", "lock id", "id"), "lock_id"),
    **dict.fromkeys(("name", "lockname", "lock name"), "name"),
    **{"vendor": "vendor", "model": "model"},
    **dict.fromkeys(("zone", "timezone", "time zone"), "zone"),
    **dict.fromkeys(("alias", "remotes", "opened"), ""),
}
"""Maps column titles in lower case to fields of ``Lock``, or to an empty string if the column is
ignored."""


class LockFileError(LocktermError):
    """An error for a lock file that lockterm does not import, because it has problems.

    Args:
        problems: Descriptions of the problems, at least one, without control characters. A problem
            with a single line has the line number.
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
    """Maps the fields of :data:`SET` to the values in the line, without empty values."""

    def onto(self, known: Lock | None) -> Lock:
        """Return the lock's entry for the lock book, with the values of this line.

        Args:
            known: The present entry, whose other values stay unchanged; None for a new lock.
        """
        told: Mapping[str, Any] = self.told
        return replace(known or Lock(self.lock_id), **told)


def read_locks(data: bytes) -> list[LockLine]:
    """Return the entries of a lock file.

    Args:
        data: The complete content of the file.

    Raises:
        LockFileError: A line is wrong, the file is not a text, or it contains no locks.
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
        raise LockFileError(*problems)
    if not found:
        raise LockFileError("The file contains no locks.")
    return [*found.values()]


def _header(number: int, cells: Sequence[str]) -> list[str] | None:
    """Return the field of each column if the line is a header; None if it is not.

    Raises:
        LockFileError: A column is unknown or a duplicate, or the column of lock IDs is missing.
    """
    names = [cell.strip().casefold() for cell in cells]
    if not any(name in _COLUMNS for name in names) or names[0].isdigit():
        return None
    unknown = [cell for cell, name in zip(cells, names, strict=True) if name not in _COLUMNS]
    if unknown:
        raise LockFileError(
            f"line {number}: unknown column {quoted(clean(unknown[0], 40))}. Columns:"
            " lockId, name, vendor, model, zone."
        )
    fields = [_COLUMNS[name] for name in names]
    told = [name for name in fields if name]
    if "lock_id" not in told or len(set(told)) < len(told):
        raise LockFileError(f"line {number}: each column may occur once, and lockId is required.")
    return fields


def _line(columns: Sequence[str], cells: Sequence[str]) -> LockLine:
    """Return the entry of the lock that one line describes.

    Raises:
        ValueError: The line is wrong. The message describes the problem, without a full stop.
    """
    if any(cell.strip() for cell in cells[len(columns) :]):
        raise ValueError(
            f"the line has {len(cells)} cells, but the table has {len(columns)} columns"
        )
    told = {name: cell.strip() for name, cell in zip(columns, cells, strict=False) if name}
    try:
        lock_id = values.lock_id(told.pop("lock_id", ""))
    except ValueError as error:
        raise ValueError(f"the ID {error}") from None
    return LockLine(lock_id, checked(told))


def checked(told: Mapping[str, str]) -> dict[str, str]:
    """Check the values for a lock, and return those that are not empty, with the zone normalized.

    Args:
        told: Maps fields of :data:`SET` to texts.

    Raises:
        ValueError: A text has control characters, or the zone is unknown. The message describes the
            problem, without a full stop.
    """
    found = {name: text for name, text in told.items() if text}
    for name, text in found.items():
        try:
            found[name] = (values.timezone if name == "zone" else values.text)(text)
        except ValueError as error:
            raise ValueError(f"the {name} {error}") from None
    return found
