"""On a terminal too small for its screens an app says so, and does nothing else."""

from __future__ import annotations

import textwrap
from typing import Any

from textual import events
from textual.app import App
from textual.geometry import Size

from lockterm.keymap.hints import key, keys_of

SMALLEST = Size(60, 20)
"""Columns and rows that every screen fits into."""

_CLEAR = "\x1b[0m\x1b[2J\x1b[H"


class MinimumSize:
    """Has screens shown whole or not at all.

    A dialog that is cut off may hide what it is about. The screens go on behind the sentence,
    untouched: what is typed, where the cursor is, what is being sent.

    Args:
        app: Whose screens they are.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._told_at: Size | None = None
        """The size for which the sentence is shown; None if it is not shown."""
        self._gone_s = 0.0
        """Since when it does not, on the clock of Textual's events."""

    @property
    def is_missed(self) -> bool:
        """Whether the terminal has no room for the screens."""
        size = self._app.size
        return size.width < SMALLEST.width or size.height < SMALLEST.height

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Return whether a key may act: in a terminal that is too small, only quitting may."""
        is_there = self.is_missed or self._told_at is not None
        if not is_there and event.time >= self._gone_s:
            return True
        if isinstance(event, events.Key) and event.key in _quits():
            self._app.exit()
        return False

    def tell(self) -> bool:
        """Draw the sentence, once, in place of the screen; Textual draws all of it when it grows.

        Returns:
            Whether the sentence is shown, so that nothing else is drawn.
        """
        size, driver = self._app.size, self._app._driver
        if not self.is_missed:
            if self._told_at is not None:
                self._told_at, self._gone_s = None, events.Event().time
            return False
        if self._told_at != size and driver is not None:
            self._told_at = size
            driver.write(_CLEAR + "\r\n".join(_sentence(size)))
        return True


def _quits() -> tuple[str, ...]:
    return (*keys_of("app.quit"), *keys_of("app.quit_always"), "ctrl+c")


def _sentence(size: Size) -> list[str]:
    words = (
        f"lockterm needs {SMALLEST.width}x{SMALLEST.height}; this terminal has"
        f" {size.width}x{size.height}. Make it larger, or press"
        f" {key('app.quit')} to quit. Nothing is lost."
    )
    return textwrap.wrap(words, max(size.width - 1, 1))[: size.height]
