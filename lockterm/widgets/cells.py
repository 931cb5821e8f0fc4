"""Functions that fit text into terminal cells, and texts whose parts have different looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from unicodedata import combining

from rich.cells import cell_len, chop_cells, set_cell_size
from textual.color import Color
from textual.content import Content
from textual.style import Style

from lockterm.domain.glyphs import ellipsis
from lockterm.terminal.themes import state_color


def shorten_middle(text: str, room: int) -> str:
    """Return a text of at most ``room`` cells, shortened in the middle to keep both ends.

    Names that differ only at the end still look different.
    """
    if cell_len(text) <= room:
        return text
    keep = max(room - 1, 2)
    head = set_cell_size(text, (keep + 1) // 2).rstrip()
    tail = set_cell_size(text[::-1], keep // 2).rstrip()[::-1]
    return f"{head}{ellipsis()}{tail}"


def cut(text: str, width: int) -> str:
    """Return a text; if it is wider than ``width`` cells, an ellipsis replaces its end."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + ellipsis()


def cut_lines(text: str, width: int, lines: int) -> str:
    """Return a text; if it needs more than ``lines`` lines, an ellipsis replaces its last words.

    Args:
        text: The text, whose words a widget wraps.
        width: The width of a line in cells. If it is 0, because it is not known yet, the whole text
            is returned.
        lines: The maximum number of lines.
    """
    words, short = text.split(" "), text
    while width and len(words) > 1 and count_lines(short, width) > lines:
        words.pop()
        short = " ".join(words).rstrip(",;:") + ellipsis()
    return short


def count_lines(text: str, width: int) -> int:
    """Return the number of lines of ``width`` cells that a text needs, with long words folded."""
    lines, used = 1, 0
    for size in map(cell_len, text.split(" ")):
        used += size + bool(used)
        if size < used > width:
            lines, used = lines + 1, size
        while used > width:
            lines, used = lines + 1, used - width
    return lines


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Split a text into lines between words, and fold words that are wider than a line.

    Args:
        text: The text, without line breaks.
        width: The maximum width of a line in cells.
        indent: The spaces before all lines but the first.
    """
    if cell_len(text) <= width:
        return [text]
    width = max(width, len(indent) + 2)
    lines, line = [], ""
    for number, word in enumerate(text.split(" ")):
        longer = f"{line} {word}" if number else word
        if cell_len(longer) <= width:
            line = longer
        elif cell_len(word) <= width - len(indent):
            lines.append(line)
            line = indent + word
        else:
            head = chop_cells(longer, width)[0]
            *middle, last = chop_cells(longer[len(head) :], width - len(indent))
            lines += [head.rstrip(), *(indent + piece for piece in middle)]
            line = indent + last
    return [*lines, line]


LEAST_APART = 8
"""The minimum width in cells at which short forms can show both ends of a text."""
_WORD = 4
"""The maximum number of characters that a short form shows directly before a difference, so that
the start of the differing word is visible."""


def cut_apart(texts: Iterable[str], width: int) -> dict[str, str]:
    """Return short forms, by text, for texts that :func:`cut` would make equal to each other.

    The forms leave out the middle instead of the end: ``Oskar …contra…`` and ``Oskar …temp c…``.

    Args:
        texts: All texts of a column, including short texts.
        width: The maximum width of a form in cells, at least :data:`LEAST_APART`.
    """
    groups: dict[str, list[str]] = {}
    for text in dict.fromkeys(texts):
        groups.setdefault(cut(text, width), []).append(text)
    forms: dict[str, str] = {}
    used = {short for short, group in groups.items() if len(group) == 1}
    for short, group in groups.items():
        if len(group) == 1:
            continue
        group.sort()  # texts that have the longest beginning in common are then neighbors
        common = [0, *(_count_common(*pair) for pair in pairwise(group)), 0]
        first = min(common[1:-1])
        for text, before, after in zip(group, common, common[1:], strict=False):
            shorter = _cut_at_differences(text, first, max(before, after), width)
            forms[text] = next((form for form in shorter if form not in used), short)
            used.add(forms[text])
    return forms


def _cut_at_differences(text: str, first: int, last: int, width: int) -> Iterator[str]:
    """Yield short forms of a text that show where the text differs from similar texts.

    The arguments ``first`` and ``last`` are the indexes of the first and the last difference.
    """
    yield _cut_middle(text, first, width)
    if first < last:
        yield _cut_middle(text, last, width)
        yield ellipsis() + _cut_middle(text[first:], last - first, width - 1)


def _count_common(one: str, other: str) -> int:
    """Return the number of characters that both texts begin with."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _cut_middle(text: str, difference: int, width: int) -> str:
    """Return the beginning of a text, an ellipsis, and the part from the index ``difference``."""
    start = text.rfind(" ", 0, difference) + 1
    if difference - start > _WORD:
        start = difference
    while start and combining(text[start : start + 1] or " "):
        start -= 1
    end = cut(text[start:], width // 2)
    if end == ellipsis():  # the text itself was cut there
        return cut(text, width)
    return set_cell_size(text, width - 1 - cell_len(end)).rstrip() + ellipsis() + end


Part = tuple[str, str]
"""A text, and its look: a style such as ``bold`` or ``dim``, the name of a state's look, or empty.

The name of a state's look may be followed by ``reverse``, for a badge.
"""

_STYLES = frozenset({"", "bold", "dim", "reverse", "bold reverse"})


def join_parts(parts: Iterable[Part], variables: Mapping[str, str]) -> Content:
    """Return the parts as one styled text.

    Args:
        parts: The parts, without control characters.
        variables: The variables of the theme, which contain the colors of the states.
    """
    return Content.assemble(*((text, _style(look, variables)) for text, look in parts))


def _style(look: str, variables: Mapping[str, str]) -> Style | str:
    if look in _STYLES:
        return look
    state, _, reverse = look.partition(" ")
    color = state_color(variables, state)
    if color is None:
        return reverse
    return Style(foreground=Color.from_rich_color(color), reverse=bool(reverse))
