"""Battery levels of remotes, which some services return in the details of a remote."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from lockterm.domain.callbacks import ignore
from lockterm.domain.remotes import Remote, is_still
from lockterm.domain.text.service import format_titled_meaning
from lockterm.errors import RefusedError, ServiceError

if TYPE_CHECKING:
    from lockterm.operations.connection import Connection

AT_ONCE = 10
"""Maximum number of requests for details at the same time."""

PROBED = 20
"""Number of remotes without a battery level after which lockterm stops requesting levels.

A service reports the level of all remotes or of none, and each remote costs one request.
"""

NOT_REPORTED = "The service does not report battery levels."


def battery_of(remote: Remote) -> int | None:
    """Return the battery level in percent; None if it is missing or not from 0 to 100."""
    level = remote.electric_quantity
    return level if level is not None and 0 <= level <= 100 else None


class BatteryReader:
    """The reader of battery levels, which requests the detail of each remote.

    Args:
        connection: The connection to the service.
    """

    def __init__(self, connection: Connection) -> None:
        self.details: dict[int, Remote] = {}
        """Maps the ID of a remote to its details."""
        self.left_out = 0
        """Number of remotes whose details could not be read: the request failed, the remote has no
        ID, or another remote now has the ID."""
        self.stopped = ""
        """The reason why reading has stopped, as a sentence; empty if it has not stopped."""
        self._connection = connection
        self._asked: set[int] = set()
        """The IDs of the remotes whose details need no further request."""
        self._has_level = False

    @property
    def is_reported(self) -> bool:
        """Whether any remote's details have a battery level; true before the first answer."""
        return self._has_level or not self.details

    @property
    def levels(self) -> dict[int, int]:
        """A mapping of remote IDs to battery levels in percent, without remotes that have none."""
        levels = {one: battery_of(remote) for one, remote in self.details.items()}
        return {one: level for one, level in levels.items() if level is not None}

    def is_due(self, remote: Remote) -> bool:
        """Return whether the details of a remote must still be requested."""
        return remote.id is not None and remote.id not in self._asked

    def describe(self, remote: Remote) -> str:
        """Return the battery level such as ``87 %``, or ``unknown``, ``not read`` or ``...``.

        ``...`` means that the level is still being read.
        """
        level = battery_of(self.details.get(remote.id or 0, remote))
        if level is not None:
            return f"{level} %"
        if not self.is_due(remote) or self.stopped == NOT_REPORTED:
            return "unknown"
        return "not read" if self.stopped else "..."

    def forget(self) -> None:
        """Drop all details, so that the next :meth:`read` requests them again."""
        self.details, self._asked = {}, set()
        self.stopped, self.left_out, self._has_level = "", 0, False

    def stop(self, reason: str) -> None:
        """Stop requesting details. The answers to earlier requests are still stored."""
        self.stopped = self.stopped or reason

    async def read(self, remotes: Iterable[Remote], on_read: Callable[[], None] = ignore) -> None:
        """Read the details of remotes until all are read, or an error prevents more requests.

        A remote whose list entry has a battery level needs no request. If the service does not
        report levels, no more requests are sent.

        Args:
            remotes: The remotes as in the lock's list.
            on_read: A function to call after each answer.
        """
        if self.stopped != NOT_REPORTED:
            self.stopped = ""
        waiting = iter(remotes)

        async def work() -> None:
            for remote in waiting:  # all tasks take from one iterator
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
                if not isinstance(error, RefusedError) or error.is_denial:
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
