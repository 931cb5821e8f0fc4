"""Notifications, which appear above the footer of the active screen and stay in the message log."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

from textual import events
from textual.app import App
from textual.signal import Signal

from lockterm.domain.notices import LoggedNotice, NoticeLog
from lockterm.domain.safe_text import clean
from lockterm.widgets.header_footer import NotificationLine

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel
    from textual.screen import Screen
    from textual.timer import Timer

LEAST_S = {"information": 6.0, "warning": 12.0}
"""Minimum seconds for which a notification is shown, by severity. An error is shown until a key is
pressed."""

CELLS_A_SECOND = 15
"""Reading speed of users, in characters per second."""

READ_S = 2.0
"""Minimum seconds for which an error is shown before a key can remove it.

A key that was typed before the user could read the error does not remove it.
"""


class Notices:
    """The notifications, each of which is shown long enough to be read.

    A notification belongs to the screen on which it was first shown, and to the dialogs on top of
    this screen. Most notifications disappear with their screen. Only an error remains until the
    user has read it.

    Args:
        app: The app that shows the notifications.
        now_ms: A function that returns the current time in milliseconds.
        ask_drawn: A function that calls its argument when the terminal shows the current frame.
    """

    def __init__(
        self,
        app: App[Any],
        now_ms: Callable[[], int],
        ask_drawn: Callable[[Callable[[float], None]], None],
    ) -> None:
        self._app = app
        self._now_ms = now_ms
        self._ask_drawn = ask_drawn
        self.log = NoticeLog()
        """Every notification of this session."""
        self.message_kept: Signal[LoggedNotice] = Signal(app, "message kept")
        """A signal that is sent for each new entry in the message log."""
        self._shown: LoggedNotice | None = None
        self._homes: dict[int, ref[Screen[Any]]] = {}
        """Maps the numbers of unread notifications to the screens on which they were first
        shown."""
        self._timer: Timer | None = None
        self._read_s = math.inf
        """The time from which a key removes the current error, in seconds on the clock of key
        events."""

    def keep(self, message: str, title: str, severity: SeverityLevel) -> LoggedNotice:
        """Add a message to the log without showing it, and return its entry in the log."""
        entry = self.log.keep(severity, clean(title, 160), clean(message, 600), self._now_ms())
        self.message_kept.publish(entry)
        return entry

    def say(self, message: str, title: str, severity: SeverityLevel) -> None:
        """Show a notification and add it to the log."""
        notice = self.keep(message, title, severity)
        self.log.stand(notice)
        self._homes.pop(notice.number, None)
        # A form reports its result and closes before the next frame. The notification then belongs
        # to the screen below.
        self._app.call_after_refresh(self._note_homes)
        self.show()

    def clear(self) -> None:
        """Remove all notifications from the screen, but keep them in the log."""
        self.log.clear()
        self.show()

    def note_key(self, event: events.Key | events.Paste) -> None:
        """Remove the current error if the user had time to read it before this key.

        Keys that type text into a field do not remove the error.
        """
        focused = self._app.focused
        is_text = isinstance(event, events.Paste) or (
            focused is not None and focused.check_consume_key(event.key, event.character)
        )
        is_read = self._shown is not None and self._shown.is_error and event.time >= self._read_s
        if is_read and not is_text:
            self._take_off()

    def show(self) -> None:
        """Show the current notification on the active screen, which may have changed."""
        self._leave()
        before, self._shown = self._shown, self.log.shown
        if self._shown is not before:
            self._begin(before)
        elif self._shown is None:
            return
        if not self._app.is_running or not self._app.screen_stack:
            return
        lines = [
            child
            for screen in self._app.screen_stack
            for child in screen.children
            if isinstance(child, NotificationLine)
        ]
        front = self._app.screen
        for line in lines:
            line.show_notice(in_front=line.parent is front)
        has_line = any(line.parent is front for line in lines)
        # Once the app was told to exit, the screen is not attached, and Textual mounts nothing.
        is_open = front.is_running and front.is_attached
        if self._shown is not None and is_open and not has_line:
            front.mount(NotificationLine(self.log, is_over=front.is_modal))

    @property
    def _screen(self) -> Screen[Any] | None:
        """The full screen below all open dialogs; None if there is none."""
        stack = self._app.screen_stack if self._app.is_running else ()
        return next((screen for screen in reversed(stack) if not screen.is_modal), None)

    def _note_homes(self) -> None:
        unread = {notice.number for notice in self.log.unread}
        self._homes = {number: home for number, home in self._homes.items() if number in unread}
        if (screen := self._screen) is not None:
            for number in unread - {*self._homes}:
                self._homes[number] = ref(screen)

    def _leave(self) -> None:
        """Remove notifications of screens that are no longer active, except errors."""
        screen = self._screen
        for notice in self.log.unread:
            home = self._homes.get(notice.number)
            if home is not None and home() is not screen and not notice.is_error:
                self.log.drop(notice)

    def _begin(self, before: LoggedNotice | None) -> None:
        """Start the timer that removes the current notification.

        An error has no timer. Instead, its reading time starts when the terminal has shown it.

        Args:
            before: The notification that was shown until now; None if there was none.
        """
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if (shown := self._shown) is None:
            return
        if not shown.is_error:
            shown_s = max(LEAST_S[shown.severity], len(shown.line) / CELLS_A_SECOND)
            self._timer = self._app.set_timer(shown_s, self._take_off)
        elif before is None or before.number != shown.number:
            self._read_s = math.inf
            ask = partial(self._ask_drawn, partial(self._note_drawn, shown.number))
            self._app.call_after_refresh(ask)

    def _note_drawn(self, number: int, at_s: float) -> None:
        if self._shown is not None and self._shown.number == number:
            self._read_s = at_s + max(READ_S, len(self._shown.line) / CELLS_A_SECOND)

    def _take_off(self) -> None:
        self.log.take_off()
        self.show()
