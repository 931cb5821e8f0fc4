"""The number of remotes in each state, and a filter for lists by state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from lockterm.domain.validity import RemoteState, state_of

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote, RemotePage

StateFilter = RemoteState | Literal["coerced"]
"""A filter that shows only the remotes of one state, or only coerced remotes."""

FIRST = (RemoteState.ENDED, RemoteState.WEEK, RemoteState.DISAGREE)
"""The states whose numbers are shown if there is no space for all states."""

_ORDER = (
    RemoteState.OPEN,
    RemoteState.AHEAD,
    RemoteState.ENDED,
    RemoteState.DISAGREE,
    RemoteState.UNCLEAR,
)
"""The states that :func:`sum_up` returns, in order. The function inserts expiring remotes after the
second of these states."""


class StateCounts:
    """The number of remotes in each state, on the pages of a list that lockterm has read.

    The number for a page does not change until lockterm reads the page again.
    """

    def __init__(self) -> None:
        self._pages: dict[int, Counter[StateFilter]] = {}
        self._list = (0, 0)

    def note(self, page: RemotePage, now_ms: int) -> None:
        """Count the remotes of a page that was just read, and drop the page's earlier counts.

        If the total or the page size has changed, also drop the counts of all other pages.
        """
        if self._list != (page.total, page.page_size):
            self._pages, self._list = {}, (page.total, page.page_size)
        self._pages[page.page_no] = count_states(page.remotes, now_ms)

    def forget(self) -> None:
        """Drop the counts of all pages."""
        self._pages = {}

    @property
    def pages(self) -> int:
        """The number of counted pages."""
        return len(self._pages)

    @property
    def counts(self) -> Counter[StateFilter]:
        """The number of remotes in each state, and of coerced remotes, on all counted pages."""
        return sum(self._pages.values(), Counter[StateFilter]())

    def describe(self) -> tuple[str, ...]:
        """Return texts like ``20 read: 4 expired, 3 within 7 days``, the longest first.

        The number of read remotes is left out if lockterm has read the complete list. The result is
        empty if all remotes are active.
        """
        return self._with_read(describe_counts(self.counts))

    def describe_all(self) -> tuple[str, ...]:
        """Return texts like ``20 read: 13 active, 3 expiring, 4 expired``, the longest first.

        The shorter text leaves out upcoming and unclear remotes.
        """
        found = sum_up(self.counts)
        forms = (
            found,
            [one for one in found if one[0] not in (RemoteState.AHEAD, RemoteState.UNCLEAR)],
        )
        texts = (", ".join(f"{count:,} {word}" for _, count, word in form) for form in forms)
        return self._with_read(filter(None, texts))

    def _with_read(self, texts: Iterable[str]) -> tuple[str, ...]:
        read = sum(self.counts[state] for state in RemoteState)
        prefix = "" if read == self._list[0] else f"{read:,} read: "
        return tuple(prefix + text for text in texts)


def count_states(remotes: Iterable[Remote], now_ms: int) -> Counter[StateFilter]:
    """Return the number of remotes in each state, and the number of coerced remotes."""
    counts = Counter[StateFilter]()
    for one in remotes:
        counts[state_of(one, now_ms)] += 1
        counts["coerced"] += one.is_coerced == 1
    return counts


def sum_up(counts: Mapping[StateFilter, int]) -> list[tuple[RemoteState, int, str]]:
    """Return the numbers of remotes by state, for a summary.

    Remotes that expire within 7 or 30 days are counted together as ``expiring``.

    Returns:
        For each state that occurs: the state for icon and color, the number of remotes, and the
        word to show.
    """
    week, month = counts.get(RemoteState.WEEK, 0), counts.get(RemoteState.MONTH, 0)
    rows = [(state, counts.get(state, 0), state.word) for state in _ORDER]
    rows.insert(2, (RemoteState.WEEK if week else RemoteState.MONTH, week + month, "expiring"))
    return [row for row in rows if row[1]]


def describe_counts(counts: Counter[StateFilter], *, tells_more: bool = False) -> tuple[str, ...]:
    """Return texts like ``4 expired, 3 within 7 days, 8 upcoming``, the longest first.

    The result is empty if all remotes are active.

    Args:
        counts: Maps states to numbers of remotes.
        tells_more: Whether a text ends with the number of remotes in the states that it leaves out,
            such as ``, 8 more``.
    """
    others = [state for state in RemoteState if state is not RemoteState.OPEN and counts[state]]
    forms = (others, [state for state in others if state in FIRST])
    texts = []
    for form in filter(None, forms):
        left = sum(counts[state] for state in others if state not in form)
        more = f", {left:,} more" if tells_more and left else ""
        for is_long in (True, False):
            words = (f"{counts[one]:,} {one.counted if is_long else one.word}" for one in form)
            texts.append(", ".join(words) + more)
    return tuple(dict.fromkeys(texts))


def has_state(remote: Remote, only: StateFilter | None, now_ms: int) -> bool:
    """Return whether a remote matches a state filter. The filter None matches every remote."""
    if only == "coerced":
        return remote.is_coerced == 1
    return only is None or state_of(remote, now_ms) is only


def describe_state(only: StateFilter) -> str:
    """Return the word for a state filter, such as ``expired`` or ``coerced``."""
    return only.counted if isinstance(only, RemoteState) else only
