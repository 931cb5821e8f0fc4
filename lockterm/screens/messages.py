"""The notices of this session, to be read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widgets import DataTable, Static

from lockterm import moments
from lockterm.operations import Operations
from lockterm.screens.base import LocktermScreen
from lockterm.widgets.clipboard import copy
from lockterm.widgets.row_table import Column, RowTable
from lockterm.widgets.state_panel import StatePanel

SEVERITIES = {"information": "notice", "warning": "warning", "error": "error"}
"""Textual's word -> the one that is shown."""


class Message(Protocol):
    """A notice as the app kept it; its strings are clean."""

    @property
    def at_ms(self) -> int:
        """When it was shown."""

    @property
    def severity(self) -> str:
        """Textual's word for how bad it is."""

    @property
    def title(self) -> str:
        """What happened, in a few words."""

    @property
    def text(self) -> str:
        """What it means and what to do."""


class MessagesScreen(LocktermScreen[None]):
    """The newest notice first; the whole text of the one under the cursor below.

    Args:
        operations: The one door to service and store.
        messages: The notices of this session, the oldest first.
    """

    BINDINGS = [
        Binding("y", "copy", "copy", id="messages.copy", tooltip="Copy the whole message"),
        Binding("escape,q,f2,M", "close", "close", id="messages.close"),
    ]

    def __init__(self, operations: Operations, messages: Sequence[Message]) -> None:
        super().__init__(operations)
        self._messages = list(reversed(messages))

    def crumbs(self) -> tuple[str, ...]:
        """Reached from everywhere."""
        return ("Messages",)

    def compose_body(self) -> ComposeResult:
        """The table, and the whole text of one message."""
        yield RowTable(
            Column("Time", most=26),
            Column("Kind", most=7, least=7),
            Column("Message", most=200, least=20),
            id="messages",
        )
        with VerticalScroll(id="message-whole", can_focus=False):
            yield Static(id="message-text", markup=False)
        yield StatePanel()

    def on_mount(self) -> None:
        """Show them."""
        zone = self.operations.profile.zone
        rows = {
            str(index): (
                moments.stamp(message.at_ms, zone),
                SEVERITIES.get(message.severity, message.severity),
                ": ".join(filter(None, (message.title, message.text))),
            )
            for index, message in enumerate(self._messages)
        }
        table = self.query_one(RowTable)
        table.show(rows)
        table.display = bool(rows)
        self.query_one("#message-whole").display = bool(rows)
        state = self.query_one(StatePanel)
        state.display = not rows
        if rows:
            table.focus()
            self._show_whole()
        else:
            state.say(
                "No messages yet.\n\nEvery notice of this session is kept here: what was"
                " recorded, what was refused and why.",
                "esc  close",
            )

    @property
    def _current(self) -> Message | None:
        key = self.query_one(RowTable).highlighted
        return self._messages[int(key)] if key is not None else None

    @on(DataTable.RowHighlighted)
    def _show_whole(self) -> None:
        if message := self._current:
            whole = "\n".join(filter(None, (message.title, message.text)))
            self.query_one("#message-text", Static).update(whole)

    def why_not(self, action: str) -> str:
        """Copying needs a message."""
        return "There are no messages yet." if action == "copy" and not self._messages else ""

    def action_copy(self) -> None:
        """Copy the message under the cursor."""
        if message := self._current:
            at = moments.stamp(message.at_ms, self.operations.profile.zone, exact=True)
            kind = SEVERITIES.get(message.severity, message.severity)
            copy(self.app, f"{at} {kind}: {message.title}: {message.text}", "message")

    def action_close(self) -> None:
        """Go back."""
        self.dismiss()
