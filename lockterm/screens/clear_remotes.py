"""The dialog before all remotes of a lock are deleted: how many, and the lock's name to type."""

from __future__ import annotations

from lockterm.errors import LocktermError
from lockterm.models.locks import Lock
from lockterm.operations import Operations
from lockterm.screens.checked_confirm import Checked, CheckedConfirm
from lockterm.text import clean


class ClearModal(CheckedConfirm):
    """Ask before clearing a lock.

    Args:
        operations: The one door to service and store.
        lock_entry: The lock; its name or its id has to be typed.
    """

    def __init__(self, operations: Operations, lock_entry: Lock) -> None:
        name = clean(lock_entry.title, 60)
        super().__init__(
            f"Delete all remotes of {name}?",
            "Counting them ...",
            verb="Delete all",
            keep="Keep them",
            typed=(lock_entry.name, str(lock_entry.lock_id)),
        )
        self.count: int | None = None
        """How many remotes the person was told of; None before they were counted."""
        self._operations = operations
        self._lock_entry = lock_entry

    async def check(self) -> Checked:
        """Count them now; what cannot be counted cannot be cleared."""
        name = clean(self._lock_entry.title, 60)
        try:
            seen = await self._operations.page(self._lock_entry.lock_id, 1, 1, fresh=True)
        except LocktermError as error:
            words = f"! They could not be counted: {clean(error.message, 200)}\nNothing was sent."
            return Checked(words, possible=False)
        self.count = count = seen.value.total
        if not count:
            return Checked("There is nothing to delete.", f"{name} has no remotes.", possible=False)
        remotes = "1 remote" if count == 1 else f"{count:,} remotes"
        return Checked(
            "Every one of them stops opening this lock, expired or not.\n\n"
            "A backup of what the service lists is kept here: not MAC, firmware info, user"
            " number, business id, admin right and battery. Restored remotes have new ids.",
            question=f"Delete all {remotes} of {name}?",
            verb=f"Delete {remotes}",
        )
