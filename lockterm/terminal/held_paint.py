"""What follows from a change is painted together with it, where it comes soon.

Each paint of a screen takes several milliseconds, and each layout as many.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.screen import Screen

HELD_S = 0.05
"""So long, in seconds, at the most: nobody sees that something is painted so late."""

_held: dict[Screen[Any], asyncio.TimerHandle] = {}


def hold_paint(screen: Screen[Any]) -> None:
    """Have a screen painted only once that is released, or later by :data:`HELD_S`."""
    if screen not in _held:
        loop = asyncio.get_running_loop()
        _held[screen] = loop.call_later(HELD_S, release_paint, screen)


def release_paint(screen: Screen[Any]) -> None:
    """Paint what has changed since a paint was held; where none is, nothing has to be done."""
    if (timer := _held.pop(screen, None)) is not None:
        timer.cancel()
        screen.check_idle()


def is_held(screen: Screen[Any]) -> bool:
    """Whether a screen is not to be painted yet."""
    return screen in _held
