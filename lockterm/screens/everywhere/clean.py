"""The dialog that plans to delete remotes that expired some days ago."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Label
from textual.worker import Worker

from lockterm.domain.ages import WRONG_DAYS, parse_days
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.error import format_sentences
from lockterm.domain.text.plan import describe_none_expired
from lockterm.errors import LocktermError
from lockterm.operations.cleaning import plan_cleaning
from lockterm.operations.planner import PlanDraft
from lockterm.screens.everywhere.results import SHOWN_S
from lockterm.screens.modal import FieldModal, is_too_early
from lockterm.terminal.key_queue import opening
from lockterm.widgets.compact_button import CompactButton
from lockterm.widgets.text_input import OneLine

if TYPE_CHECKING:
    from lockterm.operations import Operations

DAYS = "30"
"""The initial text of the field."""

_ABOUT = "lockterm reads every lock and shows a plan. Nothing is deleted before you confirm it."


class CleanModal(FieldModal[PlanDraft | None]):
    """A dialog for the minimum number of days since remotes expired.

    The result is the plan to delete these remotes, or None. The dialog stays open while the locks
    are read. If there is no plan, the dialog shows the reason and keeps the typed number.

    Args:
        operations: The operations on the service and the local store.
    """

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._operations = operations
        self._reading: Worker[None] | None = None
        """The worker that makes the plan; None if no worker runs."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label("Plan to delete expired remotes on all locks?", classes="question")
            yield Label("Minimum number of days since the end date:")
            field = OneLine(DAYS, compact=True, max_length=7)
            field.cursor_blink = False
            yield field
            yield Label("", id="wrong", markup=False)
            yield Label(_ABOUT, id="reading", classes="hint", markup=False)
            with Horizontal(classes="buttons"):
                yield CompactButton("Cancel", id="keep")
                yield CompactButton("Plan", id="act", variant="primary")

    def action_cancel(self) -> None:
        """Stop the read of the locks, or close the dialog if no read is running."""
        if self._reading is not None:
            self._reading.cancel()
        else:
            self.dismiss(None)

    # --- the plan ------------------------------------------------------------------------------

    def answer(self) -> None:
        """Read the locks and make the plan, unless a read is running already."""
        if self._reading is not None:
            return
        try:
            days = parse_days(self.query_one(Input).value)
        except ValueError:
            self.refuse(WRONG_DAYS)
        else:
            self.refuse("")
            self._reading = self._plan(days)

    @work
    async def _plan(self, days: int) -> None:
        """Read all locks and close with the plan; if there is no plan, show the reason."""
        with opening(self, "the plan", passes=is_too_early, must_appear=True):
            try:
                await self._draw(days)
            except LocktermError as error:
                self.refuse(format_sentences(error))
            finally:
                self._reading = None
                if self.is_attached:
                    self._show(_ABOUT)

    async def _draw(self, days: int) -> None:
        clock = asyncio.get_running_loop().time
        painted_s = 0.0

        def show_progress(done: int, count: int) -> None:
            nonlocal painted_s
            if clock() - painted_s >= SHOWN_S:
                painted_s = clock()
                self._show(f"Read {done:,} of {format_count(count, 'lock')}. Press Esc to stop.")

        ids = [lock.lock_id for lock in await self._operations.locks.all()]
        show_progress(0, len(ids))
        draft = await plan_cleaning(self._operations, ids, days, show_progress)
        if draft.plan.steps:
            self.dismiss(draft)
            return
        unread = [(one.lock.title, one.error) for one in draft.unread if one.error is not None]
        is_none_read = 0 < len(unread) == len(ids)
        self.refuse(describe_none_expired(days, draft.plan, unread, is_none_read=is_none_read))

    def _show(self, words: str) -> None:
        """Show the purpose of the dialog, or the progress of the read."""
        self.query_one("#reading", Label).update(words, layout=False)
