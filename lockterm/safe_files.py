"""Files as they are found, and who may have written them. A start waits for it.

A path is walked one part at a time, each opened in the directory before it. So a link that another
user made is never followed, and what was checked is what is read or written.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike
    from typing import Self

_PART = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
"""Opens a directory to look for names in it, which needs no right to read it."""
_MOST_LINKS = 40


class Place:
    """A file's name in its open directory; the file need not exist. A context manager.

    Args:
        path: The file. A slash at its end stands for the directory itself.
        make: The mode of missing directories; None makes none.
        follow: Whether a link in the last place is followed, as those before it are.

    Raises:
        OSError: A directory is missing, or a link may have been made by another user.
    """

    def __init__(
        self, path: str | PathLike[str], *, make: int | None = None, follow: bool = True
    ) -> None:
        given = os.fspath(path)
        whole = os.path.join(os.getcwd(), given)
        todo = [part for part in whole.split("/")[::-1] if part not in ("", ".")]
        if given.endswith("/") or not todo:
            todo.insert(0, ".")
        self.weakness: str | None = None
        """Why others can decide what is in the file, as the end of a sentence, or None."""
        self.directory = os.open("/", _PART)
        self._at = "/"
        links = 0
        try:
            self._owners = {0, os.geteuid(), os.fstat(self.directory).st_uid}
            self._note_weakness()
            while True:
                self.name = todo.pop()
                target = self._link()
                if target is not None and (todo or follow):
                    links += 1
                    if links > _MOST_LINKS:
                        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), given)
                    todo += [part for part in target.split("/")[::-1] if part not in ("", ".")]
                    if target.startswith("/"):
                        self._enter("/")
                    todo = todo or ["."]
                elif not todo:
                    break
                else:
                    self._enter(self.name, make)
        except BaseException:
            self.close()
            raise

    @property
    def path(self) -> str:
        """The path without a link, as long as none is in the last place."""
        return os.path.normpath(os.path.join(self._at, self.name))

    def open(self, flags: int, mode: int = 0o600) -> int:
        """Open the file, never a link; returns the descriptor.

        Raises:
            OSError: It cannot be opened, or it is a link.
        """
        safe = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(self.name, flags | safe, mode, dir_fd=self.directory)

    def why_not_trusted(self, about: os.stat_result) -> str | None:
        """Return why others can decide what is in the opened file, or None if nobody can."""
        return self.weakness or self._why_changeable(about, "it", self.path)

    def close(self) -> None:
        """Close the directory. Doing so twice is harmless."""
        if self.directory >= 0:
            os.close(self.directory)
            self.directory = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _link(self) -> str | None:
        """Return where the link of the present name leads, or None if it is no link."""
        try:
            about = os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not stat.S_ISLNK(about.st_mode):
            return None
        link = os.path.join(self._at, self.name)
        if about.st_uid not in self._owners:
            raise PermissionError(errno.EPERM, f"the link {link} belongs to another user", link)
        around = os.fstat(self.directory)
        # Where others can write, they can move a link of this user to any name.
        is_sticky = around.st_mode & stat.S_ISVTX  # as the store of Nix, open to its group alone
        if around.st_uid not in self._owners or around.st_mode & (0o002 if is_sticky else 0o022):
            why = f"others can replace the link {link}"
            raise PermissionError(errno.EPERM, why, link)
        return os.readlink(self.name, dir_fd=self.directory)

    def _enter(self, name: str, make: int | None = None) -> None:
        try:
            inside = os.open(name, _PART, dir_fd=self.directory)
        except FileNotFoundError:
            if make is None:
                raise

            with suppress(FileExistsError):  # another session is making it, too
                os.mkdir(name, make, dir_fd=self.directory)
            inside = os.open(name, _PART, dir_fd=self.directory)
        os.close(self.directory)
        self.directory = inside
        self._at = os.path.normpath(os.path.join(self._at, name))
        self._note_weakness()

    def _note_weakness(self) -> None:
        about = os.fstat(self.directory)
        # In a sticky directory, such as /tmp, nobody replaces the files of others.
        if self.weakness is None and not (
            about.st_mode & stat.S_ISVTX and about.st_uid in self._owners
        ):
            self.weakness = self._why_changeable(about, f"its directory {self._at}", self._at)

    def _why_changeable(self, about: os.stat_result, it: str, path: str) -> str | None:
        if about.st_uid not in self._owners:
            return f"{it} belongs to another user, who can change it. Make a copy of your own"
        if about.st_mode & 0o022:
            return f"others can change {it}. Run: chmod go-w {for_shell(path)}"
        return None


def read_regular(file: str | PathLike[str], most: int, what: str = "such file") -> bytes:
    """What is in a file; a pipe in its place would be waited for, a device has no end.

    Args:
        file: The file.
        most: The most bytes that it may have.
        what: What it would be, for the sentence that it has more.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no such file, or too large: a sentence for people.
    """
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return _content(descriptor, most, what)
    finally:
        os.close(descriptor)


def read_guarded(
    file: str | PathLike[str], most: int, what: str = "such file"
) -> tuple[bytes, os.stat_result, str | None]:
    """Read a file that decides something, and look at who can change it.

    Every directory and every link on the way to it counts: whoever can write there can put another
    file in its place.

    Args:
        file: The file.
        most: The most bytes that it may have.
        what: What it would be, for the sentence that it has more.

    Returns:
        The content, what the system knows of the file, and why others can decide what is in it, as
        the end of a sentence such as ``others can change it. Run: chmod go-w /etc/ca.pem``; None
        if only this user and root can.

    Raises:
        OSError: It cannot be read, or a link on the way may be another user's.
        ValueError: It is no such file, or too large: a sentence for people.
    """
    with Place(file) as place:
        descriptor = place.open(os.O_RDONLY)
        try:
            about = os.fstat(descriptor)
            return _content(descriptor, most, what), about, place.why_not_trusted(about)
        finally:
            os.close(descriptor)


def written_by_others(file: str | PathLike[str]) -> str | None:
    """Return why others can decide what is in a file, as ``read_guarded``, without reading it.

    Raises:
        OSError: It cannot be opened, or a link on the way may be another user's.
    """
    with Place(file) as place:
        descriptor = place.open(os.O_RDONLY)
        try:
            return place.why_not_trusted(os.fstat(descriptor))
        finally:
            os.close(descriptor)


def for_shell(path: str | os.PathLike[str]) -> str:
    """A path as it is typed into a shell."""
    return shlex.quote(os.fspath(path))


def _content(descriptor: int, most: int, what: str) -> bytes:
    about = os.fstat(descriptor)
    if stat.S_ISDIR(about.st_mode):
        raise ValueError("It is a directory.")
    if not stat.S_ISREG(about.st_mode):
        raise ValueError("It is a pipe or a device: only a file can be read as a whole.")
    if (size := about.st_size) <= most:
        with os.fdopen(descriptor, "rb", closefd=False) as opened:
            content = opened.read(most + 1)
        if (size := len(content)) <= most:
            return content
    raise ValueError(f"It has {size:,} bytes: no {what} is as large.")
