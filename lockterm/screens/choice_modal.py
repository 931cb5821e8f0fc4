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

from lockterm.keymap.spoken import said
from lockterm.screens.base import LocktermModal
from lockterm.text import clean

ChoiceT = TypeVar("ChoiceT")


class Choices(OptionList, inherit_bindings=False):
    """A list that goes with vim's keys too."""

    BINDINGS = [
        Binding("up,k", "cursor_up", "row up", show=False, id="row.up"),
        Binding("down,j", "cursor_down", "row down", show=False, id="row.down"),
        Binding("pageup", "page_up", "page up", show=False, id="row.page_up"),
        Binding("pagedown", "page_down", "page down", show=False, id="row.page_down"),
        Binding("home,g", "first", "first row", show=False, id="row.first"),
        Binding("end,G", "last", "last row", show=False, id="row.last"),
        Binding("enter", "select", "choose", show=False, id="list.choose"),
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
            yield Label(said("{list.choose} chooses, escape leaves"), markup=False, classes="hint")

    def on_mount(self) -> None:
        """Stand on the current choice."""
        self.query_one(Choices).focus()
        self.query_one(Choices).highlighted = self._current

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer."""
        self.dismiss(self._choices[event.option_index][0])
