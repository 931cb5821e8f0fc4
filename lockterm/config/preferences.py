"""What was chosen inside lockterm and is kept: the theme, the columns of the table.

A small file of its own, because the first frame needs it and does not wait for the store. What
people write is ``config.toml``; what lockterm writes by itself is here.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lockterm.paths import make_directory, write_whole
from lockterm.safe_files import read_guarded

LARGEST = 1 << 16
"""A file of more bytes is none of ours."""

_log = logging.getLogger("lockterm")


class Preferences:
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

    @property
    def all(self) -> Mapping[str, Any]:
        """Every choice by its name."""
        return self._kept

    def keep(self, name: str, value: Any) -> None:
        """Keep a choice; None forgets it. What another session kept meanwhile stays.

        Raises:
            StoreError: The directory cannot be made.
            OSError: The file cannot be written.
        """
        self._kept = _read(self._file) | {name: value}
        self._kept = {name: kept for name, kept in self._kept.items() if kept is not None}
        make_directory(self._file.parent)
        write_whole(self._file, json.dumps(self._kept, indent=2).encode())


def _read(file: Path) -> dict[str, Any]:
    try:
        content, _, why = read_guarded(file, LARGEST)
        if why:
            raise ValueError(why)
        kept = json.loads(content)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        _log.warning("the kept choices cannot be read: %s", error)
        return {}
    return kept if isinstance(kept, dict) else {}
