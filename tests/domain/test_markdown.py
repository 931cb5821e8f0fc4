"""Pages of Markdown: no text can begin markup, a link or another cell."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from lockterm.domain import markdown
from lockterm.domain.safe_text import clean


@given(st.text("a|\\`*_[]<>&~:@.!#\n\r\x1b\u202e (/", max_size=20))
def test_escaped_text_reads_back_and_has_no_markup(text: str) -> None:
    escaped = markdown.escape(text)
    assert "\n" not in escaped and "\x1b" not in escaped
    assert re.sub(r"\\([^a-z\s])", r"\1", escaped) == clean(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_\[\]<>&~:@.!#]", escaped)


def test_page_has_a_heading_facts_and_tables() -> None:
    content = markdown.page(
        "Who",
        markdown.facts([("Date", "2026-11-20")]),
        markdown.section("People", markdown.table(("Name", "Locks"), [("A|B <b>", 2)])),
    )
    assert content.decode() == (
        "# Who\n\n- Date: 2026-11-20\n\n## People\n\n"
        "| Name | Locks |\n| --- | --- |\n| A\\|B \\<b\\> | 2 |\n"
    )
