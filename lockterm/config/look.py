"""How lockterm shows itself here: what this terminal can do, and what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Through = Literal["plain", "tmux", "screen"]
"""What a copied value has to be wrapped for."""

TRUE_COLOURS = 1 << 24
FEW_COLOURS = 16
"""A terminal with so many has them from its owner, who chose them to be read."""


@dataclass(frozen=True, slots=True)
class Look:
    """What is drawn with, and what is sent to the terminal besides."""

    quiet: bool = False
    """For thin links: 16 colours, ASCII, and nothing read that was not asked for."""
    mouse: bool = True
    """Whether the terminal's mouse is taken at the start; a key changes that."""
    colours: int = TRUE_COLOURS
    """How many colours the terminal has: 0, 16, 256 or 16,777,216. 0 with ``NO_COLOR``."""
    ascii: bool = False
    """Whether lines, dots and marks have to be drawn in ASCII, quiet or not."""
    copy: Through = "plain"
    """What stands between lockterm and the clipboard."""
    unicode: bool = False
    """Whether glyphs beyond ASCII were asked for: quiet keeps them then."""
    over_ssh: bool = False
    """Whether the terminal is somewhere else, behind an SSH connection."""

    @property
    def in_ascii(self) -> bool:
        """Whether lines, dots and marks are drawn in ASCII now."""
        return self.ascii or (self.quiet and not self.unicode)

    @property
    def native(self) -> bool:
        """Whether the terminal's own colours are used: it has no others, or they cost less."""
        return self.quiet or self.colours <= FEW_COLOURS


EVERYTHING = Look()
"""A terminal that can do all there is."""


def multiplexer(environ: Mapping[str, str]) -> Through:
    """What stands between lockterm and the terminal."""
    if environ.get("TMUX"):
        return "tmux"
    if environ.get("STY"):
        return "screen"
    term = environ.get("TERM", "")
    # Over SSH from inside of one, only TERM tells.
    if term.startswith("tmux"):
        return "tmux"
    return "screen" if term.startswith("screen") else "plain"


def colours(environ: Mapping[str, str]) -> tuple[int, str]:
    """How many colours the terminal says it has, and by which variable."""
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR"):
        return 0, "environment NO_COLOR"
    depth = environ.get("COLORTERM", "").strip().lower()
    # GNU screen hands on the variable of the terminal around it and garbles such colours.
    if depth in ("truecolor", "24bit") and multiplexer(environ) != "screen":
        return TRUE_COLOURS, f"environment COLORTERM={depth}"
    if "256color" in term or "direct" in term:
        return 256, f"environment TERM={term}"
    return 0 if term.startswith("vt") else 16, f"environment TERM={term}"


def needs_ascii(environ: Mapping[str, str]) -> tuple[bool, str]:
    """Whether glyphs beyond ASCII may be missing here, and by which variable."""
    term = environ.get("TERM", "")
    if term == "linux" or term.startswith("vt"):
        return True, f"environment TERM={term}"
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        if value := environ.get(name):
            named = value.lower().replace("-", "")
            return "utf8" not in named, f"environment {name}={value}"
    return False, "default"
