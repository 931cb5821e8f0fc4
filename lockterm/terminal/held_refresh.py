"""What a key changes is laid out and painted once, when all that it leads to at once is done.

Textual lays out and paints as soon as the screen itself has nothing left to do, which is between
any two of the messages that a key leads to: a line goes, the focus moves, rows come, each with a
layout and a picture of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

if TYPE_CHECKING:
    from textual.app import App

HELD_S = 0.05
"""So long, in seconds, a picture waits for what a key leads to: nobody sees that it does."""

_update = Screen._on_timer_update
_paint = Screen._compositor_refresh
_call_back = Screen._invoke_and_clear_callbacks


class HeldRefresh:
    """Holds back layouts and paints, and what is to be called after them.

    Args:
        app: Whose screens they are of.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._until_s = 0.0
        """Until when they are held, on the clock of the event loop."""
        self._screens: dict[Screen[Any], None] = {}

    @property
    def is_any(self) -> bool:
        """Whether something is held back."""
        return bool(self._screens)

    def begin(self, over: Callable[[], None]) -> None:
        """Hold back what comes from now on.

        Args:
            over: Called when that takes too long.
        """
        loop = asyncio.get_running_loop()
        self._until_s = loop.time() + HELD_S
        loop.call_at(self._until_s, over)

    def end(self) -> None:
        """Hold back nothing any more."""
        self._until_s = 0.0
        self.let_go()

    def holds(self, screen: Screen[Any]) -> bool:
        """Whether the refresh of a screen has to wait; it is remembered."""
        if asyncio.get_running_loop().time() < self._until_s:
            self._screens[screen] = None
        return screen in self._screens

    def has(self, screen: Screen[Any]) -> bool:
        """Whether something of a screen is held back."""
        return screen in self._screens

    def let_go(self) -> None:
        """Lay out and paint what was held back; what comes of that may be held again."""
        app = self._app
        top = app.screen if app.is_running and app.screen_stack else None
        # The one on top comes last: those below it have it painted for them.
        for screen in sorted(self._screens, key=lambda one: one is top):
            if top is None or not screen.is_attached:
                del self._screens[screen]
                continue
            with screen._context():
                _update(screen)  # still held, it does not paint
                del self._screens[screen]
                _paint(screen)


def _held_of(screen: Screen[Any]) -> HeldRefresh:
    """What holds back its refresh; in an app without one, nothing is held."""
    app = screen.app
    return getattr(app, "held_refresh", None) or HeldRefresh(app)


def _update_later(self: Screen[Any]) -> None:
    if _held_of(self).holds(self):
        self._update_timer.pause()
    else:
        _update(self)


def _paint_later(self: Screen[Any]) -> None:
    if not _held_of(self).holds(self):
        _paint(self)


async def _call_back_later(self: Screen[Any]) -> None:
    if not _held_of(self).has(self):
        await _call_back(self)


def patch_refresh() -> None:
    """Have the screens ask; Textual asks nobody."""
    Screen._on_timer_update = _update_later  # type: ignore[method-assign]
    Screen._compositor_refresh = _paint_later  # type: ignore[method-assign]
    Screen._invoke_and_clear_callbacks = _call_back_later  # type: ignore[method-assign]
