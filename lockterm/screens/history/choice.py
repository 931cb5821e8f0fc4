"""Which operations of the history are shown: by outcome, lock and text, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo

from lockterm.domain import dates
from lockterm.domain.glyphs import quoted
from lockterm.domain.history import HistoryLine, Selection
from lockterm.domain.names import fold_text
from lockterm.domain.operation import IN_FLIGHT, RECORDED, UNSETTLED, WITHOUT_EFFECT, State
from lockterm.domain.safe_text import clean

PAGE = 100
"""Operations on a page."""

COUNTED = 1000
"""Of what is narrowed, so many are counted: to count all takes longer than a key may."""

TODAY = "today"
"""Typed as a word, it finds what was begun today."""

ALL = "all results"

GROUPS: Mapping[str, frozenset[State] | None] = {
    ALL: None,
    "unsettled": UNSETTLED | IN_FLIGHT,
    "failed": WITHOUT_EFFECT,
    "done": RECORDED,
}
"""Which outcomes are shown; what was given up or sent again is only among all."""


@dataclass(frozen=True, slots=True)
class HistoryChoice:
    """What a person wants to see."""

    lock_id: int | None = None
    """Only this lock's; None: those of all locks."""
    lock_name: str = ""
    group: str = ALL
    """One of ``GROUPS``."""
    wanted: str = ""
    """What is searched for; empty: nothing."""
    passed: tuple[HistoryLine, ...] = ()
    """The last operation of each page before this one: what is written meanwhile moves no row from
    page to page."""

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
        """Whether a run is one line; where something is searched for, each of its operations is."""
        return not self.in_words()

    def selection(self, zone: tzinfo, now_ms: int) -> Selection:
        """The operations of all pages; their times are searched as they are in a zone.

        Args:
            zone: The zone.
            now_ms: What is today is told by it.
        """
        typed = fold_text(self.wanted).split()
        since_ms = dates.day_around(now_ms, zone)[0] if TODAY in typed else None
        words = tuple(word for word in typed if word != TODAY)
        states = GROUPS[self.group]
        return Selection(
            self.lock_id, states, words, zone, since_ms=since_ms, outside_runs=self.has_runs
        )

    def in_words(self) -> list[str]:
        """What is left out, safe to show."""
        words = [] if self.group == ALL else [f"only {self.group}"]
        if self.lock_id is not None:
            words.append(f"only {clean(self.lock_name, 40)}")
        return words + ([f"only with {quoted(clean(self.wanted, 40))}"] if self.wanted else [])
