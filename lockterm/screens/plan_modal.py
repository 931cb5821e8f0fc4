"""The base class of the dialogs that read locks and then close with a plan."""

from __future__ import annotations

from abc import abstractmethod

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Label
from textual.worker import Worker

from lockterm.domain.text.service import format_sentences
from lockterm.errors import LocktermError
from lockterm.operations.planner import PlanDraft
from lockterm.screens.modal import FieldModal
from lockterm.terminal.key_queue import opening
from lockterm.widgets.form_field import CompactButton


class PlanModal(FieldModal[PlanDraft | None]):
    """A dialog that makes a plan from typed values. The result is the plan, or None if canceled.

    The dialog stays open while locks are read. If no plan can be made, the dialog shows the reason
    and keeps the typed text. A subclass composes its fields and then :meth:`compose_end`.
    """

    ABOUT = ""
    """The sentences that explain what the dialog does; hidden while locks are being read."""

    _reading: Worker[None] | None = None
    """The worker that makes the plan; None if no worker is running."""

    def compose_end(self) -> ComposeResult:
        """Compose the line for errors, the line about the locks being read, and the buttons."""
        yield Label("", id="wrong", markup=False)
        yield Label(self.ABOUT, id="reading", classes="hint", markup=False)
        with Horizontal(classes="buttons"):
            yield CompactButton("Cancel", id="keep")
            yield CompactButton("Plan", id="act", variant="primary")

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
                    self.show_reading(self.ABOUT)

    def show_reading(self, words: str) -> None:
        """Show a text about the progress of reading the locks."""
        self.query_one("#reading", Label).update(words, layout=False)

    @abstractmethod
    def read_fields(self) -> str:
        """Store the typed values, and return why they cannot be used; empty if they can."""

    @abstractmethod
    async def make_plan(self) -> None:
        """Read the locks, and close the dialog with the plan, or show why there is no plan.

        Raises:
            LocktermError: If no plan can be made. The dialog shows the error.
        """


def is_before_plan(event: events.Key) -> bool:
    """Return whether a key is Enter, which must not wait for the plan.

    On the screen of the plan, Enter would ask to run a plan that the user has not read.
    """
    return event.key == "enter"
