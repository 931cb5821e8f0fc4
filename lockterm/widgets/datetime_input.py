"""A date typed in words or numbers; a time that the clocks show twice is asked back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import var
from textual.widgets import Input

from lockterm import moments
from lockterm.widgets.choice import Choice, OptionLine
from lockterm.widgets.text_input import TextInput


class DatetimeInput(Vertical):
    """A text, and below it the two moments of an overlap, while there are two.

    Choosing one of them writes its offset into the text: the text alone is the value.

    Args:
        zone: The zone of the lock.
        value: The date as text.
        id: The id of the widget.
    """

    value: var[str] = var("", init=False)
    """What is typed."""

    @dataclass
    class Changed(Message):
        """Another text stands there."""

        date: DatetimeInput

        @property
        def control(self) -> DatetimeInput:
            """The field."""
            return self.date

    def __init__(self, zone: tzinfo, value: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(DatetimeInput.value, value)
        self._zone = zone
        self._choices: tuple[int, ...] = ()

    def compose(self) -> ComposeResult:
        """The text; no question yet."""
        yield TextInput(
            self.value,
            placeholder="2026-12-01 09:00, tomorrow 9:00, +30d, eom",
            select_on_focus=True,
        )

    def watch_value(self, value: str) -> None:
        """Show the text."""
        if self.is_mounted:
            self.query_one(TextInput).value = value
        self.post_message(self.Changed(self))

    def ask(self, choices: Sequence[int]) -> None:
        """Ask which of two moments is meant, in milliseconds; with none, ask nothing.

        Args:
            choices: The two moments of a time that the clocks show twice, the earlier first.
        """
        if tuple(choices) == self._choices:
            return
        self._choices = tuple(choices)
        self.query(Choice).remove()
        if choices:
            self.mount(
                Choice(
                    (str(number), f"{word}, {moments.stamp(ms, self._zone)[11:]}")
                    for number, word, ms in zip((1, 2), ("first", "second"), choices, strict=True)
                )
            )

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        # Not through the watcher: keys that came in a burst are in the field already, and writing
        # this older text back would undo them.
        self.set_reactive(DatetimeInput.value, event.input.value)
        self.post_message(self.Changed(self))

    @on(OptionLine.Changed)
    def _chosen(self, event: OptionLine.Changed) -> None:
        event.stop()
        if isinstance(event.line, Choice) and event.line.value and self._choices:
            chosen = self._choices[int(event.line.value) - 1]
            self.value = moments.typed(chosen, self._zone)
            field = self.query_one(TextInput)
            field.select_on_focus = False  # the next key must not replace what was just settled
            field.focus()
            field.action_end()
