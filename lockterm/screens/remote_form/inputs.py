"""The inputs of the remote form that are more than a line of text: dates, weekdays, JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import var
from textual.widgets import Input, TextArea

from lockterm.domain import dates
from lockterm.domain.dates import format_weekdays, parse_weekdays
from lockterm.domain.safe_text import clean_lines
from lockterm.widgets.actions import bindings
from lockterm.widgets.choice import Choice, MultiChoice, OptionLine, Presets
from lockterm.widgets.text_input import TextInput

STARTS = ("now", "tomorrow")
"""The texts of the start dates that the form offers."""

PASTE = 64 * 1024
"""The maximum number of characters that a paste inserts, because services stop reading a request at
this size."""


class TypedValue(Vertical):
    """A text input with options below it. Choosing an option changes the text, which is the value.

    Args:
        value: The text.
        id: The ID of the widget.
    """

    value: var[str] = var("", init=False)
    """The typed text."""

    class Changed(Message):
        """Posted when the text has changed."""

    def __init__(self, value: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(TypedValue.value, value)

    def watch_value(self, value: str) -> None:
        if self.is_mounted:
            self.query_one(TextInput).value = value
        self.note_change()

    def note_change(self) -> None:
        """Post a message that the text has changed."""
        self.post_message(self.Changed())

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        # Bypass the watcher: later keys of a burst may be in the field already, and writing
        # this older text back would undo them.
        self.set_reactive(TypedValue.value, event.input.value)
        self.note_change()


class DatetimeInput(TypedValue):
    """An input for a date as words or numbers, with suggested dates beside it.

    A click on a suggestion puts that suggestion into the text. Each press of the suggestion key
    puts the next suggestion into the text. If clocks show the typed time twice, as at the end of
    summer time, the input offers both moments. The chosen moment's UTC offset is added to the text.

    Args:
        zone: The time zone of the lock.
        value: The date as text.
        id: The ID of the widget.
        presets: The suggested dates, as texts that the input accepts, without control characters.
    """

    BINDINGS = bindings("date")

    def __init__(
        self,
        zone: tzinfo,
        value: str = "",
        *,
        id: str | None = None,
        presets: Sequence[str] = STARTS,
    ) -> None:
        super().__init__(value, id=id)
        self._zone = zone
        self._presets = tuple(presets)
        self._own = ""
        """The text that the user typed, before a key replaced the text with a suggestion."""
        self._choices: tuple[int, ...] = ()

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield TextInput(
                self.value, placeholder="2026-12-01, next fri 6pm", select_on_focus=True
            )
            yield Presets(self._presets)

    @on(Presets.Chosen)
    def _preset_clicked(self, event: Presets.Chosen) -> None:
        event.stop()
        self._use(event.text)

    def action_preset(self) -> None:
        """Put the next suggestion into the text.

        After the last suggestion, restore the original text.
        """
        texts = (*self._presets, self._own)
        place = texts.index(self.value) if self.value in self._presets else -1
        self._use(texts[place + 1])

    def _use(self, text: str) -> None:
        """Replace the text by a suggestion or by the text that the user typed before."""
        if self.value not in self._presets:
            self._own = self.value
        self._replace(text)

    def _replace(self, text: str) -> None:
        """Replace the text, and put the cursor at its end so that a time can be added."""
        self.value = text
        field = self.query_one(TextInput)
        field.select_on_focus = False  # the next key must not replace the new text
        field.focus()
        field.action_end()

    def ask(self, choices: Sequence[int]) -> None:
        """Offer the two moments of an ambiguous time. An empty sequence removes the offer.

        Args:
            choices: The two moments in milliseconds, the earlier first; or empty.
        """
        if tuple(choices) == self._choices:
            return
        self._choices = tuple(choices)
        self.query(Choice).remove()
        if choices:
            self.mount(
                Choice(
                    (str(number), f"{word}, {dates.time_of_day(ms, self._zone)}")
                    for number, word, ms in zip((1, 2), ("first", "second"), choices, strict=True)
                )
            )

    @on(OptionLine.Changed)
    def _chosen(self, event: OptionLine.Changed) -> None:
        event.stop()
        if isinstance(event.line, Choice) and event.line.value and self._choices:
            chosen = self._choices[int(event.line.value) - 1]
            self._replace(dates.typed(chosen, self._zone))


class WeekdayPicker(TypedValue):
    """An input for weekdays: a text such as ``mon-fri``, and one check box per day."""

    def compose(self) -> ComposeResult:
        yield TextInput(
            self.value, placeholder="mon-fri, or choose below with 1-7", select_on_focus=True
        )
        marks = MultiChoice((str(day), word) for day, word in enumerate(dates.DAYS, 1))
        marks.set_reactive(MultiChoice.chosen, self._days() or frozenset())
        yield marks

    def _days(self) -> frozenset[str] | None:
        try:
            return frozenset(map(str, parse_weekdays(self.value)))
        except ValueError:
            return None

    def note_change(self) -> None:
        """Update the check boxes after the text has changed, and post :class:`Changed`."""
        if self.is_mounted and (days := self._days()) is not None:
            self.query_one(MultiChoice).chosen = days
        super().note_change()

    @on(OptionLine.Changed)
    def _marked(self, event: OptionLine.Changed) -> None:
        event.stop()
        chosen = self.query_one(MultiChoice).chosen
        self.value = format_weekdays(map(int, chosen)) if chosen else ""


class JsonEditor(TextArea):
    """A text area for JSON without line numbers, blinking or colors. Tab goes to the next field.

    Args:
        value: The JSON text.
        id: The ID of the widget.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("alt+b,alt+left,alt+ctrl+left", "cursor_word_left", "Word left", show=False),
        Binding("alt+f,alt+right,alt+ctrl+right", "cursor_word_right", "Word right", show=False),
        Binding(
            "alt+d,ctrl+delete", "delete_word_right", "Delete the word to the right", show=False
        ),
    ]

    def __init__(self, value: str = "", *, id: str | None = None) -> None:
        super().__init__(
            value,
            id=id,
            compact=True,
            soft_wrap=True,
            tab_behavior="focus",
            highlight_cursor_line=False,
            placeholder='{"key": "value"}',
        )
        self.cursor_blink = False

    def on_mount(self) -> None:
        """Put the example in parentheses if colors do not distinguish it from a value."""
        if self.app.no_color:
            self.placeholder = f"({self.placeholder})"

    @property
    def value(self) -> str:
        """The typed JSON text."""
        return self.text

    @value.setter
    def value(self, value: str) -> None:
        if value != self.text:
            self.text = value

    async def on_paste(self, event: events.Paste) -> None:
        """Paste at most :data:`PASTE` characters, without control characters."""
        event.stop()
        event.prevent_default()
        if len(event.text) > PASTE:
            self.notify(
                (
                    f"The pasted text has {len(event.text):,} characters. Only the first"
                    f" {PASTE:,} were inserted."
                ),
                title="Pasted text cut",
            )
        lines = "\n".join(event.text[:PASTE].replace("\t", "  ").splitlines())
        self.replace(clean_lines(lines), *self.selection)
