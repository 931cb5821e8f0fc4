"""Where lockterm keeps its files, the XDG directories by platformdirs; and how files are read."""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import platformdirs

from lockterm.errors import ConfigError, StoreError, describe_os_error
from lockterm.safe_files import Place, read_regular

APP = "lockterm"
DIRECTORY_MODE = 0o700
FILE_MODE = 0o600
_MOST_REPLACED = 64 << 20
"""Bytes that are looked at of a file that may be replaced."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Every place lockterm reads or writes. Nothing is created by asking for it."""

    config_file: Path
    """The profiles; written by people, and by lockterm where they ask for it."""
    data_dir: Path
    """What is worth a backup: exports and downloaded packs."""
    state_dir: Path
    """The store and the log."""
    cache_dir: Path
    """What may be deleted at any time."""

    @classmethod
    def standard(cls) -> Paths:
        """The places of this user: ``$XDG_CONFIG_HOME/lockterm`` and its kin.

        Raises:
            ConfigError: This user has no home directory, and not all of them are set.
        """
        # platformdirs is part of textual's own start, so it costs nothing more here.
        with needing_home():
            return cls(
                config_file=platformdirs.user_config_path(APP) / "config.toml",
                data_dir=platformdirs.user_data_path(APP),
                state_dir=platformdirs.user_state_path(APP),
                cache_dir=platformdirs.user_cache_path(APP),
            )

    @classmethod
    def below(cls, root: Path) -> Paths:
        """All places in one directory of their own, as for the demo and for tests."""
        return cls(
            config_file=root / "config" / "config.toml",
            data_dir=root / "data",
            state_dir=root / "state",
            cache_dir=root / "cache",
        )

    @property
    def database(self) -> Path:
        """The local store: the lock book and the journal."""
        return self.state_dir / "lockterm.db"

    @property
    def log_file(self) -> Path:
        """Signals, crashes and messages; no header values."""
        return self.state_dir / "lockterm.log"

    @property
    def choices(self) -> Path:
        """What was chosen inside and is kept: theme, columns."""
        return self.state_dir / "choices.json"

    def named(self) -> dict[str, Path]:
        """Every path with the name it has in ``lockterm info``."""
        return {
            "config_file": self.config_file,
            "data_dir": self.data_dir,
            "state_dir": self.state_dir,
            "cache_dir": self.cache_dir,
            "database": self.database,
            "choices": self.choices,
            "log_file": self.log_file,
        }


@contextmanager
def needing_home() -> Iterator[None]:
    """Say what to set if places of this user are asked for who has no home directory.

    Raises:
        ConfigError: It has none.
    """
    try:
        yield
    except RuntimeError:
        raise ConfigError(
            f"User {os.getuid()} has no home directory: HOME is not set to one, and the system does"
            " not know this user.",
            hint="Set HOME, or each of XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME and"
            " XDG_CACHE_HOME.",
        ) from None


def make_directory(directory: Path) -> None:
    """Make a directory and its missing parents, for this user alone (0700).

    One that is there and open to others is closed to them: what lies in it is nobody else's.

    Raises:
        StoreError: It cannot be made, what is there is no directory, or it is another user's, who
            could put anything there.
    """
    try:
        with Place(f"{directory}/", make=DIRECTORY_MODE) as place:
            opened = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=place.directory)
        try:
            about = os.fstat(opened)
            if about.st_uid != os.geteuid():
                raise StoreError(
                    f"The directory {directory} belongs to another user, who could change what is"
                    " kept there.",
                    hint="Point XDG_STATE_HOME (or its kin) at a place of your own.",
                )
            if about.st_mode & 0o077:
                os.fchmod(opened, stat.S_IMODE(about.st_mode) & DIRECTORY_MODE)
        finally:
            os.close(opened)
    except OSError as error:
        why = "it is a file" if isinstance(error, NotADirectoryError) else describe_os_error(error)
        raise StoreError(
            f"The directory {directory} cannot be made: {why}.",
            hint="Make it writable, or point XDG_STATE_HOME (or its kin) at a place that is.",
        ) from error


def find_typed(text: str) -> Path:
    """Return the path that a person typed, pasted or dropped.

    One layer of shell quoting, or a file URL, is removed if nothing has the literal name.

    Raises:
        RuntimeError: There is no such home directory.
    """
    text = text.strip()
    literal = Path(text).expanduser()
    if _exists(literal):
        return literal
    return find_unquoted(text) or literal


def find_unquoted(text: str) -> Path | None:
    """Return what a quoted path or a file URL means, if it exists."""
    try:
        if text.startswith("file://"):
            url = urlsplit(text)
            path = Path(unquote(url.path)) if url.netloc in ("", "localhost") else None
        else:
            words = shlex.split(text)
            path = Path(words[0]) if len(words) == 1 and words[0] != text else None
            path = path.expanduser() if path is not None and text.startswith("~") else path
    except (ValueError, RuntimeError):  # a quote without its end, or no such home
        return None
    return path if path is not None and _exists(path) else None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, or no path at all
        return False


def read_named(path: Path, most: int, what: str) -> bytes:
    """What is in a file that a person has named.

    Args:
        path: The file.
        most: From so many bytes on it cannot be what is wanted.
        what: That, for the sentence that says so.

    Raises:
        ValueError: It cannot be read, is no file, or is too large: a sentence for people.
    """
    try:
        return read_regular(path, most - 1, what)
    except FileNotFoundError:
        raise ValueError("There is no such file.") from None
    except OSError as error:
        raise ValueError(f"{describe_os_error(error)}.") from None


def append_private(file: Path, line: str) -> None:
    """Append a line to a file of this user alone (0600) and force it to the disk.

    One write, so that lines of two sessions do not mix; no buffering, so that a signal handler
    may call it.

    Raises:
        OSError: The directory is missing, or the file cannot be written.
    """
    descriptor = open_private(file)
    try:
        os.write(descriptor, line.rstrip("\n").encode("utf-8", "backslashreplace") + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_private(file: Path) -> int:
    """Open a file of this user alone (0600) to append to it; returns the descriptor.

    Raises:
        OSError: It cannot be opened, or it is a link, a pipe or a device: a pipe in the place of
            a file would be waited for.
    """
    with Place(file, follow=False) as place:
        descriptor = place.open(os.O_WRONLY | os.O_APPEND | os.O_CREAT, FILE_MODE)
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
        os.close(descriptor)
        raise PermissionError(1, "it is no file of this user", str(file))
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
    """Write a file whole or not at all; every file that lockterm writes at once is written here.

    A link of this user or root stays a link and its target is written. A link that another user
    may have made is not followed.

    Args:
        file: The file.
        content: What is to be in it.
        mode: Who may read it, less what the umask takes; unless it is said, this user alone.
        may_replace: Returns whether a file with this content may be replaced; None replaces any.
        follow: Whether such a link of this user or root is followed, or refused as no file.
        make: The mode of missing directories; None makes none.

    Returns:
        Whether it had to be written in place: a file that is mounted by itself has no other way.

    Raises:
        FileExistsError: There is a file that may not be replaced.
        OSError: The file cannot be written, and what was there is as it was.
    """
    with Place(file, make=make, follow=follow) as place:
        _require_replaceable(place, may_replace)
        beside = f".{place.name}.{os.getpid()}"
        with suppress(FileNotFoundError):  # a killed one with this number may have left it
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
    """Write a file of this user alone (0600) that is not there yet, whole or not at all.

    Raises:
        FileExistsError: There is something of that name, a link too.
        OSError: The file cannot be written; nothing is left of it.
    """
    with Place(file, follow=False) as place:
        descriptor = place.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        try:
            _write(descriptor, content)
        except BaseException:
            os.unlink(place.name, dir_fd=place.directory)
            raise


def _require_replaceable(place: Place, may_replace: Callable[[bytes], bool] | None) -> None:
    try:
        about = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(about.st_mode):
        raise FileExistsError(errno.EEXIST, "it is no file that could be replaced", place.path)
    if may_replace is None:
        return
    with os.fdopen(place.open(os.O_RDONLY), "rb") as there:
        if not may_replace(there.read(_MOST_REPLACED)):
            raise FileExistsError(errno.EEXIST, "it is not one that lockterm wrote", place.path)


def _write(descriptor: int, content: bytes) -> None:
    """Write all of an opened file, force it to the disk and close it."""
    with os.fdopen(descriptor, "wb") as out:
        out.write(content)
        out.truncate()
        out.flush()
        os.fsync(out.fileno())
