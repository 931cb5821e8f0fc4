"""What was written to a terminal, byte by byte: colours, modes and glyphs that it may not have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from tests.matrix.terminals import ALL, FEW, MANY, NONE, Terminal

_SGR = re.compile(rb"\x1b\[([0-9;:]*)m")
_MOUSE = re.compile(rb"\x1b\[\?(?:[0-9]+;)*(?:9|100[0-35]|1006|101[56])(?:;[0-9]+)*h")
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")


def wrong(sent: bytes, terminal: Terminal) -> list[str]:
    """What should not have been written to this terminal.

    Args:
        sent: Whole sequences.
        terminal: What it was written to.
    """
    problems = []
    needed = max((colours for colours, _ in _colours(sent)), default=NONE)
    own = {code for colours, code in _colours(sent) if colours == 0}
    if needed > terminal.colours:
        codes = sorted({code for colours, code in _colours(sent) if colours > terminal.colours})
        problems.append(f"needs {needed} colours, there are {terminal.colours}: {codes[:5]}")
    if terminal.colours == NONE and own and not terminal.inside:
        problems.append(f"names a colour, the terminal's own: {sorted(own)}")
    if not terminal.has_mouse and (asked := _MOUSE.findall(sent)):
        problems.append(f"asks for the mouse: {asked}")
    if terminal.is_ascii and (glyphs := _glyphs(sent)):
        problems.append(f"glyphs beyond ASCII: {glyphs}")
    return problems


def _colours(sent: bytes) -> Iterator[tuple[int, str]]:
    """How many colours the terminal needs for each code that chooses one; 0 for its own."""
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


def _glyphs(sent: bytes) -> list[str]:
    """What was drawn beyond ASCII and is no letter or sign of a name.

    Names of people are data: rewritten, they would be other names. They have letters, marks,
    digits, the punctuation of their script, and pictures.
    """
    text = _SEQUENCE.sub("", sent.decode("utf-8", "replace"))
    ours = {char for char in text if not char.isascii() and _is_ours(char)}
    return [f"{char} U+{ord(char):04X}" for char in sorted(ours)]


def _is_ours(char: str) -> bool:
    """Whether a sign is one that programs draw and write with."""
    if "\u2000" <= char <= "\u2bff" and char not in "\u200c\u200d":
        return True
    return char in "·×«»¶§±" or unicodedata.category(char) in ("Cc", "Cn", "Co")
