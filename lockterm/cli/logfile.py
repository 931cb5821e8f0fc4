"""The log file with signals, crashes and messages, but no header values or request bodies."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from lockterm.domain.safe_text import clean, clean_lines, masked, spellings
from lockterm.errors import StoreError
from lockterm.paths import make_directory, open_private

LEVELS = ("debug", "info", "warning", "error")
"""The values of ``--log-level``. With ``debug``, each exchange with the service is logged."""

LARGEST = 1 << 20
"""The maximum size of the log file, in bytes. A full file is renamed to ``lockterm.log.1``."""
KEPT = 3
"""The number of earlier log files that are kept."""


def log_to(file: Path, level: str | None = None, *, secrets: Iterable[str] = ()) -> logging.Handler:
    """Start to write the messages of the logger ``lockterm`` to a file.

    If the file cannot be written, messages are lost, because a full disk must not stop lockterm.

    Args:
        file: The log file, which the first message creates.
        level: One of ``LEVELS``; ``info`` if it is None.
        secrets: The header values to mask. lockterm does not log these values, but the message of
            an error could contain one of them.

    Returns:
        The handler, for ``logging.getLogger("lockterm").removeHandler``.
    """
    handler: logging.Handler = logging.NullHandler()
    with suppress(StoreError):
        make_directory(file.parent)
        handler = RotatingLog(file)
    handler.setFormatter(_SafeFormatter(secrets))
    logger = logging.getLogger("lockterm")
    logger.propagate = False
    logger.setLevel((level or "info").upper())
    logger.addHandler(handler)
    return handler


class RotatingLog(RotatingFileHandler):
    """A private log file that rotates, and that several sessions can share.

    If a message cannot be written, the class does nothing, because a log must not disturb the
    program.

    Args:
        file: The log file, in a directory that exists.
    """

    def __init__(self, file: Path) -> None:
        super().__init__(file, maxBytes=LARGEST, backupCount=KEPT, encoding="utf-8", delay=True)

    def _open(self) -> TextIOWrapper:
        descriptor = open_private(Path(self.baseFilename))
        return open(descriptor, "a", encoding="utf-8", errors="backslashreplace")

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record to the current file, even if another session has rotated the file."""
        if self.stream is not None and not self._is_in_place(self.stream):
            self.stream.close()
            self.stream = None  # the base class opens it again
        super().emit(record)

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        """Return whether writing a record would make the file too large.

        The method reads the size from the file system, because some versions of Python assume that
        a newly opened file is empty.
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
        """Do nothing, because a full disk must neither stop lockterm nor draw over the screen."""


class _SafeFormatter(logging.Formatter):
    """A formatter that keeps a message on one line and masks secrets."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self._secrets = spellings(secrets)

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = clean(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        return masked(clean_lines(super().format(record)), self._secrets)
