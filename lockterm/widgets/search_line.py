"""A find line that can search on: beyond the page that is shown."""

from __future__ import annotations

from textual.message import Message
from textual.widgets import Input

from lockterm.widgets.find_line import FindLine


class SearchLine(FindLine):
    """A find line whose enter means: search the rest too."""

    class Submitted(Message):
        """Enter was pressed."""

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Tell it instead of only going to what was found."""
        event.prevent_default()
        event.stop()
        self.post_message(self.Submitted())
