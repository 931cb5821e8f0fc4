"""What was chosen inside lockterm and is kept: the theme, the columns of the table.

A small file of its own, because the first frame needs it and does not wait for the store. What
people write is ``config.toml``; what lockterm writes by itself is here.
"""

from __future__ import annotations

import json
import logging
import os
import stat
from pathlib import Path
from typing import Any

from lockterm.paths import make_directory, write_private

LARGEST = 1 << 16
"""A file of more bytes is none of ours."""

_log = logging.getLogger("lockterm")


class Choices:
    """The kept choices of this user. What cannot be read counts as nothing chosen.

    Args:
        file: Where they are kept; it need not exist.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept = _read(file)

    def get(self, name: str) -> Any:
        """What was chosen, as JSON knows it; None where nothing was. Check it: people edit it."""
        return self._kept.get(name)

    def keep(self, name: str, value: Any) -> None:
        """Keep a choice; None forgets it. What another session kept meanwhile stays.

        Raises:
            StoreError: The directory cannot be made.
            OSError: The file cannot be written.
        """
        self._kept = _read(self._file) | {name: value}
        self._kept = {name: kept for name, kept in self._kept.items() if kept is not None}
        make_directory(self._file.parent)
        write_private(self._file, json.dumps(self._kept, indent=2).encode())


def _read(file: Path) -> dict[str, Any]:
    try:
        kept = json.loads(_content(file))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        _log.warning("the kept choices cannot be read: %s", error)
        return {}
    return kept if isinstance(kept, dict) else {}


def _content(file: Path) -> bytes:
    """What is in it; a pipe in its place would be waited for, and a device has no end."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_uid not in (0, os.geteuid()):
            raise ValueError("it is no file of this user")
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError("it is too large")
    return content
