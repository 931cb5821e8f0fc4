"""A line of a form: a label, a field, and below it what is wrong with it or what it means."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.suggester import Suggester
from textual.widgets import Input, Label, Static

from lockterm.text import REPLACEMENT, clean


class Field(Vertical):
    """A text field with its label at the left and a sentence below.

    Args:
        label: A word or two.
        id: The field's name in the code of its form.
        value: What stands in it at first, as it came.
        hint: The sentence below it while nothing else is to be said.
        suggester: What completes the typed text.
        longest: The most characters that can be typed.
        locked: Whether it only shows its value.
    """

    def __init__(
        self,
        label: str,
        *,
        id: str,
        value: str = "",
        hint: str = "",
        suggester: Suggester | None = None,
        longest: int = 200,
        locked: bool = False,
    ) -> None:
        super().__init__(id=id)
        self._label = label
        self._first = value
        self._hint = hint
        self._suggester = suggester
        self._longest = longest
        self._locked = locked

    def compose(self) -> ComposeResult:
        """Label and field side by side, the sentence below."""
        with Horizontal():
            yield Label(self._label, markup=False)
            yield Input(
                clean(self._first) if self._locked else self._first,
                max_length=self._longest,
                suggester=self._suggester,
                disabled=self._locked,
                compact=True,
            )
        yield Static(self._hint, markup=False)

    def on_mount(self) -> None:
        """An empty sentence takes no room."""
        self.say("")

    @property
    def value(self) -> str:
        """What was typed, without blanks around it and without what a paste hid in it."""
        return clean(self.query_one(Input).value).replace(REPLACEMENT, "").strip()

    @value.setter
    def value(self, value: str) -> None:
        self.query_one(Input).value = value

    @property
    def is_changed(self) -> bool:
        """Whether something else stands there than at first."""
        return self.value != self._first.strip()

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Put a sentence below the field; an empty one brings the hint back."""
        sentence = self.query_one(Static)
        text = clean(text, 300) or self._hint
        sentence.update(f"! {text}" if wrong else text)
        sentence.display = bool(text)
        self.set_class(wrong, "-wrong")

    def type_here(self) -> None:
        """Give it the focus."""
        self.query_one(Input).focus()
