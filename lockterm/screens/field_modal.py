"""The dialogs with a text field: their base classes, and the dialog to delete expired remotes."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from typing import TYPE_CHECKING

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Label
from textual.worker import Worker

from lockterm.domain.date_input import WRONG_DAYS, parse_days
from lockterm.domain.text.amount import format_count
from lockterm.domain.text.plan import describe_none_expired
from lockterm.domain.text.service import format_sentences
from lockterm.errors import LocktermError
from lockterm.operations.planner import PlanDraft, plan_cleaning
from lockterm.screens.base import PROGRESS_S
from lockterm.screens.modal import LocktermModal, ResultT
from lockterm.terminal.key_queue import opening
from lockterm.widgets.form_field import CompactButton
from lockterm.widgets.text_input import SingleLineInput

if TYPE_CHECKING:
    from lockterm.operations import Operations


class FieldModal(LocktermModal[ResultT]):
    """A dialog with a text field.

    A subclass composes a question, the field and then :meth:`compose_end`.
    """

    is_form = True

    verb = ""
    """The label of the button that does the same as Enter."""

    hint = ""
    """The sentences above the buttons that explain what the dialog does; may be empty."""

    def compose_end(self, *buttons: CompactButton) -> ComposeResult:
        """Compose the line for errors, the hint, and the buttons.

        Args:
            buttons: Additional buttons.
        """
        yield Label("", id="wrong", markup=False)
        if self.hint:
            yield Label(self.hint, id="reading", classes="hint", markup=False)
        with Horizontal(classes="buttons"):
            yield CompactButton("Cancel", id="keep")
            yield CompactButton(Content(self.verb), "primary", id="act")
            yield from buttons

    def on_mount(self) -> None:
        """Focus the field."""
        self.query_one(Input).focus()

    def on_input_changed(self) -> None:
        self.refuse("")

    def on_input_submitted(self) -> None:
        self.answer()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "act":
            self.answer()
        elif event.button.id == "keep":
            self.action_cancel()

    @abstractmethod
    def answer(self) -> None:
        """Close the dialog with the typed value, or show why the value is refused."""

    def refuse(self, reason: str) -> None:
        """Show why input is refused, and focus the field. An empty reason clears the message."""
        self.query_one("#wrong", Label).update(reason)
        if reason:
            self.query_one(Input).focus()


class PlanModal(FieldModal[PlanDraft | None]):
    """A dialog that makes a plan from typed values. The result is the plan, or None if canceled.

    The dialog stays open while locks are read. If no plan can be made, the dialog shows the reason
    and keeps the typed text. While locks are read, the progress replaces the ``hint`` of the
    subclass.
    """

    verb = "Plan"

    _reading: Worker[None] | None = None
    """The worker that makes the plan; None if no worker is running."""

    def action_cancel(self) -> None:
        """Stop reading locks. If no lock is being read, close the dialog."""
        if self._reading is not None:
            self._reading.cancel()
        else:
            self.dismiss(None)

    def answer(self) -> None:
        """Make the plan, unless a worker is already making it."""
        if self._reading is None:
            reason = self.read_fields()
            self.refuse(reason)
            if not reason:
                self._reading = self._work()

    @work
    async def _work(self) -> None:
        with opening(self, "the plan", passes=is_before_plan, must_appear=True):
            try:
                await self.make_plan()
            except LocktermError as error:
                self.refuse(format_sentences(error))
            finally:
                self._reading = None
                if self.is_attached:
                    self.show_reading(self.hint)

    def show_reading(self, words: str) -> None:
        """Show a text about the progress of reading the locks."""
        self.query_one("#reading", Label).update(words, layout=False)

    @abstractmethod
    def read_fields(self) -> str:
        """Store the typed values, and return why they cannot be used; empty if they can be used."""

    @abstractmethod
    async def make_plan(self) -> None:
        """Read the locks, and close the dialog with the plan, or show why there is no plan.

        Raises:
            LocktermError: If no plan can be made. The dialog shows the error.
        """


def is_before_plan(event: events.Key) -> bool:
    """Return whether a key is Enter, which the current screen handles before the plan opens.

    If Enter waited for the plan, it would ask to run a plan that the user has not read.
    """
    return event.key == "enter"


DAYS = "30"
"""The initial text of the field for the number of days."""


class CleanModal(PlanModal):
    """A dialog that asks how many days ago remotes must have expired.

    The result is the plan that deletes these remotes on all locks.

    Args:
        operations: The operations on the service and the local store.
    """

    heading = "Clean"

    hint = "lockterm reads every lock and shows a plan. Nothing is deleted before you confirm it."

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._operations = operations
        self._days = 0

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label("Make a plan to delete expired remotes on all locks?", classes="question")
            yield Label("Minimum number of days since the end date:")
            yield SingleLineInput(DAYS, max_length=7)
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
            if clock() - painted_s >= PROGRESS_S:
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
