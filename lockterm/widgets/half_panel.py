"""One half of the voice screen: a heading, something with rows, or words in its place."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from lockterm import moments
from lockterm.keymap.spoken import said
from lockterm.text import clean
from lockterm.widgets.state_panel import Reading, StatePanel


class HalfPanel(Vertical):
    """A heading, a line that says what is stale, the rows or words.

    Args:
        heading: What the rows are.
        rows: The widget that shows them.
        below: What stands below the rows, together with them.
        id: The id of the widget.
    """

    def __init__(self, heading: str, rows: Widget, *below: Widget, id: str | None = None) -> None:
        super().__init__(id=id)
        self._heading = heading
        self._rows = rows
        self._below = below

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Static(self._heading, classes="heading", markup=False)
        stale = Static(classes="stale", markup=False)
        stale.display = False
        yield stale
        yield self._rows
        yield from self._below
        yield StatePanel()
        self._show_rows(False)

    def set_heading(self, heading: str) -> None:
        """Say what the rows are."""
        self.query_one(".heading", Static).update(clean(heading, 120))

    def show_reading(
        self, reading: Reading[Any], found: bool, words: Iterable[str], zone: tzinfo
    ) -> None:
        """Show the rows, or why there are none.

        Args:
            reading: What is known.
            found: Whether there are rows.
            words: What to say where there are none, and the next key.
            zone: For the time of what is stale.
        """
        self._show_rows(found)
        state = self.query_one(StatePanel)
        if not found:
            if reading.value is None and reading.error is not None:
                state.say_error(reading.error, said("{voice.refresh}  try again"))
            else:
                state.say(*words)
        stale = self.query_one(".stale", Static)
        stale.display = reading.kept or (reading.value is not None and reading.error is not None)
        at = moments.stamp(reading.at_ms, zone)
        if reading.kept:
            stale.update(f"OLD, as read at {at}; reading it again ...")
        elif reading.error is not None:
            again = said("{voice.refresh} tries again")
            stale.update(f"STALE, as read at {at}. {clean(reading.error.title, 60)}; {again}")

    def _show_rows(self, shown: bool) -> None:
        for widget in (self._rows, *self._below):
            widget.display = shown
        for state in self.query(StatePanel):
            state.display = not shown
