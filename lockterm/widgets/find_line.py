"""The search field of a screen with rows."""

from __future__ import annotations

from textual import events
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label

from lockterm.domain.names import fold_text
from lockterm.terminal.key_queue import when_idle
from lockterm.widgets.actions import bindings
from lockterm.widgets.text_input import SingleLineInput


class FindLine(Horizontal):
    """A search field. By default, it is visible only during a search.

    Args:
        stays: Whether the field is always visible. If so, Esc first clears the text, and leaves the
            field only if it is empty.
    """

    BINDINGS = bindings("find")

    class Changed(Message):
        """Posted when the search text has changed. An empty text ends the search."""

        def __init__(self, find_line: FindLine, value: str) -> None:
            super().__init__()
            self.find_line = find_line
            self.value = value

        @property
        def control(self) -> FindLine:
            return self.find_line

    class Left(Message):
        """Posted when the user leaves the field to go to the results."""

    class Submitted(Message):
        """Posted when the user presses Enter, so that unloaded rows may be searched, too."""

    class GivenUp(Message):
        """Posted when the user presses Esc in an empty field that is always visible."""

    def __init__(self, *, stays: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.display = self._stays = stays
        self._field: SingleLineInput | None = None

    @property
    def value(self) -> str:
        return self._field.value.strip() if self._field else ""

    def types(self, event: events.Key) -> bool:
        """Return whether a key edits the search text. Such a key need not wait for results."""
        return self.has_focus_within and (event.is_printable or event.key == "backspace")

    def on_mount(self) -> None:
        when_idle(self, self._with_field)

    def open(self) -> None:
        self.display = True
        self._with_field().focus()

    def _with_field(self) -> SingleLineInput:
        """Return the text field, and create it first if it was not created in advance."""
        if self._field is None:
            self._field = SingleLineInput(compact=True, max_length=200)
            self._field.cursor_blink = False
            self.mount(Label("Find:"), self._field)
        return self._field

    def action_leave(self) -> None:
        """Go to the results, and hide the field if it is empty."""
        if not self.value:
            self.display = self._stays
        self.post_message(self.Left())

    def action_close(self) -> None:
        if self._stays:
            if self._field and self._field.value:
                self._field.value = ""
            else:
                self.post_message(self.GivenUp())
            return
        self.display = False
        if self._field:
            self._field.value = ""
        self.post_message(self.Left())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_leave()
        self.post_message(self.Submitted())

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(self, event.value.strip()))


def matches(words: str, *fields: object) -> bool:
    """Return whether each word in ``words`` occurs in one of the fields; see :func:`fold_text`."""
    text = fold_text("\n".join(str(field) for field in fields))
    return all(word in text for word in fold_text(words).split())
