"""The paths of lockterm's files (XDG directories), and functions that read and write files."""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import platformdirs

from lockterm.errors import ConfigError, StoreError, describe_os_error
from lockterm.safe_files import OpenLocation, read_regular

APP = "lockterm"
DIRECTORY_MODE = 0o700
FILE_MODE = 0o600
_MOST_REPLACED = 64 << 20
"""Maximum number of bytes read from a file to decide whether it may be replaced."""


class Paths(NamedTuple):
    """The paths of the files and directories that lockterm uses. They need not exist."""

    config_file: Path
    """The configuration file with the profiles. Users edit the file, and lockterm changes it only
    on request."""
    data_dir: Path
    """The directory of files worth a backup: exports and downloaded packs."""
    state_dir: Path
    """The directory of the store and the log."""
    cache_dir: Path
    """The directory of files that may be deleted at any time."""

    @classmethod
    def standard(cls) -> Paths:
        """Return this user's paths, such as ``$XDG_CONFIG_HOME/lockterm/config.toml``.

        Raises:
            ConfigError: If this user has no home directory and an XDG variable is missing.
        """
        # Textual imports platformdirs anyway, so using it costs no time at start.
        with needing_home():
            return cls(
                config_file=platformdirs.user_config_path(APP) / "config.toml",
                data_dir=platformdirs.user_data_path(APP),
                state_dir=platformdirs.user_state_path(APP),
                cache_dir=platformdirs.user_cache_path(APP),
            )

    @classmethod
    def below(cls, root: Path) -> Paths:
        """Return paths that are all below one directory, for the demo and the tests."""
        return cls(
            config_file=root / "config" / "config.toml",
            data_dir=root / "data",
            state_dir=root / "state",
            cache_dir=root / "cache",
        )

    @property
    def database(self) -> Path:
        """The path of the local store, which contains the lock book and the journal."""
        return self.state_dir / "lockterm.db"

    @property
    def log_file(self) -> Path:
        """The path of the log of signals, crashes and messages.

        The log never contains the values of HTTP headers.
        """
        return self.state_dir / "lockterm.log"

    @property
    def choices(self) -> Path:
        """The path of the saved preferences, such as theme and columns."""
        return self.state_dir / "choices.json"

    def named(self) -> dict[str, Path]:
        """Return all paths, each by the name that ``lockterm info`` shows."""
        return {
            **self._asdict(),
            "database": self.database,
            "choices": self.choices,
            "log_file": self.log_file,
        }


@contextmanager
def needing_home() -> Iterator[None]:
    """Return a context manager that turns the error of a missing home directory into a clear one.

    Raises:
        ConfigError: If this user has no home directory.
    """
    try:
        yield
    except RuntimeError:
        raise ConfigError(
            f"User {os.getuid()} has no home directory: HOME is not set, and the system"
            " does not know this user.",
            hint="Set HOME, or each of XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME and"
            " XDG_CACHE_HOME.",
        ) from None


def make_directory(directory: Path) -> None:
    """Create a directory and its missing parents, with access for this user only (mode 0700).

    If the directory exists, remove the access of other users.

    Raises:
        StoreError: If the directory cannot be created, is a file, or belongs to another user, who
            could change the files in it.
    """
    try:
        with OpenLocation(f"{directory}/", make=DIRECTORY_MODE) as place:
            opened = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=place.directory)
        try:
            about = os.fstat(opened)
            if about.st_uid != os.geteuid():
                raise StoreError(
                    f"The directory {directory} belongs to another user, who could change"
                    " the files in it.",
                    hint=(
                        "Set XDG_STATE_HOME (or the matching XDG variable) to a directory"
                        " that belongs to you."
                    ),
                )
            if about.st_mode & 0o077:
                os.fchmod(opened, stat.S_IMODE(about.st_mode) & DIRECTORY_MODE)
        finally:
            os.close(opened)
    except OSError as error:
        why = "it is a file" if isinstance(error, NotADirectoryError) else describe_os_error(error)
        raise StoreError(
            f"The directory {directory} cannot be made: {why}.",
            hint=(
                "Make the directory writable, or set XDG_STATE_HOME (or the matching XDG"
                " variable) to a writable directory."
            ),
        ) from error


def find_typed(text: str) -> Path:
    """Return the path that a person typed, pasted or dropped.

    If no file has exactly the typed name, the function removes one layer of shell quotes, or
    converts a file URL to a path. If that file does not exist either, it returns the typed path.

    Raises:
        RuntimeError: If the path names an unknown home directory.
    """
    text = text.strip()
    literal = Path(text).expanduser()
    if _exists(literal):
        return literal
    return find_unquoted(text) or literal


def find_unquoted(text: str) -> Path | None:
    """Return the path in a text with shell quotes or a file URL; None if no such file exists."""
    try:
        if text.startswith("file://"):
            url = urlsplit(text)
            path = Path(unquote(url.path)) if url.netloc in ("", "localhost") else None
        else:
            words = shlex.split(text)
            path = Path(words[0]) if len(words) == 1 and words[0] != text else None
            path = path.expanduser() if path is not None and text.startswith("~") else path
    except (ValueError, RuntimeError):  # an unclosed quote, or an unknown home directory
        return None
    return path if path is not None and _exists(path) else None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a path that is too long or invalid
        return False


def read_named(path: Path, most: int, what: str) -> bytes:
    """Return the content of a file whose path the user gave.

    Args:
        path: The file.
        most: A size in bytes. Files of this size and larger files are refused.
        what: The expected kind of file in the error message, such as ``configuration``.

    Raises:
        ValueError: If the file cannot be read, is not a regular file, or is too large. The message
            is a sentence for people.
    """
    try:
        return read_regular(path, most - 1, what)
    except FileNotFoundError:
        raise ValueError("No such file.") from None
    except OSError as error:
        raise ValueError(f"{describe_os_error(error)}.") from None


def append_private(file: Path, line: str) -> None:
    """Append a line to a private file (mode 0600) and force it to the disk.

    The line is written in one call, so that lines of two sessions do not mix. Nothing is buffered,
    so a signal handler may call this function.

    Raises:
        OSError: If the directory is missing, or the file cannot be written.
    """
    descriptor = open_private(file)
    try:
        os.write(descriptor, line.rstrip("\n").encode("utf-8", "backslashreplace") + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_private(file: Path) -> int:
    """Open a private file (mode 0600) for appending, and return its descriptor.

    Raises:
        OSError: If the file cannot be opened, belongs to another user, or is a link, a pipe or a
            device.
    """
    with OpenLocation(file, follow=False) as place:
        descriptor = place.open(os.O_WRONLY | os.O_APPEND | os.O_CREAT, FILE_MODE)
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
        os.close(descriptor)
        raise PermissionError(1, "it is not a file of this user", str(file))
    if about.st_mode & 0o077:
        os.fchmod(descriptor, FILE_MODE)
    return descriptor


def write_whole(
    file: Path,
    content: bytes,
    mode: int = FILE_MODE,
    *,
    may_replace: Callable[[bytes], bool] | None = None,
    follow: bool = True,
    make: int | None = None,
) -> bool:
    """Write a file completely or not at all.

    lockterm replaces files only with this function.

    A symbolic link of this user or root is followed, and stays a link. A link that another user may
    have created is not followed.

    Args:
        file: The file.
        content: The new content.
        mode: The file's permissions before the umask. By default, the file is private.
        may_replace: A function that returns whether an existing file with the given content may be
            replaced; None to replace any file.
        follow: Whether to follow a trusted link if the last part of the path is one. If False, such
            a link is an error.
        make: The mode with which to create missing directories; None to create none.

    Returns:
        Whether the file was written in place, which is necessary if the file is a mount point.

    Raises:
        FileExistsError: If there is a file that may not be replaced.
        OSError: If the file cannot be written. Its old content is intact, unless the write in place
            failed.
    """
    with OpenLocation(file, make=make, follow=follow) as place:
        _require_replaceable(place, may_replace)
        beside = f".{place.name}.{os.getpid()}"
        with suppress(FileNotFoundError):  # a killed process with this number may have left it
            os.unlink(beside, dir_fd=place.directory)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(beside, flags, mode, dir_fd=place.directory)
        try:
            _write(descriptor, content)
            try:
                os.replace(
                    beside, place.name, src_dir_fd=place.directory, dst_dir_fd=place.directory
                )
                return False
            except OSError as error:
                if error.errno != errno.EBUSY:
                    raise
            _write(place.open(os.O_WRONLY), content)
            os.unlink(beside, dir_fd=place.directory)
            return True
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(beside, dir_fd=place.directory)
            raise


def write_new(file: Path, content: bytes) -> None:
    """Create a private file (mode 0600), completely or not at all.

    Raises:
        FileExistsError: If a file or a link with that name exists.
        OSError: If the file cannot be written. No part of the file is left.
    """
    with OpenLocation(file, follow=False) as place:
        descriptor = place.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        try:
            _write(descriptor, content)
        except BaseException:
            os.unlink(place.name, dir_fd=place.directory)
            raise


def _require_replaceable(place: OpenLocation, may_replace: Callable[[bytes], bool] | None) -> None:
    try:
        about = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(about.st_mode):
        raise FileExistsError(errno.EEXIST, "it is not a file that can be replaced", place.path)
    if may_replace is None:
        return
    with os.fdopen(place.open(os.O_RDONLY), "rb") as there:
        if not may_replace(there.read(_MOST_REPLACED)):
            raise FileExistsError(errno.EEXIST, "lockterm did not write the file", place.path)


def _write(descriptor: int, content: bytes) -> None:
    """Write the content to an open file, force it to the disk and close it."""
    with os.fdopen(descriptor, "wb") as out:
        out.write(content)
        out.truncate()
        out.flush()
        os.fsync(out.fileno())
