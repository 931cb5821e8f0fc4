"""The filter of the history, and one page of history entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from lockterm.domain import dates
from lockterm.domain.glyphs import quoted
from lockterm.domain.history import HistoryLine, Selection
from lockterm.domain.names import fold_text
from lockterm.domain.operation import IN_FLIGHT, RECORDED, UNSETTLED, WITHOUT_EFFECT, State
from lockterm.domain.plan import RunLine
from lockterm.domain.safe_text import clean

PAGE = 100
"""Operations on a page."""

COUNTED = 1000
"""The maximum count of filtered changes, because counting all takes longer than a key may."""

TODAY = "today"
"""Typed as a word, it finds what was begun today."""

ALL = "all results"

GROUPS: Mapping[str, frozenset[State] | None] = {
    ALL: None,
    "unsettled": UNSETTLED | IN_FLIGHT,
    "failed": WITHOUT_EFFECT,
    "done": RECORDED,
}
"""The filters by result; dismissed and resent changes appear only in the full list."""


@dataclass(frozen=True, slots=True)
class HistoryChoice:
    """The wanted page, filter and search."""

    lock_id: int | None = None
    """Only this lock's; None: those of all locks."""
    lock_name: str = ""
    group: str = ALL
    """One of ``GROUPS``."""
    wanted: str = ""
    """The search text, or empty."""
    passed: tuple[HistoryLine, ...] = ()
    """The last change of each page before this one, so that new changes move no row to another
    page."""

    @property
    def page(self) -> int:
        """The page, counted from 0."""
        return len(self.passed)

    @property
    def below(self) -> int | None:
        """The page shows what has a lower place in the journal; None: the newest."""
        return self.passed[-1].seq if self.passed else None

    @property
    def next_group(self) -> str:
        """The group of outcomes after this one, in a circle."""
        names = list(GROUPS)
        return names[(names.index(self.group) + 1) % len(names)]

    @property
    def has_runs(self) -> bool:
        """Whether a run is one line; a search shows each of its changes."""
        return not self.in_words()

    def selection(self, zone: tzinfo, now_ms: int) -> Selection:
        """Return the selection for all pages; times are searched as shown in a zone.

        Args:
            zone: The zone.
            now_ms: Now, in milliseconds, which decides about today.
        """
        typed = fold_text(self.wanted).split()
        since_ms = dates.day_around(now_ms, zone)[0] if TODAY in typed else None
        words = tuple(word for word in typed if word != TODAY)
        states = GROUPS[self.group]
        return Selection(
            self.lock_id, states, words, zone, since_ms=since_ms, outside_runs=self.has_runs
        )

    def in_words(self) -> list[str]:
        """Return the active filters as clean text."""
        words = [] if self.group == ALL else [f"only {self.group}"]
        if self.lock_id is not None:
            words.append(f"only {clean(self.lock_name, 40)}")
        return words + ([f"only with {quoted(clean(self.wanted, 40))}"] if self.wanted else [])


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A page of the history."""

    choice: HistoryChoice
    """The query of the page."""
    zone: tzinfo
    """In which its times are shown."""
    lines: Sequence[HistoryLine] = ()
    """The newest first."""
    runs: Sequence[RunLine] = ()
    """Those of the time of this page, the newest first."""
    has_older: bool = False
    """Whether there is another page behind it."""
    found: int = 0
    """The number of changes on all pages; above ``COUNTED``, it was not counted further."""
    total: int = 0
    """Number of operations in the whole history."""
    run_count: int = 0
    """Number of runs in the history."""

    @property
    def pages(self) -> int:
        """Return the number of pages, as of the first read."""
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
        """Page number and number of pages."""
        more = "+" if self.is_uncounted and self.has_older else ""
        return f"page {self.choice.page + 1} of {self.pages}{more} (n, p)"

    @property
    def is_uncounted(self) -> bool:
        """Whether there are more than were counted."""
        return bool(self.choice.in_words()) and self.found > COUNTED


def runs_among(
    runs: Sequence[RunLine], choice: HistoryChoice, lines: Sequence[HistoryLine], has_older: bool
) -> list[RunLine]:
    """Return the runs that were made in the period of a page."""
    until = choice.passed[-1].prepared_ms if choice.passed else None
    since = lines[-1].prepared_ms if has_older else None
    return [
        run
        for run in runs
        if (until is None or run.made_ms < until) and (since is None or run.made_ms >= since)
    ]
