"""Times and weekdays read and shown: every zone, every change of the clocks, every number."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lockterm.domain import dates, glyphs
from lockterm.domain.date_input import MOST_DAYS, Moment, parse_age, parse_days, read_moment
from lockterm.domain.dates import draw_week, format_weekdays, parse_weekdays
from lockterm.domain.remotes import FIELDS
from lockterm.domain.table_columns import typed_cell, written

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = [
    "Europe/Berlin",
    "Europe/Dublin",
    "America/New_York",
    "America/St_Johns",
    "America/Havana",
    "America/Sao_Paulo",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Africa/Monrovia",
    "Asia/Kathmandu",
    "Asia/Shanghai",
    "Asia/Beirut",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Pacific/Kiritimati",
    "Antarctica/Troll",
    "UTC",
]
zones = st.sampled_from([ZoneInfo(name) for name in ZONES])
instants = st.integers(2 * dates.DAY_MS, 4_102_444_800_000)
"""1970 to 2100, in milliseconds."""


def ms(text: str) -> int:
    return dates.to_ms(datetime.fromisoformat(text).replace(tzinfo=UTC))


NOW = ms("2026-11-21 00:19:42")
"""01:19 in Berlin."""


def read(text: str, **more: object) -> Moment:
    return read_moment(text, BERLIN, NOW, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-12-01 09:00", "2026-12-01 08:00"),
        ("  2026-12-1   9:00 ", "2026-12-01 08:00"),
        ("2026-12-01T09:00", "2026-12-01 08:00"),
        ("2026-12-01", "2026-11-30 23:00"),
        ("1 Dec 2026 9:00", "2026-12-01 08:00"),
        ("31.12.2026 9:00", "2026-12-31 08:00"),
        ("13.1.2027", "2027-01-12 23:00"),
        ("1 december 2026 9:00", "2026-12-01 08:00"),
        ("2026-12-01 09:00 Z", "2026-12-01 09:00"),
        ("2026-12-01T09:00+05:30", "2026-12-01 03:30"),
        ("2026-12-01 09:00:59", "2026-12-01 08:00:59"),
        ("31/12/2026 9:00", "2026-12-31 08:00"),
        ("12/31/2026 9:00", "2026-12-31 08:00"),
        ("now", "2026-11-21 00:19:42"),
        ("9:00", "2026-11-21 08:00"),
        ("today", "2026-11-20 23:00"),
        ("today 18:00", "2026-11-21 17:00"),
        ("Tomorrow 9:00", "2026-11-22 08:00"),
        ("+6h", "2026-11-21 06:19"),
        ("+ 90 min", "2026-11-21 01:49"),
        ("+30d", "2026-12-21 00:19"),
        ("+30d 18:00", "2026-12-21 17:00"),
        ("+2w", "2026-12-05 00:19"),
        ("+1mo", "2026-12-21 00:19"),
        ("+1y", "2027-11-21 00:19"),
        ("eom", "2026-11-30 22:59"),
        ("eom 18:00", "2026-11-30 17:00"),
        ("eoy", "2026-12-31 22:59"),
        ("eoy noon", "2026-12-31 11:00"),
        ("next fri 18:00", "2026-11-27 17:00"),
        ("next Sunday", "2026-11-21 23:00"),
        ("next wednesday", "2026-11-24 23:00"),
        ("next sat 6pm", "2026-11-28 17:00"),
        ("noon", "2026-11-21 11:00"),
        ("6pm", "2026-11-21 17:00"),
        ("tomorrow 6:30 pm", "2026-11-22 17:30"),
        ("2026-12-01 9am", "2026-12-01 08:00"),
        ("2 weeks", "2026-12-05 00:19"),
        ("3 days 18:00", "2026-11-24 17:00"),
        ("+1mo eom", "2026-12-31 22:59"),
        ("+1mo eom 18:00", "2026-12-31 17:00"),
    ],
)
def test_what_is_understood(text: str, utc: str) -> None:
    assert read(text) == Moment(ms(utc), note=read(text).note)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Type a date such as"),
        ("soon", "Invalid date"),
        ("1/12/2026", "year first"),
        ("1.12.2026 9:00", "year first"),
        ("12.12.26", "year first"),
        ("31.13.2026", "no month 13"),
        ("31/13/2026", "no month 13"),
        ("31/12.2026", "year first"),
        ("31.11.2026", "Nov 2026 has no day 31"),
        ("+1m", "+30min for minutes"),
        ("-3d", "A negative period"),
        ("2026-02-30", "Feb 2026 has no day 30"),
        ("2026-13-01", "no month 13"),
        ("2026-12-01 24:00", "00:00 of the next day"),
        ("2026-12-01 25:00", "00:00 to 23:59"),
        ("2026-02-90 23:0", "Invalid date"),
        ("1969-12-31", "1970"),
        ("+999999y", "out of range"),
        ("+999999999h", "Invalid date"),
        ("9999-12-31 23:59 -23:59", "out of range"),
        ("+6h 9:00", "cannot have a time of day"),
        ("+6h eom", "cannot have a time of day"),
        ("5 m", "+30min for minutes"),
        ("tomorrow 12pm", "ambiguous"),
        ("13pm", "from 1 to 11"),
        ("0am", "from 1 to 11"),
        ("2 fortnights", "Invalid date"),
        ("next", "Invalid date"),
        ("next month", "Invalid date"),
        ("2026-12-01 09:00 +99:00", "offset"),
        ("٢٠٢٦-12-01", "Invalid date"),
    ],
)
def test_what_is_refused_says_why(text: str, says: str) -> None:
    moment = read(text)
    assert moment.ms is None
    assert moment.error
    assert says in moment.error


def test_month_ends_stay_month_ends_when_each_renewal_says_eom() -> None:
    end_ms = ms("2027-01-31 22:59")
    ends = []
    for _ in range(3):
        moment = read("+1mo eom", end=True, end_ms=end_ms)
        end_ms = moment.ms
        ends.append(dates.typed(end_ms, BERLIN))
    assert ends == ["2027-02-28 23:59", "2027-03-31 23:59", "2027-04-30 23:59"]
    assert moment.note == "current end 31 Mar 2027 + 1 month, end of the month"


@pytest.mark.parametrize(
    ("text", "start", "end", "result", "note"),
    [
        ("+6h", "2026-12-01 08:00", "", "2026-12-01 14:00", "start 1 Dec 2026 09:00 + 6 hours"),
        ("+6h", "2020-01-01 00:00", "", "2026-11-21 06:19", "now + 6 hours"),
        ("+1y", "", "", "2027-11-21 00:19", "now + 1 year"),
        *(
            ("+1mo", start, "2027-01-31 22:59:59", "2027-02-28 22:59:59", note)
            for start, note in (
                ("2020-01-01 00:00", "current end 31 Jan 2027 + 1 month"),
                ("2026-12-01 08:00", "current end 31 Jan 2027 + 1 month"),
                ("", "current end 31 Jan 2027 + 1 month"),
            )
        ),
        ("+2w", "", "2026-11-21 00:19:42", "2026-12-05 00:19", "now + 2 weeks"),
        ("+2w", "2020-01-01 00:00", "2026-11-20 08:00", "2026-12-05 00:19", "now + 2 weeks"),
        (
            "+1d",
            "",
            "2027-01-31 17:00",
            "2027-02-01 17:00",
            "current end 31 Jan 2027 18:00 + 1 day",
        ),
        (
            *("+1d", "2027-03-01 08:00", "2027-01-31 17:00"),
            *("2027-03-02 08:00", "start 1 Mar 2027 09:00 + 1 day"),
        ),
    ],
)
def test_relative_end_counts_from_current_end_if_it_lies_ahead(
    text: str, start: str, end: str, result: str, note: str
) -> None:
    more = {"start_ms": (start and ms(start)) or None, "end_ms": (end and ms(end)) or None}
    assert read(text, end=True, **more) == Moment(ms(result), note=note)


@pytest.mark.parametrize(
    ("zone", "day", "begins", "ends"),
    [
        ("Europe/Berlin", "2026-12-31", "2026-12-30 23:00", "2026-12-31 22:59"),
        ("Africa/Cairo", "2027-04-30", "2027-04-29 22:00", "2027-04-30 20:59"),  # no midnight
        ("Africa/Cairo", "2027-04-29", "2027-04-28 22:00", "2027-04-29 21:59"),
        ("Africa/Cairo", "2027-10-28", "2027-10-27 21:00", "2027-10-28 21:59"),  # 23:59 twice
        ("Africa/Cairo", "2027-10-29", "2027-10-28 22:00", "2027-10-29 21:59"),
        ("America/Havana", "2027-11-07", "2027-11-07 04:00", "2027-11-08 04:59"),  # 00:00 twice
        ("America/Havana", "2027-11-06", "2027-11-06 04:00", "2027-11-07 04:59"),
        ("America/Scoresbysund", "2024-03-31", "2024-03-31 01:00", "2024-04-01 00:59"),
    ],
)
def test_whole_day_runs_from_its_first_to_its_last_minute_when_clocks_change_at_midnight(
    zone: str, day: str, begins: str, ends: str
) -> None:
    assert read_moment(day, ZoneInfo(zone), NOW).ms == ms(begins)
    end = read_moment(day, ZoneInfo(zone), NOW, end=True)
    assert (end.ms, "end of that day" in end.note) == (ms(ends), True)


@given(instants, zones, zones, st.booleans())
def test_same_wall_time_is_shown_by_the_other_clocks_unless_they_skip_it(
    at: int, zone: ZoneInfo, other: ZoneInfo, last: bool
) -> None:
    wall = dates.local(at, zone)
    there = dates.same_wall_time(at, zone, other, last=last)
    shown = dates.local(there, other)
    if shown.replace(tzinfo=None, fold=0) != wall.replace(tzinfo=None, fold=0):
        before = dates.local(there - 1, other)
        assert before.replace(tzinfo=None) < wall.replace(tzinfo=None) < shown.replace(tzinfo=None)
    else:
        assert last or shown.fold == 0
    assert dates.same_wall_time(at, zone, zone, last=bool(wall.fold)) == at


@given(instants, zones)
def test_day_begins_at_its_first_moment(at: int, zone: ZoneInfo) -> None:
    shown = dates.local(at, zone)
    begins = dates.begin_of(shown.date(), zone)
    first, before = dates.local(begins, zone), dates.local(begins - 1, zone)
    assert before.date() < shown.date() == first.date()


def test_calendar_units_keep_the_time_of_day_and_hours_do_not() -> None:
    before_summer = ms("2027-03-27 11:00")  # 12:00 +01:00, the clocks change in the night
    day = read_moment("+1d", BERLIN, before_summer)
    hours = read_moment("+24h", BERLIN, before_summer)
    assert (day.ms, hours.ms) == (ms("2027-03-28 10:00"), ms("2027-03-28 11:00"))
    assert read_moment("+1mo", BERLIN, ms("2027-01-31 11:00")).ms == ms("2027-02-28 11:00")
    assert read_moment("+1y", BERLIN, ms("2028-02-29 11:00")).ms == ms("2029-02-28 11:00")


def test_a_gap_is_refused_with_the_next_valid_time() -> None:
    moment = read("2027-03-28 02:30")
    assert moment.error == (
        "2027-03-28 02:30 does not exist in Europe/Berlin. The clocks skip from 02:00 to "
        "2027-03-28 03:00, the next valid time."
    )
    skipped_day = read_moment("2011-12-30 12:00", ZoneInfo("Pacific/Apia"), NOW)
    assert "skip from 2011-12-30 00:00 to 2011-12-31 00:00" in skipped_day.error
    for end in (False, True):
        whole_day = read_moment("2011-12-30", ZoneInfo("Pacific/Apia"), NOW, end=end)
        assert "does not exist" in whole_day.error


def test_an_overlap_is_asked_and_an_offset_answers() -> None:
    moment = read("2026-10-25 02:30")
    assert moment.choices == (ms("2026-10-25 00:30"), ms("2026-10-25 01:30"))
    for choice in moment.choices:
        assert read(dates.typed(choice, BERLIN)).ms == choice
    assert read("2026-10-25 02:30 +01:00").ms == moment.choices[1]


UNKNOWN = dates.UnknownZone("Europe/Atlantis")


def test_only_a_date_with_its_offset_is_read_when_zone_is_unknown() -> None:
    for text in ("2026-12-01 09:00", "2026-12-01", "9:00", "today", "eom", "+30d", "+6h"):
        for end in (False, True):
            moment = read_moment(text, UNKNOWN, NOW, end=end, end_ms=NOW + dates.DAY_MS)
            assert (moment.ms, moment.choices) == (None, ())
            assert 'does not know the time zone "Europe/Atlantis" of this lock' in moment.error
    read = read_moment("2026-12-01 09:00 +02:00", UNKNOWN, NOW)
    assert read == Moment(ms("2026-12-01 07:00"))
    for text in ("now", "2026-11-21 00:19:42 +00:00"):
        assert read_moment(text, UNKNOWN, NOW).ms == NOW
    assert dates.typed(NOW, UNKNOWN) == text
    others = (dates.UnknownZone("Europe/Erewhon"), BERLIN, "Europe/Atlantis")
    assert dates.UnknownZone("Europe/Atlantis") == UNKNOWN and UNKNOWN not in others


@given(instants, zones)
def test_every_moment_survives_being_shown_and_typed(at: int, zone: ZoneInfo) -> None:
    assert read_moment(dates.typed(at, zone), zone, NOW).ms == at


@given(
    st.datetimes(datetime(1971, 1, 1), datetime(2037, 12, 31)).map(
        lambda wall: wall.replace(second=0, microsecond=0, fold=0)
    ),
    zones,
)
def test_a_typed_time_is_one_moment_or_two_or_a_gap(wall: datetime, zone: ZoneInfo) -> None:
    moment = read_moment(wall.isoformat(" ", "minutes"), zone, NOW)
    given_count = (moment.ms is not None) + bool(moment.choices) + bool(moment.error)
    assert given_count == 1
    for found in moment.choices or ([moment.ms] if moment.ms is not None else []):
        at = dates.local(found, zone)
        assert at.replace(tzinfo=None, fold=0) == wall
    if moment.choices:
        assert moment.choices[0] < moment.choices[1]


@pytest.mark.parametrize("name", ZONES)
def test_each_change_of_the_clocks_since_2000_is_seen(name: str) -> None:
    """Walks the zone day by day: inside each jump a typed time is a gap or an overlap."""
    zone = ZoneInfo(name)
    at = datetime(2000, 1, 1, tzinfo=UTC)
    while at.year < 2028:
        later = at + timedelta(days=1)
        old, new = (moment.astimezone(zone).utcoffset() for moment in (at, later))
        if old != new:
            while later - at > timedelta(minutes=1):
                middle = at + (later - at) / 2
                middle = middle.replace(second=0, microsecond=0)
                if middle == at:
                    break
                if middle.astimezone(zone).utcoffset() == old:
                    at = middle
                else:
                    later = middle
            edge = later.astimezone(UTC).replace(tzinfo=None)
            inside = edge + min(old, new) + abs(new - old) / 2
            moment = read_moment(inside.isoformat(" ", "minutes"), zone, NOW)
            if new > old:
                assert "does not exist" in moment.error
                assert (edge + new).isoformat(" ", "minutes") in moment.error
            else:
                assert len(moment.choices) == 2
            at = later
        at += timedelta(days=1)


@given(st.integers(), zones, st.integers())
def test_no_number_breaks_what_is_shown(value: int, zone: ZoneInfo, now: int) -> None:
    for text in (
        dates.stamp(value, zone),
        dates.day(value, zone),
        dates.day_time(value, zone),
        dates.preview(value, zone, now),
        dates.distance(value, now),
        dates.typed(value, zone),
    ):
        assert text.isascii()
        assert text.isprintable()


@example(253_402_300_799_999, ZoneInfo("UTC"))  # the last one
@given(st.integers(-62_135_400_000_000, 253_402_300_799_999), zones)
def test_every_moment_of_the_calendar_is_in_its_day(value: int, zone: ZoneInfo) -> None:
    begin, end = dates.day_around(value, zone)
    at = dates.local(value, zone)
    if at is None:
        return
    days = [dates.local(ms, zone) for ms in (begin, end - 1, end)]
    assert begin <= value < end and at.date() == days[0].date()
    if at.date() != date.max:
        assert days[1].date() == at.date() != days[2].date()


@pytest.mark.parametrize(
    ("away", "words"),
    [
        (0, "now"),
        (59_000, "now"),
        (-60_000, "1 minute ago"),
        (30 * dates.DAY_MS - 40_000, "in 30 days"),  # "+30d", typed at 40 s past the minute
        (2 * dates.HOUR_MS, "in 2 hours"),
        (41 * dates.DAY_MS + 5, "in 41 days"),
        (-3 * dates.DAY_MS, "3 days ago"),
        (730 * dates.DAY_MS, "in 730 days"),
        (731 * dates.DAY_MS, "in 2 years"),
        (10 * dates.YEAR_MS, "in 10 years"),
    ],
)
def test_distance_in_words(away: int, words: str) -> None:
    assert dates.distance(NOW + away, NOW) == words


def test_times_as_people_read_them() -> None:
    at = ms("2026-12-01 08:00")
    assert dates.stamp(at, BERLIN) == "2026-12-01 09:00 +01:00"
    assert dates.day(at, BERLIN) == "1 Dec 2026"
    assert dates.preview(at, BERLIN, NOW) == ("Tue 1 Dec 2026 09:00 +01:00, 08:00 UTC, in 10 days")
    assert dates.day_time(at + 59_000, BERLIN) == "1 Dec 2026 09:00:59 +01:00"
    assert dates.day_time(at + 59_000, BERLIN, exact=False) == "1 Dec 2026 09:00 +01:00"
    assert dates.preview(at, UTC, NOW) == "Tue 1 Dec 2026 08:00 +00:00, in 10 days"
    for value in (2**63 - 1, -(2**63), 253_402_300_800_000):  # beyond the calendar
        assert dates.stamp(value, BERLIN) == dates.day(value, BERLIN) == str(value)
    assert dates.stamp(10**5000, BERLIN) == "a number too long to show"


@pytest.mark.parametrize(
    ("away_ms", "recent", "near_day"),
    [
        (0, "20 Nov 09:00", "20 Nov"),
        (-170 * dates.DAY_MS, " 3 Jun 10:00", "3 Jun"),
        (-184 * dates.DAY_MS, "20 May 2026", "20 May 2026"),
        (184 * dates.DAY_MS, "23 May 2027", "23 May 2027"),
        (-19 * dates.DAY_MS, " 1 Nov 09:00", "1 Nov"),
    ],
)
def test_recent_shows_the_year_when_it_is_half_a_year_away(
    away_ms: int, recent: str, near_day: str
) -> None:
    now = ms("2026-11-20 08:00")
    assert dates.recent(now + away_ms, BERLIN, now) == recent
    assert dates.near_day(now + away_ms, BERLIN, now) == near_day


@pytest.mark.parametrize(
    ("value", "ms"),
    [(99_999_999_999, 99_999_999_999_000), (10**11, 10**11), (-(10**11), -(10**11))],
)
def test_timestamps_are_milliseconds_when_seconds_would_be_the_year_5138(
    value: int, ms: int
) -> None:
    assert dates.as_ms(value) == ms


AGES = {"30d": 30, " 4 w ": 28, "0d": 0}
AGES |= dict.fromkeys(("", "30", "-3d", "1mo", "2026-01-01", "3 months", "３d"))
DAYS = {"30": 30, " 1 ": 1, "3650": MOST_DAYS, "30d": 30, "4w": 28, "521w": 3647}
DAYS |= dict.fromkeys(("", "0", "0d", "-1", "3651", "522w", "30.5", "1e3", "３0", "soon"))
"""A text -> its days; None if it is refused."""


@pytest.mark.parametrize(
    ("parse", "text", "days"),
    [(parse_age, *one) for one in AGES.items()] + [(parse_days, *one) for one in DAYS.items()],
)
def test_ages_and_days_are_read_or_refused(
    parse: Callable[[str], int], text: str, days: int | None
) -> None:
    refuses = pytest.raises(ValueError, match=r"not an age|out of range")
    with refuses if days is None else nullcontext():
        assert parse(text) == days


# --- weekdays ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("mon-fri", {1, 2, 3, 4, 5}),
        ("mo,we", {1, 3}),
        ("Monday, wed; SU", {1, 3, 7}),
        ("1-5", {1, 2, 3, 4, 5}),
        ("135", {1, 3, 5}),
        ("weekdays", {1, 2, 3, 4, 5}),
        ("weekend, mon", {1, 6, 7}),
        ("fri-mon", {1, 5, 6, 7}),
        ("fri - mon", {1, 5, 6, 7}),
        ("sun-mon", {1, 7}),
        ("wed-wed", {3}),
        ("tue-mon", {1, 2, 3, 4, 5, 6, 7}),
        ("every day", {1, 2, 3, 4, 5, 6, 7}),
        ("", set()),
        ("no weekdays", set()),
    ],
)
def test_weekdays_are_understood(text: str, days: set[int]) -> None:
    assert parse_weekdays(text) == days


@pytest.mark.parametrize(
    ("text", "instead"),
    [("127", "1,2,7"), ("21", "2,1"), ("11", "1,1"), ("1,531", "5,3,1"), ("1111100", "")],
)
def test_digits_in_a_row_are_refused_when_they_could_be_a_number(text: str, instead: str) -> None:
    with pytest.raises(ValueError, match="Type mon-fri") as refused:
        parse_weekdays(text)
    assert instead in str(refused.value)


@pytest.mark.parametrize("text", ["m", "t", "0", "8", "mon-", "-fri", "mon-fri-sun", "x", "-", "٣"])
def test_weekdays_are_refused_with_how_to_type_them(text: str) -> None:
    with pytest.raises(ValueError, match="Type mon-fri"):
        parse_weekdays(text)


@given(st.frozensets(st.integers(1, 7)))
def test_words_for_weekdays_are_read_back(days: frozenset[int]) -> None:
    assert parse_weekdays(format_weekdays(days)) == days
    assert parse_weekdays(format_weekdays(days, short=True)) == days
    assert parse_weekdays(",".join(map(str, days))) == days, "also 1,2,7"


@given(st.text())
def test_any_text_for_weekdays_is_read_or_refused(text: str) -> None:
    try:
        assert parse_weekdays(text) <= set(range(1, 8))
    except ValueError as error:
        assert str(error)


def test_cells_name_weekdays_and_refuse_what_a_spreadsheet_has_rounded() -> None:
    days = ([1, 3], [1, 9], [], None)
    assert [written(FIELDS["weekDay"], one, UTC) for one in days] == ["Mon, Wed", "1,9", "", ""]
    for name in ("remoteNumber", "remoteName", "weekDay", "endDate"):
        with pytest.raises(ValueError, match="shortened a long number"):
            typed_cell(FIELDS[name], " 1.23457E+15", UTC, 0)
    assert typed_cell(FIELDS["extraData"], '{"a": 1E+15}', UTC, 0) == '{"a": 1E+15}'


def test_weekdays_are_shown_in_words_and_letters() -> None:
    assert format_weekdays([5, 1, 2, 4, 3, 3]) == "Mon-Fri"
    assert format_weekdays([1, 2, 4, 5, 6]) == "Mon, Tue, Thu-Sat"
    assert format_weekdays([1, 3, 5], short=True) == "Mon Wed Fri"
    assert format_weekdays(range(1, 8)) == "every day"
    assert format_weekdays(range(1, 8), short=True) == "daily"
    assert format_weekdays([9, 1]) == "Mon, unknown 9"
    assert draw_week([5, 1, 2, 9]) == "M T · · F · ·"
    glyphs.use(glyphs.ASCII)
    assert draw_week([]) == ". . . . . . ."
