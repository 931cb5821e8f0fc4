"""The parser of typed dates. The parser refuses ambiguous dates and does not guess.

| typed | means |
|---|---|
| ``2026-12-01 09:00``, ``2026-12-01T09:00``, ``1 Dec 2026 9:00`` | that time in the lock's zone |
| ``31.12.2026 9:00``, ``31/12/2026``, ``12/31/2026`` (one number exceeds 12) | as above |
| any of these with a UTC offset: ``Z`` or ``+01:00`` | exactly that moment |
| ``now`` | this second |
| ``9:00``, ``today 9:00``, ``tomorrow 9:00`` | that time today or tomorrow |
| ``next fri``, ``next friday 18:00`` | the first Friday after today |
| ``eom``, ``eoy``, ``eom 18:00`` | the last day of this month or year, 23:59 if no time is given |
| ``+6h``, ``+90min`` | exactly that much time later |
| ``+30d``, ``2 weeks``, ``+6mo``, ``+1y`` | the same time of day after that period |
| ``+30d 18:00``, ``+1mo 18:00`` | the given time of day after that period |
| ``+1mo eom``, ``+1y eom 18:00`` | the last day of the month in which that period ends |
| a day without a time | 00:00 for a start, 23:59 for an end |

A time of day may also be ``6pm``, ``6:30 pm`` or ``noon``. 12am and 12pm are refused, because
people disagree on what they mean.

An end with ``+`` counts from the current end of the remote, including its seconds. If the remote
has no end, or the end has passed, the new end counts from the start if the start is in the future,
otherwise from now. ``Moment.note`` states from which time the end counts. 31 Jan ``+1mo`` is 28
Feb, and 28 Feb ``+1mo`` is 28 Mar, but ``+1mo eom`` always gives the last day of a month.

A time that the clocks skip is refused. For a time that the clocks show twice, the user chooses.
``1/12/2026`` and ``1.12.2026`` are refused, because the order of day and month differs between
countries. If the clocks skip midnight, a day without a time begins after 00:00. If the clocks show
23:59 twice, the last minute of a day is the second one.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

from lockterm.domain import dates
from lockterm.domain.safe_text import clean

_TIME = (
    r"(?:(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<ms>\d{1,3}))?)?"
    r"(?: ?(?P<half>[ap]m))?| ?(?P<half2>[ap]m))|(?P<noon>noon))"
)
_OFFSET = r"(?P<offset>z|utc|[+-]\d{2}:\d{2})"
_MONTH = "|".join(dates.MONTHS).lower()
_DAY = (
    r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    rf"|(?P<day2>\d{{1,2}}) (?P<name>{_MONTH})[a-z]* (?P<year2>\d{{4}})"
    r"|(?P<day3>1[3-9]|[23]\d)(?P<dot>[./])(?P<month3>\d{1,2})(?P=dot)(?P<year3>\d{4})"
    r"|(?P<month4>0?[1-9]|1[0-2])/(?P<day4>1[3-9]|[23]\d)/(?P<year4>\d{4})"
    r"|next (?P<weekday>mon|tue|wed|thu|fri|sat|sun)(?:day|sday|nesday|rsday|urday)?"
    r"|(?P<word>today|tomorrow|eom|eoy)"
)
_ABSOLUTE = re.compile(rf"(?:{_DAY})(?:[t ](?:{_TIME})(?: ?{_OFFSET})?)?", re.ASCII)
_TIME_ALONE = re.compile(rf"{_TIME}(?: ?{_OFFSET})?", re.ASCII)
_RELATIVE = re.compile(
    rf"(?P<plus>\+ ?)?(?P<count>\d{{1,6}}) ?(?P<unit>[a-z]+)(?P<eom> eom)?(?: {_TIME})?", re.ASCII
)

_NEEDS_NO_ZONE = re.compile(rf"^now$|\d ?{_OFFSET}$", re.ASCII)

_UNITS = {
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "minute"),
    **dict.fromkeys(("h", "hour", "hours"), "hour"),
    **dict.fromkeys(("d", "day", "days"), "day"),
    **dict.fromkeys(("w", "week", "weeks"), "week"),
    **dict.fromkeys(("mo", "month", "months"), "month"),
    **dict.fromkeys(("y", "year", "years"), "year"),
}

HELP = (
    "Type a date such as 2026-12-01 09:00, tomorrow 9:00, next fri 6pm, +30d or eom (end of month)."
)

WITH_OFFSET = (
    "Type dates with their UTC offset, as in 2026-12-01 09:00 +01:00, or correct the time"
    " zone in the lock book."
)
"""The hint to type a UTC offset, for a lock whose time zone is unknown."""

_OUTSIDE = "The date is out of range. Years run from 1970 to 9999."


SOME_TIME_MS = 1_800_000_000_000
"""The time from which relative dates count if only their syntax is checked, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The meaning of a typed date. Exactly one of ``ms``, ``choices`` and ``error`` is set."""

    ms: int | None = None
    """The moment, in milliseconds."""
    choices: tuple[int, ...] = ()
    """The two moments of a local time that the clocks show twice, in milliseconds, the earlier
    first."""
    error: str = ""
    """Sentences that explain the problem and how to type the date instead."""
    note: str = ""
    """How a relative date was computed, such as ``current end 31 Jan 2027 + 1 month``."""


class _UnreadableDateError(Exception):
    """An error for a text that is not a date. Its message is a sentence with the reason."""


def is_relative(text: str) -> bool:
    """Return whether a text is a period that counts from another time, such as ``+30d``."""
    match = _RELATIVE.fullmatch(" ".join(text.casefold().split()))
    return match is not None and match["unit"] in _UNITS


def find_error(text: str) -> str:
    """Return why a text is not a date in any time zone; empty if the text may be a date.

    For relative dates such as ``+30d``, the function checks only the syntax.
    """
    return read_moment(text, UTC, SOME_TIME_MS).error


def read_moment(
    text: str,
    zone: tzinfo,
    now_ms: int,
    *,
    end: bool = False,
    start_ms: int | None = None,
    end_ms: int | None = None,
) -> Moment:
    """Return the moment that the input of a date field means, or the error if it is invalid.

    Args:
        text: The input; see the table of this module.
        zone: The zone of the lock.
        now_ms: Now, in milliseconds.
        end: Whether the field is an end. If so, a day without a time means its last minute.
        start_ms: The start of the remote, in milliseconds, if the field is an end.
        end_ms: The current end of the remote, in milliseconds, if the field is an end.
    """
    typed = " ".join(text.casefold().split())
    now = dates.local(now_ms - now_ms % dates.SECOND_MS, zone)
    if not typed or now is None:
        return Moment(error=HELP)
    if isinstance(zone, dates.UnknownZone) and not _NEEDS_NO_ZONE.search(typed):
        return Moment(error=f"{clean(zone.reason, 200)} {WITH_OFFSET}")
    try:
        match = _RELATIVE.fullmatch(typed)
        if match and (match["plus"] or match["unit"] in _UNITS):
            moment = _later(match, _base_of(zone, now, start_ms, end_ms), zone)
        else:
            moment = _read(typed, zone, now, end)
    except _UnreadableDateError as error:
        return Moment(error=str(error))
    except (OverflowError, ValueError):
        return Moment(error=_OUTSIDE)
    if moment.ms is not None and (moment.ms <= 0 or dates.local(moment.ms, UTC) is None):
        return Moment(error=_OUTSIDE)
    return moment


def _base_of(
    zone: tzinfo, now: datetime, start_ms: int | None, end_ms: int | None
) -> tuple[datetime, str]:
    """Return the time from which a relative date counts, and a text that describes this time."""
    earliest_ms = max(dates.to_ms(now), start_ms or 0)  # no end lies before its start
    for ms, name in ((end_ms, "current end"), (start_ms, "start")):
        base = dates.local(ms, zone) if ms is not None else None
        if base is not None and ms is not None and ms >= earliest_ms and ms > dates.to_ms(now):
            is_whole_day = name == "current end" and (base.hour, base.minute) == (23, 59)
            text = dates.day_of(base) if is_whole_day else f"{dates.day_of(base)} {base:%H:%M}"
            return base, f"{name} {text}"
    return now.replace(second=0), "now"


def _read(typed: str, zone: tzinfo, now: datetime, end: bool) -> Moment:
    if typed == "now":
        return Moment(dates.to_ms(now))
    if match := _TIME_ALONE.fullmatch(typed):
        return _resolve(now.date(), _time(match), match["offset"], zone)
    if match := _ABSOLUTE.fullmatch(typed):
        day, at = _day(match, now.date()), _time(match)
        if at is not None:
            return _resolve(day, at, match["offset"], zone)
        return _whole_day(day, zone, end=end or match["word"] in ("eom", "eoy"))
    raise _UnreadableDateError(_why(typed))


def _whole_day(day: date, zone: tzinfo, *, end: bool) -> Moment:
    """Return the first moment of a day in a zone.

    If ``end`` is true, return the start of the last minute of the day.
    """
    begins_ms = dates.begin_of(day, zone)
    begins = dates.local(begins_ms, zone)
    if begins is None or begins.date() != day:
        return Moment(error=_gap(datetime.combine(day, time()), zone))
    if not end:
        return Moment(begins_ms, note="the beginning of that day")
    if day == date.max:
        return _resolve(day, time(23, 59), None, zone, "the end of that day")
    ends_ms = dates.begin_of(day + timedelta(days=1), zone, last=True) - dates.MINUTE_MS
    return Moment(ends_ms, note="the end of that day")


def _why(typed: str) -> str:
    if re.match(r"\d{1,2}[./]\d{1,2}[./]", typed):
        return "Day and month are ambiguous. Put the year first, as in 2026-12-01."
    if re.fullmatch(r"(?:\+ ?)?\d+ ?m", typed):
        return "m is ambiguous. Write +30min for minutes or +1mo for months."
    if typed.startswith("-"):
        return "A negative period is not allowed. Type a date such as 2026-12-01 09:00."
    return f"Invalid date. {HELP}"


def _day(match: re.Match[str], today: date) -> date:
    if weekday := match["weekday"]:
        ahead = (dates.DAYS.index(weekday.title()) - today.weekday() - 1) % 7 + 1
        return today + timedelta(days=ahead)
    if word := match["word"]:
        if word in ("eom", "eoy"):
            return _end_of_month(today if word == "eom" else today.replace(month=12))
        return today + timedelta(days=word == "tomorrow")
    named = match["name"]
    written = match["month"] or match["month3"] or match["month4"]
    month = dates.MONTHS.index(named.title()) + 1 if named else int(written)
    year = int(match["year"] or match["year2"] or match["year3"] or match["year4"])
    number = int(match["day"] or match["day2"] or match["day3"] or match["day4"])
    if not 1 <= month <= 12:
        raise _UnreadableDateError(
            f"There is no month {month}. Write year, month and day, as in 2026-12-01."
        )
    if year < 1970:
        raise _UnreadableDateError(_OUTSIDE)
    if not 1 <= number <= monthrange(year, month)[1]:
        raise _UnreadableDateError(f"{dates.MONTHS[month - 1]} {year} has no day {number}.")
    return date(year, month, number)


def _end_of_month(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


def _time(match: re.Match[str]) -> time | None:
    if match["noon"]:
        return time(12)
    if match["hour"] is None:
        return None
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    if half := match["half"] or match["half2"]:
        if hour == 12:
            raise _UnreadableDateError("12am and 12pm are ambiguous. Type 00:00, noon or 12:00.")
        if not 1 <= hour < 12:
            raise _UnreadableDateError("With am or pm, the hour must be from 1 to 11.")
        hour += 12 * (half == "pm")
    if (hour, minute, second) == (24, 0, 0):
        raise _UnreadableDateError(
            "24:00 is 00:00 of the next day. Type 00:00 with the next day, or type 23:59."
        )
    if hour > 23 or minute > 59 or second > 59:
        raise _UnreadableDateError("A time of day runs from 00:00 to 23:59.")
    return time(hour, minute, second, int((match["ms"] or "").ljust(3, "0")) * 1000)


def _later(match: re.Match[str], since: tuple[datetime, str], zone: tzinfo) -> Moment:
    base, base_text = since
    unit, count, at = _UNITS.get(match["unit"]), int(match["count"]), _time(match)
    if unit is None:
        raise _UnreadableDateError(_why(match[0]))
    note = f"{base_text} + {count} {unit}{'' if count == 1 else 's'}"
    if unit in ("hour", "minute"):
        if at is not None or match["eom"]:
            raise _UnreadableDateError("A period in hours or minutes cannot have a time of day.")
        step = timedelta(hours=count) if unit == "hour" else timedelta(minutes=count)
        return Moment(dates.to_ms(base.astimezone(UTC) + step), note=note)
    if unit in ("day", "week"):
        then = base.date() + timedelta(days=count * (7 if unit == "week" else 1))
    else:
        months = base.year * 12 + base.month - 1 + count * (12 if unit == "year" else 1)
        year, month = months // 12, months % 12 + 1
        then = date(year, month, min(base.day, monthrange(year, month)[1]))
    if match["eom"]:
        then, note = _end_of_month(then), f"{note}, end of the month"
        if at is None:
            return replace(_whole_day(then, zone, end=True), note=note)
    return _resolve(then, at or base.time(), None, zone, note)


def _resolve(
    day: date, at: time | None, offset: str | None, zone: tzinfo, note: str = ""
) -> Moment:
    """Return the moment of a local time.

    The result has two choices if the clocks of the zone show the time twice, and an error if they
    skip the time.

    Args:
        day: The day.
        at: The time of day; None for midnight.
        offset: The typed UTC offset; None or empty if the time is in the zone.
        zone: The time zone.
        note: The computation of a relative date; see ``Moment.note``.
    """
    wall = datetime.combine(day, at or time(0))
    if offset:
        return Moment(dates.to_ms(wall.replace(tzinfo=_fixed(offset))))
    moments = [wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
    found = {
        dates.to_ms(moment)
        for moment in moments
        if moment.astimezone(zone).replace(tzinfo=None, fold=0) == wall
    }
    if not found:
        return Moment(error=_gap(wall, zone))
    if len(found) == 1:
        return Moment(found.pop(), note=note)
    return Moment(choices=tuple(sorted(found)), note=note)


def _fixed(offset: str) -> tzinfo:
    if offset in ("z", "utc"):
        return UTC
    hours, minutes = int(offset[1:3]), int(offset[4:6])
    if hours > 23 or minutes > 59:
        raise _UnreadableDateError("Write the UTC offset as +01:00.")
    return timezone((-1 if offset[0] == "-" else 1) * timedelta(hours=hours, minutes=minutes))


def _gap(wall: datetime, zone: tzinfo) -> str:
    """Return the error for a local time that the clocks skip, with the next valid time."""
    after = dates.after_gap(wall, zone)
    old = wall.replace(tzinfo=zone, fold=0).utcoffset()
    jump = after.astimezone(zone).replace(tzinfo=None)
    left = (after + (old or timedelta())).replace(tzinfo=None)
    gone = f"{left:%H:%M}" if left.date() == jump.date() else left.isoformat(" ", "minutes")
    return (
        f"{wall.isoformat(' ', 'minutes')} does not exist in {zone}. The clocks "
        f"skip from {gone} to {jump.isoformat(' ', 'minutes')}, the next valid time."
    )


_DAYS = {"d": 1, "w": 7}
"""Maps the unit of an age, such as ``w`` in ``4w``, to its number of days."""

MOST_DAYS = 3650
"""The maximum age that :func:`parse_days` accepts, in days."""

WRONG_DAYS = f"Type a whole number from 1 to {MOST_DAYS}, or an age such as 30d or 4w."
"""The error message for input that :func:`parse_days` refuses."""


def parse_age(text: str) -> int:
    """Return the number of days in an age such as ``30d`` or ``4w``.

    Raises:
        ValueError: The text is not an age.
    """
    match = re.fullmatch(r"(\d{1,5}) ?([dw])", text.strip(), re.ASCII)
    if match is None:
        raise ValueError("not an age")
    return int(match[1]) * _DAYS[match[2]]


def parse_days(text: str) -> int:
    """Return the number of days in a text such as ``30``, ``30d`` or ``4w``.

    Raises:
        ValueError: The text is not a number or an age, or is not between 1 and :data:`MOST_DAYS`.
    """
    is_number = re.fullmatch(r"\d{1,5}", text.strip(), re.ASCII) is not None
    days = int(text) if is_number else parse_age(text)
    if not 1 <= days <= MOST_DAYS:
        raise ValueError("out of range")
    return days
