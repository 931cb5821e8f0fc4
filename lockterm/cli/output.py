"""What commands print: tables for people, JSON and CSV for programs. Nothing else is on stdout."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from lockterm.text import ELLIPSIS, clean, clean_lines

GAP = "  "
_LONGEST = 200
"""The most characters of a cell that are shown in a table."""
_NARROWEST = 8
"""Cells that a column keeps when a table has to fit a terminal."""


class NobodyReads(Exception):
    """Who read stdout has gone, as ``head`` does: nothing more is worth printing."""


def put(text: str) -> None:
    """Print text, in whatever encoding stdout has."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    _put(text.encode(encoding, "backslashreplace") + b"\n")


def put_wrapped(head: str, words: str) -> None:
    """Print a sentence behind its head; on a terminal its lines break between words, below it.

    Where nobody looks it stays one line, for programs to find words in.
    """
    room = _room()
    if room is None or room <= 2 * len(head):
        put(f"{head}{words}")
        return
    import textwrap

    lines = textwrap.wrap(words, room - len(head), break_long_words=False, break_on_hyphens=False)
    for place, line in enumerate(lines or [""]):
        put(f"{' ' * len(head) if place else head}{line}".rstrip())


def put_json(value: Any) -> None:
    """Print JSON for programs: raw values, escaped down to ASCII."""
    put(json.dumps(value, indent=2))


def put_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Print a CSV file (RFC 4180) whose cells no spreadsheet takes for formulas."""
    from lockterm.exporting import cell

    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([cell(row.get(name)) for name in columns])
    if sys.stdout.isatty():  # raw values are for programs; a terminal might obey them
        put(clean_lines(text.getvalue().replace("\r\n", "\n")).rstrip("\n"))
    else:
        _put(text.getvalue().encode("utf-8", "backslashreplace"))


def put_table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table. Cells are cleaned and set by how wide they are shown; numbers to the right.

    On a terminal, the widest columns give way until a line fits.
    """
    from rich.cells import cell_len

    lines = [[clean(value, _LONGEST) for value in row] for row in (titles, *rows)]
    numbers = [
        all(isinstance(row[place], int) for row in rows) and bool(rows)
        for place in range(len(titles))
    ]
    widths = [max(cell_len(line[place]) for line in lines) for place in range(len(titles))]
    _fit(widths, _room())
    for line in lines:
        cells = []
        for text, width, is_number in zip(line, widths, numbers, strict=True):
            cut = _cut(text, width)
            space = " " * (width - cell_len(cut))
            cells.append(space + cut if is_number else cut + space)
        put(GAP.join(cells).rstrip())


def put_fields(fields: Iterable[tuple[str, str]]) -> None:
    """Print labels and values, one below the other; values may have several lines."""
    from rich.cells import cell_len

    pairs = [(clean(label), clean_lines(value)) for label, value in fields]
    wide = max((cell_len(label) for label, _ in pairs), default=0)
    for label, value in pairs:
        first, *others = value.split("\n")
        put(f"{label}{' ' * (wide - cell_len(label))}{GAP}{first}".rstrip())
        for line in others:
            put(f"{' ' * wide}{GAP}{line}")


def _put(data: bytes) -> None:
    try:
        click.echo(data, nl=False)
    except BrokenPipeError:  # click itself would end with 1, which means refused
        raise NobodyReads from None


def _room() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _fit(widths: list[int], room: int | None) -> None:
    if room is None:
        return
    room -= len(GAP) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1


def _cut(text: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + ELLIPSIS
