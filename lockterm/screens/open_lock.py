"""A small dialog: the id of a lock that is not in the book."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input, Label

from lockterm.config.values import lock_id
from lockterm.screens.base import LocktermModal


class OpenLockModal(LocktermModal[int | None]):
    """Ask for a lock's id; answers with it, or with None."""

    def compose(self) -> ComposeResult:
        """A field and what it is for."""
        with Vertical(classes="dialog"):
            yield Label("Open the remotes of which lock?", classes="question")
            yield Label("Any lock id of the service, in the book or not:")
            yield Input(compact=True, max_length=19, placeholder="1001")
            yield Label("", id="wrong", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Cancel", id="keep", compact=True)
                yield Button("Open", id="act", variant="primary", compact=True)

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one(Input).focus()

    def on_input_submitted(self) -> None:
        """Enter opens."""
        self._open()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Open or leave."""
        if event.button.id == "act":
            self._open()
        else:
            self.dismiss(None)

    def _open(self) -> None:
        try:
            self.dismiss(lock_id(self.query_one(Input).value))
        except ValueError:
            wrong = "A lock id is a whole number, such as 1001."
            self.query_one("#wrong", Label).update(wrong)
            self.query_one(Input).focus()
