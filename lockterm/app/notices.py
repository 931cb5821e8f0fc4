"""What is said to a person: in the last line of whatever is in front, and in the message log."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import App
from textual.signal import Signal

from lockterm.domain.notices import LoggedNotice, NoticeLog
from lockterm.domain.safe_text import clean
from lockterm.widgets.key_line import KeyLine

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel
    from textual.timer import Timer

LEAST_S = {"information": 6.0, "warning": 12.0}
"""Seconds for which a notice stands at the least; an error stands until a key is pressed."""

CELLS_A_SECOND = 15
"""So fast is read what it says."""

READ_S = 2.0
"""A key takes an error off that has stood for so many seconds, or longer where there is more of it
to read: not one that was typed unseeing."""


class Notices:
    """Has what was said stand there for as long as it takes to read it.

    Args:
        app: Where it is said.
        now_ms: The time of notices.
        ask_drawn: Learns from when on keys can answer what was drawn.
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
        """All that was said."""
        self.message_kept: Signal[LoggedNotice] = Signal(app, "message kept")
        """Tells of another one in the log."""
        self._shown: LoggedNotice | None = None
        self._timer: Timer | None = None
        self._read_s = math.inf
        """From when on a key takes off the error that stands there, on the clock of events."""

    def keep(self, message: str, title: str, severity: SeverityLevel) -> LoggedNotice:
        """Add to the log what is said elsewhere; never markup: names come from outside."""
        kept = self.log.keep(severity, clean(title, 160), clean(message, 600), self._now_ms())
        self.message_kept.publish(kept)
        return kept

    def say(self, message: str, title: str, severity: SeverityLevel) -> None:
        """Show it, and add it to the log."""
        self.log.stand(self.keep(message, title, severity))
        self.show()

    def clear(self) -> None:
        """All of it is being read elsewhere."""
        self.log.clear()
        self.show()

    def note_key(self, event: events.Key | events.Paste) -> None:
        """A key that was typed after there was time to read an error takes it off; no text does."""
        focused = self._app.focused
        is_text = isinstance(event, events.Paste) or (
            focused is not None and focused.check_consume_key(event.key, event.character)
        )
        is_read = self._shown is not None and self._shown.is_error and event.time >= self._read_s
        if is_read and not is_text:
            self._take_off()

    def show(self) -> None:
        """Show what is to be read now on what is in front, which may be another screen."""
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
            if isinstance(child, KeyLine)
        ]
        for line in lines:
            line.show_notice()
        front = self._app.screen
        has_line = any(line.parent is front for line in lines)
        if self._shown is not None and front.is_modal and front.is_attached and not has_line:
            front.mount(KeyLine(self.log, is_over=True))  # a dialog has no line of keys

    def _begin(self, before: LoggedNotice | None) -> None:
        """Count the time that what is shown now stands."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if (shown := self._shown) is None:
            return
        if not shown.is_error:
            stands_s = max(LEAST_S[shown.severity], len(shown.line) / CELLS_A_SECOND)
            self._timer = self._app.set_timer(stands_s, self._take_off)
        elif before is None or before.number != shown.number:
            self._read_s = math.inf
            ask = partial(self._ask_drawn, partial(self._note_drawn, shown.number))
            self._app.call_after_refresh(ask)

    def _note_drawn(self, number: int, at_s: float) -> None:
        if self._shown is not None and self._shown.number == number:
            cells = min(len(self._shown.line), self._app.size.width)
            self._read_s = at_s + max(READ_S, cells / CELLS_A_SECOND)

    def _take_off(self) -> None:
        self.log.take_off()
        self.show()
