"""Files that nobody else may have written. A start waits for this module: it imports little."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike


def read_private(file: str | PathLike[str], most: int) -> bytes:
    """What is in a file of this user; a pipe in its place would be waited for, a device has no end.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no file of this user or of root, or has more bytes than the most.
    """
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_uid not in (0, os.geteuid()):
            raise ValueError("it is no file of this user")
        content = opened.read(most + 1)
    if len(content) > most:
        raise ValueError("it is too large")
    return content


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
            import shlex

            return f"others can change {it}. Run: chmod go-w {shlex.quote(place)}"
    return None
