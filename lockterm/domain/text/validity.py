"""Texts about the period and the state of a remote."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from typing import NamedTuple

from lockterm.domain import dates, glyphs
from lockterm.domain.dates import WEEK, format_weekdays
from lockterm.domain.remotes import (
    Remote,
    RemoteStatus,
    RemoteType,
    is_known_type,
    needs_weekdays,
    word,
)
from lockterm.domain.text.amount import format_count
from lockterm.domain.validity import Phase, RemoteState, judge, never_opens, phase_of

SHORT = 30
"""Maximum number of characters of ``Validity.short``."""

DAYS_UNKNOWN = "weekdays unknown"
"""The text for the weekdays of a recurring remote whose weekdays the service did not send."""

OPENS_ALWAYS = "The remote will have no end date."
"""The warning about an update that makes a remote permanent."""

_DATED = frozenset({Phase.NOW, Phase.OVER, Phase.AHEAD})
"""The phases for which :func:`shorten_period` shows only the end date in the narrowest columns."""


class Validity(NamedTuple):
    """Texts about the validity of a remote.

    The texts are safe to show, because they contain no string from the service.
    """

    words: str
    """The period, such as ``Mon-Fri, until 31 Dec 2026 18:00 +01:00, in 41 days``. If the remote is
    upcoming, the start is included."""
    short: str
    """The period in at most 30 characters, such as ``Mon-Fri, until 31 Dec 2026``."""
    state: RemoteState
    word: str
    """The word for the state, in at most 14 characters. If the status contradicts the dates, is
    missing or is not in the contract, the word describes the status instead, such as
    ``status normal`` or ``no status``."""
    service: str
    """The status that the service reported, such as ``normal``, ``invalid``, ``unknown (7)`` or
    ``not stated``."""
    disagreement: str
    """A sentence if the reported status contradicts the dates; otherwise empty."""


def describe_validity(remote: Remote, now_ms: int, zone: tzinfo) -> Validity:
    """Return the texts about the validity of a remote at ``now_ms``, in the zone of its lock."""
    words = describe_period(remote, now_ms, zone)
    if "weekDay" in remote.odd and needs_weekdays(remote.remote_type):
        words += " (the service sent invalid weekdays)"
    phase = phase_of(remote, now_ms)
    service = word(RemoteStatus, remote.status)
    state, state_word, disagreement = judge(remote, phase, now_ms)
    short = _short(remote, phase, now_ms, zone)[:SHORT]
    return Validity(words, short, state, state_word, service, disagreement)


def describe_validity_briefly(remote: Remote, now_ms: int, zone: tzinfo) -> tuple[str, str]:
    """Return only the texts ``Validity.short`` and ``Validity.word``.

    This function takes half the time of :func:`describe_validity`.
    """
    phase = phase_of(remote, now_ms)
    _, state_word, _ = judge(remote, phase, now_ms)
    return _short(remote, phase, now_ms, zone)[:SHORT], state_word


def format_state(state: RemoteState) -> str:
    """Return the word for a state in reports, such as ``expired`` or ``expires within 7 days``."""
    return state.meaning if state in (RemoteState.WEEK, RemoteState.MONTH) else state.word


def describe_dates(remote: Remote, zone: tzinfo) -> str:
    """Return when a remote opens its lock, without times relative to now.

    An example is ``Mon-Fri, from 1 Nov 2026 08:00 +01:00 until 31 Dec 2026 18:00 +01:00``.
    """
    if remote.remote_type == RemoteType.PERMANENT:
        return "always"
    return ", ".join([*_days_or_type(remote), _from_until(remote, zone)])


def describe_never_opens(wanted: Remote, now_ms: int, zone: tzinfo) -> str:
    """Return a warning if none of a recurring remote's weekdays is in the rest of its period.

    The warning is empty if the remote will open its lock, or if its period is over.
    """
    if not never_opens(wanted, zone, now_ms):
        return ""
    days = format_weekdays(wanted.week_day or ()).replace(", ", " or ")
    where = "before the end" if (wanted.start_ms or 0) <= now_ms else "between start and end"
    return f"No {days} {where}, so this remote will not open the lock."


def format_days(remote: Remote, *, short: bool = False) -> str:
    """Return the weekdays of a recurring remote; ``weekdays unknown`` if the service sent none."""
    if remote.week_day is None:
        return DAYS_UNKNOWN
    return format_weekdays(remote.week_day, short=short)


def describe_period(remote: Remote, now_ms: int, zone: tzinfo) -> str:
    """Return when a remote opens its lock, such as ``until 31 Dec 2026 18:00 +01:00, in 41 days``.

    The text is computed from type, dates and weekdays, so the remote may also be one that lockterm
    has not sent yet.
    """
    phase = phase_of(remote, now_ms)
    if phase is Phase.ALWAYS:
        return "always"
    start, end, parts = remote.start_ms, remote.end_ms, _days_or_type(remote)
    if phase is Phase.NOW and end:
        parts.append(f"until {dates.day_time(end, zone)}, {dates.distance(end, now_ms)}")
    elif phase is Phase.OVER and end:
        parts.append(f"expired {dates.distance(end, now_ms)}, {dates.day_time(end, zone)}")
    else:
        parts.append(_from_until(remote, zone))
        if phase is Phase.AHEAD and start:
            parts.append(f"starts {dates.distance(start, now_ms)}")
        elif start and end and end <= start:
            parts.append("the end is before the start")
    return ", ".join(parts)


def shorten_period(remote: Remote, now_ms: int, zone: tzinfo) -> Iterator[str]:
    """Yield texts about the period of a remote, each for a narrower column than the text before.

    The first text is that of :func:`describe_period`. The shortest texts have only the end date, as
    in ``31 Dec 26``.
    """
    yield describe_period(remote, now_ms, zone)
    phase, end = phase_of(remote, now_ms), remote.end_ms
    yield _short(remote, phase, now_ms, zone)
    last = dates.local(end - dates.begins_day(end, zone), zone) if end else None
    if last is not None and phase in _DATED and is_known_type(remote.remote_type):
        day = dates.day_of(last)
        if phase is Phase.OVER:
            yield f"expired {day}"
        else:
            yield f"until {day}"
        yield day
        yield f"{day[:-4]}{last:%y}"


def shorten_start(remote: Remote, now_ms: int, zone: tzinfo, *, has_end: bool) -> Iterator[str]:
    """Yield texts about the start of a period, each for a narrower column than the text before.

    The last text is like ``from 5 Dec``.

    Args:
        remote: The remote, which has a start.
        now_ms: Now, in milliseconds.
        zone: The time zone of the lock.
        has_end: Whether the longer texts contain the end, and the shorter texts have an ellipsis
            instead of the end.
    """
    start, end = remote.start_ms or 0, remote.end_ms or 0
    last = end - dates.begins_day(end, zone)
    if has_end:
        yield _from_until(remote, zone)
        yield f"from {dates.day(start, zone)} until {dates.day(last, zone)}"
        yield f"from {dates.near_day(start, zone, now_ms)} until {dates.day(last, zone)}"
    more = f"; {glyphs.ellipsis()}" if has_end else ""
    yield f"from {dates.day(start, zone)}{more}"
    yield f"from {dates.near_day(start, zone, now_ms)}{more}"


def _days_or_type(remote: Remote) -> list[str]:
    """Return the weekdays of a recurring remote, or the type if the contract does not list it."""
    kind = remote.remote_type
    if not is_known_type(kind):
        return ["no type" if kind is None else f"unknown type {kind}"]
    return [format_days(remote)] if needs_weekdays(kind) else []


def _from_until(remote: Remote, zone: tzinfo) -> str:
    start, end = remote.start_ms, remote.end_ms
    begins = f"from {dates.day_time(start, zone)}" if start else _missing(remote, "startDate")
    ends = f"until {dates.day_time(end, zone)}" if end else _missing(remote, "endDate")
    return f"{begins} {ends}" if start and end else f"{begins}, {ends}"


def _short(remote: Remote, phase: Phase, now_ms: int, zone: tzinfo) -> str:
    kind, start, end = remote.remote_type, remote.start_ms, remote.end_ms
    if phase is Phase.ALWAYS:
        return "always"
    if not is_known_type(kind):
        return _days_or_type(remote)[0]
    if phase is Phase.OVER and end:
        return f"expired {dates.distance(end, now_ms)}"
    brief = ""
    if phase is Phase.AHEAD and start:
        when = f"starts {dates.distance(start, now_ms)}"
        brief = f"from {_day_or_time(start, now_ms, zone)}"
    elif end:
        brief = f"until {_last_day_or_time(end, now_ms, zone)}"
        when = f"{brief} 24:00" if dates.begins_day(end, zone) and "today" not in brief else brief
    else:
        when = _missing(remote, "endDate")
    if phase is Phase.UNCLEAR and start and end:
        when, brief = "ends before it starts", ""
    elif phase is Phase.UNCLEAR and end:
        missing = _missing(remote, "startDate")
        both = f"{missing}, {when}"
        when, brief = both if len(both) <= SHORT else missing, ""
    if not needs_weekdays(kind):
        return when
    count = len({day for day in remote.week_day or () if day in WEEK})
    none = "no weekdays" if remote.week_day is not None else "weekdays ?"
    forms = (
        format_days(remote, short=True) if remote.week_day else none,
        format_count(count, "weekday") if count else none,
    )
    whens = (when, brief) if brief else (when,)
    fitting = (f"{form}, {at}" for at in whens for form in forms)
    return next((text for text in fitting if len(text) <= SHORT), when)


def _last_day_or_time(end: int, now_ms: int, zone: tzinfo) -> str:
    """Return the last day on which a remote opens its lock.

    If the end is today, return the time of day of the end instead, such as ``18:00 today``.
    """
    if not dates.begins_day(end, zone):
        return _day_or_time(end, now_ms, zone)
    is_today = dates.day(end - 1, zone) == dates.day(now_ms, zone)
    return "24:00 today" if is_today else dates.last_day(end, zone)


def _missing(remote: Remote, name: str) -> str:
    """Return why a remote has no start or no end, such as ``no end`` or ``end unknown``.

    Args:
        remote: The remote.
        name: ``startDate`` or ``endDate``.
    """
    end = "start" if name == "startDate" else "end"
    if name in remote.odd:
        return f"{end} cannot be read"
    ms = remote.start_ms if name == "startDate" else remote.end_ms
    return f"no {end}" if ms == 0 else f"{end} unknown"


def _day_or_time(ms: int, now_ms: int, zone: tzinfo) -> str:
    at, now = dates.local(ms, zone), dates.local(now_ms, zone)
    is_today = at is not None and now is not None and at.date() == now.date()
    return f"{at:%H:%M} today" if is_today else dates.day(ms, zone)


_LEAST_BAR = 12
"""The minimum width of a bar, in cells."""


def period_bar(remote: Remote, now_ms: int, width: int) -> str:
    """Return the period of a remote as a bar: ``├━━━━━╋──────┤``.

    The bar shows the time that has passed, a mark for today, and the rest of the period. If the
    period has not started or is over, the mark for today is outside of the bar.

    Args:
        remote: The remote with the period.
        now_ms: Now, in milliseconds.
        width: The width in cells.

    Returns:
        The bar; empty if the remote has no start or end, or if the width is less than
        :data:`_LEAST_BAR`.
    """
    phase, start, end = phase_of(remote, now_ms), remote.start_ms, remote.end_ms
    if phase in (Phase.ALWAYS, Phase.UNCLEAR) or not start or not end or width < _LEAST_BAR:
        return ""
    first, over, today, left, last = "[=|-]" if glyphs.are_ascii() else "├━╋─┤"
    if phase is Phase.AHEAD:
        return f"{today} {first}{left * (width - 4)}{last}"
    if phase is Phase.OVER:
        return f"{first}{over * (width - 4)}{last} {today}"
    cells = width - 3
    passed = (now_ms - start) * (cells + 1) // (end - start)
    return f"{first}{over * passed}{today}{left * (cells - passed)}{last}"
