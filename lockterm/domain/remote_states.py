"""The states of remotes that were read: how many have each, and which are shown alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from lockterm.domain.validity import State, state_of

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote, RemotePage

StateFilter = State | Literal["coerced"]
"""A state whose remotes may be shown alone."""

FIRST = (State.ENDED, State.WEEK, State.DISAGREE)
"""The states that are counted if not all states fit."""


class StateCounts:
    """The counts of what was read of a list, page by page as each was when it was seen last."""

    def __init__(self) -> None:
        self._pages: dict[int, Counter[StateFilter]] = {}
        self._list = (0, 0)

    def note(self, page: RemotePage, now_ms: int) -> None:
        """Count a page, also if it was counted before. A list that has grown is another one."""
        if self._list != (page.total, page.page_size):
            self._pages, self._list = {}, (page.total, page.page_size)
        self._pages[page.page_no] = count_states(page.remotes, now_ms)

    def forget(self) -> None:
        """Begin to count again."""
        self._pages = {}

    @property
    def pages(self) -> int:
        """Number of pages that were counted."""
        return len(self._pages)

    @property
    def counts(self) -> Counter[StateFilter]:
        """Number of remotes in each state, and of coerced ones."""
        return sum(self._pages.values(), Counter[StateFilter]())

    def describe(self) -> tuple[str, ...]:
        """Return ``20 read: 4 expired, 3 < 7 days, 8 upcoming``, the longest form first.

        The number that was read is left out if that is the whole list. There is no form if all
        remotes are active.
        """
        counts = self.counts
        read = sum(counts[state] for state in State)
        of = "" if read == self._list[0] else f"{read:,} read: "
        return tuple(of + words for words in describe_counts(counts))


def count_states(remotes: Iterable[Remote], now_ms: int) -> Counter[StateFilter]:
    """Return how many remotes have each state, and how many are coerced."""
    counts = Counter[StateFilter]()
    for one in remotes:
        counts[state_of(one, now_ms)] += 1
        counts["coerced"] += one.is_coerced == 1
    return counts


def describe_counts(counts: Counter[StateFilter]) -> tuple[str, ...]:
    """Return ``4 expired, 3 < 7 days, 8 upcoming``, longest form first; none if all are active."""
    others = [state for state in State if state is not State.OPEN and counts[state]]
    forms = (others, [state for state in others if state in FIRST])
    return tuple(
        ", ".join(f"{counts[state]:,} {state.word}" for state in form) for form in forms if form
    )


def has_state(remote: Remote, only: StateFilter | None, now_ms: int) -> bool:
    """Return whether a remote has a state; True for every remote if the state is None."""
    if only == "coerced":
        return remote.is_coerced == 1
    return only is None or state_of(remote, now_ms) is only


def describe_state(only: StateFilter) -> str:
    """Return ``expired``, ``coerced``."""
    return only.word if isinstance(only, State) else only
