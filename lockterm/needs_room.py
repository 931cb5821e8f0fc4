"""On a terminal too small for its screens an app says so, and does nothing else."""

from __future__ import annotations

import textwrap

from textual import events
from textual.app import ReturnType
from textual.geometry import Size
from textual.screen import Screen

from lockterm.changed_cells import ChangedCells
from lockterm.keymap.spoken import key, keys_of

SMALLEST = Size(60, 20)
"""Columns and rows that every screen fits into."""

_CLEAR = "\x1b[0m\x1b[2J\x1b[H"


class NeedsRoom(ChangedCells[ReturnType]):
    """An app whose screens are whole or not shown at all.

    A dialog that is cut off may hide what it is about. The screens go on behind the sentence,
    untouched: what is typed, where the cursor is, what is being sent.
    """

    _told_at: Size | None = None
    """The size at which the sentence was drawn last."""

    @property
    def is_too_small(self) -> bool:
        """Whether the terminal has no room for the screens."""
        return self.size.width < SMALLEST.width or self.size.height < SMALLEST.height

    def is_meant(self, event: events.Key | events.Paste) -> bool:
        """No key acts on what cannot be seen, but the one that quits."""
        if not self.is_too_small:
            return super().is_meant(event)
        if isinstance(event, events.Key) and event.key in _quits():
            self.exit()
        return False

    async def on_event(self, event: events.Event) -> None:
        """No click acts on what cannot be seen."""
        if not (self.is_too_small and isinstance(event, events.MouseEvent)):
            await super().on_event(event)

    def _display(self, screen: Screen[object], renderable: object) -> None:
        """Draw the sentence once instead of the screen; Textual draws all of it when it grows."""
        if not self.is_too_small:
            self._told_at = None
            super()._display(screen, renderable)
        elif self._told_at != self.size and self._driver is not None:
            self._told_at = self.size
            self._driver.write(_CLEAR + "\r\n".join(_sentence(self.size)))


def _quits() -> tuple[str, ...]:
    return (*keys_of("app.quit"), *keys_of("app.quit_always"), "ctrl+c")


def _sentence(size: Size) -> list[str]:
    words = (
        f"lockterm needs {SMALLEST.width}x{SMALLEST.height}; this terminal has"
        f" {size.width}x{size.height}. Make it larger, or press"
        f" {key('app.quit')} to quit. Nothing is lost."
    )
    return textwrap.wrap(words, max(size.width - 1, 1))[: size.height]
