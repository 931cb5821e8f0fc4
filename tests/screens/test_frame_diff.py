"""What is sent as changed cells shows the same screen as all that Textual paints."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from typing import Any

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import split_graphemes
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App
from textual.geometry import Region
from textual.strip import Strip

from lockterm.app import LocktermApp
from lockterm.terminal.frame_diff import Frame, placed
from tests.long import examples
from tests.screens.cell_terminal import CellTerminal
from tests.screens.running_app import Demo, settled, until
from tests.screens.site import LOCKS, fill_book, press

KEYS = (
    *("j", "k", "n", "p", "G", "g", "enter", "escape", "escape", "question_mark", "pagedown"),
    *(
        "a",
        "e",
        "d",
        "v",
        "tab",
        "x",
        "slash",
        "left",
        "right",
        "M",
        "H",
        "ctrl+p",
        "r",
        "number_sign",
    ),
)


# pyte draws joined emoji apart; one wide character stands for them.
_JOINED = re.compile("[^\x00-\x7f]\ufe0f?(?:\u200d[^\x00-\x7f]\ufe0f?)+|[^\x00-\x7f]\ufe0f")


OWN = ("default", "black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
"""The terminal's own colors, as pyte names them."""


class TwoScreens:
    """A terminal that is sent everything, and one that is sent what has changed."""

    def __init__(self, size: tuple[int, int], *, fills: bool) -> None:
        self.screens = [pyte.Screen(*size), pyte.Screen(*size)]
        self.streams = [pyte.Stream(screen) for screen in self.screens]
        self.frame = Frame(fills=fills)
        self.sent = [0, 0]
        self.compared = 0

    def show(self, app: App[Any], update: Any) -> None:
        whole = update.render_segments(Console(color_system="truecolor", legacy_windows=False))
        changed = self.frame.changes(placed(update, ColorSystem.TRUECOLOR), app.size)
        for place, text in enumerate((whole, changed)):
            self.sent[place] += len(text)
            # Textual has told the terminal not to wrap; pyte must not either.
            self.streams[place].feed("\x1b[?7l" + _JOINED.sub("女", text))
        first, second = (rows_of(screen) for screen in self.screens)
        for y, (one, other) in enumerate(zip(first, second, strict=True)):
            assert one == other, (y, text_of(one), text_of(other), changed[:400])
        self.compared += 1


def rows_of(screen: pyte.Screen) -> list[list[tuple[Any, ...]]]:
    """What is seen in each cell: of a blank its background, and what is drawn through it.

    Bold is left out where the terminal's own colors are reversed: see ``changed_cells``.
    """
    return [
        [
            (
                *(c.data, c.fg, c.bg, c.bold and not (c.reverse and c.bg in OWN)),
                *(c.reverse, c.underscore, c.italics),
            )
            if c.data.strip() or c.reverse or c.underscore or c.strikethrough
            else (" ", c.bg)
            for c in (screen.buffer[y][x] for x in range(screen.columns))
        ]
        for y in range(screen.lines)
    ]


def text_of(row: list[tuple[Any, ...]]) -> str:
    return "".join(cell[0] for cell in row)


@pytest.mark.parametrize(
    "size, theme, fills",
    [
        pytest.param((80, 24), "textual-dark", True, marks=pytest.mark.long),
        pytest.param((61, 21), "ansi-dark", False, marks=pytest.mark.long),
        pytest.param((79, 25), "nord", False, marks=pytest.mark.long),
    ],
)
async def test_every_frame_is_the_same(
    demo: Demo, size: tuple[int, int], theme: str, fills: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random keys through every screen, with Chinese names and emoji in the rows."""
    fill_book(demo, *LOCKS)
    two = TwoScreens(size, fills=fills)

    def display(app: App[Any], screen: Any, update: Any) -> None:
        if isinstance(update, (LayoutUpdate, ChopsUpdate)) and not app._batch_count:
            two.show(app, update)
        super(LocktermApp, app)._display(screen, update)

    monkeypatch.setattr(LocktermApp, "_display", display, raising=False)
    keys = random.Random(f"{size}{theme}")
    app = demo.app()
    app.theme = theme
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: two.compared > 0)
        await press(pilot, "enter")
        for _ in range(100):
            await pilot.press(keys.choice(KEYS))
            if keys.random() < 0.3:
                await settled(pilot)
    assert two.compared > 50  # not each key changes what is seen
    assert two.sent[1] < two.sent[0] * (0.4 if fills else 0.6), two.sent


@dataclass(frozen=True)
class Look:
    """The style that a terminal writes in."""

    bold: bool = False
    reverse: bool = False
    front: str = ""
    back: str = ""

    def then(self, code: str) -> Look:
        """The style after one more code."""
        if code in ("1", "22"):
            return replace(self, bold=code == "1")
        if code in ("7", "27"):
            return replace(self, reverse=code == "7")
        if code == "0":
            return Look()
        assert code[0] in "34" and code[1:] in "12349", code
        color = "" if code[1] == "9" else code
        return replace(self, **{"front" if code[0] == "3" else "back": color})

    def on(self, character: str) -> str:
        """What is seen of it on a character: on a blank nothing but its ground."""
        if not character or (character == " " and not self.reverse):
            return self.back
        bold, reverse = "1" * self.bold, "7" * self.reverse
        return ";".join(filter(None, (bold, reverse, self.front, self.back)))


class Terminal(CellTerminal):
    """A terminal by the book, and the style of each of its cells.

    Args:
        fills: Whether what is erased takes the background that is set, and else none.
    """

    def __init__(self, columns: int, rows: int, fills: bool = False) -> None:
        super().__init__(columns, rows)
        self._fills, self._style = fills, Look()

    def set_style(self, codes: str) -> None:
        for code in (codes or "0").split(";"):
            self._style = self._style.then(code)

    def style_of(self, character: str) -> str:
        return self._style.on(character) if character or self._fills else ""


COLUMNS, ROWS = 16, 2
JOINED = "👩\u200d🚒"
FAMILY = "👩\u200d👩\u200d👧\u200d👦"
SIGN = "✅"
texts = st.lists(
    st.sampled_from(["a", "b", " ", " " * 11, "長", "─", JOINED, FAMILY, SIGN]),
    min_size=1,
    max_size=12,
)
styles = st.sampled_from(
    [
        *(Style(), Style(bold=True), Style(reverse=True), Style(bgcolor="red")),
        *(Style(color="blue"), Style(color="blue", bgcolor="red", bold=True)),
        *(Style(color="green", bgcolor="red"), Style(color="green", bgcolor="blue", reverse=True)),
    ]
)
writes = st.tuples(st.integers(0, COLUMNS - 1), st.integers(0, ROWS - 1), texts, styles)


def painted(graphemes: list[str], style: Style, room: int) -> Strip:
    """As many as there is room for, at least a blank."""
    text = ""
    for grapheme in graphemes:
        if split_graphemes(text + grapheme)[1] > room:
            break
        text += grapheme
    return Strip([Segment(text or " ", style)])


def update_of(x: int, y: int, strip: Strip) -> LayoutUpdate:
    return LayoutUpdate([[strip]], Region(x, y, strip.cell_length, 1))


def filled(frame: Frame, terminal: Terminal) -> None:
    everything = [[Strip([Segment("#" * COLUMNS)])] for _ in range(ROWS)]
    update = LayoutUpdate(everything, Region(0, 0, COLUMNS, ROWS))
    terminal.feed(frame.changes(placed(update, ColorSystem.TRUECOLOR), (COLUMNS, ROWS)))


@examples(1000)
@given(st.lists(writes, max_size=25), st.booleans())
def test_any_paint_leaves_the_terminal_as_all_of_it_would(
    given_writes: list[tuple[int, int, list[str], Style]], fills: bool
) -> None:
    """Also where wide characters are cut in two, and where erasing takes the background."""
    frame = Frame(fills=fills)
    ours, whole = Terminal(COLUMNS, ROWS, fills=fills), Terminal(COLUMNS, ROWS)
    console = Console(color_system="truecolor", force_terminal=True)
    filled(frame, ours)
    filled(Frame(), whole)
    for x, y, graphemes, style in given_writes:
        update = update_of(x, y, painted(graphemes, style, COLUMNS - x))
        ours.feed(frame.changes(placed(update, ColorSystem.TRUECOLOR), (COLUMNS, ROWS)))
        whole.feed(update.render_segments(console))
        assert ours.cells == whole.cells
