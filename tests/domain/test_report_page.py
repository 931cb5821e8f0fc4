"""The page of a report: the days of ends, unread locks, and old lists."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from zoneinfo import ZoneInfo

from lockterm.domain import dates
from lockterm.domain.listing import Block, Listing
from lockterm.domain.locks import Lock
from lockterm.domain.remotes import Remote
from lockterm.domain.report_page import DAYS, LockReport, Report, count_ends, render_report

NOW = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)
NOW_MS = dates.to_ms(NOW)
TOKYO = ZoneInfo("Asia/Tokyo")


def _lock(lock_id: int, zone: tzinfo, *ends: datetime) -> LockReport:
    raws = [
        {"id": place, "remoteType": 2, "startDate": 1, "endDate": dates.to_ms(end)}
        for place, end in enumerate(ends, 1)
    ]
    listing = Listing([Block.of([*map(Remote.read, raws)])], NOW_MS - 3 * 3_600_000)
    return LockReport(Lock(lock_id, zone=""), zone, listing)


def _report(*locks: LockReport) -> Report:
    return Report("site", UTC, NOW_MS, NOW_MS, locks, (), NOW_MS - dates.DAY_MS)


def test_count_ends_uses_the_last_day_in_the_zone_of_each_lock() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    first, counts = count_ends(
        _report(
            _lock(1, berlin, datetime(2026, 11, 24, tzinfo=berlin)),  # midnight: the day before
            _lock(2, TOKYO, datetime(2026, 11, 24, 0, 1, tzinfo=TOKYO)),
            _lock(3, UTC, NOW, datetime(2026, 11, 20, 23, 59, tzinfo=UTC)),  # one has expired
            _lock(
                4, UTC, datetime(2027, 2, 17, 23, tzinfo=UTC), datetime(2027, 2, 18, 1, tzinfo=UTC)
            ),
        )
    )
    assert first == date(2026, 11, 20), "in Tokyo it is the 21st already"
    assert {place: count for place, count in enumerate(counts) if count} == {
        0: 1,
        3: 1,
        4: 1,
        DAYS - 1: 1,
    }


def test_page_shows_the_age_of_each_list_and_what_was_not_read() -> None:
    old = _lock(1, UTC, datetime(2026, 12, 1, tzinfo=UTC))
    content = render_report(
        _report(
            old,
            LockReport(Lock(2, name="<Dock>"), UTC, None, "no answer & no list"),
            LockReport(Lock(3), UTC, old.listing, "not reached"),
        )
    ).decode()
    assert "<td>read 3 h ago</td>" in content and "<td>not read</td>" in content
    assert "&lt;Dock&gt;" in content and "no answer &amp; no list" in content
    assert "<td>counted as last read</td>" in content and "<td>not counted</td>" in content
    assert "<td>1 of 3</td>" in content
    assert content.count("<rect") == 2, "a bar for the state, and one for the day"


def test_page_says_that_there_is_nothing_when_all_is_empty() -> None:
    content = render_report(_report()).decode()
    assert content.count("<p>None.</p>") == 2 and "There are no remotes." in content
