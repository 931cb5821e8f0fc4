"""Markdown pages (CommonMark with tables) in which every text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lockterm.domain.safe_text import clean

_SPECIAL = re.compile(r"[\\`*_\[\]<>&|~:@.!#]")
"""Matches characters that begin markup within a line, or that turn addresses into links."""


def escape(value: object) -> str:
    """Return a value of any type as escaped text on one line, without control characters."""
    return _SPECIAL.sub(r"\\\g<0>", clean(value))


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return a bullet list of labels with their values."""
    return "\n".join(f"- {escape(label)}: {escape(value)}" for label, value in pairs)


def table(titles: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with a header, in which all cells are escaped."""
    lines = [_row(titles), _row(["---"] * len(titles), is_text=False), *map(_row, rows)]
    return "\n".join(lines)


def section(title: str, *parts: str) -> str:
    """Return a section with a heading and some parts."""
    return "\n\n".join((f"## {escape(title)}", *parts))


def page(title: str, *parts: str) -> bytes:
    """Return the content of a Markdown file, in UTF-8."""
    return ("\n\n".join((f"# {escape(title)}", *parts)) + "\n").encode()


def _row(cells: Iterable[object], *, is_text: bool = True) -> str:
    return f"| {' | '.join(escape(one) if is_text else str(one) for one in cells)} |"
