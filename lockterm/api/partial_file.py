"""The file of a voice pack that is being downloaded, which a later download can resume."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lockterm.errors import StoreError, describe_os_error

# O_NONBLOCK prevents waiting if the path is a pipe.
_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_NEW = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | _SAFE
_STRONG = re.compile(r'"[\x21\x23-\x7e]{0,198}"')
"""Matches a strong ETag, which promises identical bytes. A weak ETag does not match."""
_TRIES = 5


@contextlib.contextmanager
def on_disk(folder: Path) -> Iterator[None]:
    """Return a context manager that converts an OSError to an error with a readable message.

    Args:
        folder: The folder of the pack, for the message.

    Raises:
        StoreError: The block raised an OSError.
    """
    try:
        yield
    except BlockingIOError:
        raise StoreError(
            "Another lockterm is already fetching this pack.", title="Pack not fetched"
        ) from None
    except OSError as error:
        raise StoreError(
            f"The pack cannot be written to {folder}: {describe_os_error(error)}.",
            title="Pack not fetched",
            hint="Check that the directory is yours, writable and not full.",
        ) from error


@dataclass(slots=True)
class PartialFile:
    """The beginning of a pack on disk, with an ETag to check that the server's pack is the same.

    Only one session at a time can open the file. Only this session may call the other methods.
    """

    path: Path
    validator: str = ""
    """The strong ETag of the answer that contained the bytes of the file.

    It is empty if the download cannot be resumed.
    """
    have: int = 0
    """Number of bytes in the file."""
    _file: int = field(default=-1)

    @property
    def _note(self) -> Path:
        return self.path.with_suffix(".etag")

    def open(self) -> None:
        """Open the file that an interrupted download left, or a new file.

        Raises:
            BlockingIOError: Another session has opened the file.
            OSError: The file cannot be created.
        """
        for _ in range(_TRIES):
            file = self._opened()
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(self.path, file):
                    os.fchmod(file, 0o600)
                    break
            except BaseException:
                os.close(file)
                raise
            os.close(file)  # another session has finished or deleted the file
        else:
            raise BlockingIOError
        self._file = file
        self.have = os.fstat(file).st_size
        self.validator = self._noted() if self.have else ""
        if not self.validator:
            self.restart()

    def _opened(self) -> int:
        with contextlib.suppress(FileExistsError):
            return os.open(self.path, _NEW, 0o600)
        with contextlib.suppress(OSError):
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | _SAFE)
            about = os.fstat(file)
            if stat.S_ISREG(about.st_mode) and about.st_nlink < 2:
                return file
            os.close(file)
        self.path.unlink(missing_ok=True)  # a link or a pipe, which lockterm did not create
        return os.open(self.path, _NEW, 0o600)

    def _noted(self) -> str:
        try:
            with os.fdopen(os.open(self._note, os.O_RDONLY | _SAFE), "rb") as file:
                noted = file.read(256).decode("ascii")
        except (OSError, ValueError):
            return ""
        return noted if _STRONG.fullmatch(noted) else ""

    def restart(self) -> None:
        """Discard all bytes and the saved ETag."""
        os.ftruncate(self._file, 0)
        self._note.unlink(missing_ok=True)
        self.validator, self.have = "", 0

    def note_validator(self, etag: str) -> None:
        """Save the ETag of the answer whose bytes will be appended. A weak ETag is not saved."""
        strong = etag if _STRONG.fullmatch(etag) else ""
        if strong != self.validator:
            self._note.unlink(missing_ok=True)
        if strong and strong != self.validator:
            note = os.open(self._note, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600)
            with os.fdopen(note, "w", encoding="ascii") as file:
                file.write(strong)
        self.validator = strong

    def append(self, chunk: bytes) -> None:
        """Add bytes at the end of the file.

        Raises:
            OSError: The disk failed; ``have`` counts the bytes that were written.
        """
        rest = memoryview(chunk)
        while rest:
            written = os.write(self._file, rest)
            self.have += written
            rest = rest[written:]

    def md5(self) -> str:
        """Return the MD5 of the whole file as hexadecimal digits."""
        digest = hashlib.md5(usedforsecurity=False)
        os.lseek(self._file, 0, os.SEEK_SET)
        while chunk := os.read(self._file, 1 << 20):
            digest.update(chunk)
        return digest.hexdigest()

    def finish(self, final: Path) -> None:
        """Flush the file to the disk, rename it to ``final``, and close it."""
        os.fsync(self._file)
        self._note.unlink(missing_ok=True)
        self.path.replace(final)
        self._close()

    def close(self) -> None:
        """Close the file, and delete it unless a later download can resume it."""
        if self._file >= 0 and not (self.have and self.validator):
            self.remove()
        self._close()

    def remove(self) -> None:
        """Delete the file and its saved ETag."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)
        self._close()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _is_at(path: Path, file: int) -> bool:
    """Return whether an open file is still at a path, and was not deleted or replaced."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(file))
    except FileNotFoundError:
        return False
