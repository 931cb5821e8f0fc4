"""The days to come: every end is on the day that the calendar of its lock's zone says."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta, tzinfo
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from lockterm.domain import dates
from lockterm.domain.timeline import AHEAD_MS, Timeline
from tests.domain.test_dates import zones

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
    timeline = Timeline(now_ms, {zone for zone, _ in ends})
    wanted = Counter[tuple[int, object]]()
    for lock_id, (zone, ahead_ms) in enumerate(ends):
        timeline.add(lock_id, zone, now_ms + ahead_ms)
        if 0 < ahead_ms <= AHEAD_MS:
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
