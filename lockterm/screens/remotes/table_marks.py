"""The marks of a lock's remotes, and what the keys do with the marked ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from functools import cached_property
from typing import TYPE_CHECKING

from lockterm.domain.marks import remote_marks
from lockterm.screens.base import LocktermScreen
from lockterm.screens.marked.marking import ON_MARKED, Marking
from lockterm.screens.remotes.page_view import PageView
from lockterm.screens.remotes.table import RemotesTable
from lockterm.widgets.key_line import KeyLine

if TYPE_CHECKING:
    from lockterm.domain.marks import Row
    from lockterm.domain.remotes import Remote
    from lockterm.screens.marked.commands import MarkedCommands


class TableMarks:
    """Which remotes of the table are marked.

    Args:
        screen: The screen that shows the table.
        lock_id: The lock of the remotes.
        zone: Tells the zone of the lock.
        place: Tells the lock's name, clean.
        tell: Tells how many are marked.
    """

    def __init__(
        self,
        screen: LocktermScreen[None],
        lock_id: int,
        zone: Callable[[], tzinfo],
        place: Callable[[], str],
        tell: Callable[[], None],
    ) -> None:
        self._screen = screen
        self._lock_id = lock_id
        self._tell = tell
        self.marks = remote_marks()
        """Which are marked."""
        self.keys = Marking(
            screen, self.marks, self.rows, lambda: self._table.cursor_row, self.show, ON_MARKED
        )
        """What the keys do that mark."""
        self._zone = zone
        self._place = place
        self._had_any = False

    @cached_property
    def commands(self) -> MarkedCommands:
        """What the keys do with the marked ones."""
        from lockterm.screens.marked.commands import MarkedCommands

        return MarkedCommands(
            self._screen,
            self.marks,
            lambda _: self._zone(),
            self._place,
            shown=self.rows,
            changed=self.show,
        )

    @property
    def _table(self) -> RemotesTable:
        return self._screen.query_one(RemotesTable)

    def has(self, remote: Remote) -> bool:
        """Whether a remote is marked."""
        return bool(self.marks) and self.marks.has((self._lock_id, remote))

    def rows(self) -> Sequence[Row]:
        """What is shown, as marks know it."""
        return [(self._lock_id, row.remote) for row in self._table.rows]

    def see(self) -> None:
        """Take over what is shown now of the marked ones."""
        if self.marks:
            self.marks.see(self.rows())

    def note_outcomes(self) -> None:
        """Unmark what plans have done by now."""
        if self.marks:
            self.commands.plans.note_outcomes()

    def words(self) -> str:
        """How many are marked; empty: none is."""
        return self.marks.words(self.rows()) if self.marks else ""

    def why_not(self, action: str, view: PageView) -> str:
        """Why an action on marks can do nothing now, as a sentence; empty: it can."""
        if action == "mark_all" and view.found is not None and view.found.running:
            return "The search goes on: what it finds is not known yet. escape stops it."
        if action == "mark_all" and not self._table.rows:
            return "There is nothing to mark."
        return self.keys.why_not(action)

    def mark(self) -> None:
        """Mark the remote under the cursor, or unmark it, and go on to the next one."""
        if (remote := self._table.selected) is not None:
            self.marks.toggle((self._lock_id, remote))
            self.show(remote)
            self._table.action_cursor_down()

    def show(self, remote: Remote | None = None) -> None:
        """Show which are marked.

        Args:
            remote: The only one whose mark has changed; None: those of others may have, too.
        """
        if remote is None:
            self._table.refresh()
        else:
            self._table.paint_remote(remote)
        self._tell()
        if self._had_any != bool(self.marks):  # only then other keys work
            self._had_any = bool(self.marks)
            self._screen.query_one(KeyLine).show_keys()
