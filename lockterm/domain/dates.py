"""The one place where timestamps become local times, and what was typed becomes a timestamp.

People read ``31 Dec 2026 18:00 +01:00``: :func:`day_time`, and :func:`day` where the day is enough.
What is typed, and what files and tables of commands have, is ``2026-12-31 18:00``, which sorts:
:func:`typed`, and :func:`stamp` with its offset.

Values are milliseconds since 1970 in UTC, as the contract has them (2.3). Nothing here raises for
a strange number: what is no date of the calendar is shown as the number that came.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""English, whatever the locale of the terminal."""

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

SECOND_MS = 1000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
YEAR_MS = 365 * DAY_MS + DAY_MS // 4
_NEAR_MS = 180 * DAY_MS
"""So far from now on a day is told with its year."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS_FROM = 10**11
"""From here on a number is milliseconds: as seconds it would be the year 5138."""


class UnknownZone(tzinfo):
    """The zone of a lock that this machine does not know: times are shown in UTC, none is read.

    Args:
        name: What the lock book calls it.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def reason(self) -> str:
        """Why no date is read, as a sentence; the name may hold anything."""
        return f'This machine does not know the time zone "{self.name}" of this lock.'

    def utcoffset(self, dt: datetime | None) -> timedelta:
        return timedelta()

    def dst(self, dt: datetime | None) -> timedelta:
        return timedelta()

    def tzname(self, dt: datetime | None) -> str:
        return "UTC"

    def __str__(self) -> str:
        return f'UTC, since this machine does not know "{self.name}"'

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnknownZone) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


def as_ms(value: int) -> int:
    """A timestamp whose unit the contract leaves open, in milliseconds: from 10^11 on it is."""
    return value if abs(value) >= _MS_FROM else value * 1000


def local(ms: int, zone: tzinfo) -> datetime | None:
    """The moment on the clocks of a zone; None where the calendar does not reach."""
    try:
        return (_EPOCH + timedelta(milliseconds=ms)).astimezone(zone)
    except (OverflowError, ValueError):
        return None


def to_ms(moment: datetime) -> int:
    """An aware time in milliseconds; what is finer is cut off."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def zone_name(zone: tzinfo) -> str:
    """The name of a zone: ``Europe/Berlin``."""
    return str(getattr(zone, "key", None) or zone)


def offset(moment: datetime) -> str:
    """The offset of an aware time: ``+01:00``."""
    return moment.isoformat()[len(moment.replace(tzinfo=None).isoformat()) :]


def _number(ms: int) -> str:
    try:
        return str(ms)
    except ValueError:  # Python refuses to write out thousands of digits
        return "a number too long to show"


def _clock(moment: datetime, exact: bool) -> str:
    """The time of day; with ``exact``, seconds where there are any."""
    if exact and moment.microsecond:
        return moment.isoformat(timespec="milliseconds")[11:23]
    if exact and moment.second:
        return moment.isoformat(timespec="seconds")[11:19]
    return moment.isoformat(timespec="minutes")[11:16]


def stamp(ms: int, zone: tzinfo, *, exact: bool = False) -> str:
    """``2026-12-01 09:00 +01:00``; with ``exact``, seconds and milliseconds where there are any."""
    at = local(ms, zone)
    if at is None:
        return _number(ms)
    return f"{at.date().isoformat()} {_clock(at, exact)} {offset(at)}"


def clock(ms: int, zone: tzinfo) -> str:
    """``09:00 +01:00``: the time of day, where the day is clear."""
    at = local(ms, zone)
    return _number(ms) if at is None else f"{_clock(at, False)} {offset(at)}"


def recent(ms: int, zone: tzinfo, now_ms: int) -> str:
    """``20 Nov 09:00``, ``20 Nov 2025`` from half a year on, as ``ls -l`` does; 12 cells."""
    at = local(ms, zone)
    if at is None or abs(now_ms - ms) > _NEAR_MS:
        return day(ms, zone)
    return f"{at.day} {MONTHS[at.month - 1]} {_clock(at, False)}".rjust(12)


def near_day(ms: int, zone: tzinfo, now_ms: int) -> str:
    """``3 Dec``, ``3 Dec 2025`` from half a year on."""
    at = local(ms, zone)
    if at is None or abs(now_ms - ms) > _NEAR_MS:
        return day(ms, zone)
    return f"{at.day} {MONTHS[at.month - 1]}"


def near_time(ms: int, zone: tzinfo, now_ms: int) -> str:
    """``5 Dec 15:00``, ``5 Dec 2027 15:00`` from half a year on."""
    at = local(ms, zone)
    return _number(ms) if at is None else f"{near_day(ms, zone, now_ms)} {_clock(at, True)}"


def duration(ms: int) -> str:
    """``37 days``, ``5 hours``, ``59 seconds``: a span in its largest whole unit, rounded down."""
    if ms >= 2 * DAY_MS:
        size, unit = DAY_MS, "day"
    elif ms >= HOUR_MS:
        size, unit = HOUR_MS, "hour"
    else:
        size, unit = (MINUTE_MS, "minute") if ms >= MINUTE_MS else (SECOND_MS, "second")
    count = max(ms // size, 1)
    return f"{count:,} {unit}{'' if count == 1 else 's'}"


def day_around(ms: int, zone: tzinfo) -> tuple[int, int]:
    """When the day of a moment begins in a zone, and the next one, in milliseconds."""
    at = local(ms, zone)
    if at is None:
        return ms, ms
    today = at.date()
    if today == date.max:  # the calendar ends with it
        return begin_of(today, zone), ms + DAY_MS
    return begin_of(today, zone), begin_of(today + timedelta(days=1), zone)


def begin_of(day: date, zone: tzinfo, *, last: bool = False) -> int:
    """Return when a day begins in a zone, in milliseconds.

    Args:
        day: The day.
        zone: The zone; where its clocks skip midnight, the day begins when they go on.
        last: Whether the second one is meant where the clocks show midnight twice.
    """
    return _shown_at(datetime.combine(day, time()), zone, last=last)


def same_wall_time(ms: int, zone: tzinfo, other: tzinfo, *, last: bool = False) -> int:
    """Return when the clocks of another zone show what those of a zone show at a moment.

    Args:
        ms: The moment, in milliseconds.
        zone: The zone.
        other: The other zone; where its clocks skip that time, the moment when they go on.
        last: Whether the second moment is meant where they show that time twice.
    """
    at = local(ms, zone)
    return ms if at is None else _shown_at(at.replace(tzinfo=None, fold=0), other, last=last)


def _shown_at(wall: datetime, zone: tzinfo, *, last: bool) -> int:
    """Return when the clocks of a zone show a time; where they skip it, when they go on."""
    ms = to_ms(wall.replace(tzinfo=zone, fold=int(last)))
    shown = local(ms, zone)
    if shown is not None and shown.replace(tzinfo=None, fold=0) != wall:
        return to_ms(after_gap(wall, zone))
    return ms


def after_gap(wall: datetime, zone: tzinfo) -> datetime:
    """Return when the clocks go on that skip a time, in UTC."""
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    after = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    old, second = before.astimezone(zone).utcoffset(), timedelta(seconds=1)
    while after - before > second:  # the clocks change at a second between the two
        middle = before + (after - before) // second // 2 * second
        if middle.astimezone(zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after


def day(ms: int, zone: tzinfo) -> str:
    """``31 Dec 2026``."""
    at = local(ms, zone)
    return _number(ms) if at is None else day_of(at)


def last_day(ms: int, zone: tzinfo) -> str:
    """``31 Jan 2027``: the last day before an end; of an end at midnight, the day before."""
    return day(ms - 1, zone)


def begins_day(ms: int, zone: tzinfo) -> bool:
    """Return whether a moment is the first of a day, 00:00 nearly always."""
    return day(ms, zone) != day(ms - 1, zone)


def day_of(at: datetime) -> str:
    """``31 Dec 2026``, of a time that is local already."""
    return f"{at.day} {MONTHS[at.month - 1]} {at.year}"


def day_time(ms: int, zone: tzinfo, *, exact: bool = True) -> str:
    """``31 Dec 2026 18:00 +01:00``; with ``exact``, seconds and milliseconds where there are any.

    Args:
        ms: The moment, in milliseconds.
        zone: In which it is shown.
        exact: Whether it is the end of a right or the like, where ``23:59:59`` is not ``23:59``.
    """
    at = local(ms, zone)
    return _number(ms) if at is None else f"{day_of(at)} {_clock(at, exact)} {offset(at)}"


def preview(ms: int, zone: tzinfo, now_ms: int) -> str:
    """``Tue 1 Dec 2026 09:00 +01:00, 08:00 UTC, in 41 days``: what a typed date resolved to.

    Where the clock shows the time of UTC, it stands there once.
    """
    at, universal = local(ms, zone), local(ms, UTC)
    if at is None or universal is None:
        return _number(ms)
    words = f"{DAYS[at.weekday()]} {day_time(ms, zone)}"
    if at.utcoffset():
        its_day = "" if universal.date() == at.date() else f"{day_of(universal)} "
        words += f", {its_day}{_clock(universal, False)} UTC"
    return f"{words}, {distance(ms, now_ms)}"


def typed(ms: int, zone: tzinfo) -> str:
    """How a person would type this moment: ``2026-12-01 09:00``.

    Exact: :func:`lockterm.domain.date_input.read_moment` gives back the same number. The offset
    stands there only where the clock shows that time twice, or the zone is not known.
    """
    at = local(ms, zone)
    if at is None:
        return _number(ms)
    text = f"{at.date().isoformat()} {_clock(at, True)}"
    twin = at.replace(fold=1 - at.fold)
    is_clear = twin.utcoffset() == at.utcoffset() and not isinstance(zone, UnknownZone)
    return text if is_clear else f"{text} {offset(at)}"


def distance(ms: int, now_ms: int) -> str:
    """How far a moment is from now: ``in 41 days``, ``3 days ago``, ``in 2 hours``.

    The minute that has begun counts whole: ``+7d``, typed in the middle of one, is in 7 days.
    """
    away = abs(ms - now_ms)
    if away < MINUTE_MS:
        return "now"
    if ms > now_ms:
        away += MINUTE_MS - 1
    if away < HOUR_MS:
        count, unit = away // MINUTE_MS, "minute"
    elif away < 2 * DAY_MS:
        count, unit = away // HOUR_MS, "hour"
    elif away < 2 * YEAR_MS:
        count, unit = away // DAY_MS, "day"
    else:
        count, unit = away // YEAR_MS, "year"
    words = f"{_number(count)} {unit}{'' if count == 1 else 's'}"
    return f"in {words}" if ms > now_ms else f"{words} ago"
