"""Times and weekdays: the clocks of a machine, local times of timestamps, and their texts.

Texts for people use ``31 Dec 2026 18:00 +01:00``; see :func:`day_time`, and :func:`day` for the day
alone. Typed dates use ``2026-12-31 18:00``; see :func:`typed`. Files and tables of commands use
``2026-12-31 18:00 +01:00``, because this form sorts by time; see :func:`stamp`.

Values are milliseconds since 1970 in UTC, as in contract 2.3. No function raises an error for a
number outside the calendar. Such a number is shown as received.

The contract numbers the weekdays from 1, which is Monday (2.3).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import pairwise

from lockterm.domain.glyphs import nothing, quoted

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""The English names of the months, regardless of the terminal's locale."""

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

SECOND_MS = 1000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
YEAR_MS = 365 * DAY_MS + DAY_MS // 4
_NEAR_MS = 180 * DAY_MS
"""Maximum distance from now, in milliseconds, at which a day is shown without its year."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS_FROM = 10**11
"""The smallest timestamp that counts as milliseconds. The same number of seconds would be a time in
the year 5138."""


class Clock:
    """The wall clock and the monotonic clock.

    The user or NTP may set the wall clock back by hours. The monotonic clock never goes back, but
    its value has no meaning outside of this process.

    Args:
        wall: A function that returns the wall clock's time, in seconds since the epoch.
        steady: A function that returns the monotonic time, in seconds since an arbitrary moment.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.wall = wall
        self.steady = steady

    def now_ms(self) -> int:
        """Return the wall clock's time, to show and store, in milliseconds since the epoch."""
        return int(self.wall() * 1000)

    def steady_ms(self) -> int:
        """Return the monotonic time, for measuring durations, in milliseconds."""
        return int(self.steady() * 1000)


class UnknownZone(tzinfo):
    """A time zone in the lock book that this machine does not know.

    lockterm shows times in such a zone in UTC. lockterm refuses typed times without a UTC offset,
    because the result could be wrong.

    Args:
        name: The name of the zone in the lock book.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def reason(self) -> str:
        """The reason why typed times are refused, as a sentence; may contain control characters."""
        return f'This machine does not know the time zone "{self.name}" of this lock.'

    def utcoffset(self, dt: datetime | None) -> timedelta:
        return timedelta()

    def dst(self, dt: datetime | None) -> timedelta:
        return timedelta()

    def tzname(self, dt: datetime | None) -> str:
        return "UTC"

    def __str__(self) -> str:
        return f'UTC, because this machine does not know "{self.name}"'

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnknownZone) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


def as_ms(value: int) -> int:
    """Return a timestamp from the service in milliseconds.

    The contract does not define the unit, so a number below 10^11 counts as seconds.
    """
    return value if abs(value) >= _MS_FROM else value * 1000


def local(ms: int, zone: tzinfo) -> datetime | None:
    """Return a moment as a local time in a zone; None if the calendar cannot represent it."""
    try:
        return (_EPOCH + timedelta(milliseconds=ms)).astimezone(zone)
    except (OverflowError, ValueError):
        return None


def to_ms(moment: datetime) -> int:
    """Return a time that has a zone, in milliseconds since 1970, rounded down."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def offset(moment: datetime) -> str:
    """Return the UTC offset of a time that has a zone, such as ``+01:00``."""
    return moment.isoformat()[len(moment.replace(tzinfo=None).isoformat()) :]


def _number(ms: int) -> str:
    try:
        return str(ms)
    except ValueError:  # Python refuses to write out thousands of digits
        return "a number too long to show"


def _clock(moment: datetime, exact: bool) -> str:
    """Return the time of day; ``exact`` adds seconds and milliseconds if they are not zero."""
    precision = "minutes"
    if exact and (moment.second or moment.microsecond):
        precision = "milliseconds" if moment.microsecond else "seconds"
    return moment.time().isoformat(precision)


def stamp(ms: int, zone: tzinfo, *, exact: bool = False) -> str:
    """Return a moment as text that sorts by time, such as ``2026-12-01 09:00 +01:00``.

    Args:
        ms: The moment, in milliseconds.
        zone: The time zone in which the moment is shown.
        exact: Whether to show seconds and milliseconds if they are not zero.
    """
    at = local(ms, zone)
    if at is None:
        return _number(ms)
    return f"{at.date().isoformat()} {_clock(at, exact)} {offset(at)}"


def to_iso(ms: int | None, zone: tzinfo) -> str:
    """Return a time such as ``2026-12-01T09:00:00+01:00``; an empty string for None or 0."""
    at = local(ms, zone) if ms else None
    return at.isoformat(timespec="seconds") if at else ""


def time_of_day(ms: int, zone: tzinfo) -> str:
    """Return the time of day with the UTC offset, such as ``09:00 +01:00``."""
    at = local(ms, zone)
    return _number(ms) if at is None else f"{_clock(at, False)} {offset(at)}"


def recent(ms: int, zone: tzinfo, now_ms: int) -> str:
    """Return a moment such as ``20 Nov 09:00``, right-aligned to 12 characters.

    If the moment is more than half a year from now, return its day such as ``20 Nov 2025``.
    """
    at = local(ms, zone)
    if at is None or abs(now_ms - ms) > _NEAR_MS:
        return day(ms, zone)
    return f"{at.day} {MONTHS[at.month - 1]} {_clock(at, False)}".rjust(12)


def near_day(ms: int, zone: tzinfo, now_ms: int) -> str:
    """Return a day such as ``3 Dec``, with its year if it is more than half a year from now."""
    at = local(ms, zone)
    if at is None or abs(now_ms - ms) > _NEAR_MS:
        return day(ms, zone)
    return f"{at.day} {MONTHS[at.month - 1]}"


def near_time(ms: int, zone: tzinfo, now_ms: int) -> str:
    """Return a time such as ``5 Dec 15:00``, with its year if more than half a year from now."""
    at = local(ms, zone)
    return _number(ms) if at is None else f"{near_day(ms, zone, now_ms)} {_clock(at, True)}"


def duration(ms: int) -> str:
    """Return a duration such as ``37 days``, rounded down to one unit.

    The unit is days from two days on, hours from one hour on, and minutes from one minute on. A
    duration below one minute is in seconds, and is at least ``1 second``.
    """
    if ms >= 2 * DAY_MS:
        size, unit = DAY_MS, "day"
    elif ms >= HOUR_MS:
        size, unit = HOUR_MS, "hour"
    else:
        size, unit = (MINUTE_MS, "minute") if ms >= MINUTE_MS else (SECOND_MS, "second")
    count = max(ms // size, 1)
    return f"{count:,} {unit}{'' if count == 1 else 's'}"


def day_around(ms: int, zone: tzinfo) -> tuple[int, int]:
    """Return the beginning of a moment's day and the beginning of the next day, in milliseconds."""
    at = local(ms, zone)
    if at is None:
        return ms, ms
    today = at.date()
    if today == date.max:  # the calendar ends with it
        return begin_of(today, zone), ms + DAY_MS
    return begin_of(today, zone), begin_of(today + timedelta(days=1), zone)


def begin_of(day: date, zone: tzinfo, *, last: bool = False) -> int:
    """Return the beginning of a day in a zone, in milliseconds.

    If the clocks of the zone skip midnight, the day begins at the end of the gap.

    Args:
        day: The day.
        zone: The time zone.
        last: Whether to return the second midnight if the clocks show midnight twice.
    """
    return _shown_at(datetime(day.year, day.month, day.day), zone, last=last)


def same_wall_time(ms: int, zone: tzinfo, other: tzinfo, *, last: bool = False) -> int:
    """Return the moment at which the clocks of another zone show the same local time.

    If the clocks of the other zone skip that time, return the end of the skipped period.

    Args:
        ms: The moment, in milliseconds.
        zone: The zone in which ``ms`` is converted to a local time.
        other: The other zone.
        last: Whether to return the second moment if the clocks of the other zone show the time
            twice.
    """
    at = local(ms, zone)
    return ms if at is None else _shown_at(at.replace(tzinfo=None, fold=0), other, last=last)


def _shown_at(wall: datetime, zone: tzinfo, *, last: bool) -> int:
    """Return the moment of a local time in a zone, in milliseconds.

    If the clocks skip the time, return the end of the skipped period. If they show the time twice,
    ``last`` selects the second moment.
    """
    ms = to_ms(wall.replace(tzinfo=zone, fold=int(last)))
    shown = local(ms, zone)
    if shown is not None and shown.replace(tzinfo=None, fold=0) != wall:
        return to_ms(after_gap(wall, zone))
    return ms


def after_gap(wall: datetime, zone: tzinfo) -> datetime:
    """Return the moment, in UTC, at which the clocks jump past a local time that they skip.

    Args:
        wall: The skipped local time, without a zone.
        zone: The time zone.
    """
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    after = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    old, second = before.astimezone(zone).utcoffset(), timedelta(seconds=1)
    while after - before > second:  # the clocks change between these two moments
        middle = before + (after - before) // second // 2 * second
        if middle.astimezone(zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after


def day(ms: int, zone: tzinfo) -> str:
    """Return the day of a moment, such as ``31 Dec 2026``."""
    at = local(ms, zone)
    return _number(ms) if at is None else day_of(at)


def last_day(ms: int, zone: tzinfo) -> str:
    """Return the last day of a period that ends at ``ms``, such as ``31 Dec 2026``.

    If the period ends at midnight, its last day is the day before.
    """
    return day(ms - 1, zone)


def begins_day(ms: int, zone: tzinfo) -> bool:
    """Return whether a moment is the beginning of its day, which is nearly always 00:00."""
    return day(ms, zone) != day(ms - 1, zone)


def day_of(at: datetime) -> str:
    """Return the day of a local time, such as ``31 Dec 2026``."""
    return f"{at.day} {MONTHS[at.month - 1]} {at.year}"


def day_time(ms: int, zone: tzinfo, *, exact: bool = True) -> str:
    """Return the day and the time of a moment, such as ``31 Dec 2026 18:00 +01:00``.

    Args:
        ms: The moment, in milliseconds.
        zone: The time zone in which the moment is shown.
        exact: Whether to show seconds and milliseconds if they are not zero. The end of a period
            needs them, because ``23:59:59`` is not ``23:59``.
    """
    at = local(ms, zone)
    return _number(ms) if at is None else f"{day_of(at)} {_clock(at, exact)} {offset(at)}"


def preview(ms: int, zone: tzinfo, now_ms: int) -> str:
    """Return a moment with its weekday, its time in UTC, and how far it is from now.

    An example is ``Tue 1 Dec 2026 09:00 +01:00, 08:00 UTC, in 41 days``.

    The time in UTC is left out if the UTC offset of the zone is zero.
    """
    at, universal = local(ms, zone), local(ms, UTC)
    if at is None or universal is None:
        return _number(ms)
    text = f"{DAYS[at.weekday()]} {day_time(ms, zone)}"
    if at.utcoffset():
        utc_day = "" if universal.date() == at.date() else f"{day_of(universal)} "
        text += f", {utc_day}{_clock(universal, False)} UTC"
    return f"{text}, {distance(ms, now_ms)}"


def typed(ms: int, zone: tzinfo) -> str:
    """Return a moment as a person would type it, such as ``2026-12-01 09:00``.

    :func:`lockterm.domain.date_input.read_moment` parses the text to the same moment. The UTC
    offset is added only if the clocks show that time twice, or if the zone is unknown.
    """
    at = local(ms, zone)
    if at is None:
        return _number(ms)
    text = f"{at.date().isoformat()} {_clock(at, True)}"
    twin = at.replace(fold=1 - at.fold)
    is_clear = twin.utcoffset() == at.utcoffset() and not isinstance(zone, UnknownZone)
    return text if is_clear else f"{text} {offset(at)}"


def distance(ms: int, now_ms: int) -> str:
    """Return how far a moment is from now: ``in 41 days``, ``3 days ago``, ``in 2 hours``.

    For the future, a partial minute counts as a whole minute, so that ``+7d`` still shows
    ``in 7 days`` some seconds after it was typed.
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
    text = f"{_number(count)} {unit}{'' if count == 1 else 's'}"
    return f"in {text}" if ms > now_ms else f"{text} ago"


# --- weekdays ------------------------------------------------------------------------------------


WEEK = range(1, 8)
_NO_WEEKDAYS = "no weekdays"
_EVERY_DAY = "every day"

_WEEKDAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY_SETS = {
    **dict.fromkeys(("all", "daily", "every day", "everyday", "mon-sun"), WEEK),
    **dict.fromkeys(("weekdays", "workdays"), range(1, 6)),
    **dict.fromkeys(("weekend", "weekends"), (6, 7)),
    **dict.fromkeys(("", "none", _NO_WEEKDAYS), ()),
}

_ALL_DAYS_MASK = "127"
"""An ambiguous text: as a bit mask, ``127`` means every day, but as digits, it means three days."""

_AMBIGUOUS = "{} is ambiguous. Type mon-fri, or separate the digits with commas, as in {}."


def parse_weekdays(text: str) -> frozenset[int]:
    """Return the weekdays in a typed text, such as ``mon-fri``, ``mo,we``, ``135`` or ``weekend``.

    Digits without separators must increase. ``127`` is refused, because it means every day in other
    programs. A range may continue after Sunday: ``fri-mon`` is Fri, Sat, Sun, Mon. An empty text
    means no weekdays.

    Raises:
        ValueError: A part is not a weekday or a range. The message is a sentence that quotes this
            part.
    """
    typed = " ".join(text.casefold().split())
    if typed in _WEEKDAY_SETS:
        return frozenset(_WEEKDAY_SETS[typed])
    days: set[int] = set()
    for part in re.split(r"[,; ]+", re.sub(r" ?- ?", "-", typed).strip(",; ")):
        if part in _WEEKDAY_SETS and part:
            days.update(_WEEKDAY_SETS[part])
        elif re.fullmatch(r"[1-7]+", part):
            if part == _ALL_DAYS_MASK or any(one >= other for one, other in pairwise(part)):
                raise ValueError(_AMBIGUOUS.format(quoted(part[:12]), ",".join(part[:12])))
            days.update(map(int, part))
        elif "-" in part:
            first, _, last = part.partition("-")
            start, end = _parse_weekday(first), _parse_weekday(last)
            days.update(day % 7 + 1 for day in range(start - 1, start + (end - start) % 7))
        else:
            days.add(_parse_weekday(part))
    return frozenset(days)


def _parse_weekday(word: str) -> int:
    if word in ("1", "2", "3", "4", "5", "6", "7"):
        return int(word)
    found = [day for day, name in enumerate(_WEEKDAY_NAMES, 1) if name.startswith(word)]
    if len(word) >= 2 and len(found) == 1:
        return found[0]
    shown = quoted(word[:12]) if word else "a range without an end"
    raise ValueError(
        f"{shown} is not a weekday. Type mon-fri, 1-5 (1 is Monday) or a list such as mo,we."
    )


def draw_week(days: Iterable[int]) -> str:
    """Return a week as seven letters, such as ``M T W T F · ·``. A missing weekday is a dot."""
    given = set(days)
    return " ".join(DAYS[day - 1][0] if day in given else nothing() for day in WEEK)


def format_weekdays(days: Iterable[int], *, short: bool = False) -> str:
    """Return weekdays as text, such as ``Mon-Fri``, or ``no weekdays`` if there are none.

    Three or more days in a row become a range.

    Args:
        days: The numbers from the service, in any order and with possible duplicates. A number
            that is not a weekday is shown as ``unknown 9``.
        short: Whether to use short forms for columns: ``Mon Wed Fri`` without commas, and
            ``daily``.
    """
    given = set(days)
    known = sorted(day for day in given if day in WEEK)
    if len(known) == 7 and len(given) == 7:
        return "daily" if short else _EVERY_DAY
    parts: list[str] = []
    while known:
        length = next(n for n in range(len(known), 0, -1) if known[n - 1] == known[0] + n - 1)
        run, known = (known[:length], known[length:]) if length > 2 else (known[:1], known[1:])
        names = [DAYS[day - 1] for day in (run[0], run[-1])]
        parts.append("-".join(names) if len(run) > 1 else names[0])
    parts += [f"unknown {day}" for day in sorted(given - set(WEEK))]
    return (" " if short else ", ").join(parts) or _NO_WEEKDAYS
