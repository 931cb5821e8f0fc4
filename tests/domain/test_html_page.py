"""Pages of HTML: every text is escaped, and nothing is loaded or run."""

from __future__ import annotations

from html.parser import HTMLParser

from lockterm.domain.html_page import escape, fact_table, is_page, page, paragraph, section, table

HOSTILE = '<script src="//x">&"\'\x1b]0;x\x07\u202eevil\ud800</script>'


class _Reader(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_page_escapes_every_text() -> None:
    parts = (
        paragraph(HOSTILE),
        section(HOSTILE, table([HOSTILE], [[HOSTILE]])),
        fact_table([(HOSTILE, HOSTILE)]),
    )
    content = page(HOSTILE, *parts).decode("utf-8", "strict")
    reader = _Reader()
    reader.feed(content)
    assert not {"script", "link", "img", "iframe"} & set(reader.tags)
    shown = [text for text in reader.texts if "evil" in text]
    assert len(shown) == 8, "title, heading, paragraph, section, 2 cells, 2 of the fact"
    assert set(shown) == {'<script src="//x">&"\'\ufffd]0;x\ufffd\ufffdevil\ufffd</script>'}


def test_escape_escapes_quotes_for_attributes() -> None:
    assert escape("a\"b'c") == "a&quot;b&#x27;c"


def test_table_aligns_numbers_and_escapes_texts() -> None:
    made = table(("Lock", "Remotes"), [("<b>", 1234), ("Yard", 5)])
    assert '<td class="number">1,234</td>' in made
    assert '<th scope="col" class="number">Remotes</th>' in made
    assert "<td>&lt;b&gt;</td>" in made
    assert table(("Lock",), []).count("<td") == 0


def test_page_allows_no_script_and_no_request() -> None:
    content = page("Report").decode()
    assert "default-src 'none'" in content
    assert "http:" not in content and "https:" not in content and "url(" not in content


def test_is_page_recognizes_only_pages_of_lockterm() -> None:
    assert is_page(page("Report")) and is_page(page("Report")[:4096]) and is_page(b"")
    assert not is_page(b"<!DOCTYPE html>\n<html><body>My notes</body></html>")
