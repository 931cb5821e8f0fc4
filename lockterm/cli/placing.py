"""Files that other programs look for, put where these do."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from platformdirs.unix import Unix

from lockterm.cli.output import put
from lockterm.errors import LocktermError

MARK = "Written by lockterm, which writes over it"
"""Stands in each of them: without it, a file is somebody else's."""

XDG = Unix()
"""The places of this user as man and the shells have them on every system."""


def place(files: Mapping[Path, str]) -> None:
    """Write files, with what is missing of their directories; over nothing that is not ours.

    Raises:
        LocktermError: Something else is there, and nothing was written; or one cannot be written.
    """
    for file in files:
        if not _is_free(file):
            raise LocktermError(
                f"{file} is there, and lockterm has not written it. Nothing was changed.",
                hint="Move it away if it is not needed, then try again.",
            )
    for file, text in files.items():
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(text, "utf-8")
            beside.replace(file)
        except OSError as error:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            raise LocktermError(
                f"{file} cannot be written: {error.strerror or error}.",
                hint="Make its directory writable, then try again.",
            ) from error


def tell_undo(file: Path, *patterns: str) -> None:
    """Say how to take back what was written: a file, and what beside it is like the patterns."""
    words = (
        shlex.quote(str(file)),
        *(f"{shlex.quote(str(file.parent))}/{like}" for like in patterns),
    )
    put(f"To undo: rm {' '.join(words)}")


def _is_free(file: Path) -> bool:
    """Whether nothing is there, or what was written from here."""
    if file.is_symlink():  # pipx links to the pages that it has installed, which are its own
        return False
    try:
        return MARK in file.read_text("utf-8", "replace")
    except OSError:
        return not os.path.lexists(file)
