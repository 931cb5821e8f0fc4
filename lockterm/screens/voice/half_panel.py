"""One half of the voice screen: a heading, something with rows, or words in its place."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from lockterm.domain import dates
from lockterm.domain.safe_text import clean
from lockterm.keymap.hints import with_keys
from lockterm.operations.load_state import LoadState
from lockterm.widgets.state_panel import StatePanel, in_a_line


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

    def show_state(
        self, state: LoadState[Any], found: bool, words: Iterable[str], zone: tzinfo
    ) -> None:
        """Show the rows, or why there are none.

        Args:
            state: What is known.
            found: Whether there are rows.
            words: What to say where there are none, and the next key.
            zone: For the time of what is stale.
        """
        self._show_rows(found)
        panel = self.query_one(StatePanel)
        if not found:
            if state.seen is None and state.error is not None:
                panel.say_error(state.error, with_keys("{voice.refresh}  try again"))
            else:
                panel.say(*words)
        stale = self.query_one(".stale", Static)
        stale.display = state.seen is not None and state.stale
        if state.seen is None:
            return
        at = dates.day_time(state.seen.at_ms, zone, exact=False)
        if state.error is not None:
            again = with_keys("{voice.refresh} tries again")
            stale.update(f"STALE, as read at {at}. {in_a_line(state.error)[0]}; {again}")
        elif state.kept:
            stale.update(f"OLD, as read at {at}; reading it again ...")

    def _show_rows(self, shown: bool) -> None:
        for widget in (self._rows, *self._below):
            widget.display = shown
        for state in self.query(StatePanel):
            state.display = not shown
