"""Keeps text typed for a form from acting on the screen below it.

People may still be typing when a form closes, and each letter is a command on the screen below.
Therefore, letters that arrive shortly after Esc has closed a form do nothing until the user pauses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual import events

from lockterm.keymap.hints import keys_of

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen

    from lockterm.terminal.key_queue import Typed

CLOSED_S = 1.0
"""Seconds without typing after which letters act again, after Esc has closed a form."""


class FormWall:
    """A filter that ignores letters that the user typed for a form that has just closed.

    The filter compares the times of Textual's events.

    Args:
        app: The app, whose forms are the screens with the attribute ``is_form`` set to True.
        report: A function that notifies the user, once for each form, that keys are ignored. Its
            argument is True if the form has closed, and False if a dialog asks whether to close.
    """

    def __init__(self, app: App[Any], report: Callable[[bool], None]) -> None:
        self._app = app
        self._report = report
        self._left: Screen[Any] | None = None
        """The form that the last typed key may close; None if there is no such form."""
        self._closed_s: float | None = None
        """The time of the closing or of the last ignored letter; None if no letter is ignored."""
        self._has_reported = False

    def note_screen(self, screen: Screen[Any]) -> None:
        """Start to ignore letters if a form has closed, or a dialog asks whether to close it.

        Call this for each new top screen.
        """
        if self._left is None or screen is self._left:
            return
        self._closed_s, self._has_reported = events.Event().time, False
        if self._left not in self._app.screen_stack:
            self._left = None

    def is_meant(self, event: Typed) -> bool:
        """Return whether a key or a paste was meant for the screen that would receive it now."""
        if getattr(self._app.screen, "is_form", False):
            if isinstance(event, events.Key):
                self._left = self._app.screen if _leaves(event) else None
                self._closed_s = None
            return True
        if self._closed_s is None or event.time >= self._closed_s + CLOSED_S:
            return True
        if isinstance(event, events.Key) and not event.is_printable:
            return True
        self._closed_s = max(self._closed_s, event.time)
        if not self._has_reported:
            self._has_reported = True
            self._report(self._left is None)
        return False


def _leaves(event: events.Key) -> bool:
    return event.key in ("escape", *keys_of("form.leave"), *keys_of("app.quit"))
