"""Measures the round trip to the terminal with a query that every terminal answers."""

from __future__ import annotations

from collections.abc import Callable

SLOW_S = 0.15
"""Round trip in seconds from which a person notices that each key arrives late."""

PROBES = 2
"""Number of queries, one after the other; the quickest answer counts."""

_WHERE_IS_THE_CURSOR = "\x1b[6n"


class Link:
    """A measurement of the round trip by queries for the cursor position.

    tmux and GNU screen answer the queries themselves. If one of them runs on this machine, the link
    looks fast even if the connection beyond it is slow. If the terminal never answers, nothing is
    reported.

    Args:
        send: A function that writes to the terminal.
        now_s: The clock of the answers, in seconds.
        measured: A function that receives the round trip in seconds, once.
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
        """Handle an answer, with its time in seconds; ignore an answer without a query."""
        if self._asked_s is None:
            return
        self._trips_s.append(at_s - self._asked_s)
        self._asked_s = None
        if len(self._trips_s) < PROBES:
            self.measure()
        else:
            self._measured(min(self._trips_s))
