"""The dialog for a plan that replaces the key fob of a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Label

from lockterm.domain.locks import Lock
from lockterm.domain.remotes import FIELDS, Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.text.replacement import name_people
from lockterm.operations.replacing import plan_replacements
from lockterm.screens.plan_modal import PlanModal
from lockterm.screens.remotes.delete import numbers_of
from lockterm.widgets.text_input import SingleLineInput

if TYPE_CHECKING:
    from lockterm.operations import Operations


_NAMED = 3
"""The maximum number of old fob numbers that the dialog lists."""


class ReplaceModal(PlanModal):
    """A dialog for the number and the MAC address of a new fob.

    The result is the plan that replaces the fob on each lock.

    Args:
        operations: The operations on the service and the local store.
        targets: The remotes whose fob is replaced, each with its lock.
    """

    heading = "Replace"

    ABOUT = "lockterm shows a plan. Nothing is sent before you confirm it."

    def __init__(self, operations: Operations, targets: Sequence[tuple[Lock, Remote]]) -> None:
        super().__init__()
        self._operations = operations
        self._targets = targets
        self._number = self._mac = ""

    @property
    def _locks(self) -> str:
        """The lock of the remotes or the number of their locks, as safe text."""
        locks = {lock.lock_id: lock for lock, _ in self._targets}
        if len(locks) > 1:
            return f"{len(locks):,} locks"
        return clean(self._targets[0][0].title, 60)

    def _old_fobs(self) -> str:
        """Return a text with the number of the old fob, or the numbers of the old fobs."""
        lock, remote = self._targets[0]
        if len(self._targets) == 1:
            return "\n".join(numbers_of(remote, lock))
        numbers = dict.fromkeys(remote.remote_number or "none" for _, remote in self._targets)
        named = ", ".join(clean(one, 30) for one in [*numbers][:_NAMED])
        more = f" and {len(numbers) - _NAMED:,} more" if len(numbers) > _NAMED else ""
        return f"Old number{'s' * (len(numbers) > 1)}: {named}{more}"

    def compose(self) -> ComposeResult:
        who = name_people([remote for _, remote in self._targets])
        with Vertical(classes="dialog"):
            question = f"Replace the fob of {who} on {self._locks}?"
            yield Label(question, classes="question", markup=False)
            yield Label(self._old_fobs(), id="old", markup=False)
            yield Label("Number of the new fob:", classes="ask")
            yield _field("number")
            yield Label(f"{FIELDS['mac'].label} of the new fob (optional):")
            yield _field("mac", "leave empty if unknown")
            yield from self.compose_end()

    def read_fields(self) -> str:
        self._number = self.query_one("#number", Input).value
        self._mac = self.query_one("#mac", Input).value
        return ""

    async def make_plan(self) -> None:
        """Read the locks, and close the dialog with the plan."""
        what = "the lock" if len(self._targets) == 1 else self._locks
        self.show_reading(f"Reading {what}. Press Esc to stop.")
        rows = [(lock.lock_id, remote) for lock, remote in self._targets]
        self.dismiss(await plan_replacements(self._operations, rows, self._number, self._mac))


def _field(name: str, placeholder: str = "") -> SingleLineInput:
    """Return an empty text field."""
    field = SingleLineInput(id=name, compact=True, placeholder=placeholder)
    field.cursor_blink = False
    return field
