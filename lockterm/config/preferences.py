"""The user's choices in the UI, such as the theme and the columns of the table.

lockterm saves the choices in a small separate file, because the first frame needs the choices and
must not wait for the store. The choices are not in ``config.toml``, because the user writes that
file.
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
"""Maximum size of the file with the choices, in bytes."""

_log = logging.getLogger("lockterm")


class Preferences:
    """The saved choices of this user. If the file is unreadable, there are no choices.

    Args:
        file: The file with the choices, which need not exist.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept = _read(file)

    def get(self, name: str) -> Any:
        """Return a choice as a JSON value; None if the user has not made this choice.

        The caller must check the value, because people may edit the file.
        """
        return self._kept.get(name)

    @property
    def all(self) -> Mapping[str, Any]:
        """All saved choices by name."""
        return self._kept

    def keep(self, name: str, value: Any) -> None:
        """Save a choice, or remove it if the value is None.

        Choices that other sessions have saved since this session started stay in the file.

        Raises:
            StoreError: The directory cannot be created.
            OSError: The file cannot be written.
        """
        self._kept = _read(self._file) | {name: value}
        self._kept = {key: choice for key, choice in self._kept.items() if choice is not None}
        make_directory(self._file.parent)
        write_whole(self._file, json.dumps(self._kept, indent=2).encode())


def _read(file: Path) -> dict[str, Any]:
    try:
        content, _, why = read_guarded(file, LARGEST)
        if why:
            raise ValueError(why)
        choices = json.loads(content)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        _log.warning("the kept choices cannot be read: %s", error)
        return {}
    return choices if isinstance(choices, dict) else {}
