"""A page of the history, as it was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from lockterm.domain.history import HistoryLine
from lockterm.domain.plan import RunLine
from lockterm.screens.history.choice import COUNTED, PAGE, HistoryChoice


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """What was read of the history."""

    choice: HistoryChoice
    """What was wanted."""
    zone: tzinfo
    """In which its times are shown."""
    lines: Sequence[HistoryLine] = ()
    """The newest first."""
    runs: Sequence[RunLine] = ()
    """Those of the time of this page, the newest first."""
    has_older: bool = False
    """Whether there is another page behind it."""
    found: int = 0
    """How many operations there are on all pages; above ``COUNTED``: nobody has counted on."""
    total: int = 0
    """How many the whole history has."""
    run_count: int = 0
    """How many runs it has."""

    @property
    def pages(self) -> int:
        """How many pages there are; what came or went since the first was read moves no row."""
        page = self.choice.page
        return max(-(-self.found // PAGE), page + 2) if self.has_older else page + 1

    @property
    def rows(self) -> Sequence[HistoryLine | RunLine]:
        """Operations and runs, the newest first."""
        rows: list[HistoryLine | RunLine] = []
        runs = [*self.runs]
        for line in self.lines:
            while runs and runs[0].made_ms >= line.prepared_ms:
                rows.append(runs.pop(0))
            rows.append(line)
        return [*rows, *runs]

    @property
    def in_words(self) -> str:
        """Which page it is, of how many."""
        more = "+" if self.is_uncounted and self.has_older else ""
        return f"page {self.choice.page + 1} of {self.pages}{more} (n, p)"

    @property
    def is_uncounted(self) -> bool:
        """Whether there are more than were counted."""
        return bool(self.choice.in_words()) and self.found > COUNTED


def runs_among(
    runs: Sequence[RunLine], choice: HistoryChoice, lines: Sequence[HistoryLine], has_older: bool
) -> list[RunLine]:
    """The runs that were made in the time of a page."""
    until = choice.passed[-1].prepared_ms if choice.passed else None
    since = lines[-1].prepared_ms if has_older else None
    return [
        run
        for run in runs
        if (until is None or run.made_ms < until) and (since is None or run.made_ms >= since)
    ]
