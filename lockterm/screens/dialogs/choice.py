"""Dialogs with a list to choose from: a page size, a value to copy, a state of remotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, TypeVar

from textual import events
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Offset
from textual.widgets import Label, OptionList
from textual.widgets.option_list import Option

from lockterm.domain.safe_text import clean
from lockterm.domain.validity import COERCED, RemoteState, StateFilter
from lockterm.keymap.hints import with_keys
from lockterm.screens.modal import LocktermModal
from lockterm.terminal.patches import line_of_option
from lockterm.widgets.actions import bindings

ChoiceT = TypeVar("ChoiceT")


class ChoiceList(OptionList, inherit_bindings=False):
    """A list of options that also has vim's movement keys."""

    BINDINGS = bindings("list")

    @property
    def cursor_screen_offset(self) -> Offset:
        """The position of the terminal's cursor, which marks the selected option."""
        return self.content_region.offset + Offset(0, line_of_option(self) - self.scroll_offset.y)


class ChoiceModal(LocktermModal[ChoiceT | None], Generic[ChoiceT]):
    """A dialog with a list of choices. The result is the chosen value, or None if canceled.

    Args:
        question: The question, as the title of the dialog.
        choices: The values, each with its label.
        current: The index of the initially selected choice.
        unasked: Whether the dialog may open without a key press. If so, keys typed before the
            dialog was painted are not an answer.
    """

    heading = "Choose"

    def __init__(
        self,
        question: str,
        choices: Sequence[tuple[ChoiceT, str]],
        current: int = 0,
        *,
        unasked: bool = False,
    ) -> None:
        super().__init__()
        self._question = question
        self._choices = choices
        self._current = current
        self._unasked = unasked

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(clean(self._question, 200), markup=False, classes="question")
            options = [Option(Content(clean(words, 66))) for _, words in self._choices]
            yield ChoiceList(*options, compact=True, markup=False)
            yield Label(
                with_keys("{list.choose} chooses, Esc cancels"), markup=False, classes="hint"
            )

    def on_mount(self) -> None:
        self.query_one(ChoiceList).focus()
        self.query_one(ChoiceList).highlighted = self._current

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Return whether to act on a key.

        A dialog that opened without a key press drops keys that were typed before it was painted.
        """
        return not self._unasked or self.is_painted_for(event)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index][0])


def ask_only(
    app: App[Any],
    question: str,
    counts: Counter[StateFilter] | None,
    only: StateFilter | None,
    show: Callable[[StateFilter | None], None],
) -> None:
    """Ask the user for the state by which to filter remotes.

    Args:
        app: The app that shows the dialog.
        question: The question.
        counts: The number of remotes by state; None if they were not counted.
        only: The current filter; None if all remotes are shown.
        show: A function that applies the chosen filter. It gets None to show all remotes.
    """
    found: list[tuple[StateFilter, str]] = [
        (state, f"{state.sign} {state.meaning}") for state in RemoteState
    ]
    found.append(("coerced", f"{COERCED} coerced"))
    if counts is not None:
        found = [(one, f"{words}: {counts[one]:,}") for one, words in found]
    known: list[tuple[StateFilter | Literal["all"], str]] = [("all", "all states"), *found]

    def answer(chosen: StateFilter | Literal["all"] | None) -> None:
        if chosen is not None:
            show(None if chosen == "all" else chosen)

    now = next((at for at, one in enumerate(known) if one[0] == only), 0)
    app.push_screen(ChoiceModal(question, known, now), answer)
