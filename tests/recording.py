"""The tour in the README: ``python -m tests.recording`` plays it on the real program in a pty.

Writes ``screenshots/tour.svg``: one frame after the other; a row that is in several stands once.
"""

from __future__ import annotations

import re
import tempfile
from html import escape
from itertools import groupby
from pathlib import Path

from pyte.screens import Char
from rich.cells import cell_len

from tests.screens.snapshots import DIRECTORY
from tests.terminal.pty_session import LOCKTERM, PtySession, clean_environment

FILE = DIRECTORY / "tour.svg"
MOST_BYTES = 400_000

SIZE = COLUMNS, ROWS = 80, 24
CELL, LINE, BASE, EDGE = 8.4, 19, 14, 12
"""Width and height of a cell, its line that letters stand on, and what is around, in pixels."""
FRONT, BACK = "e0e0e0", "121212"

Step = tuple[str, str, str, float]
STEPS: tuple[Step, ...] = (
    ("", "Loading dock", "Every lock that you look after", 2.5),
    ("j", "Loading dock", "j, k or the arrows: down and up", 1),
    ("enter", "page 1 of 3", "Enter: the remotes of a lock; each state has a sign and a color", 3),
    ("n", "page 2 of 3", "n, p: the next page and the one before", 2),
    ("/", "Find", "/: type to find", 1),
    ("s", "Find: s", "/: type to find", 0.5),
    ("n", "Find: sn", "/: type to find", 0.5),
    ("o", "Find: sno", "/: type to find", 2.5),
    ("\x1b[27u", "n next +p previous", "Esc: all of them again", 1.5),
    ("enter", "Created", "Enter: every field of a remote", 3),
    ("\x1b[27u", "n next +p previous", "Esc: back", 1),
    ("d", "Keep", "d: delete; it asks by name, and keeps a backup", 4),
    ("\x1b[27u", "n next +p previous", "Esc: keep it", 1),
    ("W", "Expiring", "W: what expired and what expires soon, on all locks", 4),
    ("\x1b[27u", "n next +p previous", "Esc: back", 1),
    ("?", "Help", "?: every key", 3),
    ("\x1b[27u", "n next +p previous", "Esc: back", 1.5),
)
"""A key, what the screen then matches, what is said below it, and for how many seconds."""


def main() -> None:
    """Play the tour, and write it down."""
    frames: list[tuple[list[str], str, float]] = []
    with (
        tempfile.TemporaryDirectory() as home,
        PtySession(
            [*LOCKTERM, "demo"], clean_environment(Path(home), COLORTERM="truecolor"), SIZE
        ) as session,
    ):
        for key, pattern, words, seconds in STEPS:
            session.press(key)
            session.wait_for(pattern)
            session.wait_taken()
            frames.append(([row_of(session, y) for y in range(ROWS)], words, seconds))
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:40000", svg_of(frames))
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE}: {len(frames)} frames, {FILE.stat().st_size:,} bytes")


def row_of(session: PtySession, y: int) -> str:
    """A row of the screen as SVG; its letters stand on 0."""
    row = session.screen.buffer[y]
    cells = [(x, row[x]) for x in range(COLUMNS) if row[x].data]
    parts = []
    for (front, back, bold, under), run in groupby(cells, lambda cell: _look(cell[1])):
        places = [*run]
        text = "".join(cell.data for _, cell in places)
        x, width = places[0][0] * CELL, cell_len(text) * CELL
        if back != BACK:
            box = f"M{x:.1f} -{BASE}h{width:.1f}v{LINE}h-{width:.1f}z"
            parts.append(f'<path fill="#{back}" d="{box}"/>')
        for start, word in _words(text):
            weight = ' class="b"' * bold + ' text-decoration="underline"' * under
            fill = f' fill="#{front}"' * (front != FRONT)
            place = f'x="{x + start * CELL:.1f}" textLength="{cell_len(word) * CELL:.1f}"'
            parts.append(f"<text {place}{fill}{weight}>{escape(word)}</text>")
    return "".join(parts)


def _look(cell: Char) -> tuple[str, str, bool, bool]:
    front = FRONT if cell.fg == "default" else cell.fg
    back = BACK if cell.bg == "default" else cell.bg
    front, back = (back, front) if cell.reverse else (front, back)
    return front, back, cell.bold, cell.underscore


def _words(text: str) -> list[tuple[int, str]]:
    """The parts of a text that two blanks or more divide, each with the cell where it begins."""
    found: list[tuple[int, str]] = []
    at = 0
    for part in text.split("  "):
        if word := part.strip():
            found.append((at + len(part) - len(part.lstrip()), word))
        at += cell_len(part) + 2
    return found


def svg_of(frames: list[tuple[list[str], str, float]]) -> str:
    """All frames, one shown after the other; where nothing may move, the third."""
    ids: dict[str, str] = {}
    whole_s = sum(seconds for _, _, seconds in frames)
    style, drawn, begun_s = [], [], 0.0
    for place, (rows, words, seconds) in enumerate(frames):
        first, last = 100 * begun_s / whole_s, 100 * (begun_s + seconds) / whole_s
        begun_s += seconds
        begins = "" if not place else f"0%{{visibility:hidden}}{first:.2f}%{{visibility:visible}}"
        begins = begins or "0%{visibility:visible}"
        ends = f"{last:.2f}%{{visibility:hidden}}" if last < 100 else ""
        style.append(f"@keyframes k{place}{{{begins}{ends}}}")
        style.append(f"#f{place}{{animation:k{place} {whole_s:g}s step-end infinite}}")
        uses = [
            f'<use href="#{ids.setdefault(row, f"r{len(ids)}")}" y="{y * LINE + BASE}"/>'
            for y, row in enumerate(rows)
            if row
        ]
        caption = f'<text class="c" y="{(ROWS + 1) * LINE + BASE}">{escape(words)}</text>'
        drawn.append(f'<g id="f{place}" class="f">{"".join(uses)}{caption}</g>')
    width, height = COLUMNS * CELL + 2 * EDGE, (ROWS + 2) * LINE + 2 * EDGE
    defs = "\n".join(f'<g id="{name}">{row}</g>' for row, name in ids.items())
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}">',
            "<title>A tour of lockterm</title>",
            "<style>",
            "text{font:14px monospace}",
            ".b{font-weight:bold}.c{fill:#ffffff}.f{visibility:hidden}#f2{visibility:visible}",
            *style,
            "@media (prefers-reduced-motion){.f{animation:none!important}}",
            "</style>",
            f"<defs>{defs}</defs>",
            f'<rect width="100%" height="100%" rx="8" fill="#{BACK}"/>',
            f'<g transform="translate({EDGE} {EDGE})" fill="#{FRONT}">',
            *drawn,
            "</g></svg>\n",
        )
    )


if __name__ == "__main__":
    main()
