"""Completion of a path."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lockterm.paths import find_unquoted


@dataclass(frozen=True, slots=True)
class Completion:
    """The names in a directory that start with the typed text."""

    place: str
    """The typed text up to and including the last slash."""
    names: Sequence[str] = ()
    """The sorted names, all printable; a directory ends with a slash."""
    why_none: str = ""
    """The reason why the directory cannot be read, as a sentence; otherwise empty."""

    @property
    def common(self) -> str:
        """The typed text, extended by the prefix that all names share."""
        return self.place + os.path.commonprefix(self.names)  # noqa: RUF071 (letters are meant)

    @property
    def is_whole(self) -> bool:
        """Whether there is exactly one name, and it is not a directory."""
        return len(self.names) == 1 and not self.names[0].endswith("/")


def complete(typed: str) -> Completion:
    """Return the completions of a path. Call this in a thread, because a directory may be slow.

    Args:
        typed: The start of a path; ``~`` is a home directory. Hidden files are included only if
            the name starts with a dot.
    """
    if typed.startswith("~") and "/" not in typed:
        return Completion("", [f"{typed}/"] if _is_home(typed) else ())
    found = _complete(typed)
    if not found.names and find_unquoted(typed.strip()) is not None:  # pasted or dropped
        return Completion("", [typed])
    return found


def _complete(typed: str) -> Completion:
    head, slash, part = typed.rpartition("/")
    place = head + slash
    try:
        folder = Path(place or ".").expanduser()
        with os.scandir(folder) as entries:
            names = [
                entry.name + "/" * entry.is_dir()
                for entry in entries
                if entry.name.startswith(part)
                and entry.name.isprintable()
                and (part.startswith(".") or not entry.name.startswith("."))
            ]
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "No such directory"
        return Completion(place, why_none=f"{reason}.")
    return Completion(place, sorted(names))


def _is_home(typed: str) -> bool:
    try:
        return Path(typed).expanduser().is_dir()
    except RuntimeError:
        return False
