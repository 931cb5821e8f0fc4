"""Ends and changes of each day: every one counts on its day in the calendar of its zone."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, timedelta, tzinfo
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from lockterm.domain import dates
from lockterm.domain.listing import Timeline
from lockterm.domain.operation import QUARTER_MS, DayCounts, first_day, sum_up_quarters
from tests.domain.test_dates import zones

AHEAD_MS, DAYS = 30 * dates.DAY_MS, 40

NOW_MS = st.integers(1_577_836_800_000, 4_102_444_800_000)
"""2020 to 2100: before, a few zones went back over midnight, so that a day came twice."""

AHEAD = st.one_of(
    st.integers(-2 * dates.DAY_MS, AHEAD_MS + 2 * dates.DAY_MS),
    st.sampled_from([-1, 0, 1, AHEAD_MS - 1, AHEAD_MS, AHEAD_MS + 1]),
    st.integers(-30, 30).map(lambda half: half * dates.DAY_MS // 2),
)
WEST, EAST = ZoneInfo("Pacific/Pago_Pago"), ZoneInfo("Pacific/Kiritimati")


@given(NOW_MS, st.lists(st.tuples(zones, AHEAD), min_size=1, max_size=12))
@example(1_795_257_000_000, [(WEST, AHEAD_MS), (EAST, AHEAD_MS), (EAST, 1)])  # two days apart
@example(1_795_219_200_000, [(ZoneInfo("UTC"), dates.DAY_MS)])  # at midnight
@example(1_774_652_400_000, [(ZoneInfo("Europe/Berlin"), AHEAD_MS)])  # before a day of 23 hours
def test_each_end_is_on_its_day(now_ms: int, ends: list[tuple[tzinfo, int]]) -> None:
    timeline = Timeline(now_ms, {zone for zone, _ in ends}, DAYS)
    wanted = Counter[tuple[int, object]]()
    for lock_id, (zone, ahead_ms) in enumerate(ends):
        timeline.add(lock_id, zone, now_ms + ahead_ms)
        if ahead_ms > 0:
            at = dates.local(now_ms + ahead_ms - 1, zone)  # an end at midnight is of the day before
            wanted[lock_id, at.date()] += 1
    first = timeline.first
    todays = [at.date() for zone, _ in ends if (at := dates.local(now_ms, zone))]
    assert first == min(todays)
    found = Counter[tuple[int, object]](
        {
            (lock_id, first + timedelta(days=day)): count
            for lock_id, counts in timeline.by_first_day()
            for day, count in enumerate(counts)
            if count
        }
    )
    assert found == wanted
    days = [
        next(day for day, count in enumerate(one) if count) for _, one in timeline.by_first_day()
    ]
    assert days == sorted(days)


@given(NOW_MS, zones, st.lists(st.integers(-60 * dates.DAY_MS, 2 * dates.DAY_MS), max_size=12))
@example(1_795_219_200_000, UTC, [-1, 0, 1])  # at midnight
@example(1_774_652_400_000, EAST, [0, dates.DAY_MS])
def test_each_change_counts_on_its_day(now_ms: int, zone: tzinfo, agos: list[int]) -> None:
    now = dates.local(now_ms, zone)
    quarters = Counter((now_ms + ago) // QUARTER_MS for ago in agos)
    found = sum_up_quarters(quarters, now.date(), DAYS, zone)
    assert found.first == first_day(now.date(), DAYS) and found.today == now.date()
    days = [at.date() for ago in agos if (at := dates.local(now_ms + ago, zone))]
    wanted = Counter(day for day in days if found.first <= day <= found.today)
    assert found.counts == [wanted[found.first + timedelta(day)] for day in range(DAYS)]
    assert found.last(2) == DayCounts(found.first + timedelta(DAYS - 2), found.counts[-2:])
    assert found.last(DAYS + 2) == found
