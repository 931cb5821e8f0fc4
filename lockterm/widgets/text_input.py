"""A one-line field that is quiet: no blinking cursor, nothing unseen in what is pasted."""

from __future__ import annotations

from textual import events
from textual.binding import Binding
from textual.widgets import Input

from lockterm.text import clean

PASTE = 2000
"""The most characters that a paste may bring into a field."""


class TextInput(Input):
    """An ``Input`` of one line; up and down leave it, for there is nothing to do with them inside.

    Args:
        value: What stands in it at first.
        placeholder: Shown while it is empty.
        id: The id of the widget.
        select_on_focus: Typing replaces what stands there, until the cursor is moved.
    """

    BINDINGS = [
        Binding("up", "app.focus_previous", "previous field", show=False, id="field.previous"),
        Binding("down,enter", "app.focus_next", "next field", show=False, id="field.next"),
    ]

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        id: str | None = None,
        select_on_focus: bool = False,
    ) -> None:
        super().__init__(
            value,
            placeholder=placeholder,
            id=id,
            compact=True,
            select_on_focus=select_on_focus,
        )
        self.cursor_blink = False

    def _on_paste(self, event: events.Paste) -> None:
        """Take the first line, without control characters, and not without end."""
        event.stop()
        event.prevent_default()
        line = next((line for line in event.text.splitlines() if line.strip()), "")
        if len(line) > PASTE:
            self.notify(
                f"The paste had {len(line):,} characters: the first {PASTE:,} were taken.",
                title="Paste cut",
                markup=False,
            )
        selection = self.selection
        text = clean(line[:PASTE].replace("\t", " "))
        if selection.is_empty:
            self.insert_text_at_cursor(text)
        else:
            self.replace(text, *selection)
