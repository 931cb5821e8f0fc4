"""Reads a screen back: nothing unreadable, nothing cut off, nothing told by color alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from pyte.screens import Char

from tests.matrix.colors import (
    BEHIND,
    OF_THE_CURSOR,
    OF_THE_TERMINAL,
    OF_THEMES,
    STEPPED_BACK,
    TEXT,
    contrast,
    ground_of,
    is_exact,
    ratio_of,
)
from tests.matrix.picture import Picture
from tests.matrix.terminals import FEW, Terminal

_STEPPED_BACK = (
    r"\([^() ]+ [^()]+\) "  # a key that can do nothing now
    r"|(?:optional, )?for example: \S.*|mon-fri, or choose .*|\{\"key\": .*|Find an action.*"
)
"""What steps back on purpose, in the key line and in empty fields."""
_KEY = re.compile(r"(?:\(\S+ [^()]+\) |\S+ [^ ()]+(?: [^ ()]+)*  )* ?")
"""A key line: keys and verbs, each entry with its end."""
_SHORTENED = "…~"
_ENOUGH = 24
"""Characters of a shortened notice that say what was done, and nearly whose it was."""
_FIRST_COLUMN = 16
"""Cells in which every row of a table has text."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What one step has to show, as regular expressions."""

    words: tuple[str, ...] = ()
    """Whole somewhere on the screen; on a dialog's, in the dialog."""
    notice: str = ""
    """What a notice says."""
    dialog: bool = False
    """Whether a dialog stands there."""
    dimmed: str = ""
    """What steps back here because it can do nothing yet."""
    stands_out: str = ""
    """What has the focus or the cursor: told apart from ``others`` without colors."""
    others: str = ""
    """What is of the same kind and has it not."""
    key_line: bool = True
    """Whether the last line is that of the keys, but for a notice."""
    help: bool = True
    """Whether ``?`` works, so that the last key is help: not where text is typed."""
    rows: str = ""
    """What each row of the table says: states have words."""


def wrong(picture: Picture, expected: Expected, terminal: Terminal) -> list[str]:
    """What does not hold of a screen; empty: all does."""
    return [
        *_missing(picture, expected),
        *_cut_off(picture, expected),
        *_unreadable(picture, expected, terminal),
        *_by_color_alone(picture, expected, terminal),
    ]


# --- words ---------------------------------------------------------------------------------------


def _missing(picture: Picture, expected: Expected) -> Iterator[str]:
    if expected.dialog != (picture.dialog is not None):
        yield "no dialog is whole" if expected.dialog else "a dialog stands in the way"
    where = picture.words_of_dialog if expected.dialog else picture.words
    for pattern in expected.words:
        if not re.search(pattern, where):
            yield f"not there whole: {pattern!r}"
    for line in _rows(picture) if expected.rows else ():
        if line[:_FIRST_COLUMN].strip() and not re.search(expected.rows, line):
            yield f"a row does not say {expected.rows!r}: {line.rstrip()!r}"
    said = picture.words_of_notice
    if expected.notice and not re.search(expected.notice, said) and not _begins(said, expected):
        yield f"no notice says: {expected.notice!r}"


def _rows(picture: Picture) -> list[str]:
    """Return the rows of the table of remotes, without its frame and the lock book."""
    at = next((y for y in (1, 2) if "Name" in picture.lines[y]), None)  # the frame is above it
    if at is None:
        return ["no table"]
    titles = picture.lines[at]
    left = max(titles.rfind(edge, 0, titles.index("Name")) for edge in "│|") + 1
    rows = [line[left:] for line in picture.lines[at + 1 : -2]]
    return list(takewhile(lambda row: row[0] not in "─-", rows))


def _begins(said: str, expected: Expected) -> bool:
    """Whether a notice says it as far as there is room: a long name is cut before the outcome."""
    begun, cut, _ = said.partition(": ")
    if not cut or begun[-1] not in _SHORTENED or len(begun) < _ENOUGH:
        return False
    # What is expected is text, but for dots that stand for brackets.
    return all(want in (".", is_) for want, is_ in zip(expected.notice, begun[:-1], strict=False))


def _cut_off(picture: Picture, expected: Expected) -> Iterator[str]:
    """What belongs to lockterm itself is never shortened; a name may be, with a sign for it."""
    if expected.key_line and picture.has_keys:
        keys = picture.lines[-1]
        if not _KEY.fullmatch(f"{keys.rstrip()}  "[: picture.width + 1]):
            yield f"the keys are cut off: {keys!r}"
        if expected.help and not keys.rstrip().endswith("? help"):
            yield f"the last key is not help: {keys!r}"
        if not re.search(r"\S  +127\.\S*:?\d+ *$|127\.\S*\d *$", picture.lines[0]):
            yield f"the host is not in the title line: {picture.lines[0]!r}"
        pager = picture.lines[-2]
        is_pager = not expected.dialog and not picture.rows_of_notice
        if is_pager and re.search(rf"[{_SHORTENED}] *$", pager):
            yield f"the line above the keys is cut off: {pager!r}"
    if (box := picture.dialog) is not None and expected.dialog:
        for y in range(box.top + 1, box.bottom):
            row = picture.lines[y]
            # U+2800, behind letters from right to left, is a blank.
            if row[box.left + 1] not in " \u2800" or row[box.right - 1] not in " ▁▂▃▄▅▆▇█#":
                yield f"text runs into the edge of the dialog: {row!r}"


# --- colors -------------------------------------------------------------------------------------


def _unreadable(picture: Picture, expected: Expected, terminal: Terminal) -> list[str]:
    bad: dict[tuple[str, str, bool, bool], list[str]] = {}
    back = re.compile(f"{_STEPPED_BACK}|{expected.dimmed}" if expected.dimmed else _STEPPED_BACK)
    stepped = [
        {x for found in back.finditer(line) for x in range(*found.span())} for line in picture.lines
    ]
    for x, y, cell in picture.text_cells():
        look = cell.fg, cell.bg, cell.reverse, terminal.grounds, cell.bold
        ratio = ratio_of(*look, palettes=terminal.palettes)
        floor = _floor(picture, x, y, cell, stepped[y])
        if floor == OF_THE_TERMINAL and terminal.has_own_theme and x not in stepped[y]:
            floor = OF_THEMES
        if cell.reverse and cell.bold and floor > BEHIND:
            plain = ratio_of(cell.fg, cell.bg, cell.reverse, terminal.grounds)
            floor = max(floor, min(OF_THE_CURSOR, plain))
        if ratio < floor:
            bad.setdefault((cell.fg, cell.bg, cell.reverse, cell.bold), []).append(cell.data)
    return [
        f"unreadable, {ratio_of(front, back, swapped, terminal.grounds, bold):.2f} to 1,"
        f" {front} on {back}{' swapped' * swapped}{' bold' * bold}: {''.join(chars)[:40]!r}"
        for (front, back, swapped, bold), chars in bad.items()
    ]


def _floor(picture: Picture, x: int, y: int, cell: Char, stepped: set[int]) -> float:
    over = picture.dialog or picture.palette
    if over is not None and not over.has(x, y):
        return BEHIND
    if not is_exact(cell):
        return OF_THE_TERMINAL
    return STEPPED_BACK if x in stepped else TEXT


def _by_color_alone(picture: Picture, expected: Expected, terminal: Terminal) -> Iterator[str]:
    """The focus is reversed or underlined; in quiet, a row of a table begins with a mark.

    Where there are many colors it may be a block of light or of dark, seen in grey too.
    """
    if not expected.stands_out:
        return
    if "--quiet" in terminal.options and picture.cells_of(f"(?:^| )>[^>]*{expected.stands_out}"):
        if expected.others and picture.cells_of(f"(?:^| )>[^>]*(?:{expected.others})"):
            yield f"{expected.others!r} has the mark, and not the focus"
        return
    own = picture.cells_of(expected.stands_out)
    theirs = picture.cells_of(expected.others) if expected.others else []
    if not own:
        yield f"not there to stand out: {expected.stands_out!r}"
    elif expected.others and not theirs:
        yield f"not there to compare with: {expected.others!r}"
    elif any(_is_marked(cell) for cells in theirs for cell in cells):
        yield f"{expected.others!r} stands out, and has not the focus"
    elif expected.others and picture.has_bar(expected.others):
        yield f"{expected.others!r} has the bar, and not the focus"
    elif not any(all(map(_is_marked, cells)) for cells in own) and not picture.has_bar(
        expected.stands_out
    ):
        if terminal.colors <= FEW:
            yield f"{expected.stands_out!r} is neither reversed nor underlined"
        elif not theirs or not any(_is_block(cells, theirs) for cells in own):
            yield f"{expected.stands_out!r} looks like {expected.others!r} without colors"


def _is_marked(cell: Char) -> bool:
    return bool(cell.reverse or cell.underscore)


def _is_block(cells: list[Char], others: list[list[Char]]) -> bool:
    """Whether the ground is another grey than that of everything it is compared with."""
    grounds = [ground_of(cell) for cell in cells]
    theirs = [ground_of(cell) for cells in others for cell in cells]
    return all(
        one is not None and other is not None and contrast(one, other) >= TEXT
        for one in grounds
        for other in theirs
    )
