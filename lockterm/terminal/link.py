"""How far away the terminal is: the round trip of a question that every terminal answers."""

from __future__ import annotations

from collections.abc import Callable

SLOW_S = 0.15
"""From this round trip on, in seconds, a person sees each key arrive late."""

PROBES = 2
"""So many questions, one after the other; the quickest answer counts."""

_WHERE_IS_THE_CURSOR = "\x1b[6n"


class Link:
    """Measures the round trip to the terminal by asking where its cursor is.

    tmux and GNU screen answer themselves: behind one that runs on this machine the link always
    looks fast, and what is slow beyond it stays unknown. A terminal that never answers leaves
    everything as it is.

    Args:
        send: Writes to the terminal.
        now_s: The clock that answers are stamped with, in seconds.
        measured: Told the round trip in seconds, once.
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
        """Ask; what comes of it is told to ``measured``."""
        self._asked_s = self._now_s()
        self._send(_WHERE_IS_THE_CURSOR)

    def answered(self, at_s: float) -> None:
        """Take an answer of the terminal; one that was not asked for means nothing.

        Args:
            at_s: When it came.
        """
        if self._asked_s is None:
            return
        self._trips_s.append(at_s - self._asked_s)
        self._asked_s = None
        if len(self._trips_s) < PROBES:
            self.measure()
        else:
            self._measured(min(self._trips_s))
