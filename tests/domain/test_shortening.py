"""What a change takes away, against the moments in which the two remotes open."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockterm.domain import dates
from lockterm.domain.dates import HOUR_MS
from lockterm.domain.remotes import Remote, RemoteType
from lockterm.domain.shortening import (
    describe_shortened_fields,
    describe_shortening,
    find_shortening,
)

BERLIN = ZoneInfo("Europe/Berlin")


def ms(wall: str) -> int:
    return dates.to_ms(datetime.fromisoformat(wall).replace(tzinfo=BERLIN))


FIRST = ms("2027-03-15 00:00")
"""A Monday; the clocks change two weeks later."""

HOURS = range(24 * 24)
"""Hours around the change of the clocks; every boundary below is one of them."""

WEEKS_MS = (HOURS.stop + 24 * 8) * HOUR_MS
"""Milliseconds from the first hour to a week after the last one."""

zones = st.sampled_from([BERLIN, ZoneInfo("Africa/Cairo"), ZoneInfo("America/New_York")])
moments = st.integers(0, HOURS.stop).map(lambda hour: FIRST + hour * HOUR_MS)
week_days = st.sets(st.integers(1, 7), min_size=1).map(sorted)


def limited(start: int, end: int) -> Remote:
    return Remote(remote_type=RemoteType.TIME_LIMITED, start_ms=start, end_ms=end)


def recurring(start: int, end: int, days: list[int] | None) -> Remote:
    kind = RemoteType.RECURRING
    return Remote(remote_type=kind, start_ms=start, end_ms=end, week_day=days)


PERMANENT = Remote(remote_type=RemoteType.PERMANENT, start_ms=0, end_ms=0, week_day=())
periods = st.tuples(moments, moments).filter(lambda two: two[0] < two[1])
remotes = st.one_of(
    st.just(PERMANENT),
    periods.map(lambda two: limited(*two)),
    st.builds(lambda two, days: recurring(*two, days), periods, week_days),
)


def opens(remote: Remote, at: int, zone: ZoneInfo) -> bool:
    """Whether a remote opens at a moment, by what its type, dates and weekdays say."""
    if remote.remote_type == RemoteType.PERMANENT:
        return True
    if not (remote.start_ms or 0) <= at < (remote.end_ms or 0):
        return False
    if remote.remote_type == RemoteType.TIME_LIMITED:
        return True
    day = datetime.fromtimestamp(at / 1000, zone).isoweekday()
    return day in (remote.week_day or ())


@given(remotes, remotes, moments, zones)
def test_change_shortens_exactly_when_a_moment_is_lost(
    before: Remote, after: Remote, now: int, zone: ZoneInfo
) -> None:
    assert find_shortening(before, before, now, zone) is None
    assert find_shortening(before, PERMANENT, now, zone) is None
    lost = [
        at
        for at in range(now, FIRST + WEEKS_MS, HOUR_MS)
        if opens(before, at, zone) and not opens(after, at, zone)
    ]
    found = find_shortening(before, after, now, zone)
    assert (found is not None) == bool(lost)
    if found is None:
        return
    assert found.ends_ms is not None or found.closed is not None or found.days
    assert bool(found.earlier_ms) == (found.ended_ms is not None)
    if found.closed is not None:
        assert found.closed[0] == lost[0]
        assert not opens(after, found.closed[1] - HOUR_MS, zone)
    opens_later = any(opens(after, at, zone) for at in range(now, FIRST + WEEKS_MS, HOUR_MS))
    ended = [at for at in lost if at >= max(after.end_ms or 0, now) or not opens_later]
    assert (found.ends_ms is not None) == (bool(ended) and after.remote_type != 1)
    if found.ended_ms is not None and ended:
        assert found.earlier_ms >= len(ended) * HOUR_MS
    inside = [at for at in lost if (after.start_ms or 0) <= at < (after.end_ms or 0)]
    assert set(found.days) == {
        datetime.fromtimestamp(at / 1000, zone).isoweekday() for at in inside
    }


NOW = ms("2026-11-25 17:19")
GUEST = limited(ms("2026-11-20 15:00"), ms("2026-12-02 11:00"))
WORKER = recurring(ms("2026-11-01 00:00"), ms("2027-01-31 23:59"), [1, 2, 3, 4, 5, 6])


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            *(limited(ms("2026-11-01 00:00"), ms("2027-01-31 23:59")),),
            *(limited(ms("2026-11-01 00:00"), ms("2026-12-25 17:19")),),
            (
                "Shortens access by 37 days: the remote will expire 25 Dec 2026 17:19, not 31"
                " Jan 2027 23:59."
            ),
        ),
        (  # No Tuesday or Thursday comes before Monday.
            *(recurring(ms("2026-11-01 00:00"), ms("2026-12-30 17:19"), [2, 4]),),
            *(recurring(ms("2026-11-01 00:00"), ms("2026-11-26 00:00"), [2, 4]),),
            ("Shortens access by 35 days: the remote will expire at once, not 30 Dec 2026 17:19."),
        ),
        (
            *(GUEST, limited(ms("2026-12-05 15:00"), ms("2026-12-10 11:00"))),
            "Shortens access: no access from now until 5 Dec 15:00.",
        ),
        (
            *(limited(ms("2026-12-01 09:00"), ms("2026-12-20 09:00")),),
            *(limited(ms("2026-12-05 15:00"), ms("2026-12-20 09:00")),),
            "Shortens access: no access from 1 Dec 09:00 until 5 Dec 15:00.",
        ),
        (
            *(PERMANENT, limited(ms("2026-11-01 00:00"), ms("2027-01-31 23:59"))),
            "Shortens access: permanent access will end 31 Jan 2027 23:59.",
        ),
        (
            *(GUEST, limited(ms("2026-11-20 15:00"), ms("2026-11-21 11:00"))),
            "Shortens access by 6 days: the remote will expire at once, not 2 Dec 2026 11:00.",
        ),
        (
            *(GUEST, limited(ms("2026-11-20 15:00"), ms("2026-12-02 10:59:01"))),
            (
                "Shortens access by 59 seconds: the remote will expire 2 Dec 2026 10:59:01,"
                " not 2 Dec 2026 11:00."
            ),
        ),
        (
            *(WORKER, recurring(ms("2026-11-01 00:00"), ms("2027-01-01 23:59"), [1, 2, 3])),
            "Shortens access by 30 days: the remote will expire 1 Jan 2027 23:59, not 31"
            " Jan 2027 23:59; no more access on Thu-Sat.",
        ),
        (
            *(WORKER, recurring(ms("2026-11-01 00:00"), ms("2027-01-31 23:59"), [])),
            "Shortens access: no more access on Mon-Sat.",
        ),
        # No Sunday is lost, and what opens nobody knows when is compared by its dates alone.
        (WORKER, recurring(ms("2026-11-01 00:00"), ms("2027-01-31 00:00"), [1, 2, 3, 4, 5, 6]), ""),
        (
            *(recurring(NOW, ms("2027-01-31 00:00"), None),),
            *(recurring(NOW, ms("2027-01-30 00:00"), None),),
            (
                "Shortens access by 24 hours: the remote will expire 30 Jan 2027 00:00, not"
                " 31 Jan 2027 00:00."
            ),
        ),
        (recurring(NOW, ms("2027-01-31 00:00"), []), WORKER, ""),
        (limited(ms("2026-11-01 00:00"), ms("2026-11-02 00:00")), GUEST, ""),
        (Remote(remote_type=9, end_ms=ms("2027-01-31 00:00")), GUEST, ""),
        (GUEST, limited(ms("2026-11-25 17:19"), ms("2026-12-02 11:00")), ""),
    ],
)
def test_shortening_is_described_with_old_and_new_value(
    before: Remote, after: Remote, words: str
) -> None:
    found = find_shortening(before, after, NOW, BERLIN)
    assert (describe_shortening(found, NOW, BERLIN) if found else "") == words


def test_each_field_that_takes_access_away_is_described() -> None:
    after = recurring(ms("2026-12-05 15:00"), ms("2027-01-01 23:59"), [1, 2, 3])
    found = find_shortening(PERMANENT, after, NOW, BERLIN)
    assert describe_shortened_fields(found, NOW, BERLIN) == {
        "remoteType": "Shortens access: permanent access will end 1 Jan 2027 23:59.",
        "startDate": "Shortens access: no access from now until 7 Dec 00:00.",
        "weekDay": "Shortens access: no more access on Thu-Sun.",
    }
    assert describe_shortening(found, NOW, BERLIN) == (
        "Shortens access: permanent access will end 1 Jan 2027 23:59; no access from now"
        " until 7 Dec 00:00; no more access on Thu-Sun."
    )


def test_weekdays_begin_in_the_zone_of_the_lock() -> None:
    start = dates.to_ms(datetime(2026, 12, 6, 22, 30, tzinfo=UTC))  # on Sunday evening
    before, after = limited(start, start + HOUR_MS), recurring(start, start + HOUR_MS, [1])
    assert find_shortening(before, after, NOW, ZoneInfo("Europe/Kyiv")) is None
    assert find_shortening(before, after, NOW, BERLIN).days == (7,)
