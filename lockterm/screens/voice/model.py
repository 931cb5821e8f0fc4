"""The dialog for vendor and model of a lock: they decide which voices there are."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Label

from lockterm.domain.locks import Lock
from lockterm.domain.safe_text import clean
from lockterm.screens.modal import LocktermModal
from lockterm.widgets.compact_button import CompactButton
from lockterm.widgets.text_input import OneLine, TextInput


class VendorModelModal(LocktermModal[tuple[str, str] | None]):
    """Ask for vendor and model, which ``voice/packs`` needs (4.10).

    Args:
        entry: The lock.
        book: Other locks, for suggestions.
    """

    is_form = True

    def __init__(self, entry: Lock, book: Sequence[Lock] = ()) -> None:
        super().__init__()
        self._entry = entry
        self._vendors = sorted({lock.vendor for lock in book if lock.vendor})
        self._models = sorted({lock.model for lock in book if lock.model})

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(
                f"Which vendor and model is {clean(self._entry.title, 40)}?",
                markup=False,
                classes="question",
            )
            yield Label("As the service names them; they are kept in the lock book.")
            with Horizontal(classes="field"):
                yield Label("Vendor")
                yield self._input("vendor", self._entry.vendor, self._vendors)
            with Horizontal(classes="field"):
                yield Label("Model")
                yield self._input("model", self._entry.model, self._models)
            yield Label("", id="wrong")
            with Horizontal(classes="buttons"):
                yield CompactButton("Cancel", id="keep")
                yield CompactButton("Save and read", id="act", variant="primary")

    @staticmethod
    def _input(name: str, value: str, known: list[str]) -> Input:
        """A field; enter goes on from the first, and answers in the last."""
        text = clean(value)
        first = name == "vendor"
        typed = TextInput(text, id=name) if first else OneLine(text, id=name, compact=True)
        typed.suggester = SuggestFromList(known, case_sensitive=False)
        return typed

    def on_mount(self) -> None:
        self.query_one("#vendor").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "act":
            self._answer()
        else:
            self.dismiss(None)

    def on_input_submitted(self) -> None:
        """Enter in the last field answers: it must not go on to the button that gives up."""
        self._answer()

    def _answer(self) -> None:
        typed = [clean(self.query_one(name, Input).value).strip() for name in ("#vendor", "#model")]
        if all(typed):
            self.dismiss((typed[0], typed[1]))
            return
        self.query_one("#wrong", Label).update("! Both are needed.")
        self.query_one("#model" if typed[0] else "#vendor").focus()
