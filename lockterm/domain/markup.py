"""Pages of sections and tables in HTML and in Markdown, in which every text is escaped.

An HTML page has no script and loads nothing. It prints black on white. A Markdown page is
CommonMark with tables.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from lockterm.domain.safe_text import clean

# --- HTML ----------------------------------------------------------------------------------------


class Html(str):
    """A part of an HTML page. Only code that escapes every text may create an ``Html``."""

    __slots__ = ()


_HEAD = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="lockterm">"""
"""The beginning of every page that lockterm writes, which :func:`is_page` recognizes."""

_STYLE = """\
:root { color-scheme: light; --text: #1b1f24; --muted: #57606a; --line: #d0d7de; --bar: #1f6feb;
  --paper: #ffffff; }
@media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark; --text: #e6edf3;
  --muted: #9da7b1; --line: #3d444d; --bar: #58a6ff; --paper: #0d1117; } }
@page { margin: 15mm; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--paper);
  color: var(--text); font: 16px/1.45 system-ui, sans-serif; }
h1 { margin: 0 0 1rem; font-size: 1.6rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.2rem; break-after: avoid; }
p { margin: .5rem 0; }
section { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
th, td { padding: .25em .4em; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
th { color: var(--muted); font-weight: 600; }
td { min-width: 5em; overflow-wrap: anywhere; }
.number { min-width: 0; text-align: right; overflow-wrap: normal;
  font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: auto; break-inside: avoid; }
svg.bar { width: 12rem; height: .7em; margin-top: .4em; }
svg rect { fill: var(--bar); }
svg line { stroke: var(--line); }
svg text { fill: var(--muted); font-size: 11px; }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } }
"""


def escape(value: object) -> Html:
    """Return a value of any type as escaped text without control characters.

    An ``Html`` is returned unchanged.
    """
    if isinstance(value, Html):
        return value
    return Html(html.escape(clean(value)))


def join(*parts: Html) -> Html:
    """Return several parts of a page as one part, each on a new line."""
    return Html("\n".join(parts))


def paragraph(text: object) -> Html:
    """Return a paragraph with an escaped text."""
    return Html(f"<p>{escape(text)}</p>")


def section(title: str, *parts: Html) -> Html:
    """Return a section with a heading and some parts."""
    return Html(f"<section>\n<h2>{escape(title)}</h2>\n{join(*parts)}\n</section>")


def table(titles: Sequence[object], rows: Iterable[Sequence[object]]) -> Html:
    """Return a table. Columns of whole numbers and :data:`NO_NUMBER` are right-aligned.

    Args:
        titles: The titles of the columns.
        rows: The cells of each row. :func:`escape` converts a value of any type to text.
    """
    listed = list(rows)
    numbers = [all(_is_number(row[at]) for row in listed) for at in range(len(titles))]
    head = "".join(
        f'<th scope="col"{_CLASS if is_number else ""}>{escape(title)}</th>'
        for title, is_number in zip(titles, numbers, strict=True)
    )
    body = "\n".join(f"<tr>{''.join(map(_format_cell, row, numbers))}</tr>" for row in listed)
    return Html(f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>")


def fact_table(facts: Iterable[tuple[str, object]]) -> Html:
    """Return a table of two columns: labels and their values."""
    rows = "\n".join(
        f'<tr><th scope="row">{escape(label)}</th><td>{escape(value)}</td></tr>'
        for label, value in facts
    )
    return Html(f"<table>\n<tbody>\n{rows}\n</tbody>\n</table>")


def page(title: str, *parts: Html) -> bytes:
    """Return the content of an HTML file, in UTF-8.

    Args:
        title: The title and first heading of the page.
        parts: The parts of the page, from top to bottom.
    """
    name = escape(title)
    text = (
        f"{_HEAD}\n"
        # A mistake in a page could then still load nothing and run nothing.
        '<meta http-equiv="Content-Security-Policy"'
        " content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>\n{_STYLE}</style>\n</head>\n"
        f"<body>\n<h1>{name}</h1>\n{join(*parts)}\n</body>\n</html>\n"
    )
    return text.encode()


def is_page(content: bytes) -> bool:
    """Return whether a file may be replaced, because it is empty or a page of lockterm.

    Args:
        content: The file's content, or its beginning.
    """
    return not content or content.startswith(_HEAD.encode())


NO_NUMBER = "-"
"""The text of a cell whose number is unknown."""

_CLASS = ' class="number"'


def _is_number(value: object) -> bool:
    return value == NO_NUMBER or (isinstance(value, int) and not isinstance(value, bool))


def _format_cell(value: object, is_number: bool) -> str:
    if is_number:
        return f"<td{_CLASS}>{value if value == NO_NUMBER else format(value, ',')}</td>"
    return f"<td>{escape(value)}</td>"


# --- Markdown ------------------------------------------------------------------------------------


_MARKUP = re.compile(r"[\\`*_\[\]<>&|~:@.!#]")
"""Matches characters that begin markup within a line, or that turn addresses into links."""


def escape_markdown(value: object) -> str:
    """Return a value of any type as escaped text on one line, without control characters."""
    return _MARKUP.sub(r"\\\g<0>", clean(value))


def markdown_facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return a bullet list of labels with their values."""
    return "\n".join(
        f"- {escape_markdown(label)}: {escape_markdown(value)}" for label, value in pairs
    )


def markdown_table(titles: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with a header, in which all cells are escaped."""
    lines = [
        _markdown_row(titles),
        _markdown_row(["---"] * len(titles), is_text=False),
        *map(_markdown_row, rows),
    ]
    return "\n".join(lines)


def markdown_section(title: str, *parts: str) -> str:
    """Return a section with a heading and some parts."""
    return "\n\n".join((f"## {escape_markdown(title)}", *parts))


def markdown_page(title: str, *parts: str) -> bytes:
    """Return the content of a Markdown file, in UTF-8."""
    return ("\n\n".join((f"# {escape_markdown(title)}", *parts)) + "\n").encode()


def _markdown_row(cells: Iterable[object], *, is_text: bool = True) -> str:
    return f"| {' | '.join(escape_markdown(one) if is_text else str(one) for one in cells)} |"
