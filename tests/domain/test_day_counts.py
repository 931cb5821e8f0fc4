"""The changes of each day: every moment counts on its day in the calendar of the zone."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, timedelta, tzinfo

from hypothesis import example, given
from hypothesis import strategies as st

from lockterm.domain import dates
from lockterm.domain.timeline import QUARTER_MS, DayCounts, first_day, sum_up_quarters
from tests.domain.test_dates import zones
from tests.domain.test_timeline import EAST, NOW_MS

DAYS = 40


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


def test_the_last_days_keep_their_numbers() -> None:
    days = DayCounts(dates.local(1_795_219_200_000, EAST).date(), [1, 2, 3])  # type: ignore[union-attr]
    assert days.last(2) == DayCounts(days.first + timedelta(1), [2, 3])
    assert days.last(5) == days
