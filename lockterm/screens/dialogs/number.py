"""A small dialog for one whole number: a page to go to, a remote's user number."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Label

from lockterm.domain.safe_text import clean, clean_lines
from lockterm.screens.modal import LocktermModal
from lockterm.widgets.compact_button import CompactButton
from lockterm.widgets.text_input import OneLine

_LONGEST = 20
"""Characters of the longest number of 64 bits."""


class NumberModal(LocktermModal[int | None]):
    """Ask for a whole number; answers with it, or with None.

    Args:
        question: What it is for, naming its target.
        details: What is worth knowing about it; may be empty.
        verb: What the acting button says.
        numbers: Which numbers there are.
        wrong: What to say of anything else; empty: which numbers there are.
    """

    is_form = True

    def __init__(
        self, question: str, details: str = "", *, verb: str, numbers: range, wrong: str = ""
    ) -> None:
        super().__init__()
        self._question = question
        self._details = details
        self._verb = verb
        self._numbers = numbers
        self._wrong = wrong or f"A whole number from {numbers.start} to {numbers.stop - 1}."

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(clean(self._question, 400), markup=False, classes="question")
            if self._details:
                yield Label(clean_lines(self._details), markup=False, classes="ask")
            field = OneLine(compact=True, max_length=_LONGEST, restrict=r"-?[0-9]*")
            field.cursor_blink = False
            yield field
            yield Label("", id="wrong", markup=False)
            with Horizontal(classes="buttons"):
                yield CompactButton("Cancel", id="keep")
                yield CompactButton(Content(clean(self._verb, 48)), "primary", id="act")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_changed(self) -> None:
        self.query_one("#wrong", Label).update("")

    def on_input_submitted(self) -> None:
        self._answer()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "act":
            self._answer()
        else:
            self.dismiss(None)

    def _answer(self) -> None:
        typed = self.query_one(Input).value.strip()
        try:
            number = int(typed)
        except ValueError:
            number = self._numbers.start - 1
        if number in self._numbers:
            self.dismiss(number)
            return
        self.query_one("#wrong", Label).update(self._wrong)
        self.query_one(Input).focus()
