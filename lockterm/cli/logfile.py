"""The log file: signals, crashes and messages; no header values, and no body of any request."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from lockterm.domain.safe_text import clean, clean_lines, masked, spellings
from lockterm.errors import StoreError
from lockterm.paths import make_directory

LEVELS = ("debug", "info", "warning", "error")
"""What ``--log-level`` takes; ``debug`` adds a line for each exchange with the service."""


def log_to(file: Path, level: str | None = None, *, secrets: Iterable[str] = ()) -> logging.Handler:
    """Send what the logger ``lockterm`` hears to a file.

    Nothing is written where the file cannot be: a full disk must not stop reading.

    Args:
        file: The log file; it is made with the first line.
        level: One of ``LEVELS``; by default ``info``.
        secrets: Values of headers. Nothing logs them on purpose; an error could quote one.

    Returns:
        The handler, for ``logging.getLogger("lockterm").removeHandler``.
    """
    handler: logging.Handler = logging.NullHandler()
    with suppress(StoreError):
        make_directory(file.parent)
        handler = _Late(file)
    handler.setFormatter(_Safe(secrets))
    logger = logging.getLogger("lockterm")
    logger.propagate = False
    logger.setLevel((level or "info").upper())
    logger.addHandler(handler)
    return handler


class _Late(logging.Handler):
    """Imports and opens what it writes to with the first record."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self._target: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self._target is None:
            from lockterm.cli.rotating_log import RotatingLog

            self._target = RotatingLog(self._file)
            self._target.setFormatter(self.formatter)
        self._target.emit(record)

    def close(self) -> None:
        if self._target is not None:
            self._target.close()
        super().close()


class _Safe(logging.Formatter):
    """One line for a message, whatever the service wrote into it, and nothing that is secret."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self._secrets = spellings(secrets)

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = clean(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        return masked(clean_lines(super().format(record)), self._secrets)
