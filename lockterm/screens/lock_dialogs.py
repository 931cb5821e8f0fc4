"""Small dialogs about a lock: open one by its id, take one out of the book, say its model."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Label

from lockterm.config.values import lock_id
from lockterm.models.locks import Lock
from lockterm.screens.base import LocktermModal
from lockterm.screens.confirm import ConfirmModal
from lockterm.text import clean
from lockterm.widgets.text_input import TextInput


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


class VendorModelModal(LocktermModal[tuple[str, str] | None]):
    """Ask for vendor and model, which ``voice/packs`` needs (4.10).

    Args:
        entry: The lock.
        book: Other locks, for suggestions.
    """

    def __init__(self, entry: Lock, book: Sequence[Lock] = ()) -> None:
        super().__init__()
        self._entry = entry
        self._vendors = sorted({lock.vendor for lock in book if lock.vendor})
        self._models = sorted({lock.model for lock in book if lock.model})

    def compose(self) -> ComposeResult:
        """Two fields."""
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
                yield Button("Cancel", id="keep", compact=True)
                yield Button("Save and read", id="act", variant="primary", compact=True)

    @staticmethod
    def _input(name: str, value: str, known: list[str]) -> Input:
        """A field; enter goes on from the first, and answers in the last."""
        text = clean(value)
        first = name == "vendor"
        typed = TextInput(text, id=name) if first else Input(text, id=name, compact=True)
        typed.suggester = SuggestFromList(known, case_sensitive=False)
        return typed

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one("#vendor").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer, once both are there."""
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


def removal(lock: Lock) -> ConfirmModal:
    """Ask whether a lock is to be taken out of the book; says what that does not do."""
    kept = {
        "vendor": lock.vendor,
        "model": lock.model,
        "zone": lock.zone,
        "last set voice": lock.voice,
    }
    details = "Nothing changes at the service: the lock keeps its remotes and its voice."
    if lost := [word for word, value in kept.items() if value]:
        details += f"\nThe book forgets its name, {', '.join(lost)}."
    question = f"Take {clean(lock.title, 60)} (lock {lock.lock_id}) out of the lock book?"
    return ConfirmModal(question, details, verb="Remove from the book", keep="Keep it")
