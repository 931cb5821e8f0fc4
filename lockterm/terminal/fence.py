"""Queries that find out whether the terminal has shown a frame, and how long an answer takes.

Written bytes may wait in the link for seconds. Keys typed in that time refer to the previous frame.
Therefore, lockterm sends a query after a frame. The answer arrives in the same stream as the keys,
so the keys after the answer were typed while the frame was visible.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

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
        send: A function that writes text to the terminal, after all earlier frames.
        later: A function that calls a given function after a given number of seconds.
        now_s: A function that returns the time in seconds, on the clock of key events.
    """

    def __init__(
        self,
        send: Callable[[str], None],
        later: Callable[[float, Callable[[], None]], object],
        now_s: Callable[[], float],
    ) -> None:
        self._send = send
        self._later = later
        self._now_s = now_s
        self._answers: bool | None = None
        """Whether this terminal answers queries; None if unknown."""
        self._asked: deque[Callable[[float], None]] = deque()

    @property
    def answers(self) -> bool | None:
        """Whether this terminal answers queries; None if unknown."""
        return self._answers

    def ask(self, drawn: Callable[[float], None]) -> None:
        """Call a function when the terminal has shown everything that was written.

        Args:
            drawn: A function that is called once with the time of the answer, in seconds. If the
                terminal does not answer, the function is called with the current time.
        """
        if self._answers is False:
            drawn(self._now_s())
            return
        self._asked.append(drawn)
        self._send(ASK)
        self._later(KNOWN_S if self._answers else UNKNOWN_S, lambda: self._give_up(drawn))

    def answered(self, at_s: float) -> None:
        """Handle an answer of the terminal.

        Args:
            at_s: The time of the answer in seconds, in order with the times of the keys.
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
        drawn(self._now_s())


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
        send: A function that writes text to the terminal.
        now_s: A function that returns the time in seconds, on the clock of the answers.
        measured: A function that is called once with the round trip in seconds, or never if the
            terminal does not answer.
    """

    def __init__(
        self,
        send: Callable[[str], None],
        now_s: Callable[[], float],
        measured: Callable[[float], None],
    ) -> None:
        self._send = send
        self._now_s = now_s
        self._measured = measured
        self._asked_s: float | None = None
        self._trips_s: list[float] = []

    def measure(self) -> None:
        """Send the first query; ``measured`` receives the result."""
        self._asked_s = self._now_s()
        self._send(_WHERE_IS_THE_CURSOR)

    def answered(self, at_s: float) -> None:
        """Handle an answer to a query; ignore an answer if no query was sent.

        Args:
            at_s: The time of the answer in seconds.
        """
        if self._asked_s is None:
            return
        self._trips_s.append(at_s - self._asked_s)
        self._asked_s = None
        if len(self._trips_s) < PROBES:
            self.measure()
        else:
            self._measured(min(self._trips_s))
