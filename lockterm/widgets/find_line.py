"""The line in which one types to find."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label


class FindLine(Horizontal):
    """A field that is only there while something is searched for."""

    BINDINGS = [
        Binding("down", "leave", "to what was found", show=False, id="find.leave"),
        Binding("escape", "close", "show all", id="find.close"),
    ]

    class Changed(Message):
        """What is searched for has changed; an empty string searches for nothing."""

        def __init__(self, find_line: FindLine, value: str) -> None:
            super().__init__()
            self.find_line = find_line
            self.value = value

        @property
        def control(self) -> FindLine:
            """The line that changed."""
            return self.find_line

    class Left(Message):
        """The person is done typing and wants to go to what was found."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.display = False

    def compose(self) -> ComposeResult:
        """A word and the field."""
        yield Label("Find:")
        yield Input(compact=True, max_length=200)

    @property
    def value(self) -> str:
        """What is searched for; empty: nothing."""
        return self.query_one(Input).value.strip()

    def open(self) -> None:
        """Show the line and type into it."""
        self.display = True
        self.query_one(Input).focus()

    def action_leave(self) -> None:
        """Go to what was found; an empty line goes away."""
        if not self.value:
            self.display = False
        self.post_message(self.Left())

    def action_close(self) -> None:
        """Search for nothing again."""
        self.display = False
        self.query_one(Input).value = ""
        self.post_message(self.Left())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter goes to what was found."""
        event.stop()
        self.action_leave()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell what is searched for now."""
        event.stop()
        self.post_message(self.Changed(self, event.value.strip()))


def matches(words: str, *fields: object) -> bool:
    """Whether every word that was typed is somewhere in the fields, whatever its case."""
    text = "\n".join(str(field) for field in fields).casefold()
    return all(word in text for word in words.casefold().split())
