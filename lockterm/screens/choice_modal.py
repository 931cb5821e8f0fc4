"""A small dialog with a list to choose from: a page size, a value to copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Label, OptionList
from textual.widgets.option_list import Option

from lockterm.screens.base import LocktermModal
from lockterm.text import clean

ChoiceT = TypeVar("ChoiceT")


class Choices(OptionList):
    """A list that goes with vim's keys too."""

    BINDINGS = [
        Binding("j", "cursor_down", "down", show=False),
        Binding("k", "cursor_up", "up", show=False),
    ]


class ChoiceModal(LocktermModal[ChoiceT | None], Generic[ChoiceT]):
    """Ask which; answers with the choice, or with None.

    Args:
        question: What is chosen.
        choices: The values, each with what is shown for it.
        current: Where the cursor stands at first.
    """

    def __init__(
        self, question: str, choices: Sequence[tuple[ChoiceT, str]], current: int = 0
    ) -> None:
        super().__init__()
        self._question = question
        self._choices = choices
        self._current = current

    def compose(self) -> ComposeResult:
        """The question and the list."""
        with Vertical(classes="dialog"):
            yield Label(clean(self._question, 200), markup=False, classes="question")
            options = [Option(Content(clean(words, 66))) for _, words in self._choices]
            yield Choices(*options, compact=True, markup=False)
            yield Label("enter chooses, escape leaves", markup=False, classes="hint")

    def on_mount(self) -> None:
        """Stand on the current choice."""
        self.query_one(Choices).focus()
        self.query_one(Choices).highlighted = self._current

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer."""
        self.dismiss(self._choices[event.option_index][0])
