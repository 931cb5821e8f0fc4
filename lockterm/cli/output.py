"""The output of commands on stdout: tables for people, and JSON and CSV for programs."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TextIO

import click
from rich.cells import cell_len, set_cell_size

from lockterm.cli.exit_codes import DONE, NOT_PRINTED, notify
from lockterm.config.look import takes_utf8
from lockterm.domain import glyphs
from lockterm.domain.glyphs import ellipsis
from lockterm.domain.safe_text import clean, clean_lines
from lockterm.errors import describe_os_error

GAP = "  "
_LONGEST = 200
"""The maximum number of characters in a table cell."""
PROGRESS_S = 0.1
"""The minimum time between two progress texts, in seconds."""
_NARROWEST = 8
"""The minimum width of a column that is narrowed to fit a table to the terminal, in cells."""


class BrokenStdoutError(Exception):
    """An error that ends a command that only reads, because no program reads its output any longer.

    This happens, for example, if the output is piped to ``head``.
    """


class _Stdout:
    """The state of stdout while a command runs."""

    failure = ""
    """Why a write failed; empty if no write failed."""
    is_needed = True
    """Whether the command ends early if no program reads its output any longer."""


def start() -> None:
    """Reset the state of stdout when a command starts."""
    _Stdout.failure, _Stdout.is_needed = "", True


def ignore_missing_reader() -> None:
    """Let a command that sends changes continue even if no program reads its output."""
    _Stdout.is_needed = False


def has_failed() -> bool:
    """Return whether some of the output could not be written."""
    return bool(_Stdout.failure)


def finish(code: int) -> int:
    """Report on stderr if output could not be written, and return the exit code.

    Args:
        code: The exit code of the command. A write error replaces this code only if the code means
            success.
    """
    if not _Stdout.failure:
        return code
    notify(f"The output could not be written: {_Stdout.failure}.")
    return NOT_PRINTED if code == DONE else code


def note_failure(error: OSError) -> None:
    """Remember that stdout cannot be written, and discard the output that was not flushed.

    Raises:
        BrokenStdoutError: If the command only reads, and stdout has no reader.
    """
    _Stdout.failure = clean(describe_os_error(error))
    if sys.stdout is not None:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if isinstance(error, BrokenPipeError) and _Stdout.is_needed:
        raise BrokenStdoutError from None


def put(text: str) -> None:
    """Print text, with escape sequences in place of characters that stdout cannot encode."""
    encoding = "ascii" if text.isascii() else _encoding()
    _put_bytes(text.encode(encoding, "backslashreplace") + b"\n")


def _put_bytes(data: bytes) -> None:
    """Print bytes.

    If this fails, :func:`finish` reports the failure later.
    """
    if _Stdout.failure:
        return
    try:
        if sys.stdout is None:  # it was closed before lockterm was started
            raise OSError(errno.EBADF, "stdout is closed")
        click.echo(data, nl=False)
    except OSError as error:
        note_failure(error)


def put_raw(text: str) -> None:
    """Print text unchanged, but without control characters if stdout is a terminal.

    Control characters in values of the service could act on the terminal.
    """
    if are_terminals(sys.stdout):
        put(clean_lines(text.replace("\r\n", "\n")).rstrip("\n"))
    else:
        _put_bytes(text.encode("utf-8", "backslashreplace"))


def put_stderr(text: str, *, nl: bool = True) -> None:
    """Print text on stderr, and ignore a failure to write."""
    with suppress(OSError, UnicodeEncodeError):
        click.echo(text, nl=nl, err=True)


class ProgressLine:
    """A line on stderr that each new text overwrites, if stderr is a terminal."""

    def __init__(self) -> None:
        self._is_shown = are_terminals(sys.stderr)
        self._width = 0
        self._drawn_s = 0.0

    @property
    def is_due(self) -> bool:
        """Whether the line is shown, and its text is old enough to be replaced."""
        return self._is_shown and time.monotonic() - self._drawn_s >= PROGRESS_S

    def show(self, text: str) -> None:
        """Show a text in place of the present one."""
        if self._is_shown:
            put_stderr(f"\r{text}{' ' * (self._width - len(text))}", nl=False)
            self._width, self._drawn_s = len(text), time.monotonic()

    def clear(self) -> None:
        """Erase the line."""
        if self._width:
            put_stderr(f"\r{' ' * self._width}\r", nl=False)
            self._width = 0


def are_terminals(*streams: TextIO | None) -> bool:
    """Return whether all of these streams are terminals. A stream that was closed is None."""
    return all(stream is not None and stream.isatty() for stream in streams)


def choose_glyphs() -> None:
    """Use ASCII glyphs if stdout cannot encode the Unicode glyphs."""
    try:
        "".join(glyphs.UNICODE).encode(_encoding())
    except UnicodeEncodeError:
        glyphs.use(glyphs.ASCII)


def _encoding() -> str:
    """Return the encoding of stdout, or the terminal's encoding if stdout is a terminal."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if encoding == "utf-8" and are_terminals(sys.stdout):
        return "utf-8" if takes_utf8(os.environ)[0] else "ascii"
    return encoding


def put_wrapped(head: str, words: str) -> None:
    """Print a label and a sentence.

    On a terminal, the sentence is wrapped beside the label.
    """
    room = _find_width()
    if room is None or room <= 2 * len(head):
        put(f"{head}{words}")
        return
    lines = textwrap.wrap(words, room - len(head), break_long_words=False, break_on_hyphens=False)
    for place, line in enumerate(lines or [""]):
        put(f"{' ' * len(head) if place else head}{line}".rstrip())


def put_json(value: Any) -> None:
    """Print a value as JSON in ASCII."""
    put(json.dumps(value, indent=2))


def put_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Print CSV (RFC 4180), in which no cell looks like a formula to a spreadsheet."""
    from lockterm.operations.export import rows_as_csv

    put_raw(rows_as_csv(columns, rows))


def put_table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table. Columns of numbers are aligned to the right.

    The function makes the texts in the cells safe to show.

    On a terminal, the widest columns shrink until the lines fit.
    """
    lines = [[clean(value, _LONGEST) for value in row] for row in (titles, *rows)]
    columns = range(len(titles))
    numbers = [bool(rows) and all(isinstance(row[at], int) for row in rows) for at in columns]
    widths = [max(cell_len(line[at]) for line in lines) for at in columns]
    if (room := _find_width()) is not None:
        room -= len(GAP) * (len(widths) - 1)
        while sum(widths) > room and max(widths) > _NARROWEST:
            widths[widths.index(max(widths))] -= 1
    for line in lines:
        cells = []
        for text, width, is_number in zip(line, widths, numbers, strict=True):
            if cell_len(text) > width:
                text = set_cell_size(text, max(width - 1, 0)).rstrip() + ellipsis()
            space = " " * (width - cell_len(text))
            cells.append(space + text if is_number else text + space)
        put(GAP.join(cells).rstrip())


def put_fields(fields: Iterable[tuple[str, str]]) -> None:
    """Print labels with their values, which may have several lines."""
    pairs = [(clean(label), clean_lines(value)) for label, value in fields]
    wide = max((cell_len(label) for label, _ in pairs), default=0)
    for label, value in pairs:
        first, *others = value.split("\n")
        put(f"{label}{' ' * (wide - cell_len(label))}{GAP}{first}".rstrip())
        for line in others:
            put(f"{' ' * wide}{GAP}{line}")


def _find_width() -> int | None:
    if not are_terminals(sys.stdout):
        return None
    # The variable COLUMNS counts only if the terminal reports no size.
    return os.get_terminal_size(sys.stdout.fileno()).columns or shutil.get_terminal_size().columns
