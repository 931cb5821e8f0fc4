"""The log file: signals, crashes and messages, one write for each, and no header values."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from pathlib import Path

from lockterm.errors import StoreError
from lockterm.paths import append_private, make_directory

LARGEST = 1 << 20
"""Bytes after which a log file is put aside as ``lockterm.log.1`` when lockterm starts."""


def log_to(file: Path) -> logging.Handler:
    """Send what the logger ``lockterm`` hears to a file.

    Nothing is written where the file cannot be: a full disk must not stop reading.

    Returns:
        The handler, for ``logging.getLogger("lockterm").removeHandler``.
    """
    with suppress(StoreError):
        make_directory(file.parent)
    with suppress(OSError):
        if file.stat().st_size > LARGEST:
            os.replace(file, file.with_name(f"{file.name}.1"))
    handler = _PrivateFile(file)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("lockterm")
    logger.propagate = False
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    return handler


class _PrivateFile(logging.Handler):
    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    def emit(self, record: logging.LogRecord) -> None:
        try:
            append_private(self._file, self.format(record))
        except OSError:
            return
