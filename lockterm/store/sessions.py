"""The live lockterm sessions on a store. Each session locks its own file.

The kernel releases a file lock when its process ends, even after ``kill -9``. If the file was
removed, lockterm looks up the process by its ID and start time, because another process may have
the same ID.

The file also lists the changes whose sending has begun. lockterm adds a change right before sending
its first byte. If a session was killed before this, the session provably did not send the change.
The list is not forced to the disk, so the list survives the end of the process but not a crash of
the machine. Therefore the list is used only until the next boot.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from lockterm.errors import StoreError
from lockterm.paths import make_directory

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class StoreSession:
    """This process's session on a store.

    Args:
        folder: The directory of the session files. A missing directory is created with mode 0700.
    """

    def __init__(self, folder: Path) -> None:
        self.id = "-".join(filter(None, (str(os.getpid()), _began(os.getpid()), uuid4().hex[:8])))
        """The name of this session in the journal."""
        self._folder = folder
        self._file: int | None = None
        self._has_ended = False
        self._mutex = threading.Lock()

    def open(self) -> None:
        """Create and lock the file of this session.

        If this session has already locked the file, and the file still exists, do nothing.

        Raises:
            OSError, StoreError: The folder cannot be used.
        """
        with self._mutex:  # two threads may be the first to use the journal
            if self._has_ended:  # a late thread must not open the session again
                return
            if self._file is not None and self._is_in_place(self._file):
                return
            while True:
                make_directory(self._folder)
                flags = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
                file = os.open(self._folder / self.id, flags, 0o600)
                try:
                    # Another session may lock the file for a moment, to check this session.
                    fcntl.flock(file, fcntl.LOCK_EX)
                    is_in_place = self._is_in_place(file)
                    if is_in_place and self._file is None:
                        os.write(file, _heading())
                except OSError:
                    os.close(file)
                    raise
                if is_in_place:
                    break
                os.close(file)
            if self._file is not None:  # without heading, because the removed file's list is lost
                os.close(self._file)
            self._file = file
            _OPEN.add(self.id)

    def close(self) -> None:
        """End this session and remove its file. The session cannot be opened again."""
        with self._mutex:
            self._has_ended = True
            if self._file is not None:
                _OPEN.discard(self.id)
                (self._folder / self.id).unlink(missing_ok=True)
                os.close(self._file)
                self._file = None

    def note_leaving(self, operation_id: str) -> None:
        """Record in the session's file that the sending of an operation begins now.

        Raises:
            StoreError: The file cannot be written, so the operation must not be sent.
        """
        try:
            if self._file is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            note = f"{operation_id}\n".encode()
            if os.write(self._file, note) != len(note):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            reason = f"lockterm cannot write its session file: {error.strerror}."
            raise StoreError(f"{reason} Nothing was sent.") from error

    def may_have_left(self, session: str, operation_id: str) -> bool:
        """Return whether an operation of a dead session may have left this machine.

        The result is false only if the session's file is complete and from the present boot, and
        does not list the operation.
        """
        heading = _heading()
        try:
            noted = (self._folder / Path(session).name).read_bytes()
        except (OSError, ValueError):
            return True
        is_whole = bool(heading) and noted.startswith(heading)
        return not is_whole or f"{operation_id}\n".encode() in noted

    def remove_dead(self) -> None:
        """Remove the files of dead sessions. The caller must have resolved their operations."""
        with suppress(OSError):
            for other in self._folder.iterdir():
                self.is_alive(other.name, removes=True)

    def is_alive(self, session: str, *, removes: bool = False) -> bool:
        """Return whether a session may still run.

        A session is dead if its file can be locked, or if it has no file and its process is not
        running. If neither can be checked, for example with too many open files, the result is
        true.

        Args:
            session: The ID of the session.
            removes: Whether to remove the file of a dead session.
        """
        if session == self.id:
            return True
        path = self._folder / Path(session).name
        try:
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return _is_running(session)
        except ValueError:  # a damaged row may have a name that no file can have
            return False
        except OSError as error:
            return error.errno not in _NO_LOCK_FILE
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        else:
            if removes:
                with suppress(OSError):
                    path.unlink(missing_ok=True)
            return False
        finally:
            os.close(file)

    def _is_in_place(self, file: int) -> bool:
        try:
            there = (self._folder / self.id).stat()
        except FileNotFoundError:
            return False
        return os.path.samestat(there, os.fstat(file))


_NO_LOCK_FILE = (errno.ENAMETOOLONG, errno.EISDIR, errno.ELOOP, errno.ENOTDIR)
"""Error numbers which show that the path is not the file of a session."""

_OPEN: set[str] = set()
"""The IDs of the open sessions of this process."""


def _heading() -> bytes:
    """Return the first line of session files of the present boot; empty if the boot has no ID."""
    try:
        return f"boot {BOOT_ID.read_text().strip()}\n".encode()
    except OSError:
        return b""


def _is_running(session: str) -> bool:
    """Return whether the process of a session that has no session file is running."""
    process, *began = session.split("-")
    if not process.isdecimal() or len(began) < 2:
        return False
    if int(process) == os.getpid():
        return session in _OPEN
    try:
        return _read_began(int(process)) == began[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    except OSError:  # for example too many open files, which proves nothing
        return True


def _began(process: int) -> str:
    """Return the start time of a process in hexadecimal clock ticks; empty if unknown."""
    try:
        return _read_began(process)
    except OSError:
        return ""


def _read_began(process: int) -> str:
    """Return the start time of a process in hexadecimal clock ticks; empty if not parsable.

    Raises:
        OSError: The time cannot be read, or the process does not exist.
    """
    stat = Path(f"/proc/{process}/stat").read_text(errors="replace")
    try:
        return f"{int(stat.rpartition(')')[2].split()[19]):x}"
    except (ValueError, IndexError):
        return ""
