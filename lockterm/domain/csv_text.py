"""The text of a CSV file: its encoding, its delimiter, and its lines split into cells."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lockterm.domain.safe_text import clean

DELIMITERS = (",", ";", "\t")

_BINARY = re.compile(r"[\x00-\x08\x0e-\x1f]")
_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""The first bytes of spreadsheet files (.xlsx, .ods and .xls)."""

_SEP = re.compile(r'"?sep=([,;\t])"?[,;\t]*\r?\n', re.IGNORECASE)
"""Matches the first line in which Excel states the delimiter, such as ``sep=;``."""

_HEAD = 10_000
"""Number of characters at the beginning of a file from which the delimiter is guessed."""


class TextError(Exception):
    """An error for a file that is not a text, or not a table in CSV.

    Args:
        reason: A sentence that is safe to show.
        line: The first line that cannot be read, from 1; 0 for the whole file.
    """

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(frozen=True, slots=True)
class CsvText:
    """The text of a CSV file. A first line that only states the delimiter is removed."""

    text: str
    delimiter: str
    skipped: int
    """Number of lines that were removed from the beginning of the text."""

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the cells of each record, with the number of the line on which it begins, from 1.

        Raises:
            TextError: The rest of the text is not valid CSV.
        """
        lines = io.StringIO(self.text, newline="")
        reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
        while True:
            line = reader.line_num + self.skipped + 1
            try:
                cells = next(reader, None)
            except csv.Error as error:
                reason = f"The CSV cannot be read from here on: {clean(error, 80)}."
                raise TextError(reason, line) from None
            if cells is None:
                return
            yield line, cells


def decode(data: bytes) -> str:
    """Return the text of a file in UTF-8 or UTF-16.

    Raises:
        TextError: The file is not a text in UTF-8 or UTF-16.
    """
    if data.startswith(_SPREADSHEETS):
        raise TextError("This is a spreadsheet file. Save the table as CSV, and use the CSV file.")
    encoding = "utf-8-sig"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif len(data) > 1 and 0 in data[:2] and any(data[:2]):  # a Latin letter in UTF-16
        encoding = "utf-16-be" if data[0] == 0 else "utf-16-le"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise TextError(
            f"Neither UTF-8 nor UTF-16: byte 0x{data[error.start]:02X} is invalid. Save the"
            " file as CSV in UTF-8.",
            data.count(b"\n", 0, error.start) + 1,
        ) from None
    if match := _BINARY.search(text):
        raise TextError(
            f"Not a text file: it contains the byte 0x{ord(match[0]):02X}.",
            text.count("\n", 0, match.start()) + 1,
        )
    return text


def split_csv(text: str, rank: Callable[[list[str]], Any] = len) -> CsvText:
    """Find the delimiter of a CSV text, and return the text with its delimiter.

    Args:
        text: The complete text of the file.
        rank: A function that rates the cells of the first line. If the file does not state its
            delimiter, each possible delimiter is tried, and the one with the highest rating is
            used.
    """
    if match := _SEP.match(text):
        return CsvText(text[match.end() :], match[1], 1)
    delimiter = max(DELIMITERS, key=lambda one: rank(_first_line(text, one)))
    return CsvText(text, delimiter, 0)


def _first_line(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(text[:_HEAD], newline=""), delimiter=delimiter), [])
    except csv.Error:
        return []
