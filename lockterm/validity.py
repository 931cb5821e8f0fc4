"""When a remote opens, in words: what its dates say, and what the service says beside it.

The contract states no rule for ``status`` (3), so the two are kept apart: a service that calls a
remote normal whose end has passed is quoted, ``says normal``, not corrected.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from enum import Enum
from typing import TYPE_CHECKING

from lockterm import moments
from lockterm.models.constants import RemoteStatus, RemoteType, word
from lockterm.rules import is_known_type, needs_dates, needs_weekdays
from lockterm.weekdays import weekday_words

if TYPE_CHECKING:
    from lockterm.models.remote_values import RemoteValues
    from lockterm.models.remotes import Remote

SHORT = 27
"""The most columns of ``Validity.short``."""

_TOLERANCE_MS = 2 * moments.MINUTE_MS
"""So much may clocks differ before service and dates are said to disagree."""


class Phase(Enum):
    """Where now lies in the period of a remote, by its dates alone."""

    ALWAYS = "always"
    AHEAD = "not yet"
    NOW = "normal"
    OVER = "expired"
    UNCLEAR = "unclear"
    """No dates, or dates that make no period, or a type that the contract does not list."""


@dataclass(frozen=True, slots=True)
class Validity:
    """When a remote opens, in words that are safe to show: none of them is the service's text."""

    words: str
    """``Mon-Fri, until 31 Dec 2026 18:00 +01:00, in 41 days``; the start too while it is ahead."""
    short: str
    """The same in at most 27 columns: ``Mon-Fri, until 31 Dec 2026``."""
    state: str
    """At most 12 columns: ``normal``, ``expired``, ``not yet``, ``invalid``, ``says normal``."""
    service: str
    """The service's status alone: ``normal``, ``invalid``, ``unknown (7)``, ``not stated``."""
    disagreement: str
    """A sentence where the service's status and the dates contradict each other, else empty."""
    phase: Phase
    """What the dates say, for colours: never the only sign."""


def validity(remote: Remote, now_ms: int, zone: tzinfo) -> Validity:
    """When a remote opens, by its dates and by its status, in the lock's zone."""
    start, end, kind = remote.start_ms, remote.end_ms, remote.remote_type
    phase = phase_of(kind, start, end, now_ms)
    days = remote.week_day or () if needs_weekdays(kind) else None
    words = _words(phase, kind, start, end, days, now_ms, zone)
    if "weekDay" in remote.odd and needs_weekdays(kind):
        words += " (the weekdays that came are no weekdays)"
    short = _short(phase, kind, start, end, days, now_ms, zone)
    service = word(RemoteStatus, remote.status)
    state, disagreement = _state(phase, remote.status, end, now_ms)
    return Validity(words, short[:SHORT], state, service, disagreement, phase)


def period_words(values: RemoteValues, now_ms: int, zone: tzinfo) -> str:
    """The same words for what a person is about to send."""
    start, end, kind = values.start_ms, values.end_ms, values.remote_type
    days = values.week_day if needs_weekdays(kind) else None
    return _words(phase_of(kind, start, end, now_ms), kind, start, end, days, now_ms, zone)


def phase_of(kind: int | None, start: int | None, end: int | None, now_ms: int) -> Phase:
    """Where now lies, by the dates: the start belongs to the period, the end does not."""
    if kind == RemoteType.PERMANENT:
        return Phase.ALWAYS
    if not needs_dates(kind) or not start or not end or end <= start:
        return Phase.UNCLEAR
    if now_ms >= end:
        return Phase.OVER
    return Phase.AHEAD if now_ms < start else Phase.NOW


def _state(phase: Phase, status: int | None, end: int | None, now_ms: int) -> tuple[str, str]:
    if status == RemoteStatus.NORMAL:
        if phase is Phase.OVER and end is not None and now_ms - end > _TOLERANCE_MS:
            ago = moments.distance(end, now_ms)
            return "says normal", f"The service calls it normal, its dates say it ended {ago}."
        return ("normal" if phase in (Phase.ALWAYS, Phase.UNCLEAR) else phase.value), ""
    if status == RemoteStatus.INVALID:
        if phase is Phase.NOW and end is not None and end - now_ms > _TOLERANCE_MS:
            return "says invalid", "The service calls it invalid, its dates say it opens now."
        return (phase.value if phase in (Phase.OVER, Phase.AHEAD) else "invalid"), ""
    if status is None:
        return "not stated", ""
    text = f"status {status}" if abs(status) < 10_000 else "status odd"
    return text, ""


def _words(
    phase: Phase,
    kind: int | None,
    start: int | None,
    end: int | None,
    days: tuple[int, ...] | list[int] | None,
    now_ms: int,
    zone: tzinfo,
) -> str:
    if phase is Phase.ALWAYS:
        return "always"
    parts = [weekday_words(days)] if days is not None else []
    if not is_known_type(kind):
        name = "no type" if kind is None else f"type {kind}, which lockterm does not know"
        parts.append(name)
    if phase is Phase.NOW and end:
        parts.append(f"until {moments.day_time(end, zone)}, {moments.distance(end, now_ms)}")
    elif phase is Phase.OVER and end:
        parts.append(f"ended {moments.distance(end, now_ms)}, {moments.day_time(end, zone)}")
    else:
        begins = f"from {moments.day_time(start, zone)}" if start else "no start"
        ends = f"until {moments.day_time(end, zone)}" if end else "no end"
        parts.append(f"{begins} {ends}" if start and end else f"{begins}, {ends}")
        if phase is Phase.AHEAD and start:
            parts.append(f"starts {moments.distance(start, now_ms)}")
        elif start and end and end <= start:
            parts.append("it ends before it starts")
    return ", ".join(parts)


def _short(
    phase: Phase,
    kind: int | None,
    start: int | None,
    end: int | None,
    days: tuple[int, ...] | list[int] | None,
    now_ms: int,
    zone: tzinfo,
) -> str:
    if phase is Phase.ALWAYS:
        return "always"
    if not is_known_type(kind):
        return "no type" if kind is None else f"unknown type {kind}"
    if phase is Phase.OVER and end:
        return f"ended {moments.distance(end, now_ms)}"
    if phase is Phase.AHEAD and start:
        when = f"starts {moments.distance(start, now_ms)}"
    elif end:
        at, now = moments.local(end, zone), moments.local(now_ms, zone)
        is_today = at is not None and now is not None and at.date() == now.date()
        when = f"until {f'{at:%H:%M} today' if is_today else moments.day(end, zone)}"
    else:
        when = "no end"
    if phase is Phase.UNCLEAR and start and end:
        when = "ends before it starts"
    elif phase is Phase.UNCLEAR and end:
        when = f"no start, {when}"
    if days is None:
        return when
    count = len({day for day in days if day in range(1, 8)})
    forms = (
        weekday_words(days),
        weekday_words(days, short=True),
        f"{count} day{'' if count == 1 else 's'}" if count else "no days",
    )
    fitting = (f"{form}, {when}" for form in forms)
    return next((text for text in fitting if len(text) <= SHORT), when)
