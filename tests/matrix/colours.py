"""What a cell's colours are on real terminals, and how well one is read on the other.

The floors are those of WCAG 2: its ratio of two luminances, 1 (the same) to 21 (black on white).
"""

from __future__ import annotations

from functools import lru_cache

from pyte.screens import Char

RGB = tuple[int, int, int]

TEXT = 3.0
"""The least ratio of a text in colours that lockterm has chosen: WCAG's for large text and for
parts of an interface. Its 4.5 for running text is what the themes have for nearly all."""
STEPPED_BACK = 1.8
"""The least ratio of what steps back on purpose: keys in brackets that can do nothing now, hints in
an empty field."""
BEHIND = 1.2
"""The least ratio of what is behind a dialog, which nobody is to read until that is closed."""
OF_THE_TERMINAL = 2.0
"""The least ratio where the terminal's own colours take part. Their exact values are the person's;
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


def contrast(front: RGB, back: RGB) -> float:
    """WCAG's ratio of two colours."""
    lighter, darker = sorted((_luminance(front), _luminance(back)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: RGB) -> float:
    shares = [value / 255 for value in colour]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def is_exact(cell: Char) -> bool:
    """Whether both colours are lockterm's, and none the terminal's."""
    return not {cell.fg, cell.bg} & {"default", *_XTERM}


def ground_of(cell: Char) -> RGB | None:
    """What is behind the text of a cell; None where only the terminal knows."""
    name = cell.fg if cell.reverse else cell.bg
    return None if name == "default" or name in _XTERM else _rgb(name, (0, 0, 0))


@lru_cache(4096)
def ratio_of(front: str, back: str, reverse: bool, grounds: tuple[str, ...]) -> float:
    """How well a cell is read, on the worst of some terminals.

    Args:
        front: pyte's name of the foreground: ``default``, ``brown``, ``1a2b3c``.
        back: That of the background.
        reverse: Whether they are swapped.
        grounds: The terminals: ``black``, ``white`` or both.
    """
    ratios = []
    for default_front, default_back in (GROUNDS[ground] for ground in grounds):
        colours = _rgb(front, default_front), _rgb(back, default_back)
        ratios.append(contrast(*(reversed(colours) if reverse else colours)))
    return min(ratios)


def _rgb(name: str, default: RGB) -> RGB:
    if name == "default":
        return default
    if name in _XTERM:
        return _XTERM[name]
    return int(name[0:2], 16), int(name[2:4], 16), int(name[4:6], 16)
