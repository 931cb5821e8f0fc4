"""The look of lockterm: the terminal's features, and the user's settings for drawing on it."""

from __future__ import annotations

import locale
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from lockterm.config import values
from lockterm.config.file import ConfigFile

Multiplexer = Literal["plain", "tmux", "screen"]
"""The terminal multiplexer in which lockterm runs; ``plain`` if there is none.

A copied value reaches the clipboard only in an escape sequence that is specific to the multiplexer.
"""

_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
"""The values of ``LC_CTYPE`` that Python may set in the C locale."""

TRUE_COLORS = 1 << 24
FEW_COLORS = 16
"""Number of colors of a simple terminal, whose theme defines the shades of the colors."""

_FILLING = ("xterm", "linux", "rxvt", "putty", "mlterm", "st-", "alacritty", "konsole", "foot")
"""The beginnings of ``TERM`` for terminals that erase with the current background color."""

AUTO = "auto"
_GLYPHS = values.one_of(AUTO, "ascii", "unicode")
_COPY = values.one_of(AUTO, "plain", "tmux", "screen")


@dataclass(frozen=True, slots=True)
class Look:
    """The features that a terminal supports, and the user's settings for drawing on it."""

    quiet: bool = False
    """Whether low-bandwidth mode is on: 16 colors, ASCII, and no calls without a key press."""
    mouse: bool = True
    """Whether lockterm handles the mouse. A key changes this setting while lockterm runs."""
    colors: int = TRUE_COLORS
    """Number of colors of the terminal: 0, 16, 256 or 16,777,216; 0 if ``NO_COLOR`` is set."""
    ascii: bool = False
    """Whether lines, dots and marks are drawn in ASCII, even without low-bandwidth mode."""
    copy: Multiplexer = "plain"
    """The multiplexer through which a copied value must pass to reach the clipboard."""
    unicode: bool = False
    """Whether the user requested glyphs beyond ASCII, even for low-bandwidth mode."""
    over_ssh: bool = False
    """Whether lockterm runs in an SSH session, so that the terminal is on another machine."""
    utf8: bool = True
    """Whether the terminal accepts UTF-8. If not, lockterm sends only ASCII, even in names."""
    fills: bool = False
    """Whether the terminal erases with the current background color."""

    @property
    def in_ascii(self) -> bool:
        """Whether lines, dots and marks are drawn in ASCII with the current settings."""
        return self.ascii or not self.utf8 or (self.quiet and not self.unicode)

    @property
    def native(self) -> bool:
        """Whether lockterm uses only the 16 colors that the terminal's theme defines.

        lockterm does so in low-bandwidth mode, and on terminals without other colors.
        """
        return self.quiet or self.colors <= FEW_COLORS


FULL_LOOK = Look()
"""The look for a terminal that supports everything."""


def look_of(app: object) -> Look:
    """Return the look of an app; :data:`FULL_LOOK` if the app has none, as in tests."""
    look: Look = getattr(app, "look", FULL_LOOK)
    return look


def resolve_look(
    file: ConfigFile,
    environ: Mapping[str, str],
    origins: dict[str, str],
    *,
    quiet: bool | None,
    mouse: bool | None,
) -> Look:
    """Return the look that results from the settings and the environment.

    Args:
        file: The configuration file.
        environ: The environment variables.
        origins: A mapping to which the function adds each setting with the origin of its value.
        quiet: The value from the command line or the environment; None if not given.
        mouse: The value from the command line; None if not given.

    Raises:
        ConfigError: A value of the table ``[terminal]`` is wrong.
    """
    if quiet is None:
        quiet = file.read(("terminal", "quiet"), values.boolean, False, origins)
    if mouse is not None:
        origins["mouse"] = "option --no-mouse"
    elif "mouse" not in file.terminal and (environ.get("STY") or multiplexer(environ) == "screen"):
        # With the mouse on, GNU screen holds an Escape back until the next key press.
        mouse, origins["mouse"] = False, "in GNU screen"
    else:
        mouse = file.read(("terminal", "mouse"), values.boolean, True, origins)
    depth, origins["colors"] = colors(environ)
    glyphs = file.read(("terminal", "glyphs"), _GLYPHS, AUTO, origins)
    through = file.read(("terminal", "copy"), _COPY, AUTO, origins)
    in_ascii = glyphs == "ascii"
    utf8, variable = takes_utf8(environ)
    if glyphs == AUTO:
        in_ascii, origins["glyphs"] = needs_ascii(environ)
        if not utf8:
            origins["glyphs"] = variable
        elif quiet and not in_ascii:
            origins["glyphs"] = "quiet"
    if through == AUTO:
        through, origins["copy"] = multiplexer(environ), "detected"
    return Look(
        quiet,
        mouse,
        depth,
        in_ascii,
        cast("Multiplexer", through),
        unicode=glyphs == "unicode",
        over_ssh=bool(environ.get("SSH_CONNECTION")),
        utf8=utf8 or glyphs == "unicode",
        fills=fills_erased(environ),
    )


def multiplexer(environ: Mapping[str, str]) -> Multiplexer:
    """Return the multiplexer between lockterm and the terminal."""
    if environ.get("TMUX"):
        return "tmux"
    if environ.get("STY"):
        return "screen"
    term = environ.get("TERM", "")
    # Over SSH from inside a multiplexer, only TERM shows the multiplexer.
    if term.startswith("tmux"):
        return "tmux"
    return "screen" if term.startswith("screen") else "plain"


def colors(environ: Mapping[str, str]) -> tuple[int, str]:
    """Return the number of colors of the terminal, and the origin of this number.

    The origin is a text such as ``environment NO_COLOR``.
    """
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR"):
        return 0, "environment NO_COLOR"
    depth = environ.get("COLORTERM", "").strip().lower()
    # GNU screen passes on the variable of the outer terminal, but garbles 24-bit colors.
    if depth in ("truecolor", "24bit") and multiplexer(environ) != "screen":
        return TRUE_COLORS, f"environment COLORTERM={depth}"
    if "256color" in term or "direct" in term:
        return 256, f"environment TERM={term}"
    return 0 if term.startswith("vt") else 16, f"environment TERM={term}"


def needs_ascii(environ: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether the font may lack glyphs beyond ASCII, and the origin of this information.

    The origin is a text such as ``environment TERM=linux``, or ``default``.
    """
    term = environ.get("TERM", "")
    if term == "linux" or term.startswith("vt"):
        return True, f"environment TERM={term}"
    return False, "default"


def fills_erased(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal erases with the current background (``bce`` of terminfo).

    For the usual terminals, a list of names gives the same result as terminfo, and is faster.
    """
    if multiplexer(environ) != "plain":
        return False
    term = environ.get("TERM", "")
    return term.startswith(_FILLING) and not term.startswith("xterm-kitty")


def is_installed(name: str) -> bool:
    """Return whether a locale is installed.

    Programs use the C locale instead of a missing locale.
    """
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, name)
    except locale.Error:
        return False
    locale.setlocale(locale.LC_CTYPE, before)
    return True


def was_coerced() -> bool:
    """Return whether Python has set ``LC_CTYPE``, as it does in the C locale (PEP 538)."""
    try:
        began_with = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return bool(sys.flags.utf8_mode)
    return not any(entry.startswith(b"LC_CTYPE=") for entry in began_with)


def takes_utf8(environ: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether the terminal accepts UTF-8, and the origin of this information.

    A terminal that starts in the C locale, or in a missing locale, treats each byte as a character.
    The origin is a text such as ``environment LANG=C``.
    """
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        value = environ.get(name)
        if not value or (name == "LC_CTYPE" and value in _COERCED and was_coerced()):
            continue
        if "utf8" not in value.lower().replace("-", ""):
            return False, f"environment {name}={value}"
        if not is_installed(value):
            return False, f"environment {name}={value}, which is not installed"
        return True, f"environment {name}={value}"
    return False, "no locale is set"
