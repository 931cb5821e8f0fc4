"""A thread that reads the first page of a lock's remotes while the main thread imports the UI.

This module imports the HTTP client before the thread starts. If the thread imported the client
while the main thread imports Textual, the first rows would appear later, by about 10 % of the
startup time.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, NamedTuple

from lockterm.api.client import LockService
from lockterm.config.profile import USUAL_SIZE
from lockterm.errors import LocktermError

if TYPE_CHECKING:
    from lockterm.config import Profile
    from lockterm.domain.remotes import RemotePage


class FirstRead(NamedTuple):
    """The result of the request for the first page."""

    page: RemotePage | None = None
    """The page; None if it could not be read."""
    clock_offset_s: float | None = None
    """The service's clock minus this machine's clock, in seconds; None if it is not known."""
    error: LocktermError | None = None
    """The error of the request. None if there is a page, or if the UI must request it again."""


class FirstPage:
    """The request for the first page of a lock's remotes, in a thread with its own event loop.

    Args:
        profile: The profile of the service.
        lock_id: The lock whose remotes are listed.
        size: The numbers of columns and lines of the terminal, which may determine the page size.
    """

    def __init__(self, profile: Profile, lock_id: int, size: tuple[int, int] = USUAL_SIZE) -> None:
        self.profile = profile
        self.key = (lock_id, 1, profile.page_rows(size))
        """The lock ID, the page number and the page size of the request."""
        self.outcome: Future[FirstRead] = Future()

    def ask(self) -> None:
        """Start the thread that sends the request and stores the result in ``outcome``."""
        self.outcome.set_running_or_notify_cancel()  # a screen that stops waiting cannot cancel it
        threading.Thread(target=self._run, name="first page", daemon=True).start()

    def _run(self) -> None:
        try:
            read = asyncio.run(self._read())
        except LocktermError as error:
            read = FirstRead(error=error)
        except Exception:  # the next request, in the UI's thread, will raise the same error
            read = FirstRead()
        self.outcome.set_result(read)

    async def _read(self) -> FirstRead:
        async with LockService(self.profile) as service:
            page = await service.list_remotes(*self.key)
            return FirstRead(page, service.clock_offset_s)
