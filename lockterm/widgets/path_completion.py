"""What a path that is being typed may go on with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lockterm.paths import find_unquoted


@dataclass(frozen=True, slots=True)
class Completion:
    """What a directory has that begins as what was typed."""

    place: str
    """What was typed up to the last slash, with it."""
    names: Sequence[str] = ()
    """What is there, sorted; a directory ends with a slash. Each can be typed and be shown."""
    why_none: str = ""
    """Why the directory cannot be looked into, as a sentence; empty: it can."""

    @property
    def common(self) -> str:
        """What was typed, with all that each of the names goes on with."""
        return self.place + os.path.commonprefix(self.names)  # noqa: RUF071 (letters are meant)

    @property
    def is_whole(self) -> bool:
        """Whether there is just one, and no directory."""
        return len(self.names) == 1 and not self.names[0].endswith("/")


def complete(typed: str) -> Completion:
    """Look what a path may go on with; a directory may take its time, so ask from a thread.

    Args:
        typed: The beginning of a path; ``~`` is a home. Hidden files are found where their point
            was typed.
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
        reason = getattr(error, "strerror", None) or "There is no such directory"
        return Completion(place, why_none=f"{reason}.")
    return Completion(place, sorted(names))


def _is_home(typed: str) -> bool:
    try:
        return Path(typed).expanduser().is_dir()
    except RuntimeError:
        return False
