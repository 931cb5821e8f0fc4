"""Where lockterm keeps its files, the XDG directories by platformdirs; and how files are read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import platformdirs

from lockterm.errors import StoreError
from lockterm.own_files import read_regular
from lockterm.record import record

APP = "lockterm"
DIRECTORY_MODE = 0o700
FILE_MODE = 0o600


@record
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
        """The places of this user: ``$XDG_CONFIG_HOME/lockterm`` and its kin."""
        # platformdirs is part of textual's own start, so it costs nothing more here.
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


def make_directory(directory: Path) -> None:
    """Make a directory and its missing parents, for this user alone (0700).

    One that is there and open to others is closed to them: what lies in it is nobody else's.

    Raises:
        StoreError: It cannot be made, what is there is no directory, or it is another user's, who
            could put anything there.
    """
    missing = []
    for place in (directory, *directory.parents):
        if place.exists():
            break
        missing.append(place)
    try:
        for place in reversed(missing):
            place.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
        if not directory.is_dir():
            raise NotADirectoryError(20, "it is a file", str(directory))
        about = directory.stat()
        if about.st_uid != os.geteuid():
            raise StoreError(
                f"The directory {directory} belongs to another user, who could change what is"
                " kept there.",
                hint="Point XDG_STATE_HOME (or its kin) at a place of your own.",
            )
        if about.st_mode & 0o077:
            directory.chmod(about.st_mode & DIRECTORY_MODE)
    except OSError as error:
        raise StoreError(
            f"The directory {directory} cannot be made: {error.strerror or error}.",
            hint="Make it writable, or point XDG_STATE_HOME (or its kin) at a place that is.",
        ) from error


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
        raise ValueError(f"{error.strerror or error}.") from None


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
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(file, flags, FILE_MODE)
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
        os.close(descriptor)
        raise PermissionError(1, "it is no file of this user", str(file))
    if about.st_mode & 0o077:
        os.fchmod(descriptor, FILE_MODE)
    return descriptor


def write_whole(file: Path, content: bytes, mode: int = FILE_MODE) -> None:
    """Write a file whole or not at all; a link stays a link.

    Args:
        file: The file.
        content: What is to be in it.
        mode: Who may read it, less what the umask takes; unless it is said, this user alone.

    Raises:
        OSError: The directory is missing, or the file cannot be written.
    """
    target = Path(os.path.realpath(file))
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)  # a killed one with this number may have left it
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
