"""A few lines of JSON to edit."""

from __future__ import annotations

from textual import events
from textual.widgets import TextArea

from lockterm.text import clean_lines

PASTE = 64 * 1024
"""The most characters that a paste may bring: the size at which services stop reading."""


class JsonEditor(TextArea):
    """A text area without line numbers, blinking and colours; tab leaves it.

    Args:
        value: The JSON text.
        id: The id of the widget.
    """

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

    @property
    def value(self) -> str:
        """The text."""
        return self.text

    @value.setter
    def value(self, value: str) -> None:
        if value != self.text:
            self.text = value

    async def _on_paste(self, event: events.Paste) -> None:
        """Take the lines without control characters, and not without end."""
        event.stop()
        event.prevent_default()
        if len(event.text) > PASTE:
            self.notify(
                f"The paste had {len(event.text):,} characters: the first {PASTE:,} were taken.",
                title="Paste cut",
                markup=False,
            )
        lines = "\n".join(event.text[:PASTE].replace("\t", "  ").splitlines())
        self.replace(clean_lines(lines), *self.selection)
