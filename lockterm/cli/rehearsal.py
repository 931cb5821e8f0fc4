"""``--dry-run``: every change ends with the request that would be sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockterm.operations import Operations

if TYPE_CHECKING:
    from lockterm.api.writes import Write
    from lockterm.models.remotes import Remote


class Rehearsed(Exception):
    """Instead of being sent.

    Args:
        write: The request.
    """

    def __init__(self, write: Write) -> None:
        super().__init__(write.call)
        self.write = write


class OneCommand(Operations):
    """The one door, for a command: it reads back what it sent itself, once, before it ends.

    What earlier sessions left unknown is theirs to read back, or the UI's.
    """

    def settle(self) -> None:
        """Leave it to the command."""


class Rehearsal(OneCommand):
    """The one door, closed just before the journal: nothing is sent, and nothing written down.

    The two readings that guard a change are left out, so that rehearsing one asks nothing.
    """

    async def _carry_out(self, write: Write, lock_id: int, **about: Any) -> Any:
        raise Rehearsed(write)

    async def is_name_free(self, lock_id: int, name: str) -> bool:
        """Taken for granted."""
        return True

    async def all_remotes(self, lock_id: int) -> list[Remote]:
        """No backup is needed of what stays."""
        return []
