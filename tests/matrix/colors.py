"""What a cell's colors are on real terminals, and how well one is read on the other.

The floors are those of WCAG 2: its ratio of two luminances, 1 (the same) to 21 (black on white).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product

from pyte.screens import Char

RGB = tuple[int, int, int]

TEXT = 3.0
"""The least ratio of a text in colors that lockterm has chosen: WCAG's for large text and for
parts of an interface. Its 4.5 for running text is what the themes have for nearly all."""
STEPPED_BACK = 1.8
"""The least ratio of what steps back on purpose: keys in brackets that can do nothing now, hints in
an empty field."""
OF_THE_CURSOR = 4.5
"""Bold in the row of the cursor takes nothing away from this ratio where it is drawn bright."""
BEHIND = 1.2
"""The least ratio of what is behind a dialog, which nobody is to read until that is closed."""
OF_THEMES = 4.5
"""The least ratio of a text in the terminal's own colors where the theme says on which ground."""
OF_THE_TERMINAL = 2.0
"""The least ratio where the terminal's own colors take part. Their exact values are the person's;
with xterm's, on a black and on a white terminal, this leaves red, green, blue and magenta."""

GROUNDS: dict[str, tuple[RGB, RGB]] = {
    "black": ((229, 229, 229), (0, 0, 0)),
    "white": ((0, 0, 0), (255, 255, 255)),
}
"""What terminals have where nothing is said: foreground and background."""

_XTERM: dict[str, RGB] = {
    "black": (0, 0, 0),
    "red": (205, 0, 0),
    "green": (0, 205, 0),
    "brown": (205, 205, 0),
    "blue": (0, 0, 238),
    "magenta": (205, 0, 205),
    "cyan": (0, 205, 205),
    "white": (229, 229, 229),
    "brightblack": (127, 127, 127),
    "brightred": (255, 0, 0),
    "brightgreen": (0, 255, 0),
    "brightbrown": (255, 255, 0),
    "brightblue": (92, 92, 255),
    "brightmagenta": (255, 0, 255),
    "bfightmagenta": (255, 0, 255),  # as pyte spells it
    "brightcyan": (0, 255, 255),
    "brightwhite": (255, 255, 255),
}
_BRIGHT = {name: _XTERM[f"bright{name}"] for name in _XTERM if f"bright{name}" in _XTERM}
_BRIGHT["black"] = (85, 85, 85)
_VGA = "000000 aa0000 00aa00 aa5500 0000aa aa00aa 00aaaa aaaaaa"
_VGA += " 555555 ff5555 55ff55 ffff55 5555ff ff55ff 55ffff ffffff"
_TANGO = "2e3436 cc0000 4e9a06 c4a000 3465a4 75507b 06989a d3d7cf"
_TANGO += " 555753 ef2929 8ae234 fce94f 729fcf ad7fa8 34e2e2 eeeeec"


def _palette(colors: str) -> dict[str, RGB]:
    names = [name for name in _XTERM if name != "bfightmagenta"]
    found = {name: _hex(color) for name, color in zip(names, colors.split(), strict=True)}
    return found | {"bfightmagenta": found["brightmagenta"]}


def _hex(color: str) -> RGB:
    return int(color[0:2], 16), int(color[2:4], 16), int(color[4:6], 16)


PALETTES: dict[str, dict[str, RGB]] = {
    "xterm": _XTERM,
    "VGA": _palette(_VGA),
    "Tango": _palette(_TANGO),
}
"""What the names of the terminal's own colors mean, in the palettes that most terminals have."""

_PUTTYS: dict[RGB, RGB] = {(0, 0, 0): (85, 85, 85), (229, 229, 229): (255, 255, 255)}
"""What bold makes of the terminal's own black and light grey, in PuTTY."""


def contrast(front: RGB, back: RGB) -> float:
    """WCAG's ratio of two colors."""
    lighter, darker = sorted((_luminance(front), _luminance(back)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: RGB) -> float:
    red, green, blue = _linear(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(color: RGB) -> list[float]:
    shares = [value / 255 for value in color]
    return [
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    ]


Rows = tuple[tuple[float, float, float], ...]
EYES: dict[str, Rows] = {
    "all colors": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "no red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
"""What becomes of a linear color in eyes with protanopia, and with deuteranopia (Machado 2009)."""
_TO_XYZ: Rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
_D65 = (0.95047, 1.0, 1.08883)


def distance(one: RGB, other: RGB, eyes: str) -> float:
    """How far apart two colors are for someone's eyes, as CIE76 measures it."""
    return math.dist(_lab(one, EYES[eyes]), _lab(other, EYES[eyes]))


def _lab(color: RGB, eyes: Rows) -> tuple[float, float, float]:
    seen = [min(max(share, 0.0), 1.0) for share in _times(eyes, _linear(color))]
    x, y, z = (
        share ** (1 / 3) if share > 0.008856 else 7.787 * share + 16 / 116
        for share in (xyz / white for xyz, white in zip(_times(_TO_XYZ, seen), _D65, strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _times(rows: Rows, column: Sequence[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, column, strict=True)) for row in rows]


def is_exact(cell: Char) -> bool:
    """Whether both colors are lockterm's, and none the terminal's."""
    return not {cell.fg, cell.bg} & {"default", *_XTERM}


def ground_of(cell: Char) -> RGB | None:
    """What is behind the text of a cell; None where only the terminal knows."""
    name = cell.fg if cell.reverse else cell.bg
    return None if name == "default" or name in _XTERM else _rgb(name, (0, 0, 0))


@lru_cache(4096)
def ratio_of(
    front: str,
    back: str,
    reverse: bool,
    grounds: tuple[str, ...],
    bold: bool = False,
    palettes: tuple[str, ...] = ("xterm",),
) -> float:
    """How well a cell is read, on the worst of some terminals.

    Args:
        front: pyte's name of the foreground: ``default``, ``brown``, ``1a2b3c``.
        back: That of the background.
        reverse: Whether they are swapped.
        grounds: The terminals: ``black``, ``white`` or both.
        bold: Whether it is bold, for which some take the bright variant of a color: after the
            swap, so that black and a dark ground become the grey of bright black.
        palettes: What the colors may be.
    """
    ratios = []
    for ground, palette in product(grounds, palettes):
        own, (default_front, default_back) = PALETTES[palette], GROUNDS[ground]
        colors = _rgb(front, default_front, own), _rgb(back, default_back, own)
        text, behind = reversed(colors) if reverse else colors
        ratios.append(contrast(text, behind))
        if bold and (bright := _bright(back if reverse else front, text)):
            ratios.append(contrast(bright, behind))
    return min(ratios)


def _bright(name: str, seen: RGB) -> RGB | None:
    return _PUTTYS.get(seen) if name == "default" else _BRIGHT.get(name)


def _rgb(name: str, default: RGB, own: Mapping[str, RGB] = _XTERM) -> RGB:
    if name == "default":
        return default
    return own[name] if name in own else _hex(name)
