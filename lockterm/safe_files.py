"""Functions that read files safely, and check whether other users can change them.

A path is opened one part at a time, each part relative to the directory before it. Therefore
lockterm never follows a link that another user created, and reads or writes exactly the file that
it checked.
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
"""The flags that open a directory only to look up names, which needs no read permission."""
_MOST_LINKS = 40


class OpenLocation:
    """A context manager that opens the directory of a file. The file itself may be missing.

    Args:
        path: The path of the file. If the path ends with a slash, the directory itself is opened,
            and ``name`` is ``.``.
        make: The mode with which to create missing directories; None to create none.
        follow: Whether to follow a link if the last part of the path is one. Links in other parts
            are always followed.

    Raises:
        OSError: If a directory is missing, or another user may have created a link in the path.
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
        """Why other users can change the file through its directories, as the end of a sentence.

        None if other users cannot change the file.
        """
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
        """The path of the file without links, except that its last part may be a link."""
        return os.path.normpath(os.path.join(self._at, self.name))

    def open(self, flags: int, mode: int = 0o600) -> int:
        """Open the file, but never a link, and return its descriptor.

        Raises:
            OSError: If the file cannot be opened, or is a link.
        """
        safe = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(self.name, flags | safe, mode, dir_fd=self.directory)

    def why_not_trusted(self, about: os.stat_result) -> str | None:
        """Return the reason why other users can change the open file; None if they cannot.

        Args:
            about: The status of the open file.
        """
        return self.weakness or self._why_changeable(about, "it", self.path)

    def close(self) -> None:
        """Close the directory. Closing it twice is harmless."""
        if self.directory >= 0:
            os.close(self.directory)
            self.directory = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _link(self) -> str | None:
        """Return the target of the link ``name`` in the open directory; None if it is not a link.

        Raises:
            PermissionError: If another user may have made the link.
        """
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
        # Users who can write in a directory can rename a link of this user.
        is_sticky = around.st_mode & stat.S_ISVTX  # such as the Nix store, writable by its group
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

            with suppress(FileExistsError):  # another session is creating it, too
                os.mkdir(name, make, dir_fd=self.directory)
            inside = os.open(name, _PART, dir_fd=self.directory)
        os.close(self.directory)
        self.directory = inside
        self._at = os.path.normpath(os.path.join(self._at, name))
        self._note_weakness()

    def _note_weakness(self) -> None:
        about = os.fstat(self.directory)
        # In a sticky directory such as /tmp, users cannot replace each other's files.
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
    """Return the content of a regular file, and refuse other files, such as pipes and devices.

    Args:
        file: The file.
        most: The maximum size in bytes.
        what: The expected kind of file, for the error message.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If the file is not regular, or is too large. The message is a sentence for
            people.
    """
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return _content(descriptor, most, what)
    finally:
        os.close(descriptor)


def read_guarded(
    file: str | PathLike[str], most: int, what: str = "such file"
) -> tuple[bytes, os.stat_result, str | None]:
    """Read a security-relevant file, and check whether other users can change it.

    The check includes every directory and link in the path of the file, because a user who can
    change one of them can replace the file.

    Args:
        file: The file.
        most: The maximum size in bytes.
        what: The expected kind of file, for the error message.

    Returns:
        The content, the file's status, and the reason why other users can change the file. The
        reason is the end of a sentence such as ``others can change it. Run: chmod go-w
        /etc/ca.pem``, or None if only this user and root can change it.

    Raises:
        OSError: If the file cannot be read, or another user may have created a link in the path.
        ValueError: If the file is not regular, or is too large. The message is a sentence for
            people.
    """
    with OpenLocation(file) as place:
        descriptor = place.open(os.O_RDONLY)
        try:
            about = os.fstat(descriptor)
            return _content(descriptor, most, what), about, place.why_not_trusted(about)
        finally:
            os.close(descriptor)


def written_by_others(file: str | PathLike[str]) -> str | None:
    """Return the reason why other users can change a file; None if they cannot.

    Raises:
        OSError: If the file cannot be opened, or another user may have created a link in the path.
    """
    with OpenLocation(file) as place:
        descriptor = place.open(os.O_RDONLY)
        try:
            return place.why_not_trusted(os.fstat(descriptor))
        finally:
            os.close(descriptor)


def for_shell(path: str | os.PathLike[str]) -> str:
    """Return a path with the quotes that a shell needs, for a command that the user can copy."""
    return shlex.quote(os.fspath(path))


def _content(descriptor: int, most: int, what: str) -> bytes:
    about = os.fstat(descriptor)
    if stat.S_ISDIR(about.st_mode):
        raise ValueError("The path is a directory.")
    if not stat.S_ISREG(about.st_mode):
        raise ValueError("The path is a pipe or a device, not a file.")
    if (size := about.st_size) <= most:
        with os.fdopen(descriptor, "rb", closefd=False) as opened:
            content = opened.read(most + 1)
        if (size := len(content)) <= most:
            return content
    raise ValueError(f"The file has {size:,} bytes, too many for a {what}.")
