"""Files as they are found: read whole, and who may have written them. A start waits for it."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike


def read_regular(
    file: str | PathLike[str], most: int, what: str = "such file", *, is_private: bool = False
) -> bytes:
    """What is in a file; a pipe in its place would be waited for, a device has no end.

    Args:
        file: The file.
        most: The most bytes that it may have.
        what: What it would be, for the sentence that it has more.
        is_private: Whether nobody but this user and root may own it.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no such file, or too large: a sentence for people.
    """
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        about = os.fstat(descriptor)
        if stat.S_ISDIR(about.st_mode):
            raise ValueError("It is a directory.")
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("It is a pipe or a device: only a file can be read as a whole.")
        if is_private and about.st_uid not in (0, os.geteuid()):
            raise ValueError("It belongs to another user.")
        if (size := about.st_size) <= most:
            with os.fdopen(descriptor, "rb", closefd=False) as opened:
                content = opened.read(most + 1)
            if (size := len(content)) <= most:
                return content
        raise ValueError(f"It has {size:,} bytes: no {what} is as large.")
    finally:
        os.close(descriptor)


def written_by_others(path: str | PathLike[str]) -> str | None:
    """Why others can decide what stands in a file, as the end of a sentence, or None.

    The directory counts as well, and where the path is a link, both ends of it: who can write
    there can put another file in its place.

    Args:
        path: A file that exists.

    Returns:
        Such as ``others can change it. Run: chmod go-w /etc/ca.pem``; None where only this user
        and root can.

    Raises:
        OSError: It cannot be looked at.
    """
    real = os.path.realpath(path)
    directories = os.path.dirname(path) or ".", os.path.dirname(real)
    for place in dict.fromkeys((real, *directories)):
        about = os.stat(place)
        it = "it" if place == real else f"its directory {place}"
        if about.st_uid not in (0, os.geteuid()):
            return f"{it} belongs to another user, who can change it. Make a copy of your own"
        # In a sticky directory, such as /tmp, nobody replaces the files of others.
        sticky = stat.S_ISDIR(about.st_mode) and about.st_mode & stat.S_ISVTX
        if about.st_mode & 0o022 and not sticky:
            return f"others can change {it}. Run: chmod go-w {for_shell(place)}"
    return None


def read_trusted(file: str | PathLike[str], most: int) -> bytes:
    """What is in a file; nothing where there is none, others may have written it, or it has more.

    Args:
        file: The file.
        most: The most bytes that it may have.
    """
    try:
        content = read_regular(file, most, is_private=True)
        return b"" if written_by_others(file) else content
    except (OSError, ValueError):
        return b""


def for_shell(path: str | os.PathLike[str]) -> str:
    """A path as it is typed into a shell."""
    import shlex

    return shlex.quote(os.fspath(path))
