"""A log file that is put aside when it is full, for this user alone, shared by sessions.

A module of its own, imported with the first line that is logged: no first frame waits for it.
"""

from __future__ import annotations

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from lockterm.paths import open_private

LARGEST = 1 << 20
"""Bytes after which a log file is put aside as ``lockterm.log.1``."""
KEPT = 3
"""How many files that were put aside are kept."""


class RotatingLog(RotatingFileHandler):
    """Writes each record at once. It never raises and never prints: logging is only a help.

    Args:
        file: Where to; its directory has to be there.
    """

    def __init__(self, file: Path) -> None:
        super().__init__(file, maxBytes=LARGEST, backupCount=KEPT, encoding="utf-8", delay=True)

    def _open(self) -> TextIOWrapper:
        descriptor = open_private(Path(self.baseFilename))
        return open(descriptor, "a", encoding="utf-8", errors="backslashreplace")

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, to the file that is in place now: another session may have moved it."""
        if self.stream is not None and not self._is_in_place(self.stream):
            self.stream.close()
            self.stream = None  # the base opens it anew
        super().emit(record)

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        """Return whether a record would make the file too large; Python's differs by version.

        The position of a file that was just opened is 0 in some of them.
        """
        if self.stream is None:
            self.stream = self._open()
        size = os.fstat(self.stream.fileno()).st_size
        line = f"{self.format(record)}{self.terminator}".encode(errors="backslashreplace")
        return size > 0 and size + len(line) > self.maxBytes

    def _is_in_place(self, stream: TextIOWrapper) -> bool:
        try:
            return os.path.samestat(os.fstat(stream.fileno()), os.stat(self.baseFilename))
        except OSError:
            return False

    def handleError(self, record: logging.LogRecord) -> None:
        """A full disk must neither stop anything nor draw over the screen."""
