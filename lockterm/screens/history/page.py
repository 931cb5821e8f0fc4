"""The filter of the history, and one page of its entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from lockterm.domain import dates
from lockterm.domain.glyphs import quoted
from lockterm.domain.names import fold_text
from lockterm.domain.operation import (
    IN_FLIGHT,
    RECORDED,
    UNCONFIRMED,
    WITHOUT_EFFECT,
    HistoryLine,
    OperationState,
    Selection,
)
from lockterm.domain.plan import RunLine
from lockterm.domain.safe_text import clean
from lockterm.keymap.hints import key, keys_of

PAGE = 100
"""The maximum number of operations on a page."""

COUNTED = 1000
"""The number of matching changes at which counting stops, because counting more would delay
keys."""

TODAY = "today"
"""The search word that finds the changes that were begun today."""

ALL = "all results"

GROUPS: Mapping[str, frozenset[OperationState] | None] = {
    ALL: None,
    "unsettled": UNCONFIRMED | IN_FLIGHT,
    "failed": WITHOUT_EFFECT,
    "done": RECORDED,
}
"""Maps the filters by result to the states that they show; None means all states. Dismissed and
resent changes appear only in the full list."""


@dataclass(frozen=True, slots=True)
class HistoryChoice:
    """The filters, the search text and the page that the user has chosen."""

    lock_id: int | None = None
    """The ID of the lock whose changes are shown; None for all locks."""
    lock_name: str = ""
    group: str = ALL
    """The key of the filter by result in ``GROUPS``."""
    wanted: str = ""
    """The search text; empty for no search."""
    passed: tuple[HistoryLine, ...] = ()
    """The last change of each earlier page. Each page begins after the last change of the previous
    page, so that new changes do not move rows to other pages."""

    @property
    def page(self) -> int:
        """The page number, counted from 0."""
        return len(self.passed)

    @property
    def below(self) -> int | None:
        """The journal position of the last change of the previous page; None for the first page."""
        return self.passed[-1].seq if self.passed else None

    @property
    def next_group(self) -> str:
        """The key in ``GROUPS`` to switch to: the next key, or the first key after the last one."""
        names = list(GROUPS)
        return names[(names.index(self.group) + 1) % len(names)]

    @property
    def has_runs(self) -> bool:
        """Whether a run is shown as one line. If not, each of its changes is a line.

        With a filter or a search, runs are not shown.
        """
        return not self.list_filters()

    def selection(self, zone: tzinfo, now_ms: int) -> Selection:
        """Return the filter and the search as a selection of changes, for all pages.

        Args:
            zone: The time zone in which times are shown and searched.
            now_ms: The current time in milliseconds, for the search word ``today``.
        """
        typed = fold_text(self.wanted).split()
        since_ms = dates.day_around(now_ms, zone)[0] if TODAY in typed else None
        words = tuple(word for word in typed if word != TODAY)
        states = GROUPS[self.group]
        return Selection(
            self.lock_id, states, words, zone, since_ms=since_ms, outside_runs=self.has_runs
        )

    def list_filters(self) -> list[str]:
        """Return phrases about the active filters and the search, without control characters."""
        phrases = [] if self.group == ALL else [f"only {self.group}"]
        if self.lock_id is not None:
            phrases.append(f"only {clean(self.lock_name, 40)}")
        return phrases + ([f"with {quoted(clean(self.wanted, 40))}"] if self.wanted else [])


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """One page of the history."""

    choice: HistoryChoice
    """The filters and the position of the page."""
    zone: tzinfo
    """The time zone of the shown times."""
    lines: Sequence[HistoryLine] = ()
    """The changes of the page, the newest first."""
    runs: Sequence[RunLine] = ()
    """The runs whose plans were made in the period of the page, the newest first."""
    has_older: bool = False
    """Whether a page with older changes follows."""
    found: int = 0
    """The number of changes on all pages. If a filter is active, counting stops above
    ``COUNTED``."""
    total: int = 0
    """The number of operations in the whole history."""
    run_count: int = 0
    """The number of runs in the history."""

    @property
    def pages(self) -> int:
        """The number of pages, computed from the number of changes."""
        page = self.choice.page
        return max(-(-self.found // PAGE), page + 2) if self.has_older else page + 1

    @property
    def rows(self) -> Sequence[HistoryLine | RunLine]:
        """The operations and runs of the page, the newest first."""
        rows: list[HistoryLine | RunLine] = []
        runs = [*self.runs]
        for line in self.lines:
            while runs and runs[0].made_ms >= line.prepared_ms:
                rows.append(runs.pop(0))
            rows.append(line)
        return [*rows, *runs]

    @property
    def position(self) -> str:
        """A text with the page number, the number of pages, and the keys for other pages."""
        more = "+" if self.is_uncounted and self.has_older else ""
        keys = ", ".join(map(key, filter(keys_of, ("history.next", "history.previous"))))
        hint = f" ({keys})" if keys else ""
        return f"page {self.choice.page + 1} of {self.pages}{more}{hint}"

    @property
    def is_uncounted(self) -> bool:
        """Whether counting stopped before all changes that match the filter were counted."""
        return bool(self.choice.list_filters()) and self.found > COUNTED


def runs_among(
    runs: Sequence[RunLine], choice: HistoryChoice, lines: Sequence[HistoryLine], has_older: bool
) -> list[RunLine]:
    """Return the runs whose plans were made in the period of a page.

    Args:
        runs: All runs.
        choice: The filters and the position of the page.
        lines: The changes of the page, the newest first.
        has_older: Whether a page with older changes follows.
    """
    until = choice.passed[-1].prepared_ms if choice.passed else None
    since = lines[-1].prepared_ms if has_older else None
    return [
        run
        for run in runs
        if (until is None or run.made_ms < until) and (since is None or run.made_ms >= since)
    ]
