"""When a remote opens, in words: what its dates say, and what the service says beside it.

The contract states no rule for ``status`` (3), so the two are kept apart: a service that calls a
remote normal whose end has passed is quoted, ``says normal``, not corrected.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from enum import Enum
from typing import TYPE_CHECKING

from lockterm.domain import dates, glyphs
from lockterm.domain.constants import (
    RemoteStatus,
    RemoteType,
    is_known_type,
    needs_dates,
    needs_weekdays,
    word,
)
from lockterm.domain.weekdays import WEEK, weekday_words

if TYPE_CHECKING:
    from lockterm.domain.remotes import Remote

SHORT = 27
"""The most columns of ``Validity.short``."""

_TOLERANCE_MS = 2 * dates.MINUTE_MS
"""So much may clocks differ before service and dates are said to disagree."""


class Phase(Enum):
    """Where now lies in the period of a remote, by its dates alone."""

    ALWAYS = "always"
    AHEAD = "not yet"
    NOW = "open"
    OVER = "ended"
    UNCLEAR = "unclear"
    """No dates, or dates that make no period, or a type that the contract does not list."""


class State(Enum):
    """What a person has to know of a remote first: a word, and a sign of its own shape.

    The signs take one cell on every terminal; each has one in ASCII. Its colour is the stylesheet's
    ``line-table--`` and :attr:`look`.
    """

    ENDED = "ended", "×", "x", "ended"
    WEEK = "< 7 days", "!", "!", "ends within 7 days"
    MONTH = "< 30 days", "~", "~", "ends within 30 days"
    OPEN = "open", "·", ".", "open"
    AHEAD = "not yet", "»", "+", "not yet begun"
    DISAGREE = "disagree", "≠", "#", "status and dates disagree"
    UNCLEAR = "unclear", "?", "?", "type, dates or status do not say"

    def __init__(self, word: str, sign: str, plain: str, meaning: str) -> None:
        self.word = word
        self.meaning = meaning
        self._sign = sign
        self._plain = plain

    @property
    def look(self) -> str:
        """What the stylesheet calls it."""
        return self.name.lower()

    @property
    def sign(self) -> str:
        """Its sign on this terminal."""
        return self._plain if glyphs.are_ascii() else self._sign


DAYS_UNKNOWN = "days unknown"
"""Stands for the weekdays of a recurring remote that did not come."""

COERCED = "&"
"""The sign of a coerced remote, beside that of its state."""


@dataclass(frozen=True, slots=True)
class Validity:
    """When a remote opens, in words that are safe to show: none of them is the service's text."""

    words: str
    """``Mon-Fri, until 31 Dec 2026 18:00 +01:00, in 41 days``; the start too while it is ahead."""
    short: str
    """The same in at most 27 columns: ``Mon-Fri, until 31 Dec 2026``."""
    state: State
    word: str
    """At most 12 columns: that of the state, or what the service says in its place: ``invalid``,
    ``says normal``, ``not stated``."""
    service: str
    """The service's status alone: ``normal``, ``invalid``, ``unknown (7)``, ``not stated``."""
    disagreement: str
    """A sentence where the service's status and the dates contradict each other, else empty."""


def validity(remote: Remote, now_ms: int, zone: tzinfo) -> Validity:
    """When a remote opens, by its dates and by its status, in the lock's zone."""
    words = period_words(remote, now_ms, zone)
    if "weekDay" in remote.odd and needs_weekdays(remote.remote_type):
        words += " (the weekdays that came are no weekdays)"
    phase = phase_of(remote, now_ms)
    service = word(RemoteStatus, remote.status)
    state, state_word, disagreement = _state_of(remote, phase, now_ms)
    short = _short(remote, phase, now_ms, zone)[:SHORT]
    return Validity(words, short, state, state_word, service, disagreement)


def brief(remote: Remote, now_ms: int, zone: tzinfo) -> tuple[str, str]:
    """``Validity.short`` and ``Validity.word`` alone, which take half as long."""
    phase = phase_of(remote, now_ms)
    _, state_word, _ = _state_of(remote, phase, now_ms)
    return _short(remote, phase, now_ms, zone)[:SHORT], state_word


def state_of(remote: Remote, now_ms: int) -> State:
    """The state of a remote at a moment, by its dates and what the service says beside them."""
    return _state_of(remote, phase_of(remote, now_ms), now_ms)[0]


def state_by_dates(remote: Remote, now_ms: int) -> State:
    """The state by the dates alone: of what is or was sent, of which the service says nothing."""
    phase = _clear_phase(remote, phase_of(remote, now_ms))
    return _by_dates(phase, (remote.end_ms or 0) - now_ms)


def may_be(state: State, end_ms: int | None, now_ms: int) -> bool:
    """Whether a remote may have a state, by :func:`end_of` alone, which is told sooner."""
    left_ms = None if end_ms is None else end_ms - now_ms
    match state:
        case State.ENDED:
            return left_ms is not None and left_ms <= 0
        case State.WEEK | State.MONTH:
            return left_ms is not None and 0 < left_ms <= 30 * dates.DAY_MS
    return True


def phase_of(remote: Remote, now_ms: int) -> Phase:
    """Where now lies, by the dates: the start belongs to the period, the end does not."""
    kind, start, end = remote.remote_type, remote.start_ms, remote.end_ms
    if kind == RemoteType.PERMANENT:
        return Phase.ALWAYS
    if not needs_dates(kind) or not start or not end or end <= start:
        return Phase.UNCLEAR
    if now_ms >= end:
        return Phase.OVER
    return Phase.AHEAD if now_ms < start else Phase.NOW


def end_of(remote: Remote) -> int | None:
    """When the period of a remote ends, by its dates, in milliseconds.

    One that has no period never ends: a permanent one, or one whose dates make none.
    """
    end = remote.end_ms
    return end if end and phase_of(remote, end) is Phase.OVER else None


def has_unreadable_period(remote: Remote) -> bool:
    """Return whether type and dates do not say when a remote ends."""
    if remote.remote_type == RemoteType.PERMANENT:
        return False
    return not (needs_dates(remote.remote_type) and remote.start_ms and remote.end_ms)


def without_weekdays(remote: Remote) -> bool:
    """Return whether a recurring remote has no weekday, or none is known: it opens when?"""
    return needs_weekdays(remote.remote_type) and not {*(remote.week_day or ())} & {*WEEK}


def days_words(remote: Remote, *, short: bool = False) -> str:
    """Return the weekdays of a recurring remote; where they did not come, that they are unknown."""
    if remote.week_day is None:
        return DAYS_UNKNOWN
    return weekday_words(remote.week_day, short=short)


def ends_by(remote: Remote, until_ms: int) -> bool:
    """Whether the period of a remote is over at a moment; also where it is long over."""
    end = end_of(remote)
    return end is not None and end <= until_ms


OPENS_NOTHING = "None of these weekdays falls between start and end: this remote will open nothing."
"""Said of a remote that :func:`never_opens`."""


OPENS_ALWAYS = "It opens without an end from then on."
"""Said of a remote that becomes permanent."""


def never_opens(wanted: Remote, zone: tzinfo) -> bool:
    """Whether no day of the period, on the calendar of a zone, is one of the weekdays."""
    start, end, days_wanted = wanted.start_ms, wanted.end_ms, set(wanted.week_day or ())
    if not needs_weekdays(wanted.remote_type) or not days_wanted or not start or not end:
        return False
    first, last = dates.local(start, zone), dates.local(end - 1, zone)
    if first is None or last is None or end <= start:
        return False
    days = min((last.date() - first.date()).days, 6)
    return days_wanted.isdisjoint((first.weekday() + day) % 7 + 1 for day in range(days + 1))


def _clear_phase(remote: Remote, phase: Phase) -> Phase:
    """Return the phase, unless nobody knows on which days the remote opens within its period."""
    return Phase.UNCLEAR if phase is Phase.NOW and without_weekdays(remote) else phase


def _state_of(remote: Remote, phase: Phase, now_ms: int) -> tuple[State, str, str]:
    return _state(_clear_phase(remote, phase), remote.status, remote.end_ms, now_ms)


def _state(
    phase: Phase, status: int | None, end: int | None, now_ms: int
) -> tuple[State, str, str]:
    """The state, its word, and a sentence where service and dates disagree."""
    left_ms = (end or 0) - now_ms
    if status == RemoteStatus.NORMAL:
        if phase is Phase.OVER and -left_ms > _TOLERANCE_MS:
            ago = dates.distance(now_ms + left_ms, now_ms)
            why = f"The service calls it normal, its dates say it ended {ago}."
            return State.DISAGREE, "says normal", why
    elif status == RemoteStatus.INVALID:
        if phase is Phase.NOW and left_ms > _TOLERANCE_MS:
            why = "The service calls it invalid, its dates say it opens now."
            return State.DISAGREE, "says invalid", why
        if phase not in (Phase.OVER, Phase.AHEAD):
            return State.UNCLEAR, "invalid", ""
    elif status is None:
        return State.UNCLEAR, "not stated", ""
    else:
        return State.UNCLEAR, f"status {status}" if abs(status) < 10_000 else "status odd", ""
    state = _by_dates(phase, left_ms)
    return state, state.word, ""


WEEK_MS, MONTH_MS = 7 * dates.DAY_MS, 30 * dates.DAY_MS
"""What is left of a period, in milliseconds, from when on its end is told by its state."""


def _by_dates(phase: Phase, left_ms: int) -> State:
    if phase is Phase.NOW and left_ms <= MONTH_MS:
        return State.WEEK if left_ms <= WEEK_MS else State.MONTH
    return _OF_PHASE[phase]


_OF_PHASE = {
    Phase.ALWAYS: State.OPEN,
    Phase.NOW: State.OPEN,
    Phase.AHEAD: State.AHEAD,
    Phase.OVER: State.ENDED,
    Phase.UNCLEAR: State.UNCLEAR,
}


def period_words(remote: Remote, now_ms: int, zone: tzinfo) -> str:
    """When a remote opens by its dates, or what is about to be sent would: ``Validity.words``."""
    phase = phase_of(remote, now_ms)
    if phase is Phase.ALWAYS:
        return "always"
    kind, start, end = remote.remote_type, remote.start_ms, remote.end_ms
    parts = [days_words(remote)] if needs_weekdays(kind) else []
    if not is_known_type(kind):
        name = "no type" if kind is None else f"type {kind}, which lockterm does not know"
        parts.append(name)
    if phase is Phase.NOW and end:
        parts.append(f"until {dates.day_time(end, zone)}, {dates.distance(end, now_ms)}")
    elif phase is Phase.OVER and end:
        parts.append(f"ended {dates.distance(end, now_ms)}, {dates.day_time(end, zone)}")
    else:
        begins = f"from {dates.day_time(start, zone)}" if start else _missing(remote, "startDate")
        ends = f"until {dates.day_time(end, zone)}" if end else _missing(remote, "endDate")
        parts.append(f"{begins} {ends}" if start and end else f"{begins}, {ends}")
        if phase is Phase.AHEAD and start:
            parts.append(f"starts {dates.distance(start, now_ms)}")
        elif start and end and end <= start:
            parts.append("it ends before it starts")
    return ", ".join(parts)


def _short(remote: Remote, phase: Phase, now_ms: int, zone: tzinfo) -> str:
    kind, start, end = remote.remote_type, remote.start_ms, remote.end_ms
    if phase is Phase.ALWAYS:
        return "always"
    if not is_known_type(kind):
        return "no type" if kind is None else f"unknown type {kind}"
    if phase is Phase.OVER and end:
        return f"ended {dates.distance(end, now_ms)}"
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
        when, brief = f"{_missing(remote, 'startDate')}, {when}", ""
    if not needs_weekdays(kind):
        return when
    count = len({day for day in remote.week_day or () if day in WEEK})
    none = "no days" if remote.week_day is not None else "days ?"
    forms = (
        days_words(remote),
        days_words(remote, short=True),
        f"{count} day{'' if count == 1 else 's'}" if count else none,
    )
    whens = (when, brief) if brief else (when,)
    fitting = (f"{form}, {at}" for at in whens for form in forms)
    return next((text for text in fitting if len(text) <= SHORT), when)


def _last_day_or_time(end: int, now_ms: int, zone: tzinfo) -> str:
    """Return the last day on which a remote opens; today, until which time."""
    if not dates.begins_day(end, zone):
        return _day_or_time(end, now_ms, zone)
    is_today = dates.day(end - 1, zone) == dates.day(now_ms, zone)
    return "24:00 today" if is_today else dates.last_day(end, zone)


def _missing(remote: Remote, name: str) -> str:
    """Return ``no end``, or that the end is not known: what did not come is not taken for none."""
    end = "start" if name == "startDate" else "end"
    if name in remote.odd:
        return f"{end} cannot be read"
    ms = remote.start_ms if name == "startDate" else remote.end_ms
    return f"no {end}" if ms == 0 else f"{end} unknown"


def _day_or_time(ms: int, now_ms: int, zone: tzinfo) -> str:
    at, now = dates.local(ms, zone), dates.local(now_ms, zone)
    is_today = at is not None and now is not None and at.date() == now.date()
    return f"{at:%H:%M} today" if is_today else dates.day(ms, zone)
