"""The validity of a remote: the period between its dates, and the status from the service.

The contract has no rule for ``status`` (contract 3), so lockterm does not derive the status from
the dates, or the dates from the status. If the service reports an expired remote as normal,
lockterm shows the contradiction.

The module also counts the remotes of a list by state, and filters them by state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import tzinfo
from enum import Enum
from typing import Literal

from lockterm.domain import dates, glyphs
from lockterm.domain.dates import WEEK
from lockterm.domain.remotes import (
    Remote,
    RemotePage,
    RemoteStatus,
    RemoteType,
    needs_dates,
    needs_weekdays,
)

_TOLERANCE_MS = 2 * dates.MINUTE_MS
"""Time before and after an end, in milliseconds, in which lockterm does not report a contradiction
between status and dates, because the clocks may differ."""


class Phase(Enum):
    """The phase of a remote: whether now is before, within or after its period."""

    ALWAYS = "always"
    AHEAD = "upcoming"
    NOW = "active"
    OVER = "expired"
    UNCLEAR = "unclear"
    """The dates are missing or form no period, or the contract does not list the type of the
    remote."""


class RemoteState(Enum):
    """The most important state of a remote, with a word and an icon of a distinct shape.

    Each icon takes one cell on every terminal and has an ASCII form. The stylesheet sets the color
    of the icon for the class ``line-table--`` followed by :attr:`look`.
    """

    ENDED = "expired", "×", "x", "expired"
    WEEK = "< 7 days", "!", "!", "expires within 7 days"
    MONTH = "< 30 days", "¡", "i", "expires within 30 days"
    OPEN = "active", "·", ".", "active"
    AHEAD = "upcoming", "»", "+", "starts later"
    DISAGREE = "disagree", "≠", "#", "status and dates disagree"
    UNCLEAR = "unclear", "?", "?", "type, dates or status are unclear"

    def __init__(self, word: str, sign: str, plain: str, meaning: str) -> None:
        self.word = word
        self.meaning = meaning
        self._sign = sign
        self._plain = plain

    @property
    def counted(self) -> str:
        """The words for the state after a number of remotes, as in ``15 within 7 days``."""
        return self.word.replace("<", "within")

    @property
    def look(self) -> str:
        """The name of the state in stylesheets."""
        return self.name.lower()

    @property
    def sign(self) -> str:
        """The icon of the state, in the form that this terminal can show."""
        return self._plain if glyphs.are_ascii() else self._sign


COERCED = "&"
"""The icon of a remote whose flag ``isCoerced`` is 1, shown beside the icon of its state."""


def state_of(remote: Remote, now_ms: int) -> RemoteState:
    """Return the state of a remote at a time, from its dates and the reported status."""
    return judge(remote, phase_of(remote, now_ms), now_ms)[0]


def state_by_dates(remote: Remote, now_ms: int) -> RemoteState:
    """Return the state of a remote from type, dates and weekdays, without the status."""
    phase = _clear_phase(remote, phase_of(remote, now_ms))
    return _by_dates(phase, (remote.end_ms or 0) - now_ms)


def may_be(state: RemoteState, end_ms: int | None, now_ms: int) -> bool:
    """Return whether a remote may have a state, judging only by its end.

    This function is faster than :func:`state_of`. Callers use it to exclude most remotes.

    Args:
        state: The state.
        end_ms: The result of :func:`end_of` for the remote.
        now_ms: Now, in milliseconds.
    """
    left_ms = None if end_ms is None else end_ms - now_ms
    match state:
        case RemoteState.ENDED:
            return left_ms is not None and left_ms <= 0
        case RemoteState.WEEK | RemoteState.MONTH:
            return left_ms is not None and 0 < left_ms <= 30 * dates.DAY_MS
    return True


def phase_of(remote: Remote, now_ms: int) -> Phase:
    """Return the phase of a remote at a time. Its period includes the start but not the end."""
    kind, start, end = remote.remote_type, remote.start_ms, remote.end_ms
    if kind == RemoteType.PERMANENT:
        return Phase.ALWAYS
    if not needs_dates(kind) or not start or not end or end <= start:
        return Phase.UNCLEAR
    if now_ms >= end:
        return Phase.OVER
    return Phase.AHEAD if now_ms < start else Phase.NOW


def end_of(remote: Remote) -> int | None:
    """Return the end of a remote's period, in milliseconds.

    The result is None for a permanent remote, and for a remote whose dates form no period.
    """
    end = remote.end_ms
    return end if end and phase_of(remote, end) is Phase.OVER else None


def has_unreadable_period(remote: Remote) -> bool:
    """Return whether a remote is not permanent, but its end cannot be read from type and dates."""
    return remote.remote_type != RemoteType.PERMANENT and end_of(remote) is None


def without_weekdays(remote: Remote) -> bool:
    """Return whether a recurring remote has no known weekday, so that its state is unclear."""
    return needs_weekdays(remote.remote_type) and not {*(remote.week_day or ())} & {*WEEK}


def ends_by(remote: Remote, until_ms: int) -> bool:
    """Return whether a remote has a known end that is at ``until_ms`` or earlier."""
    end = end_of(remote)
    return end is not None and end <= until_ms


def never_opens(wanted: Remote, zone: tzinfo, now_ms: int) -> bool:
    """Return whether a recurring remote will not open, because its period has none of its weekdays.

    Only the rest of the period from ``now_ms`` on counts. The result is false if the period is
    already over, or if no weekday is known.
    """
    start, end, days_wanted = wanted.start_ms, wanted.end_ms, set(wanted.week_day or ())
    if not needs_weekdays(wanted.remote_type) or not days_wanted or not start or not end:
        return False
    start = max(start, now_ms)
    first, last = dates.local(start, zone), dates.local(end - 1, zone)
    if first is None or last is None or end <= start:
        return False
    days = min((last.date() - first.date()).days, 6)
    return days_wanted.isdisjoint((first.weekday() + day) % 7 + 1 for day in range(days + 1))


def _clear_phase(remote: Remote, phase: Phase) -> Phase:
    """Return the phase, or ``UNCLEAR`` if the remote is active but its weekdays are unknown."""
    return Phase.UNCLEAR if phase is Phase.NOW and without_weekdays(remote) else phase


def judge(remote: Remote, phase: Phase, now_ms: int) -> tuple[RemoteState, str, str]:
    """Return the state of a remote, the word to show for it, and a sentence about a contradiction.

    Args:
        remote: The remote.
        phase: The result of :func:`phase_of` for the remote.
        now_ms: Now, in milliseconds.

    Returns:
        The state, the word and the sentence. If status and dates contradict each other, the word
        names the status, and the sentence explains the contradiction. Otherwise, the sentence is
        empty. The word also names the status if it is missing or not in the contract. In all other
        cases, the word is that of the state.
    """
    phase, status = _clear_phase(remote, phase), remote.status
    left_ms = (remote.end_ms or 0) - now_ms
    if status == RemoteStatus.NORMAL:
        if phase is Phase.OVER and -left_ms > _TOLERANCE_MS:
            ago = dates.distance(now_ms + left_ms, now_ms)
            why = f"The service reports the status normal, but the end date passed {ago}."
            return RemoteState.DISAGREE, "status normal", why
    elif status == RemoteStatus.INVALID:
        if phase is Phase.NOW and left_ms > _TOLERANCE_MS:
            why = "The service reports the status invalid, but by its dates, the remote is active."
            return RemoteState.DISAGREE, "status invalid", why
        if phase not in (Phase.OVER, Phase.AHEAD):
            is_permanent = phase is Phase.ALWAYS
            clash = "is permanent" if is_permanent else "has unclear dates"
            why = f"The service reports the status invalid, but the remote {clash}."
            return RemoteState.UNCLEAR, "status invalid", why
    elif status is None:
        return RemoteState.UNCLEAR, "no status", ""
    else:
        return RemoteState.UNCLEAR, f"status {status}" if abs(status) < 10_000 else "odd status", ""
    state = _by_dates(phase, left_ms)
    return state, state.word, ""


WEEK_MS, MONTH_MS = 7 * dates.DAY_MS, 30 * dates.DAY_MS
"""The remaining time, in milliseconds, up to which an active remote counts as expiring."""


def _by_dates(phase: Phase, left_ms: int) -> RemoteState:
    if phase is Phase.NOW and left_ms <= MONTH_MS:
        return RemoteState.WEEK if left_ms <= WEEK_MS else RemoteState.MONTH
    return _OF_PHASE[phase]


_OF_PHASE = {
    Phase.ALWAYS: RemoteState.OPEN,
    Phase.NOW: RemoteState.OPEN,
    Phase.AHEAD: RemoteState.AHEAD,
    Phase.OVER: RemoteState.ENDED,
    Phase.UNCLEAR: RemoteState.UNCLEAR,
}


# --- counting and filtering remotes by state -----------------------------------------------------


StateFilter = RemoteState | Literal["coerced"]
"""A filter that shows only the remotes of one state, or only coerced remotes."""

_SHOWN_FIRST = (RemoteState.ENDED, RemoteState.WEEK, RemoteState.DISAGREE)
"""The states whose numbers are shown if there is no space for all states."""

_SUMMARY_ORDER = (
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
    rows = [(state, counts.get(state, 0), state.word) for state in _SUMMARY_ORDER]
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
    forms = (others, [state for state in others if state in _SHOWN_FIRST])
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
