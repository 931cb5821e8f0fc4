"""Queries that find out whether the terminal has shown a frame, and how long an answer takes.

Written bytes may wait in the link for seconds. Keys typed in that time refer to the previous frame.
Therefore, lockterm sends a query after a frame. The answer arrives in the same stream as the keys,
so the keys after the answer were typed while the frame was visible.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual import events

if TYPE_CHECKING:
    from textual.app import App

    from lockterm.terminal.frame_diff import FrameDiff

ASK = "\x1b[5n"
"""The query for the device status. Terminals and multiplexers answer such queries in order."""

UNKNOWN_S = 2.0
"""Seconds to wait for the first answer. If none arrives, lockterm assumes that the terminal never
answers."""

KNOWN_S = 30.0
"""Seconds to wait for an answer if the terminal has answered before.

The wait is limited because an answer can get lost.
"""


class RenderBarrier:
    """A barrier that waits until the terminal has shown everything that was written.

    tmux and GNU screen answer the query themselves, so delays between them and the terminal stay
    unknown.

    Args:
        app: The app that the terminal shows.
        frame_diff: The writer that sends queries after all earlier frames.
    """

    def __init__(self, app: App[Any], frame_diff: FrameDiff) -> None:
        self._app = app
        self._frame_diff = frame_diff
        self._answers: bool | None = None
        """Whether this terminal answers queries; None if unknown."""
        self._asked: deque[Callable[[float], None]] = deque()

    def ask(self, drawn: Callable[[float], None]) -> None:
        """Call a function when the terminal has shown everything that was written.

        Args:
            drawn: A function that is called once with the time of the answer, in seconds on the
                clock of Textual's events. If the terminal does not answer, the function is called
                with the current time.
        """
        if self._answers is False:
            drawn(events.Event().time)
            return
        self._asked.append(drawn)
        self._frame_diff.send(ASK)
        wait_s = KNOWN_S if self._answers else UNKNOWN_S
        self._app.set_timer(wait_s, lambda: self._give_up(drawn))

    def answered(self, at_s: float) -> None:
        """Handle an answer of the terminal.

        Args:
            at_s: The time of the answer, in seconds on the clock of Textual's events.
        """
        self._answers = True
        if self._asked:
            self._asked.popleft()(at_s)

    def _give_up(self, drawn: Callable[[float], None]) -> None:
        if drawn not in self._asked:
            return
        if self._answers:  # the line lost the answer
            waiting = [one for one in self._asked if one not in (drawn, _no_longer)]
            self._asked = deque(waiting)
        else:  # a late answer must not count for a later query
            self._asked[self._asked.index(drawn)] = _no_longer
            self._answers = False
        drawn(events.Event().time)


def _no_longer(at_s: float) -> None:
    """Ignore an answer that came too late."""


SLOW_S = 0.15
"""Minimum round trip to the terminal, in seconds, for which users notice the delay of each key."""

PROBES = 2
"""Number of queries to send one after the other; the shortest round trip counts."""

_WHERE_IS_THE_CURSOR = "\x1b[6n"


class Link:
    """Measures the round trip to the terminal with queries for the cursor position.

    tmux and GNU screen answer the queries themselves. If tmux or GNU screen runs on this machine,
    the link looks fast even if the connection to the terminal is slow.

    Args:
        frame_diff: The writer that sends the queries.
    """

    def __init__(self, frame_diff: FrameDiff) -> None:
        self._frame_diff = frame_diff
        self._asked_s: float | None = None
        self._trips_s: list[float] = []

    def measure(self) -> None:
        """Send a query; call :meth:`answered` when the terminal's answer arrives."""
        self._asked_s = events.Event().time
        self._frame_diff.send(_WHERE_IS_THE_CURSOR)

    def answered(self, at_s: float) -> float | None:
        """Handle an answer to a query; ignore an answer if no query was sent.

        Args:
            at_s: The time of the answer, in seconds on the clock of Textual's events.

        Returns:
            The shortest measured round trip in seconds, if this is the answer to the last of the
            :data:`PROBES` queries; otherwise None.
        """
        if self._asked_s is None:
            return None
        self._trips_s.append(at_s - self._asked_s)
        self._asked_s = None
        if len(self._trips_s) == PROBES:
            return min(self._trips_s)
        self.measure()
        return None
