"""Keys that are typed while the last frame of an earlier session stands on the terminal."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual import events

from lockterm.keymap.hints import keys_of

if TYPE_CHECKING:
    from textual.app import App

    from lockterm.terminal.fence import Fence
    from lockterm.terminal.terminal_input import Arrived

_MOVES = (
    *("row.up", "row.down", "row.page_up", "row.page_down", "row.first", "row.last"),
    *("remotes.next_page", "remotes.previous_page", "remotes.first_page", "remotes.last_page"),
    *("app.quit", "app.quit_always"),
)
"""What does no harm on another page than the one that was seen."""


class ReplayedKeys:
    """Has keys that move take effect on the live frame, and drops the others, which is said.

    A key that opens something is meant for what was seen, and those behind it for what it opens:
    they go with it. From when on the live frame is seen, the terminal tells, where it answers.

    Args:
        app: Whose keys they are.
        fence: Tells when the live frame is drawn.
        ask_drawn: Asks it.
        over: Called when the live frame is seen and all keys from before it are dealt with.
    """

    def __init__(
        self,
        app: App[Any],
        fence: Fence,
        ask_drawn: Callable[[Callable[[float], None]], None],
        over: Callable[[], None],
    ) -> None:
        self._app = app
        self._fence = fence
        self._ask_drawn = ask_drawn
        self._over = over
        self._sent_s: float | None = None
        """When the live frame was sent, on the clock of events; None: it was not yet."""
        self._live_s: float | None = None
        """From when on it was seen; None: not known yet."""
        self.dropped = 0
        """How many keys were."""
        self.is_over = False
        """Whether all keys from before the live frame are dealt with."""

    def note_sent(self) -> None:
        """The live frame is sent: keys that move go on."""
        if self._sent_s is None:
            self._sent_s = events.Event().time
            self._app.call_later(self._ask_drawn, self._note_seen)

    def _note_seen(self, at_s: float) -> None:
        self._live_s = at_s if self._fence.answers else self._sent_s
        self._over()

    def holds(self, waiting: deque[Arrived]) -> bool:
        """Drop what was not meant for the live frame.

        Args:
            waiting: The keys that wait, the oldest first.

        Returns:
            Whether the first of them has to wait.
        """
        if self._sent_s is None:
            return bool(waiting)
        while waiting:
            key = waiting[0]
            if self._live_s is not None and key.time >= self._live_s:
                break
            if not self.dropped and _moves(key):
                return False
            if self._live_s is None and key.time >= self._sent_s:
                return True
            waiting.popleft()
            self.dropped += 1
        self.is_over = self._live_s is not None
        return False


def _moves(event: Arrived) -> bool:
    return isinstance(event, events.Key) and any(event.key in keys_of(one) for one in _MOVES)
