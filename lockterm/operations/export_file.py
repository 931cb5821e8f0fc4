"""Exports of remotes as files: written whole, and over nothing that would be missed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from lockterm.domain.table_columns import LOCK, NAMES, REMOTE
from lockterm.domain.table_file import FORMAT
from lockterm.domain.text import clean
from lockterm.errors import StoreError
from lockterm.paths import write_whole

_JSON_HEAD = re.compile(rb'\s*\{\s*"format"\s*:\s*"%s"' % FORMAT.encode())
_MOST_HEAD = 4096
"""Bytes of a file that are read to see what it is."""


def is_export(content: bytes) -> bool:
    """Return whether a file is an export as JSON or CSV, or empty, and may be replaced.

    Args:
        content: The file's content, or its beginning.
    """
    head = content.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    columns = head.decode("ascii", "replace").strip().split(",")
    is_table = columns[:2] == [LOCK, REMOTE] and set(columns) <= set(NAMES)
    return not content or is_table or bool(_JSON_HEAD.match(content))


def may_replace(path: Path) -> bool:
    """Return whether nothing is lost with what is at a path now; see ``is_export``.

    Raises:
        StoreError: It cannot be seen.
    """
    try:
        with path.open("rb") as file:
            return is_export(file.read(_MOST_HEAD))
    except FileNotFoundError:
        return True
    except OSError as error:
        raise StoreError(f"{clean(path)} cannot be read: {error.strerror or error}.") from None


def write_file(
    path: Path, content: bytes, *, may_replace: Callable[[bytes], bool] | None = None
) -> None:
    """Write a file whole or not at all, for this user alone; one that is there is replaced.

    Args:
        path: The file.
        content: Its new content.
        may_replace: Returns whether a file with this content may be replaced; None replaces any.

    Raises:
        StoreError: It cannot be written, and what was there is as it was.
    """
    try:
        write_whole(path, content, may_replace=may_replace)
    except FileExistsError:
        raise StoreError(
            f"{clean(path)} is no file that could be replaced. Nothing was written.",
            hint="Name another file.",
        ) from None
    except OSError as error:
        raise StoreError(
            f"{clean(path)} cannot be written: {error.strerror or error}.",
            hint="See that the directory is there, yours, writable and not full.",
        ) from None
