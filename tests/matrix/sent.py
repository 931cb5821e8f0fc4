"""What was written to a terminal, byte by byte: colors, modes and glyphs that it may not have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from lockterm.service.packs import PACKS_BY_PATH
from lockterm.service.sample_data import names_for
from tests.matrix.terminals import ALL, FEW, MANY, NONE, Terminal

CONTEXT = 4
"""Signs of a value by which it is known: it may begin further up, where it is broken."""
_LABELS = (pack.label for pack in PACKS_BY_PATH.values())
VALUES = tuple(
    "".join(sign + " " * (cell_len(sign) - 1) for sign in value)
    for value in (*names_for(1001, 137), *names_for(1002, 42), *_LABELS)
    if not value.isascii()
)
"""What the service has on the screens of the job, cell by cell."""

_SGR = re.compile(rb"\x1b\[([0-9;:]*)m")
_MOUSE = re.compile(rb"\x1b\[\?(?:[0-9]+;)*(?:9|100[0-35]|1006|101[56])(?:;[0-9]+)*h")
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")


def wrong(sent: bytes, terminal: Terminal, lines: Sequence[str] = ()) -> list[str]:
    """What should not have been written to this terminal.

    Args:
        sent: Whole sequences.
        terminal: What it was written to.
        lines: What stands on it after that, cell by cell.
    """
    problems = []
    needed = max((colors for colors, _ in _colors(sent)), default=NONE)
    own = {code for colors, code in _colors(sent) if colors == 0}
    if needed > terminal.colors:
        codes = sorted({code for colors, code in _colors(sent) if colors > terminal.colors})
        problems.append(f"needs {needed} colors, there are {terminal.colors}: {codes[:5]}")
    if terminal.colors == NONE and own and not terminal.inside:
        problems.append(f"names a color, the terminal's own: {sorted(own)}")
    if not terminal.has_mouse and (asked := _MOUSE.findall(sent)):
        problems.append(f"asks for the mouse: {asked}")
    if terminal.is_ascii and (glyphs := _glyphs(sent, lines)):
        problems.append(f"glyphs beyond ASCII: {glyphs}")
    return problems


def _colors(sent: bytes) -> Iterator[tuple[int, str]]:
    """How many colors the terminal needs for each code that chooses one; 0 for its own."""
    for found in _SGR.finditer(sent):
        codes = [int(code or 0) for code in re.split(rb"[;:]", found[1])]
        while codes:
            code = codes.pop(0)
            if code in (38, 48, 58):
                kind = codes[0] if codes else 0
                taken = {2: 4, 5: 2}.get(kind, 1)
                written = ";".join(map(str, [code, *codes[:taken]]))
                del codes[:taken]
                yield (ALL if kind == 2 else MANY), written
            elif code in (39, 49, 59):
                yield 0, str(code)
            elif 30 <= code <= 47 or 90 <= code <= 107:
                yield FEW, str(code)


def _glyphs(sent: bytes, lines: Sequence[str]) -> list[str]:
    """What was drawn beyond ASCII and is no letter or sign of a value.

    Names of people are data: rewritten, they would be other names. They have letters, marks,
    digits, the punctuation of their script, and pictures; and some have what programs draw with,
    which is right where it stands in them.
    """
    text = _SEQUENCE.sub("", sent.decode("utf-8", "replace"))
    if any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in text):
        # The blank that keeps such a name to itself: without it numbers would be read wrongly.
        text = text.replace("\u2800", " ")
    ours = {char for char in text if not char.isascii() and _is_ours(char)}
    theirs = {char for char in ours if any(char in value for value in VALUES)}
    ours -= theirs
    ours |= {line[x] for line in lines for x in range(len(line)) if _stands_alone(line, x, theirs)}
    return [f"{char} U+{ord(char):04X}" for char in sorted(ours)]


def _stands_alone(line: str, x: int, signs: set[str]) -> bool:
    """Whether one of these signs is no part of a value: what is before it there, is not here."""
    if line[x] not in signs:
        return False
    line = line.replace("\u2800", " ")  # the blank beside a name from right to left
    starts = (
        value[: at + 1] for value in VALUES for at in range(len(value)) if value[at] == line[x]
    )
    return not any(line[: x + 1].endswith(start[-CONTEXT:]) for start in starts)


def _is_ours(char: str) -> bool:
    """Whether a sign is one that programs draw and write with."""
    if "\u2000" <= char <= "\u2bff" and char not in "\u200c\u200d":
        return True
    return char in "·«»¶§±" or unicodedata.category(char) in ("Cc", "Cn", "Co")
