"""Pages of HTML and Markdown, as those of reports: all texts are escaped, nothing is loaded."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, date, datetime, tzinfo
from html.parser import HTMLParser
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from lockterm.domain import dates, markup
from lockterm.domain.listing import Block, Listing
from lockterm.domain.locks import Lock
from lockterm.domain.markup import escape, fact_table, is_page, page, paragraph, section, table
from lockterm.domain.remotes import Remote
from lockterm.domain.report_page import DAYS, LockReport, Report, count_ends, render_report
from lockterm.domain.safe_text import clean

HOSTILE = '<script src="//x">&"\'\x1b]0;x\x07\u202eevil\ud800</script>'


def test_page_escapes_every_text_and_allows_no_script_and_no_request() -> None:
    parts = (
        paragraph(HOSTILE),
        section(HOSTILE, table([HOSTILE], [[HOSTILE]])),
        fact_table([(HOSTILE, HOSTILE)]),
    )
    content = page(HOSTILE, *parts).decode("utf-8", "strict")
    tags, texts, reader = list[str](), list[str](), HTMLParser()
    reader.handle_starttag = lambda tag, attrs: tags.append(tag)  # type: ignore[method-assign]
    reader.handle_data = texts.append  # type: ignore[method-assign]
    reader.feed(content)
    assert not {"script", "link", "img", "iframe"} & set(tags)
    shown = [text for text in texts if "evil" in text]
    assert len(shown) == 8, "title, heading, paragraph, section, 2 cells, 2 of the fact"
    assert set(shown) == {'<script src="//x">&"\'\ufffd]0;x\ufffd\ufffdevil\ufffd</script>'}
    assert escape("a\"b'c") == "a&quot;b&#x27;c", "also in attributes"
    content = page("Report").decode()
    assert "default-src 'none'" in content
    assert "http:" not in content and "https:" not in content and "url(" not in content


def test_table_aligns_numbers() -> None:
    made = table(("Lock", "Remotes"), [("<b>", 1234), ("Yard", 5)])
    assert '<td class="number">1,234</td>' in made
    assert '<th scope="col" class="number">Remotes</th>' in made
    assert table(("Lock",), []).count("<td") == 0


def test_is_page_recognizes_only_pages_of_lockterm() -> None:
    assert is_page(page("Report")) and is_page(page("Report")[:4096]) and is_page(b"")
    assert not is_page(b"<!DOCTYPE html>\n<html><body>My notes</body></html>")


@given(st.text("a|\\`*_[]<>&~:@.!#\n\r\x1b\u202e (/", max_size=20))
def test_escaped_text_reads_back_and_has_no_markup(text: str) -> None:
    escaped = markup.escape_markdown(text)
    assert "\n" not in escaped and "\x1b" not in escaped
    assert re.sub(r"\\([^a-z\s])", r"\1", escaped) == clean(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_\[\]<>&~:@.!#]", escaped)


def test_page_has_a_heading_facts_and_tables() -> None:
    content = markup.markdown_page(
        "Who",
        markup.markdown_facts([("Date", "2026-11-20")]),
        markup.markdown_section(
            "People", markup.markdown_table(("Name", "Locks"), [("A|B <b>", 2)])
        ),
    )
    assert content.decode() == (
        "# Who\n\n- Date: 2026-11-20\n\n## People\n\n"
        "| Name | Locks |\n| --- | --- |\n| A\\|B \\<b\\> | 2 |\n"
    )


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
    last = (datetime(2027, 2, 17, 23, tzinfo=UTC), datetime(2027, 2, 18, 1, tzinfo=UTC))
    first, counts = count_ends(
        _report(
            _lock(1, berlin, datetime(2026, 11, 24, tzinfo=berlin)),  # midnight: the day before
            _lock(2, TOKYO, datetime(2026, 11, 24, 0, 1, tzinfo=TOKYO)),
            _lock(3, UTC, NOW, datetime(2026, 11, 20, 23, 59, tzinfo=UTC)),  # one has expired
            _lock(4, UTC, *last),
        )
    )
    assert first == date(2026, 11, 20), "in Tokyo it is the 21st already"
    assert Counter(dict(enumerate(counts))) == Counter((0, 3, 4, DAYS - 1))


def test_report_shows_the_age_of_each_list_and_what_was_not_read() -> None:
    old = _lock(1, UTC, datetime(2026, 12, 1, tzinfo=UTC))
    unread = LockReport(Lock(2, name="<Dock>"), UTC, None, "no answer & no list")
    kept = LockReport(Lock(3), UTC, old.listing, "not reached")
    content = render_report(_report(old, unread, kept)).decode()
    assert "<td>read 3 h ago</td>" in content and "<td>not read</td>" in content
    assert "&lt;Dock&gt;" in content and "no answer &amp; no list" in content
    assert "<td>counted as last read</td>" in content and "<td>not counted</td>" in content
    assert "<td>1 of 3</td>" in content
    assert content.count("<rect") == 2, "a bar for the state, and one for the day"
    content = render_report(_report()).decode()
    assert content.count("<p>None.</p>") == 2 and "There are no remotes." in content
