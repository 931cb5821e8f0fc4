"""The beginning of a pack on disk: written by one session, resumed only if it is the same pack."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True)
class PartialFile:
    """The beginning of a pack on disk, and what tells whether it still is the same pack."""

    path: Path
    validator: str = ""
    """The strong ETag of the answer it came from; without one nothing is resumed."""
    have: int = 0
    file: int = field(default=-1)

    @property
    def _note(self) -> Path:
        return self.path.with_suffix(".etag")

    def open(self) -> None:
        """Open what an interrupted download left, or a new file."""
        with contextlib.suppress(OSError, ValueError):
            self.validator = self._note.read_text("ascii")
        if self.validator:
            with contextlib.suppress(OSError):
                self.file = os.open(self.path, os.O_RDWR | os.O_APPEND | _SAFE)
        if self.file >= 0:
            about = os.fstat(self.file)
            if stat.S_ISREG(about.st_mode) and about.st_nlink == 1:
                self.hold()
                self.have = about.st_size
                return
            os.close(self.file)
        self.restart()

    def restart(self) -> None:
        """Begin with an empty file."""
        self.close()
        self.remove()
        self.validator, self.have = "", 0
        self.file = os.open(
            self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | _SAFE, 0o600
        )
        self.hold()

    def note_validator(self, etag: str) -> None:
        """Remember what the bytes to come belong to."""
        strong = etag if etag.isascii() and etag.startswith('"') and len(etag) < 200 else ""
        if strong and strong != self.validator:
            self._note.unlink(missing_ok=True)
            note = os.open(self._note, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600)
            with os.fdopen(note, "w", encoding="ascii") as file:
                file.write(strong)
        self.validator = strong

    def hold(self) -> None:
        """Keep other sessions off the file; OSError where one has it."""
        fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def append(self, chunk: bytes) -> None:
        """Add bytes at the end."""
        self.have += os.write(self.file, chunk)

    def md5(self) -> str:
        """The MD5 of the whole file."""
        digest = hashlib.md5(usedforsecurity=False)
        os.lseek(self.file, 0, os.SEEK_SET)
        while chunk := os.read(self.file, 1 << 20):
            digest.update(chunk)
        return digest.hexdigest()

    def finish(self, final: Path) -> None:
        """Make it durable under its last name."""
        os.fsync(self.file)
        self.close()
        self.path.replace(final)
        self._note.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; what there is stays for another attempt."""
        if self.file >= 0:
            os.close(self.file)
            self.file = -1

    def remove(self) -> None:
        """Delete it."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)
