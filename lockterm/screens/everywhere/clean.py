"""The dialog for a plan that deletes remotes that expired a number of days ago."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Label

from lockterm.domain.date_input import WRONG_DAYS, parse_days
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.plan import describe_none_expired
from lockterm.operations.planner import plan_cleaning
from lockterm.screens.everywhere.lock_lists import SHOWN_S
from lockterm.screens.plan_modal import PlanModal
from lockterm.widgets.text_input import SingleLineInput

if TYPE_CHECKING:
    from lockterm.operations import Operations

DAYS = "30"
"""The initial text of the field, in days."""


class CleanModal(PlanModal):
    """A dialog that asks how many days ago remotes must have expired.

    The result is the plan that deletes these remotes on all locks.

    Args:
        operations: The operations on the service and the local store.
    """

    heading = "Clean"

    ABOUT = "lockterm reads every lock and shows a plan. Nothing is deleted before you confirm it."

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._operations = operations
        self._days = 0

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label("Make a plan to delete expired remotes on all locks?", classes="question")
            yield Label("Minimum number of days since the end date:")
            field = SingleLineInput(DAYS, compact=True, max_length=7)
            field.cursor_blink = False
            yield field
            yield from self.compose_end()

    def read_fields(self) -> str:
        try:
            self._days = parse_days(self.query_one(Input).value)
        except ValueError:
            return WRONG_DAYS
        return ""

    async def make_plan(self) -> None:
        """Read all locks, and close the dialog with the plan.

        If no remote expired that long ago, show an error and keep the dialog open.
        """
        clock = asyncio.get_running_loop().time
        painted_s = 0.0

        def show_progress(done: int, count: int) -> None:
            nonlocal painted_s
            if clock() - painted_s >= SHOWN_S:
                painted_s = clock()
                locks = format_count(count, "lock")
                self.show_reading(f"Read {done:,} of {locks}. Press Esc to stop.")

        ids = [lock.lock_id for lock in await self._operations.locks.all()]
        show_progress(0, len(ids))
        draft = await plan_cleaning(self._operations, ids, self._days, show_progress)
        if draft.plan.steps:
            self.dismiss(draft)
            return
        unread = [(one.lock.title, one.error) for one in draft.unread if one.error is not None]
        is_none_read = 0 < len(unread) == len(ids)
        self.refuse(
            describe_none_expired(self._days, draft.plan, unread, is_none_read=is_none_read)
        )
