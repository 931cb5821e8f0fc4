"""Runs preparations for later keys while no key is pressed.

Without preparation, the first key that needs a module or a widget would wait until the module is
imported, or the widget is created, mounted and styled.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, cast

from lockterm.terminal import startup

if TYPE_CHECKING:
    from textual.app import App
    from textual.widget import Widget

QUIET_S = 0.2
"""Seconds without a key before preparation starts. Pauses between typed keys are usually
shorter."""

REST_S = 1.0
"""Seconds without a key before a full garbage collection."""


class Idle:
    """A queue of preparations that runs one preparation in each pause of typing.

    A headless app runs no preparations.

    Args:
        app: The app that receives the keys.
        is_busy: A function that returns whether a key is being handled or a screen is opening.
    """

    def __init__(self, app: App[Any], is_busy: Callable[[], bool]) -> None:
        self._app = app
        self._is_busy = is_busy
        self._due: deque[tuple[Widget, Callable[[], object]]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, node: Widget, act: Callable[[], object]) -> None:
        """Queue an action for a widget; the action does not run if the widget is closed before.

        Args:
            node: The widget.
            act: An action that is quick and sends nothing.
        """
        # Drop actions of closed widgets, because fast typing leaves no pause, and the actions would
        # keep closed screens alive.
        self._due = deque(due for due in self._due if due[0].is_attached)
        self._due.append((node, act))
        self.wait()

    def wait(self) -> None:
        """Start to wait for a pause again.

        The app calls this method for each key.
        """
        if self._timer is not None:
            self._timer.cancel()
        if not self._app.is_headless:
            later = (QUIET_S, self._look) if self._due else (REST_S, self._rest)
            self._timer = asyncio.get_running_loop().call_later(*later)

    def _look(self) -> None:
        if self._is_busy() or not startup.is_finished():
            self.wait()
        elif self._app.is_running:
            self.do_next()

    def _rest(self) -> None:
        if startup.is_finished() and not self._is_busy():
            startup.collect()

    def do_next(self) -> None:
        """Run the oldest action.

        The next action waits for another pause.
        """
        if self._due:
            node, act = self._due.popleft()
            self._app.call_later(lambda: node.is_attached and act())
            self.wait()


class _HasIdle(Protocol):
    @property
    def idle(self) -> Idle: ...


def when_idle(node: Widget, act: Callable[[], object]) -> None:
    """Queue an action for a widget, to run in a pause of typing; see :meth:`Idle.add`."""
    cast(_HasIdle, node.app).idle.add(node, act)
