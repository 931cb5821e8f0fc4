"""Shortened access: the future times that a change takes away from a remote, and their texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import tzinfo

from lockterm.domain import dates
from lockterm.domain.dates import WEEK, format_weekdays
from lockterm.domain.remotes import Remote, RemoteType, needs_weekdays
from lockterm.domain.validity import Phase, phase_of

_ALL_DAYS = frozenset(WEEK)
_BEGINNING, _FOREVER = -(2**63), 2**63
"""Two times in milliseconds, before and after every time that a service can send."""

_MOST_DAYS = 9
"""Maximum number of days to search for a weekday: a week, and a partial day at each end."""


@dataclass(frozen=True, slots=True)
class Shortening:
    """How a change shortens the access of a remote. At least one field is set."""

    ends_ms: int | None = None
    """The new end of access, in milliseconds; None if access does not end earlier."""
    ended_ms: int | None = None
    """The old end of access, in milliseconds.

    None if the old access had no end, or if the change does not bring the end forward.
    """
    earlier_ms: int = 0
    """How much earlier access ends, in milliseconds; 0 if access does not end earlier or had no
    end."""
    closed: tuple[int, int] | None = None
    """The beginning and the end, in milliseconds, of the period that the remote loses because its
    access starts later; None if access does not start later."""
    days: tuple[int, ...] = ()
    """The weekdays (1 is Monday) that the remote loses within its new period."""

    @property
    def was_permanent(self) -> bool:
        """Whether access had no end before the change, and has an end after it."""
        return self.ends_ms is not None and self.ended_ms is None


@dataclass(frozen=True, slots=True)
class _Open:
    """The times when a remote opens: some weekdays between a start and an end."""

    start: int
    end: int
    days: AbstractSet[int]


def find_shortening(before: Remote, after: Remote, now_ms: int, zone: tzinfo) -> Shortening | None:
    """Return how a change shortens the future access of a remote; None if the change does not.

    The function compares the times when the remote opens before and after the change. For a
    recurring remote without weekdays, these times are unknown, so only start and end are compared.
    If a change removes all weekdays, the remote loses access on all of them.

    Args:
        before: The present remote. If its dates form no period, the result is None.
        after: The wanted remote.
        now_ms: Now, in milliseconds.
        zone: The time zone of the lock, which decides when a weekday begins.
    """
    old, new = _open_of(before, _days_of(after) or _ALL_DAYS), _open_of(after, frozenset())
    if old is None:
        return None
    if needs_weekdays(after.remote_type) and not _days_of(after) and not _days_of(before):
        new = _open_of(after, _ALL_DAYS)
    begin = max(old.start, now_ms)
    days = () if new is None else _lost_days(old, new, begin, zone)
    if new is None or _is_over(new, now_ms, zone):  # the new remote never opens again
        new = _Open(begin, begin if new is None else min(new.end, begin), frozenset())
    first = _first_open(begin, min(old.end, new.start), old.days, zone)
    until = _first_open(new.start, new.end, new.days, zone)
    lost_end = _first_open(max(begin, new.end), old.end, old.days, zone)
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


def _is_over(new: _Open, now_ms: int, zone: tzinfo) -> bool:
    """Return whether a remote does not open any more, because no weekday of its period is left."""
    start = max(new.start, now_ms)
    no_day = bool(new.days) and _first_open(start, new.end, new.days, zone) is None
    return no_day or new.end <= start


def _lost_days(old: _Open, new: _Open, begin: int, zone: tzinfo) -> tuple[int, ...]:
    """Return the weekdays on which a remote does not open any more after a change.

    Only days within the old and the new period count.

    Args:
        old: The times when the remote opens before the change.
        new: The times when the remote opens after the change.
        begin: The earliest time to consider, in milliseconds.
        zone: The time zone of the lock.
    """
    both = max(begin, new.start), min(old.end, new.end)
    return tuple(
        day
        for day in sorted(old.days - new.days)
        if _first_open(*both, frozenset({day}), zone) is not None
    )


def _days_of(remote: Remote) -> AbstractSet[int]:
    return frozenset(remote.week_day or ()) & _ALL_DAYS


def _open_of(remote: Remote, without_days: AbstractSet[int]) -> _Open | None:
    """Return the times when a remote opens; None if its type and dates form no period.

    Args:
        remote: The remote.
        without_days: The weekdays to assume for a recurring remote without weekdays.
    """
    if remote.remote_type == RemoteType.PERMANENT:
        return _Open(_BEGINNING, _FOREVER, _ALL_DAYS)
    start, end = remote.start_ms, remote.end_ms
    if not start or not end or phase_of(remote, end) is not Phase.OVER:
        return None
    is_recurring = needs_weekdays(remote.remote_type)
    return _Open(start, end, (_days_of(remote) or without_days) if is_recurring else _ALL_DAYS)


def _first_open(start: int, end: int, days: AbstractSet[int], zone: tzinfo) -> int | None:
    """Return the first moment of a period that falls on one of the weekdays, in milliseconds.

    The result is None if the period has none of the weekdays.
    """
    at = start
    for _ in range(_MOST_DAYS):
        if at >= end or not days:
            return None
        local = dates.local(at, zone)
        if local is None or local.isoweekday() in days:  # outside the calendar, any day counts
            return at
        at = dates.day_around(at, zone)[1]
    return None


# --- texts ---------------------------------------------------------------------------------------


def describe_shortened_fields(
    found: Shortening | None, now_ms: int, zone: tzinfo
) -> dict[str, str]:
    """Return a sentence for each field whose change shortens access, by contract field.

    The result is empty if ``found`` is None.
    """
    parts = _parts(found, now_ms, zone) if found is not None else {}
    return {name: f"Shortens access{part}." for name, part in parts.items()}


def describe_shortening(found: Shortening | None, now_ms: int, zone: tzinfo) -> str:
    """Return a sentence such as ``Shortens access by 37 days: the remote will expire ...``.

    The text is empty if ``found`` is None.
    """
    if found is None:
        return ""
    first, *others = _parts(found, now_ms, zone).values()
    return (
        "; ".join([f"Shortens access{first}", *(part.removeprefix(": ") for part in others)]) + "."
    )


def describe_shortened_access(before: Remote, after: Remote, now_ms: int, zone: tzinfo) -> str:
    """Return a sentence about how a change shortens access; empty if the change does not."""
    return describe_shortening(find_shortening(before, after, now_ms, zone), now_ms, zone)


def describe_added_access(before: Remote, after: Remote, now_ms: int, zone: tzinfo) -> list[str]:
    """Return sentences about access that a change adds: an earlier start, and more weekdays.

    The sentences do not mention a later end, because it is the purpose of most changes. They also
    do not mention that an expired remote becomes valid again.

    Args:
        before: The present remote.
        after: The remote after the change.
        now_ms: Now, in milliseconds.
        zone: The time zone of the lock.
    """
    found = find_shortening(after, before, now_ms, zone)  # what the present remote lacks
    said: list[str] = []
    if found is not None and found.closed is not None:
        since, until = found.closed
        begins = "now" if since <= now_ms else dates.near_time(since, zone, now_ms)
        said.append(
            f"Opens earlier: from {begins}, not from {dates.near_time(until, zone, now_ms)}."
        )
    if found is not None and found.days:
        said.append(f"Opens on more weekdays: {format_weekdays(found.days)}.")
    return said


def _parts(found: Shortening, now_ms: int, zone: tzinfo) -> dict[str, str]:
    parts: dict[str, str] = {}
    if found.ends_ms is not None:
        ends = "at once" if found.ends_ms <= now_ms else _moment(found.ends_ms, zone)
        if found.ended_ms is None:
            parts["remoteType"] = f": permanent access will end {ends}"
        else:
            by = dates.duration(found.earlier_ms)
            parts["endDate"] = (
                f" by {by}: the remote will expire {ends}, not {_moment(found.ended_ms, zone)}"
            )
    if found.closed is not None:
        since, until = found.closed
        begins = "now" if since <= now_ms else dates.near_time(since, zone, now_ms)
        parts["startDate"] = (
            f": no access from {begins} until {dates.near_time(until, zone, now_ms)}"
        )
    if found.days:
        parts["weekDay"] = f": no more access on {format_weekdays(found.days)}"
    return parts


def _moment(ms: int, zone: tzinfo) -> str:
    return dates.day_time(ms, zone).rpartition(" ")[0] or dates.day_time(ms, zone)


def summarize_shortenings(found: Iterable[Shortening]) -> str:
    """Return sentences such as ``2 remotes will expire up to 142 days earlier.``.

    The text is empty if no access is shortened.
    """
    some = [*found]
    earlier = [one for one in some if one.ends_ms is not None]
    said: list[str] = []
    if earlier:
        most_ms = max(one.earlier_ms for one in earlier)
        up_to = "up to " if len(earlier) > 1 else ""
        by = f"{up_to}{dates.duration(most_ms)} " if most_ms else ""
        words = f"{_remotes(earlier)} will expire {by}earlier"
        if permanent := sum(one.was_permanent for one in earlier):
            words += f" ({permanent:,} permanent until now)"
        said.append(words)
    if later := [one for one in some if one.closed is not None]:
        said.append(f"{_remotes(later)} will start later")
    if fewer := [one for one in some if one.days]:
        said.append(f"{_remotes(fewer)} will lose weekdays")
    return " ".join(f"{words}." for words in said)


def _remotes(some: Sequence[Shortening]) -> str:
    return f"{len(some):,} remote{'' if len(some) == 1 else 's'}"
