"""Whatever a terminal thinks of the width and the direction of a name, all else stands right."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest
import rich.cells
import rich.segment
from hypothesis import Phase, given
from hypothesis import strategies as st
from rich.cells import cell_len, set_cell_size
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual._compositor import LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip, get_line_length

from lockterm.terminal.frame_diff import Frame, graphemes_of, placed
from lockterm.terminal.widths import GUARD, count_ambiguous_as_wide
from tests.long import examples
from tests.screens.cell_terminal import CellTerminal, Widths, by_the_book

COLUMNS, ROWS = 44, 3
NAME, NUMBER, KIND = range(1, 17), range(18, 26), range(27, 36)
"""The columns of the table; at the right is a border."""

NAMES = (
    *("Félix Bräun", "José María Núñez", "Élodié", "Ødegård…", "“Tor 3”", "Gate × 4 …"),
    *("Дмитрий Соколов", "Зоя", "Ωμέγα", "張偉", "サクラ 3", "김민준", "张伟 é"),
    *("שלום כהן", "שלום 12 כהן", "דן", "(דוד)", "محمد الحربي", "لا", "لالا إلى", "۱۲۳ شرق"),
    *("สมชาย ใจดี", "น้ำ", "प्रिया शर्मा", "क्‍ष नि", "தமிழ்"),
    *("🇩🇪 Tor", "👩‍🚒 Wache", "👩‍👩‍👧‍👦", "❤️ 1️⃣", "✅ ok", "👍🏽", "🫨🪿"),
    *("Z" + "\u0301" * 8 + "oe\u0308", "한글", "ᄒ", "〰️", "■x", "ab", "Anna Weber"),
)
NUMBERS = ("A-2041", "2041", "C-7", "40 12", "990017")
KINDS = ("permanent", "recurring")


def ambiguous_wide(char: str) -> int:
    return 2 if unicodedata.east_asian_width(char) == "A" else by_the_book(char)


def before_unicode_9(char: str) -> int:
    return 1 if char > "\uffff" or "\u22ff" < char < "\u2c00" else by_the_book(char)


def marks_apart(char: str) -> int:
    return max(by_the_book(char), 1)


def flags_wide(char: str) -> int:
    return 2 if "\U0001f1e6" <= char <= "\U0001f1ff" else by_the_book(char)


class Terminal(CellTerminal):
    """Draws each character as wide as it thinks, and stops at its right edge."""

    def __init__(self, width: Widths, joins: bool) -> None:
        super().__init__(COLUMNS, ROWS, width, joins)

    def seen(self, y: int) -> list[str]:
        """What is seen in each cell of a row."""
        return [text for text, _ in self.cells[y]]


class Reordering(Terminal):
    """Shows each row as Unicode's algorithm orders it, from its cells alone, as PuTTY does."""

    def seen(self, y: int) -> list[str]:
        row = [cell or " " for cell in super().seen(y)]
        kinds = [unicodedata.bidirectional(cell) for cell in row]
        strong = [kind for kind in kinds if kind in ("L", "R", "AL")]
        base = 1 if strong and strong[0] != "L" else 0
        levels = _levels(kinds, base)
        order = list(range(len(row)))
        for level in range(max(levels), 0, -1):  # L2
            x = 0
            while x < len(order):
                end = x
                while end < len(order) and levels[order[end]] >= level:
                    end += 1
                order[x:end] = order[x:end][::-1]
                x = max(end, x + 1)
        return [row[x] for x in order]


def _levels(kinds: list[str], base: int) -> list[int]:
    """The rules W and N for what a row of a table has."""
    start = "R" if base else "L"
    found, strong = [], start
    for kind in kinds:
        if kind in ("L", "R", "AL"):
            strong = kind
        if kind == "EN":
            kind = {"AL": "AN", "L": "L"}.get(strong, "EN")
        found.append({"AL": "R"}.get(kind, kind if kind in ("L", "R", "EN", "AN") else ""))
    for x, kind in enumerate(found):
        if not kind:
            before = next((one for one in reversed(found[:x]) if one), start)
            after = next((one for one in found[x + 1 :] if one), start)
            sides = {"L" if side == "L" else "R" for side in (before, after)}
            found[x] = f"{sides.pop() if len(sides) == 1 else start}!"
    kinds = [kind.removesuffix("!") for kind in found]
    if base:
        return [1 if kind == "R" else 2 for kind in kinds]
    return [{"L": 0, "R": 1}.get(kind, 2) for kind in kinds]


TERMINALS = {
    "by the book": lambda: Terminal(by_the_book, True),
    "joiners apart": lambda: Terminal(by_the_book, False),
    "ambiguous wide": lambda: Terminal(ambiguous_wide, False),
    "before Unicode 9": lambda: Terminal(before_unicode_9, False),
    "marks apart": lambda: Terminal(marks_apart, False),
    "flags wide": lambda: Terminal(flags_wide, True),
    "reordering": lambda: Reordering(by_the_book, True),
    "reordering, ambiguous wide": lambda: Reordering(ambiguous_wide, False),
}

rows = st.tuples(st.sampled_from(NAMES), st.sampled_from(NUMBERS), st.sampled_from(KINDS))
steps = st.tuples(
    st.integers(0, ROWS - 1), rows, st.booleans(), st.sampled_from(["row", "row", "number", "all"])
)


def strip_of(row: tuple[str, str, str], reverse: bool) -> Strip:
    name, number, kind = row
    style = Style(reverse=True) if reverse else Style()
    room = len(NAME)
    shown = name if cell_len(name) <= room else set_cell_size(name, room - 1).rstrip() + "…"
    text = f" {set_cell_size(shown, room)} {number:<8} {kind:<9}"
    line = " " * (COLUMNS - 1 - cell_len(text))
    return Strip([Segment(text, style), Segment(line), Segment("│")])


@pytest.mark.parametrize("kind", TERMINALS)
@examples(40, phases=[Phase.explicit, Phase.generate])
@given(given_steps=st.lists(steps, min_size=1, max_size=12))
def test_values_keep_their_column_beside_wide_names(
    kind: str, given_steps: list[tuple[int, tuple[str, str, str], bool, str]]
) -> None:
    """After any session, and as it does after ctrl+l."""
    frame, terminal = Frame(guarded=True), TERMINALS[kind]()
    shown = [("Anna Weber", "A-1", "permanent")] * ROWS

    def paint(x: int, y: int, strips: list[Strip]) -> None:
        update = LayoutUpdate([[one] for one in strips], Region(x, y, COLUMNS, len(strips)))
        terminal.feed(frame.changes(placed(update, ColorSystem.TRUECOLOR), (COLUMNS, ROWS)))

    paint(0, 0, [strip_of(row, False) for row in shown])
    for y, row, reverse, what in given_steps:
        if what == "number":  # Textual paints a part of the row
            row = (shown[y][0], *row[1:])
            paint(NUMBER.start, y, [strip_of(row, reverse).crop(NUMBER.start)])
        else:
            if what == "all":
                frame.forget()
            paint(0, y, [strip_of(row, reverse)])
        shown[y] = row
        for line, (_, number, kind_) in enumerate(shown):
            seen = terminal.seen(line)
            assert "".join(seen[NUMBER.start : NUMBER.stop]) == f"{number:<8}", seen
            assert "".join(seen[KIND.start : KIND.stop]) == kind_, seen
            assert seen[-1] == "│", seen
    before = [terminal.seen(y)[:] for y in range(ROWS)]
    frame.forget()
    paint(0, 0, [strip_of(row, False) for row in shown])
    assert [terminal.seen(y) for y in range(ROWS)] == before


@pytest.mark.parametrize(
    ("style", "sent"),
    [
        (Style(), "\x1b[8m"),
        (Style(bgcolor="#010203"), "\x1b[8;38;2;1;2;3m"),
        (Style(color="#090909", bgcolor="#010203", reverse=True), "\x1b[8;48;2;9;9;9m"),
        (Style(bgcolor="bright_blue"), "\x1b[8;94m"),
        (Style(underline=True), ""),  # which goes through it
    ],
)
def test_the_blank_beside_a_name_from_right_to_left_is_not_seen(style: Style, sent: str) -> None:
    """Fonts without it have a box for it; what stands behind it has its own style again."""
    strip = Strip([Segment("محمد  A-1", style)])
    update = LayoutUpdate([[strip]], Region(0, 0, strip.cell_length, 1))
    drawn = Frame(guarded=True).changes(
        placed(update, ColorSystem.TRUECOLOR), (strip.cell_length, 1)
    )
    before, guard, behind = drawn.partition(GUARD)
    own = style.render("x", color_system=ColorSystem.TRUECOLOR).partition("x")[0] if style else ""
    assert guard and before == f"\x1b[H{own}محمد{sent}", repr(drawn)
    assert behind.startswith("\x1b[m" if sent else "\x1b[1;6H"), repr(drawn)


def test_narrow_cells_need_no_cursor_position() -> None:
    lengths = []
    for ambiguous in (1, None):
        frame = Frame(guarded=True)
        frame.ambiguous = ambiguous
        strip = strip_of(("Félix Bräun · 3", "A-1", "permanent"), False)
        update = LayoutUpdate([[strip]], Region(0, 0, COLUMNS, 1))
        lengths.append(len(frame.changes(placed(update, ColorSystem.TRUECOLOR), (COLUMNS, 1))))
    assert lengths[0] < COLUMNS + 10 < lengths[1]


@contextmanager
def counting_ambiguous_as_wide() -> Iterator[None]:
    """For as long as it is entered."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (rich.cells, rich.segment):
            patch.setattr(module, "_is_single_cell_widths", rich.cells._is_single_cell_widths)
        patch.setattr(rich.cells, "load_cell_table", rich.cells.load_cell_table)
        count_ambiguous_as_wide()
        yield
    rich.cells.get_character_cell_size.cache_clear()
    rich.cells.cached_cell_len.cache_clear()
    Segment._split_cells.cache_clear()
    graphemes_of.cache_clear()


@pytest.mark.parametrize("name", ["Félix Bräun", "Зоя Ким", "Élodié", "Tor é 3", "é長é"])
def test_where_they_are_known_to_be_wide_the_name_is_whole(name: str) -> None:
    with counting_ambiguous_as_wide():
        frame, terminal = Frame(guarded=True), Terminal(ambiguous_wide, False)
        frame.ambiguous = 2
        graphemes_of.cache_clear()
        strip = strip_of((name, "A-1", "permanent"), False)
        update = LayoutUpdate([[strip]], Region(0, 0, COLUMNS, 1))
        terminal.feed(frame.changes(placed(update, ColorSystem.TRUECOLOR), (COLUMNS, ROWS)))
        seen = terminal.seen(0)
        assert "".join(seen[NAME.start : NUMBER.start]).rstrip() == name
        assert "".join(seen[NUMBER.start : NUMBER.stop]).rstrip() == "A-1"


@pytest.mark.long
@given(name=st.sampled_from(NAMES), cuts=st.sets(st.integers(1, COLUMNS - 1), max_size=4))
def test_where_they_are_known_to_be_wide_a_row_is_cut_without_a_gap(
    name: str, cuts: set[int]
) -> None:
    """By the edges of a dialog, say: Textual asks for as many parts as there are cuts."""
    ends = [*sorted(cuts), COLUMNS]
    strip_of((name, "A-1", "permanent"), False).divide(ends)  # counted in the other way before
    with counting_ambiguous_as_wide():
        parts = strip_of((name, "A-1", "permanent"), False).divide(ends)
        assert [get_line_length([*part]) for part in parts] == [
            end - begin for begin, end in pairwise([0, *ends])
        ]


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("👩\u200d🚒 Wache", "👩 Wache"),
        ("❤\ufe0f x", "❤  x"),
        ("👍🏽 ok", "👍 ok"),
        ("🇩🇪 Tor", "DE Tor"),
        ("Zoe\u0308", "Zoe\u0308"),
    ],
)
def test_in_a_multiplexer_no_joined_sign_is_sent(name: str, sent: str) -> None:
    frame = Frame(guarded=True)
    frame.joined = False
    update = LayoutUpdate([[strip_of((name, "A-1", "x"), False)]], Region(0, 0, COLUMNS, 1))
    drawn = frame.changes(placed(update, ColorSystem.TRUECOLOR), (COLUMNS, 1))
    # Blanks that are written before a sign of doubtful width, and where it is placed, are no text.
    shown = re.sub(r"(?:  \x1b\[1;\d+H)|\x1b\[[0-9;]*[HCKm]", "", drawn)
    assert shown.split("A-1")[0].strip() == sent
