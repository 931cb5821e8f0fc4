"""Small dialogs of the lock book: open a lock by its ID, and remove a lock."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input, Label

from lockterm.config.values import lock_id
from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import clean
from lockterm.screens.dialogs.confirm import ConfirmModal
from lockterm.screens.modal import FieldModal
from lockterm.widgets.form_field import CompactButton
from lockterm.widgets.text_input import SingleLineInput


class OpenLockModal(FieldModal[tuple[int, bool] | None]):
    """A dialog that asks for a lock ID.

    The result is the ID and whether to add the lock to the lock book, or None if canceled.
    """

    heading = "Open by ID"

    def compose(self) -> ComposeResult:
        """Compose the field, its label, and the buttons."""
        with Vertical(classes="dialog"):
            yield Label("Open the remotes of which lock?", classes="question")
            yield Label("Lock ID. The lock need not be in the lock book:")
            yield SingleLineInput(compact=True, max_length=19, placeholder="1001")
            yield Label("", id="wrong", markup=False)
            with Horizontal(classes="buttons"):
                yield CompactButton("Cancel", id="keep")
                yield CompactButton("Open", id="act", variant="primary")
                yield CompactButton("Add to the lock book", id="other")

    @on(Button.Pressed, "#other")
    def _add(self) -> None:
        self._open(adds=True)

    def answer(self) -> None:
        self._open()

    def _open(self, *, adds: bool = False) -> None:
        try:
            self.dismiss((lock_id(self.query_one(Input).value), adds))
        except ValueError:
            self.refuse("Type a whole number, such as 1001.")


def removal(lock: Lock) -> ConfirmModal:
    """Return the dialog that confirms removing a lock from the lock book.

    The dialog also explains the effects.
    """
    entry_values = {
        "vendor": lock.vendor,
        "model": lock.model,
        "time zone": lock.zone,
        "last set voice": lock.voice,
    }
    details = "Nothing will change at the service. The lock keeps its remotes and its voice."
    lost = [word for word, value in entry_values.items() if value]
    warning = f"The lock book entry will be lost: name, {', '.join(lost)}." if lost else ""
    question = f"Remove {clean(lock.title, 60)} (lock {lock.lock_id}) from the lock book?"
    return ConfirmModal(
        question,
        details,
        verb="Remove from the lock book",
        keep="Keep the lock",
        warning=warning,
    )
