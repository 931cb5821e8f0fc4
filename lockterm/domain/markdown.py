"""Pages of Markdown (CommonMark with tables) in which every text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lockterm.domain.safe_text import clean

_SPECIAL = re.compile(r"[\\`*_\[\]<>&|~:@.!#]")
"""The characters that begin markup within a line, including addresses that become links."""


def escape(value: object) -> str:
    """Return any value as text on one line, without markup and control characters."""
    return _SPECIAL.sub(r"\\\g<0>", clean(value))


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return a list of labels, each with its value."""
    return "\n".join(f"- {escape(label)}: {escape(value)}" for label, value in pairs)


def table(titles: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a table."""
    lines = [_row(titles), _row(["---"] * len(titles), is_text=False), *map(_row, rows)]
    return "\n".join(lines)


def section(title: str, *parts: str) -> str:
    """Return a section with a heading."""
    return "\n\n".join((f"## {escape(title)}", *parts))


def page(title: str, *parts: str) -> bytes:
    """Return a page as the content of a file, in UTF-8."""
    return ("\n\n".join((f"# {escape(title)}", *parts)) + "\n").encode()


def _row(cells: Iterable[object], *, is_text: bool = True) -> str:
    return f"| {' | '.join(escape(one) if is_text else str(one) for one in cells)} |"
