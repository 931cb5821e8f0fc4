"""Battery levels of remotes, which only details have, if the service returns them at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from lockterm.domain.callbacks import ignore
from lockterm.domain.remotes import Remote, is_still
from lockterm.domain.text.error import format_titled_meaning
from lockterm.errors import Refused, ServiceError

if TYPE_CHECKING:
    from lockterm.operations.connection import Connection

AT_ONCE = 10
"""Number of details that are requested in parallel."""

PROBED = 20
"""Number of details without a battery level after which no further one is read.

A service either returns the field or does not, and each detail is a request.
"""

NOT_REPORTED = "The service does not report battery levels."


def battery_of(remote: Remote) -> int | None:
    """Return the battery level in percent; None if it is missing or not a level."""
    level = remote.electric_quantity
    return level if level is not None and 0 <= level <= 100 else None


class BatteryReader:
    """Reads the details of remotes for their battery levels, one request a remote.

    Args:
        connection: The connection to the service.
    """

    def __init__(self, connection: Connection) -> None:
        self.details: dict[int, Remote] = {}
        """Remote ID -> the remote with the fields of its details."""
        self.left_out = 0
        """Number of remotes that the service refused to show, or that are others by now."""
        self.stopped = ""
        """The reason why not all details were read, as a sentence; empty if they were."""
        self._connection = connection
        self._asked: set[int] = set()
        """The IDs of the remotes for which an answer arrived."""
        self._has_level = False

    @property
    def is_reported(self) -> bool:
        """Whether any detail had a battery level, or none was read yet."""
        return self._has_level or not self.details

    @property
    def levels(self) -> dict[int, int]:
        """Remote ID -> battery level in percent, for the remotes that have one."""
        found = {one: battery_of(remote) for one, remote in self.details.items()}
        return {one: level for one, level in found.items() if level is not None}

    def is_due(self, remote: Remote) -> bool:
        """Return whether the details of a remote were not read yet."""
        return remote.id is not None and remote.id not in self._asked

    def describe(self, remote: Remote) -> str:
        """Return ``87 %``, ``unknown`` if the service returns no level, or why it was not read."""
        level = battery_of(self.details.get(remote.id or 0, remote))
        if level is not None:
            return f"{level} %"
        if not self.is_due(remote) or self.stopped == NOT_REPORTED:
            return "unknown"
        return "not read" if self.stopped else "..."

    def forget(self) -> None:
        """Forget all details, so that they are read again."""
        self.details, self._asked = {}, set()
        self.stopped, self.left_out, self._has_level = "", 0, False

    def stop(self, reason: str) -> None:
        """Request no further details. Answers that are on their way still count."""
        self.stopped = self.stopped or reason

    async def read(self, remotes: Iterable[Remote], on_read: Callable[[], None] = ignore) -> None:
        """Read the details of remotes, until one of the reasons to stop appears.

        A remote whose list entry has a battery level needs no request. A service that does not
        report levels is not asked again.

        Args:
            remotes: The remotes as their list has them.
            on_read: The function to call after each answer.
        """
        if self.stopped != NOT_REPORTED:
            self.stopped = ""
        waiting = iter(remotes)

        async def work() -> None:
            for remote in waiting:  # all workers take from one iterator
                if self.stopped:
                    return
                await self._read_one(remote)
                on_read()

        async with asyncio.TaskGroup() as tasks:
            for _ in range(AT_ONCE):
                tasks.create_task(work())

    async def _read_one(self, before: Remote) -> None:
        remote_id, now = before.id, before
        if remote_id is None:
            self.left_out += 1
            return
        if battery_of(before) is None:
            try:
                now = await self._connection.read(
                    lambda service: service.remote_detail(remote_id=remote_id)
                )
            except ServiceError as error:
                if not isinstance(error, Refused) or error.is_denial:
                    self.stop(format_titled_meaning(error))
                else:
                    self._asked.add(remote_id)
                self.left_out += 1
                return
            if not is_still(before.raw, now):
                self._asked.add(remote_id)
                self.left_out += 1
                return
        self._asked.add(remote_id)
        self.details[remote_id] = now
        self._has_level |= battery_of(now) is not None
        if len(self.details) >= PROBED and not self._has_level:
            self.stop(NOT_REPORTED)
