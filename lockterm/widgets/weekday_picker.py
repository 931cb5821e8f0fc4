"""Weekdays: typed as ``mon-fri`` in a line, or marked one by one below it."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import var
from textual.widgets import Input

from lockterm.weekdays import WORDS, parse_weekdays, weekday_words
from lockterm.widgets.choice import Marks, OptionLine
from lockterm.widgets.text_input import TextInput


class WeekdayPicker(Vertical):
    """A text and seven marks that say the same; the text is the value.

    Args:
        value: The weekdays as text.
        id: The id of the widget.
    """

    value: var[str] = var("", init=False)
    """What is typed; empty: no weekday. It may be no weekdays at all."""

    @dataclass
    class Changed(Message):
        """Another text stands there."""

        picker: WeekdayPicker

        @property
        def control(self) -> WeekdayPicker:
            """The picker."""
            return self.picker

    def __init__(self, value: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(WeekdayPicker.value, value)

    def compose(self) -> ComposeResult:
        """The text, the marks."""
        yield TextInput(
            self.value, placeholder="mon-fri, or mark them below: 1-7", select_on_focus=True
        )
        marks = Marks((str(day), word) for day, word in enumerate(WORDS, 1))
        marks.set_reactive(Marks.chosen, self._days() or frozenset())
        yield marks

    @property
    def is_marking(self) -> bool:
        """Whether the marks have the focus."""
        return self.query_one(Marks).has_focus

    def _days(self) -> frozenset[str] | None:
        try:
            return frozenset(map(str, parse_weekdays(self.value)))
        except ValueError:
            return None

    def watch_value(self, value: str) -> None:
        """Show the text and its marks."""
        if self.is_mounted:
            self.query_one(TextInput).value = value
        self._show_marks()

    def _show_marks(self) -> None:
        if self.is_mounted and (days := self._days()) is not None:
            self.query_one(Marks).chosen = days
        self.post_message(self.Changed(self))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        # Not through the watcher: keys that came in a burst are in the field already, and writing
        # this older text back would undo them.
        self.set_reactive(WeekdayPicker.value, event.input.value)
        self._show_marks()

    @on(OptionLine.Changed)
    def _marked(self, event: OptionLine.Changed) -> None:
        event.stop()
        chosen = self.query_one(Marks).chosen
        self.value = weekday_words(map(int, chosen)) if chosen else ""
