"""Which operations of the history are shown: by outcome, lock and text, page by page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lockterm.models.operation import IN_FLIGHT, UNSETTLED, State
from lockterm.text import clean
from lockterm.widgets.history_table import HistoryRow

PAGE = 200
"""Operations on a page."""

GROUPS: Mapping[str, frozenset[State]] = {
    "all outcomes": frozenset(State),
    "unsettled": UNSETTLED | IN_FLIGHT,
    "failed": frozenset({State.REFUSED, State.NOT_SENT}),
    "done": frozenset({State.CONFIRMED, State.CONFIRMED_BY_READING}),
}
"""Which outcomes are shown; what was given up or sent again is only among all."""

ALL = "all outcomes"


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
    page: int = 0
    """The page, counted from 0."""

    @property
    def next_group(self) -> str:
        """The group of outcomes after this one, in a circle."""
        names = list(GROUPS)
        return names[(names.index(self.group) + 1) % len(names)]

    def found(self, rows: Iterable[HistoryRow]) -> list[HistoryRow]:
        """The rows of all pages."""
        states, words = GROUPS[self.group], self.wanted.casefold().split()
        return [
            row
            for row in rows
            if row.line.state in states
            and (self.lock_id is None or row.line.lock_id == self.lock_id)
            and all(word in row.text for word in words)
        ]

    def in_words(self) -> list[str]:
        """What is left out, safe to show."""
        words = [] if self.group == ALL else [f"only {self.group}"]
        if self.lock_id is not None:
            words.append(f"only {clean(self.lock_name, 40)}")
        return words + ([f"only with “{clean(self.wanted, 40)}”"] if self.wanted else [])


def pages_of(rows: Sequence[HistoryRow]) -> int:
    """How many pages the rows take, at least one."""
    return max(-(-len(rows) // PAGE), 1)


def rows_of_page(rows: Sequence[HistoryRow], page: int) -> Sequence[HistoryRow]:
    """The rows on a page, counted from 0."""
    return rows[page * PAGE : (page + 1) * PAGE]


def counted(count: int) -> str:
    """``1 operation``, ``5,000 operations``."""
    return "1 operation" if count == 1 else f"{count:,} operations"
