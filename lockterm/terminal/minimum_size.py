"""Replaces lockterm's screens with a sentence if the terminal is too small for them."""

from __future__ import annotations

import textwrap
from typing import Any

from textual import events
from textual.app import App
from textual.geometry import Size

from lockterm.keymap.hints import key, keys_of

SMALLEST = Size(60, 20)
"""Minimum numbers of columns and rows of a terminal, which are enough for every screen."""

_CLEAR = "\x1b[0m\x1b[2J\x1b[H"


class MinimumSize:
    """Shows a sentence instead of the screens while the terminal is too small for them.

    A dialog that is cut off could hide its subject. Behind the sentence, the screens continue
    unchanged: they keep their text and their cursor, and requests are still sent.

    Args:
        app: The app that shows the screens.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._told_at: Size | None = None
        """The size of the terminal for which the sentence is shown; None if the sentence is not
        shown."""
        self._gone_s = 0.0
        """The time when the sentence was removed, on the clock of Textual's events."""

    @property
    def is_missed(self) -> bool:
        """Whether the terminal is now too small for the screens."""
        size = self._app.size
        return size.width < SMALLEST.width or size.height < SMALLEST.height

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """Return whether a key may act; False if it was typed while the terminal was too small.

        If the result is False and the key quits lockterm, the method itself ends the app.
        """
        is_there = self.is_missed or self._told_at is not None
        if not is_there and event.time >= self._gone_s:
            return True
        quits = (*keys_of("app.quit"), *keys_of("app.quit_always"), "ctrl+c")
        if isinstance(event, events.Key) and event.key in quits:
            self._app.exit()
        return False

    def tell(self) -> bool:
        """Draw a sentence in place of the screen if the terminal is too small.

        The sentence is drawn once for each size. When the terminal grows, Textual redraws itself.

        Returns:
            Whether the sentence is shown, so that the caller must draw nothing else.
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


def _sentence(size: Size) -> list[str]:
    sentence = (
        f"lockterm needs {SMALLEST.width}x{SMALLEST.height}; this terminal has"
        f" {size.width}x{size.height}. Make it larger, or press"
        f" {key('app.quit')} to quit. Nothing is lost."
    )
    return textwrap.wrap(sentence, max(size.width - 1, 1))[: size.height]
