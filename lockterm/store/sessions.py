"""Which lockterm sessions are alive on this store: each holds a lock on a file of its own.

A process id could be another process's by now; the kernel drops a file lock when its holder ends,
by ``kill -9`` too.
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path
from uuid import uuid4

from lockterm.paths import make_directory


class Session:
    """This process's session on a store.

    Args:
        folder: Where the sessions' files are; made with 0700.
    """

    def __init__(self, folder: Path) -> None:
        self.id = f"{os.getpid()}-{uuid4().hex[:8]}"
        """Names this session in the journal."""
        self._folder = folder
        self._file: int | None = None
        self._mutex = threading.Lock()

    def open(self) -> None:
        """Show that this session lives; OSError or StoreError where the folder cannot be used."""
        with self._mutex:  # two threads may be the first to use the journal
            if self._file is not None:
                return
            make_directory(self._folder)
            file = os.open(self._folder / self.id, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(file)
                raise
            self._file = file

    def close(self) -> None:
        """End this session."""
        if self._file is not None:
            (self._folder / self.id).unlink(missing_ok=True)
            os.close(self._file)
            self._file = None

    def is_alive(self, session: str) -> bool:
        """Whether a session still runs; what remains of a dead one is removed."""
        if session == self.id:
            return True
        path = self._folder / Path(session).name
        try:
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            path.unlink(missing_ok=True)
            return False
        finally:
            os.close(file)
