"""The dialog that plans to replace the key fob of a remote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Label
from textual.worker import Worker

from lockterm.domain.locks import Lock
from lockterm.domain.remotes import FIELDS, Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.text.error import format_sentences
from lockterm.domain.text.remote import UNNAMED, format_remote_name
from lockterm.errors import LocktermError
from lockterm.operations.planner import PlanDraft
from lockterm.operations.replacing import plan_replacement
from lockterm.screens.modal import FieldModal, is_too_early
from lockterm.screens.remotes.delete import numbers_of
from lockterm.terminal.key_queue import opening
from lockterm.widgets.compact_button import CompactButton
from lockterm.widgets.text_input import OneLine

if TYPE_CHECKING:
    from lockterm.operations import Operations

_ABOUT = "lockterm shows a plan. Nothing is sent before you confirm it."


class ReplaceModal(FieldModal[PlanDraft | None]):
    """A dialog for the number and the MAC address of a new fob.

    The result is the plan that replaces the fob, or None. The dialog stays open while the lock is
    read. If there is no plan, the dialog shows the reason and keeps the typed text.

    Args:
        operations: The operations on the service and the local store.
        lock_entry: The lock of the remote.
        remote: The remote whose fob is replaced.
    """

    def __init__(self, operations: Operations, lock_entry: Lock, remote: Remote) -> None:
        super().__init__()
        self._operations = operations
        self._lock_entry = lock_entry
        self._remote = remote
        self._reading: Worker[None] | None = None
        """The worker that makes the plan; None if no worker runs."""

    def compose(self) -> ComposeResult:
        name, lock = format_remote_name(self._remote, UNNAMED), clean(self._lock_entry.title, 60)
        old = "\n".join(numbers_of(self._remote, self._lock_entry))
        with Vertical(classes="dialog"):
            question = f"Replace the fob of {name} on {lock}?"
            yield Label(question, classes="question", markup=False)
            yield Label(old, id="old", markup=False)
            yield Label("Number of the new fob:", classes="ask")
            yield _field("number")
            yield Label(f"{FIELDS['mac'].label} of the new fob (optional):")
            yield _field("mac", "none")
            yield Label("", id="wrong", markup=False)
            yield Label(_ABOUT, id="reading", classes="hint", markup=False)
            with Horizontal(classes="buttons"):
                yield CompactButton("Cancel", id="keep")
                yield CompactButton("Plan", id="act", variant="primary")

    def action_cancel(self) -> None:
        """Stop the reading of the lock, or close the dialog if the lock is not being read."""
        if self._reading is not None:
            self._reading.cancel()
        else:
            self.dismiss(None)

    # --- the plan ------------------------------------------------------------------------------

    def answer(self) -> None:
        """Read the lock and make the plan, unless the lock is being read already."""
        if self._reading is None:
            self.refuse("")
            self._reading = self._plan()

    @work
    async def _plan(self) -> None:
        """Read the lock and close with the plan; if there is no plan, show the reason."""
        with opening(self, "the plan", passes=is_too_early, must_appear=True):
            self._show("Reading the lock. Press Esc to stop.")
            try:
                number, mac = (self.query_one(f"#{name}", Input).value for name in _NAMES)
                lock_id = self._lock_entry.lock_id
                self.dismiss(
                    await plan_replacement(self._operations, lock_id, self._remote, number, mac)
                )
            except LocktermError as error:
                self.refuse(clean(format_sentences(error), 400))
            finally:
                self._reading = None
                if self.is_attached:
                    self._show(_ABOUT)

    def _show(self, words: str) -> None:
        """Show the purpose of the dialog, or the progress of the reading."""
        self.query_one("#reading", Label).update(words, layout=False)


_NAMES = ("number", "mac")
"""The IDs of the two fields."""


def _field(name: str, placeholder: str = "") -> OneLine:
    """Return an empty text field."""
    field = OneLine(id=name, compact=True, placeholder=placeholder)
    field.cursor_blink = False
    return field
