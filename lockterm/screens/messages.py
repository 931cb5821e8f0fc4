"""The screen with the notifications of this session."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.signal import Signal
from textual.widgets import Static

from lockterm.domain import dates
from lockterm.domain.notices import LoggedNotice
from lockterm.operations import Operations
from lockterm.screens.base import LocktermScreen
from lockterm.terminal.clipboard import copy
from lockterm.widgets.actions import bindings
from lockterm.widgets.data_status import StatePanel
from lockterm.widgets.line_table import LineTable
from lockterm.widgets.row_table import Column, RowTable

SEVERITIES = {"information": "notice", "warning": "warning", "error": "error"}
"""Maps Textual's severities to labels."""


class MessagesScreen(LocktermScreen[None]):
    """The screen with the notifications, the newest first.

    Below the list, the screen shows the whole text of the selected notification.

    Args:
        operations: The operations on the service and the local store.
        messages: The notifications of this session, the oldest first.
        message_kept: A signal that is sent when a notification is added.
    """

    BINDINGS = bindings("messages")

    def __init__(
        self,
        operations: Operations,
        messages: Sequence[LoggedNotice],
        message_kept: Signal[LoggedNotice],
    ) -> None:
        super().__init__(operations)
        self._messages = messages
        self._message_kept = message_kept

    def breadcrumbs(self) -> tuple[str, ...]:
        return ("Messages",)

    def compose_body(self) -> ComposeResult:
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
        """Show the messages, and remove the notification above the footer."""
        self.app.clear_notifications()
        self._show_messages()
        self._message_kept.subscribe(self, lambda _: self._show_messages())

    def on_unmount(self) -> None:
        """Unsubscribe from the signal, which would keep the closed screen in memory."""
        self._message_kept.unsubscribe(self)

    def _show_messages(self) -> None:
        """Show all messages. The same message stays selected."""
        zone, now_ms = self.operations.profile.zone, self.operations.machine_ms()
        rows = {
            str(message.number): (
                dates.recent(message.at_ms, zone, now_ms),
                SEVERITIES.get(message.severity, message.severity),
                message.line,
            )
            for message in reversed(self._messages)
        }
        table = self.query_one(RowTable)
        table.show(rows)
        table.show_titles([f"Messages {len(rows):,}"])
        table.display = bool(rows)
        self.query_one("#message-whole").display = bool(rows)
        state = self.query_one(StatePanel)
        state.display = not rows
        if rows:
            table.focus()
            self._show_whole()
        else:
            state.say(
                "No messages yet.\n\nThis list keeps every notification of this session.",
                {"Esc": "close"},
            )

    @property
    def _current(self) -> LoggedNotice | None:
        key = self.query_one(RowTable).highlighted
        return next((one for one in self._messages if str(one.number) == key), None)

    @on(LineTable.Moved)
    def _show_whole(self) -> None:
        if message := self._current:
            whole = "\n".join(filter(None, (message.what, message.text)))
            self.query_one("#message-text", Static).update(whole)

    def disabled_reason(self, action: str) -> str:
        """Return why copying is disabled if there are no messages; empty if it is enabled."""
        return "There are no messages yet." if action == "copy" and not self._messages else ""

    def action_copy(self) -> None:
        if message := self._current:
            at = dates.day_time(message.at_ms, self.operations.profile.zone)
            kind = SEVERITIES.get(message.severity, message.severity)
            copy(self.app, f"{at} {kind}: {message.line}", "message")

    def action_close(self) -> None:
        self.dismiss()
