"""Access that a change takes away: the moments from now on in which only the old remote opens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import tzinfo

from lockterm.domain import dates
from lockterm.domain.constants import RemoteType, needs_weekdays
from lockterm.domain.remotes import Remote
from lockterm.domain.validity import Phase, phase_of
from lockterm.domain.weekdays import WEEK, weekday_words

_ALL_DAYS = frozenset(WEEK)
_BEGINNING, _FOREVER = -(2**63), 2**63
"""Before and after every moment that a service can name, in milliseconds."""

_MOST_DAYS = 9
"""Days within which each weekday comes, also where the first has begun."""


@dataclass(frozen=True, slots=True)
class Shortening:
    """How a change closes access that would be open without it; at least one of these is so."""

    ends_ms: int | None = None
    """The new end, if it closes earlier."""
    ended_ms: int | None = None
    """The end before the change, if there was one."""
    earlier_ms: int = 0
    """By how much it closes earlier; 0 if it had no end or closes no earlier."""
    closed: tuple[int, int] | None = None
    """From when until when it no longer opens, before its new start."""
    days: tuple[int, ...] = ()
    """Weekdays on which it no longer opens between the new start and end."""

    @property
    def was_permanent(self) -> bool:
        """Whether it had no end and gets one."""
        return self.ends_ms is not None and self.ended_ms is None


@dataclass(frozen=True, slots=True)
class _Open:
    """When a remote opens: on some weekdays between a start and an end."""

    start: int
    end: int
    days: AbstractSet[int]


def shortening(before: Remote, after: Remote, now_ms: int, zone: tzinfo) -> Shortening | None:
    """Return what a change takes away from a remote, from now on; None if it takes nothing.

    The function compares the two sets of moments in which the remotes open. A recurring remote
    without weekdays opens nobody knows when: only its start and end are compared, and a change
    that removes its weekdays removes all of them.

    Args:
        before: The remote as it is; if its dates make no period, nothing is known to be lost.
        after: The remote as it is to be.
        now_ms: Now, in milliseconds.
        zone: The zone of the lock, which decides where a weekday begins.
    """
    old, new = _open_of(before, _days_of(after) or _ALL_DAYS), _open_of(after, frozenset())
    if old is None:
        return None
    if needs_weekdays(after.remote_type) and not _days_of(after) and not _days_of(before):
        new = _open_of(after, _ALL_DAYS)
    begin = max(old.start, now_ms)
    if new is None or new.end <= max(new.start, now_ms):  # it opens no more at all
        new = _Open(begin, begin if new is None else min(new.end, begin), frozenset())
    first = _first_open(begin, min(old.end, new.start), old.days, zone)
    until = _first_open(new.start, new.end, new.days, zone)
    lost_end = _first_open(max(begin, new.end), old.end, old.days, zone)
    both = max(begin, new.start), min(old.end, new.end)
    days = tuple(
        day
        for day in sorted(old.days - new.days)
        if _first_open(*both, frozenset({day}), zone) is not None
    )
    if first is None and lost_end is None and not days:
        return None
    is_endless = old.end == _FOREVER
    return Shortening(
        ends_ms=None if lost_end is None else new.end,
        ended_ms=None if lost_end is None or is_endless else old.end,
        earlier_ms=0 if lost_end is None or is_endless else old.end - max(new.end, begin),
        closed=None if first is None else (first, new.start if until is None else until),
        days=days,
    )


def _days_of(remote: Remote) -> AbstractSet[int]:
    return frozenset(remote.week_day or ()) & _ALL_DAYS


def _open_of(remote: Remote, without_days: AbstractSet[int]) -> _Open | None:
    """Return when a remote opens; None if its type and dates do not say."""
    if remote.remote_type == RemoteType.PERMANENT:
        return _Open(_BEGINNING, _FOREVER, _ALL_DAYS)
    start, end = remote.start_ms, remote.end_ms
    if not start or not end or phase_of(remote, end) is not Phase.OVER:
        return None
    is_recurring = needs_weekdays(remote.remote_type)
    return _Open(start, end, (_days_of(remote) or without_days) if is_recurring else _ALL_DAYS)


def _first_open(start: int, end: int, days: AbstractSet[int], zone: tzinfo) -> int | None:
    """Return the first moment of a period that falls on one of some weekdays."""
    at = start
    for _ in range(_MOST_DAYS):
        if at >= end or not days:
            return None
        local = dates.local(at, zone)
        if local is None or local.isoweekday() in days:  # beyond the calendar, to be sure
            return at
        at = dates.day_around(at, zone)[1]
    return None


# --- in words ------------------------------------------------------------------------------------


def describe_fields(found: Shortening, now_ms: int, zone: tzinfo) -> dict[str, str]:
    """Return a sentence for each field that takes access away, under the contract's names."""
    parts = _parts(found, now_ms, zone)
    return {name: f"Shortens access{words}." for name, words in parts.items()}


def describe(found: Shortening, now_ms: int, zone: tzinfo) -> str:
    """Return ``Shortens access by 37 days: it will end 25 Dec 2026 17:19, not ...``."""
    first, *others = _parts(found, now_ms, zone).values()
    return (
        "; ".join([f"Shortens access{first}", *(words.removeprefix(": ") for words in others)])
        + "."
    )


def describe_change(before: Remote, after: Remote, now_ms: int, zone: tzinfo) -> str:
    """Return how a change shortens access, as a sentence; empty if it does not."""
    found = shortening(before, after, now_ms, zone)
    return describe(found, now_ms, zone) if found is not None else ""


def _parts(found: Shortening, now_ms: int, zone: tzinfo) -> dict[str, str]:
    parts: dict[str, str] = {}
    if found.ends_ms is not None:
        ends = "at once" if found.ends_ms <= now_ms else _moment(found.ends_ms, zone)
        if found.ended_ms is None:
            parts["remoteType"] = f": it was permanent and will end {ends}"
        else:
            by = dates.duration(found.earlier_ms)
            parts["endDate"] = f" by {by}: it will end {ends}, not {_moment(found.ended_ms, zone)}"
    if found.closed is not None:
        since, until = found.closed
        begins = "now" if since <= now_ms else dates.near_time(since, zone, now_ms)
        parts["startDate"] = f": closed from {begins} until {dates.near_time(until, zone, now_ms)}"
    if found.days:
        parts["weekDay"] = f": no longer on {weekday_words(found.days)}"
    return parts


def _moment(ms: int, zone: tzinfo) -> str:
    return dates.day_time(ms, zone).rpartition(" ")[0] or dates.day_time(ms, zone)


def summarize(found: Iterable[Shortening]) -> str:
    """Return ``2 remotes will lose access earlier than now, by up to 142 days``; or nothing."""
    some = [*found]
    earlier = [one for one in some if one.ends_ms is not None]
    said: list[str] = []
    if earlier:
        most_ms = max(one.earlier_ms for one in earlier)
        words = f"{_remotes(earlier)} will lose access earlier than now"
        if most_ms:
            words += f", by {'up to ' if len(earlier) > 1 else ''}{dates.duration(most_ms)}"
        if permanent := sum(one.was_permanent for one in earlier):
            words += f" ({permanent:,} {'was' if permanent == 1 else 'were'} permanent)"
        said.append(words)
    if later := [one for one in some if one.closed is not None]:
        said.append(f"{_remotes(later)} will be closed before a later start")
    if fewer := [one for one in some if one.days]:
        said.append(f"{_remotes(fewer)} will lose weekdays")
    return f"{'; '.join(said)}." if said else ""


def _remotes(some: Sequence[Shortening]) -> str:
    return f"{len(some):,} remote{'' if len(some) == 1 else 's'}"
