"""From when on a key can be the answer to what was drawn, where the link to the terminal stalls.

What was written may stand in the link for seconds, and what is typed meanwhile answers the picture
before it. So the terminal is asked something behind the picture: its answer comes in the same
stream as the keys, and what comes behind it was typed at a terminal that had drawn the picture.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

ASK = "\x1b[5n"
"""Device status report: terminals and multiplexers answer it, in the order in which they read."""

UNKNOWN_S = 2.0
"""Seconds to wait for a terminal that has never answered; then it counts as one that does not."""

KNOWN_S = 30.0
"""Seconds to wait for one that has: its answer may be lost with the line."""


class RenderBarrier:
    """Asks the terminal whether it has drawn what was written.

    tmux and GNU screen answer themselves: what stalls beyond them stays unknown.

    Args:
        send: Writes to the terminal, behind everything that was drawn.
        later: Calls something after so many seconds.
        now_s: The clock that keys are stamped with, in seconds.
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
        """Whether this terminal answers; None: not known yet."""
        self._asked: deque[Callable[[float], None]] = deque()

    @property
    def answers(self) -> bool | None:
        """Whether this terminal answers; None: not known yet."""
        return self._answers

    def ask(self, drawn: Callable[[float], None]) -> None:
        """Learn from when on keys were typed at a terminal that has drawn what was written.

        Args:
            drawn: Told that moment, once; at once where the terminal does not answer.
        """
        if self._answers is False:
            drawn(self._now_s())
            return
        self._asked.append(drawn)
        self._send(ASK)
        self._later(KNOWN_S if self._answers else UNKNOWN_S, lambda: self._give_up(drawn))

    def answered(self, at_s: float) -> None:
        """Take an answer of the terminal.

        Args:
            at_s: When it was read, among the keys.
        """
        self._answers = True
        if self._asked:
            self._asked.popleft()(at_s)

    def _give_up(self, drawn: Callable[[float], None]) -> None:
        if drawn not in self._asked:
            return
        if self._answers:  # the line lost it
            waiting = [one for one in self._asked if one not in (drawn, _no_longer)]
            self._asked = deque(waiting)
        else:  # it may yet come, and is no answer to what was asked since
            self._asked[self._asked.index(drawn)] = _no_longer
            self._answers = False
        drawn(self._now_s())


def _no_longer(at_s: float) -> None:
    """Take an answer that nobody waits for any more."""
