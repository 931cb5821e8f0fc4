"""The dialog that plans to replace the key fob of a remote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Label

from lockterm.domain.locks import Lock
from lockterm.domain.remotes import FIELDS, Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.text.remote import UNNAMED, format_remote_name
from lockterm.operations.replacing import plan_replacement
from lockterm.screens.plan_modal import PlanModal
from lockterm.screens.remotes.delete import numbers_of
from lockterm.widgets.text_input import OneLine

if TYPE_CHECKING:
    from lockterm.operations import Operations


class ReplaceModal(PlanModal):
    """A dialog for the number and the MAC address of a new fob.

    The result is the plan that replaces the fob.

    Args:
        operations: The operations on the service and the local store.
        lock_entry: The lock of the remote.
        remote: The remote whose fob is replaced.
    """

    heading = "Replace"

    ABOUT = "lockterm shows a plan. Nothing is sent before you confirm it."

    def __init__(self, operations: Operations, lock_entry: Lock, remote: Remote) -> None:
        super().__init__()
        self._operations = operations
        self._lock_entry = lock_entry
        self._remote = remote
        self._number = self._mac = ""

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
            yield from self.compose_end()

    def read_fields(self) -> str:
        self._number = self.query_one("#number", Input).value
        self._mac = self.query_one("#mac", Input).value
        return ""

    async def make_plan(self) -> None:
        """Read the lock, and close with the plan."""
        self.show_reading("Reading the lock. Press Esc to stop.")
        lock_id = self._lock_entry.lock_id
        self.dismiss(
            await plan_replacement(self._operations, lock_id, self._remote, self._number, self._mac)
        )


def _field(name: str, placeholder: str = "") -> OneLine:
    """Return an empty text field."""
    field = OneLine(id=name, compact=True, placeholder=placeholder)
    field.cursor_blink = False
    return field
