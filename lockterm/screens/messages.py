"""The notifications of this session: the line with the current one, and the screen with all."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.signal import Signal
from textual.widget import Widget
from textual.widgets import Static

from lockterm.domain import dates
from lockterm.domain.glyphs import ellipsis, notice_mark
from lockterm.domain.notices import LoggedNotice, NoticeLog
from lockterm.keymap.hints import keys_of, label
from lockterm.operations import Operations
from lockterm.screens.base import LocktermScreen
from lockterm.terminal.clipboard import copy
from lockterm.widgets.actions import bindings, is_typed
from lockterm.widgets.cells import cut
from lockterm.widgets.data_status import StatePanel
from lockterm.widgets.line_table import LineTable
from lockterm.widgets.row_table import Column, RowTable

_WORDS = {"warning": "! Warning  ", "error": "! Error  "}


class NotificationLine(Widget):
    """A widget with the current notification, above the footer or in the last line of a dialog.

    On a list, the widget covers the line that describes the table, and moves no row. In a form or a
    dialog without free lines, the area of the fields shrinks, so that the widget covers no field or
    button.

    Warnings, errors and texts with a path wrap, to at most half of the screen. For other texts, the
    widget shows only the title and the first sentence, in at most two lines. The key for the
    message log shows the rest of a text and the other notifications.

    Args:
        notices: The log of notifications.
        is_over: Whether the line belongs to a dialog, which has no footer.
    """

    class Freed(Message):
        """Posted when the notification no longer takes lines from a form or dialog."""

    COMPONENT_CLASSES = {"notification-line--warning", "notification-line--error"}

    def __init__(self, notices: NoticeLog, *, is_over: bool = False) -> None:
        super().__init__(classes="-over" if is_over else None)
        self._notices = notices
        self._is_over = is_over
        self.display = notices.shown is not None

    def show_notice(self, *, in_front: bool) -> None:
        """Show the current notification, if there is one.

        Args:
            in_front: Whether the screen of this line is at the front, so that the notification
                appears here.
        """
        self.display = in_front and self._notices.shown is not None
        self._make_room()
        self.refresh(layout=self.display)

    def on_mount(self) -> None:
        self._make_room()

    def _make_room(self) -> None:
        """Shrink the area of fields and buttons if the line would cover some of them."""
        gives_way = self.screen.is_modal or getattr(self.screen, "is_form", False)
        needs = self.display and gives_way and (self.has_class("-apart") or self._covers_any())
        if self.has_class("-apart") and not needs:
            self.post_message(self.Freed())
        self.set_class(needs, "-apart")
        if needs and (focused := self.screen.focused) is not None:
            self.call_after_refresh(focused.scroll_visible, animate=False)

    def _covers_any(self) -> bool:
        """Return whether the line covers a part of a form or dialog other than the footer."""
        width, height = self.screen.size
        free = height - len(self._lines(width)) - (0 if self._is_over else 1)
        others = (child for child in self.screen.children if child.styles.dock == "none")
        return any(other.region.bottom > free for other in others if other.display)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width)) if self._notices.shown is not None else 1

    def render(self) -> Content:
        return Content("\n").join(self._lines(self.size.width))

    def _lines(self, width: int) -> Sequence[Content]:
        """Return the lines of the current notification, each after a mark for the severity."""
        if (notice := self._notices.shown) is None:
            return ()
        lines = self._wrap(notice, width - 2)
        marked = [Content.assemble(f"{notice_mark()} ", line) for line in lines]
        if notice.severity not in _WORDS:
            return marked
        style = self.get_visual_style(f"notification-line--{notice.severity}")
        padded = (line.pad_right(max(width - line.cell_length, 0)) for line in marked)
        return [line.stylize_before(style) for line in padded]

    def _wrap(self, notice: LoggedNotice, width: int) -> list[Content]:
        """Return the lines of a notification.

        If there is more to show, the last line ends with the key that shows it.
        """
        what, text, width = notice.what, notice.text, max(width, 2)
        others, key = self._notices.more, self._messages_key()
        hint = f"{label(key)} {f'{others:,} more' if others else 'more'}" if key else ""
        room = width - len(hint) - 2 if hint else width
        most = max(self.app.size.height // 2, 1)
        if notice.severity not in _WORDS and "/" not in notice.line:
            most = 2
            if cell_len(notice.line) > (room if others else width):
                what, text = _shorten(what, text, room)
        said = f": {text}" if what and text else text
        lines = Content.assemble(_WORDS.get(notice.severity, ""), (what, "bold"), said).wrap(width)
        is_cut = len(lines) > most
        if not others and not is_cut and (what, text) == (notice.what, notice.text):
            hint = ""
        if hint and not is_cut and lines[-1].cell_length > room:
            lines.append(Content(""))
            is_cut = len(lines) > most
        if is_cut:
            lines = [*lines[: most - 1], lines[most - 1].truncate(room - 1).rstrip() + ellipsis()]
        if hint:
            gap = " " * (width - lines[-1].cell_length - len(hint))
            lines[-1] = Content.assemble(lines[-1], gap, hint)
        return lines

    def _messages_key(self) -> str:
        """Return the key that shows all notifications; empty if no key shows them here."""
        if self._is_over:  # a dialog swallows the app's keys except those that are never text
            return next((key for key in keys_of("app.messages") if len(key) > 1), "")
        for _, binding, *_ in self.screen.active_bindings.values():
            if binding.id == "app.messages" and not is_typed(self.screen, binding):
                return binding.key if label(binding.key) else ""
        return ""

    def on_click(self, event: events.Click) -> None:
        event.stop()
        if key := self._messages_key():
            self.app.simulate_key(key)


def _shorten(what: str, text: str, room: int) -> tuple[str, str]:
    """Return a title and a text that contain the whole first sentence, which is the main part.

    If the title and the first sentence fit into one line of ``room`` cells, the other sentences are
    left out. Otherwise, the text takes a second line, and the title at most the first line.
    """
    end = text.find(". ") + 1
    first = f"{text[:end]} {ellipsis()}" if end else text
    fits = cell_len(what) + len(": ") + cell_len(first) <= room
    return (what, first) if fits else (cut(what, room), text)


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
