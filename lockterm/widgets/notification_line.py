"""The line above the footer that shows a notification."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from lockterm.domain.glyphs import ellipsis, notice_mark
from lockterm.domain.notices import LoggedNotice, NoticeLog
from lockterm.keymap.hints import keys_of, written
from lockterm.widgets.actions import is_typed
from lockterm.widgets.cells import cut

_WORDS = {"warning": "! Warning  ", "error": "! Error  "}


class NotificationLine(Widget):
    """A widget with the current notification, above the footer or in the last line of a dialog.

    The widget covers the line that describes the table, and moves no row. Warnings, errors and
    texts with a path wrap, to at most half of the screen. Other texts have one line, so that they
    do not cover rows. A key shows the rest of a text and the other notifications.

    Args:
        notices: The log of notifications.
        is_over: Whether the line belongs to a dialog, which has no footer.
    """

    COMPONENT_CLASSES = {"notification-line--warning", "notification-line--error"}

    def __init__(self, notices: NoticeLog, *, is_over: bool = False) -> None:
        super().__init__(classes="-over" if is_over else None)
        self._notices = notices
        self._is_over = is_over
        self.display = notices.shown is not None

    def show_notice(self, *, in_front: bool) -> None:
        """Show the current notification, if there is one.

        Args:
            in_front: Whether no dialog or screen covers this one, so that the notification appears
                here.
        """
        self.display = in_front and self._notices.shown is not None
        self.refresh(layout=self.display)

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
        """Return the lines of a notification; the last one ends with the key that shows more."""
        most, what = max(self.app.size.height // 2, 1), notice.what
        if notice.severity not in _WORDS and "/" not in notice.line:
            most = 1
            if (
                notice.text and cell_len(notice.line) > width
            ):  # the result after a name matters more
                what = cut(what, width // 2)
        text = f": {notice.text}" if what and notice.text else notice.text
        whole = Content.assemble(_WORDS.get(notice.severity, ""), (what, "bold"), text)
        lines = [whole] if most == 1 else whole.wrap(max(width, 2))
        others, key, hint = self._notices.more, self._messages_key(), ""
        is_cut = len(lines) > most or lines[-1].cell_length > width
        if key and (others or is_cut):
            hint = f"{written(key)} {f'{others:,} more' if others else 'more'}"
        room = width - len(hint) - 2 if hint else width
        if is_cut or (most == 1 and lines[-1].cell_length > room):
            lines = [*lines[: most - 1], lines[most - 1].truncate(room - 1).rstrip() + ellipsis()]
        elif hint and lines[-1].cell_length > room:
            lines.append(Content(""))
        if hint:
            gap = " " * (width - lines[-1].cell_length - len(hint))
            lines[-1] = Content.assemble(lines[-1], gap, hint)
        return lines

    def _messages_key(self) -> str:
        """Return the key that shows all notifications; empty if no key does this here."""
        if self._is_over:  # a dialog swallows the app's keys except those that are never text
            return next((key for key in keys_of("app.messages") if len(key) > 1), "")
        for _, binding, *_ in self.screen.active_bindings.values():
            if binding.id == "app.messages" and not is_typed(self.screen, binding):
                return binding.key if written(binding.key) else ""
        return ""

    def on_click(self, event: events.Click) -> None:
        event.stop()
        if key := self._messages_key():
            self.app.simulate_key(key)
