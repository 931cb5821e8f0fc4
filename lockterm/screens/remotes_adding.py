"""Adding to a lock, and clearing it: what an unsettled change of the same kind holds back."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from textual import work

from lockterm.errors import StoreError
from lockterm.keymap.spoken import settling
from lockterm.models.operation import CALL_WORDS, HELD_CALLS
from lockterm.screens.remotes_columns import RemotesColumns
from lockterm.text import clean

if TYPE_CHECKING:
    from lockterm.models.operation import Operation


class RemotesAdding(RemotesColumns):
    """What changes which remotes the lock has, and what was taken from it."""

    may_restore = False
    """Whether the history has remotes of this lock that were deleted from here."""

    _unsettled: tuple[Operation, ...] = ()

    @abstractmethod
    def show_state(self) -> None:
        """Show the rows, or the words in their place."""

    def show_notices(self, link: str, unsettled: tuple[Operation, ...]) -> None:
        """Note what holds back an add, so that it is said before anything is typed."""
        self._unsettled = unsettled
        super().show_notices(link, unsettled)

    def why_not(self, action: str) -> str:
        """Nothing to clear; another add or clear of this lock is not settled."""
        page, reason = self.view.page, super().why_not(action)
        if reason or action not in HELD_CALLS:
            return reason
        for operation in self._unsettled:
            if operation.call in HELD_CALLS and operation.lock_id == self.lock_entry.lock_id:
                what = f"{CALL_WORDS[operation.call]} {clean(operation.remote_name, 40)}".strip()
                return (
                    f"An earlier change is not settled: {what}. Another could double it."
                    f" First {settling()}"
                )
        if action == "clear" and page is not None and not page.total:
            return "The lock has no remotes to clear."
        return ""

    @work(exclusive=True, group="restorable")
    async def look_for_restorable(self) -> None:
        """See whether the history can bring back what an empty lock had."""
        if self.operations.profile.read_only:
            return
        from lockterm.restoring import why_not_restorable

        try:
            lines = await self.operations.history_lines()
        except StoreError:  # whoever opens the history is told
            return
        lock_id = self.lock_entry.lock_id
        self.may_restore = any(
            line.lock_id == lock_id and not why_not_restorable(line, line.count) for line in lines
        )
        self.show_state()

    # --- actions -------------------------------------------------------------------------------

    def action_add(self) -> None:
        """Add a remote in the form."""
        if reason := self.why_not("add"):  # chosen in the palette
            self.notify(reason, title="Add")
            return
        self._open_form(None)

    def action_clear(self) -> None:
        """Delete all remotes of the lock, after asking."""
        from lockterm.screens.clear_remotes import ClearModal

        dialog = ClearModal(self.operations, self.lock_entry)

        def answered(confirmed: bool | None) -> None:
            if confirmed:
                clearing = self.operations.clear_remotes(self.lock_entry.lock_id, dialog.count)
                self.carry_out(f"Clear {self._lock_name}", clearing, self._cleared)

        self.app.push_screen(dialog, answered)

    def _cleared(self, deleted: int | None) -> str:
        if deleted is None:
            return f"The remotes of {self._lock_name} were deleted; recorded by the service."
        remotes = "1 remote" if deleted == 1 else f"{deleted:,} remotes"
        return f"{remotes} deleted from {self._lock_name}; recorded by the service."
