"""The text of table files, as any spreadsheet writes them: encoding, delimiter and records.

Every file that a person hands in is read here, whatever its columns mean.
"""

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
"""First bytes of spreadsheet files (.xlsx, .ods and .xls)."""

_SEP = re.compile(r'"?sep=([,;\t])"?[,;\t]*\r?\n', re.IGNORECASE)
"""The first line that Excel writes to name the delimiter."""

_HEAD = 10_000
"""The characters in which the delimiter is looked for."""


class TextError(Exception):
    """A file that is not the text of a table.

    Args:
        reason: A sentence, safe to show.
        line: The line from which on it cannot be read; 0 if the whole file cannot be.
    """

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(frozen=True, slots=True)
class CsvText:
    """The text of a CSV file, without the line that names the delimiter."""

    text: str
    delimiter: str
    skipped: int
    """Number of lines before the text."""

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the records, each with the line it begins on.

        Raises:
            TextError: The rest is not CSV.
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
    """Return the text of a file.

    Raises:
        TextError: It has none.
    """
    if data.startswith(_SPREADSHEETS):
        raise TextError("This is a spreadsheet file. Save the table as CSV, and use the CSV file.")
    encoding = "utf-8-sig"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif len(data) > 1 and 0 in data[:2] and any(data[:2]):  # half of a Latin letter
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
    """Return a CSV text with its delimiter.

    Args:
        text: The whole of the file.
        rank: Ranks the cells of the first line; the delimiter with the highest rank is used if no
            line names one.
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
