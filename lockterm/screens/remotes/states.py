"""The states of the remotes that were read: how many have each, and which are shown alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from lockterm.domain.validity import COERCED, State, state_of

if TYPE_CHECKING:
    from textual.app import App

    from lockterm.domain.remotes import Remote, RemotePage

Only = State | Literal["coerced"]
"""What may be shown alone."""

FIRST = (State.ENDED, State.WEEK, State.DISAGREE)
"""What is told where there is no room for all."""


class StateCounts:
    """What was read of a list, counted page by page as it was when each was seen last."""

    def __init__(self) -> None:
        self._pages: dict[int, Counter[Only]] = {}
        self._list = (0, 0)

    def note(self, page: RemotePage, now_ms: int) -> None:
        """Count a page; one that was counted before, anew. A list that has grown is another one."""
        if self._list != (page.total, page.page_size):
            self._pages, self._list = {}, (page.total, page.page_size)
        self._pages[page.page_no] = count_states(page.remotes, now_ms)

    def forget(self) -> None:
        """Count anew from now on."""
        self._pages = {}

    @property
    def pages(self) -> int:
        """How many pages were counted."""
        return len(self._pages)

    @property
    def counts(self) -> Counter[Only]:
        """How many have each state, and how many are coerced."""
        return sum(self._pages.values(), Counter[Only]())

    def words(self) -> tuple[str, ...]:
        """``20 read: 4 ended, 3 < 7 days, 8 not yet``, the longest first; none where all are open.

        Without the number that was read where that is all.
        """
        counts = self.counts
        read = sum(counts[state] for state in State)
        of = "" if read == self._list[0] else f"{read:,} read: "
        return tuple(of + words for words in told(counts))


def count_states(remotes: Iterable[Remote], now_ms: int) -> Counter[Only]:
    """How many of some remotes have each state, and how many are coerced."""
    counts = Counter[Only]()
    for one in remotes:
        counts[state_of(one, now_ms)] += 1
        counts["coerced"] += one.is_coerced == 1
    return counts


def told(counts: Counter[Only]) -> tuple[str, ...]:
    """``4 ended, 3 < 7 days, 8 not yet``, the longest first; none where all are open."""
    others = [state for state in State if state is not State.OPEN and counts[state]]
    forms = (others, [state for state in others if state in FIRST])
    return tuple(
        ", ".join(f"{counts[state]:,} {state.word}" for state in form) for form in forms if form
    )


def is_only(remote: Remote, only: Only | None, now_ms: int) -> bool:
    """Whether a remote is among what is shown alone; with None, each is."""
    if only == "coerced":
        return remote.is_coerced == 1
    return only is None or state_of(remote, now_ms) is only


def only_words(only: Only) -> str:
    """What it is called: ``ended``, ``coerced``."""
    return only.word if isinstance(only, State) else only


def ask_only(
    app: App[Any],
    question: str,
    counts: Counter[Only] | None,
    only: Only | None,
    show: Callable[[Only | None], None],
) -> None:
    """Ask of which state remotes are to be shown alone.

    Args:
        app: Where it is asked.
        question: What is chosen from.
        counts: How many were read of each state; None: not counted.
        only: What is shown alone now.
        show: Shows what was chosen; None: all.
    """
    from lockterm.screens.dialogs.choice import ChoiceModal

    found: list[tuple[Only, str]] = [(state, f"{state.sign} {state.meaning}") for state in State]
    found.append(("coerced", f"{COERCED} coerced"))
    if counts is not None:
        found = [(one, f"{words}: {counts[one]:,}") for one, words in found]
    known: list[tuple[Only | Literal["all"], str]] = [("all", "all of them"), *found]

    def answer(chosen: Only | Literal["all"] | None) -> None:
        if chosen is not None:
            show(None if chosen == "all" else chosen)

    now = next((at for at, one in enumerate(known) if one[0] == only), 0)
    app.push_screen(ChoiceModal(question, known, now), answer)
