"""The look of lockterm: the abilities of this terminal, and the settings for it."""

from __future__ import annotations

import locale
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, cast, runtime_checkable

from lockterm.config import values
from lockterm.config.file import ConfigFile

Multiplexer = Literal["plain", "tmux", "screen"]
"""The program that a copied value is wrapped for."""

_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
"""The value that Python sets in the C locale."""

TRUE_COLORS = 1 << 24
FEW_COLORS = 16
"""The largest number of colors that the terminal's owner chooses."""

_FILLING = ("xterm", "linux", "rxvt", "putty", "mlterm", "st-", "alacritty", "konsole", "foot")
"""How ``TERM`` begins where terminfo has the flag ``bce``."""

AUTO = "auto"
_WORDS = {
    "glyphs": (AUTO, "ascii", "unicode"),
    "copy": (AUTO, "plain", "tmux", "screen"),
}
"""The values of each setting that is not a switch."""


@dataclass(frozen=True, slots=True)
class Look:
    """The means of drawing, and the other sequences that lockterm sends."""

    quiet: bool = False
    """For thin links: 16 colors, ASCII, and nothing read that was not asked for."""
    mouse: bool = True
    """Whether the terminal's mouse is taken at the start; a key changes that."""
    colors: int = TRUE_COLORS
    """Number of colors of the terminal: 0, 16, 256 or 16,777,216. 0 with ``NO_COLOR``."""
    ascii: bool = False
    """Whether lines, dots and marks are drawn in ASCII, also without low-bandwidth mode."""
    copy: Multiplexer = "plain"
    """The program between lockterm and the clipboard."""
    unicode: bool = False
    """Whether glyphs beyond ASCII were asked for: quiet keeps them then."""
    over_ssh: bool = False
    """Whether the terminal is somewhere else, behind an SSH connection."""
    utf8: bool = True
    """Whether the terminal takes UTF-8; else nothing beyond ASCII is sent, names neither."""
    fills: bool = False
    """Whether the terminal erases with the current background color."""

    @property
    def in_ascii(self) -> bool:
        """Whether lines, dots and marks are drawn in ASCII now."""
        return self.ascii or not self.utf8 or (self.quiet and not self.unicode)

    @property
    def native(self) -> bool:
        """Whether the terminal's own colors are used: it has no others, or they cost less."""
        return self.quiet or self.colors <= FEW_COLORS


FULL_LOOK = Look()
"""A terminal that can do all there is."""


@runtime_checkable
class HasLook(Protocol):
    """An app that knows what its terminal can do."""

    look: Look


def look_of(app: object) -> Look:
    """Return the look of an app; one with every ability if the app has none."""
    return app.look if isinstance(app, HasLook) else FULL_LOOK


def resolve_look(
    file: ConfigFile,
    environ: Mapping[str, str],
    origins: dict[str, str],
    *,
    quiet: bool | None,
    mouse: bool | None,
) -> Look:
    """Return the look from settings, and from detection for the rest.

    Args:
        file: The configuration.
        environ: The environment.
        origins: Receives the origin of each value.
        quiet: As the command line or the environment says; None: they do not.
        mouse: As the command line says; None: it does not.

    Raises:
        ConfigError: A value of the table is wrong.
    """
    if quiet is None:
        quiet = _filed(file, "quiet", False, origins)
    if mouse is not None:
        origins["mouse"] = "option --no-mouse"
    elif "mouse" not in file.terminal and (environ.get("STY") or multiplexer(environ) == "screen"):
        # Asked for the mouse, GNU screen keeps an escape to itself until the next key is typed.
        mouse, origins["mouse"] = False, "in GNU screen"
    else:
        mouse = _filed(file, "mouse", True, origins)
    depth, origins["colors"] = colors(environ)
    glyphs, through = _filed(file, "glyphs", AUTO, origins), _filed(file, "copy", AUTO, origins)
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
        cast(Multiplexer, through),
        unicode=glyphs == "unicode",
        over_ssh=bool(environ.get("SSH_CONNECTION")),
        utf8=utf8 or glyphs == "unicode",
        fills=fills_erased(environ),
    )


def _filed(file: ConfigFile, key: str, default: Any, origins: dict[str, str]) -> Any:
    """Return a setting of the table, or its default."""
    if key not in file.terminal:
        origins[key] = origins.get(key, "default")
        return default
    origins[key] = file.place("terminal", key)
    check = values.boolean if isinstance(default, bool) else values.one_of(*_WORDS[key])
    try:
        return check(file.terminal[key])
    except ValueError as error:
        raise file.error(("terminal", key), str(error)) from None


def multiplexer(environ: Mapping[str, str]) -> Multiplexer:
    """Return the multiplexer between lockterm and the terminal."""
    if environ.get("TMUX"):
        return "tmux"
    if environ.get("STY"):
        return "screen"
    term = environ.get("TERM", "")
    # Over SSH from inside a multiplexer, only TERM shows it.
    if term.startswith("tmux"):
        return "tmux"
    return "screen" if term.startswith("screen") else "plain"


def colors(environ: Mapping[str, str]) -> tuple[int, str]:
    """Return the number of colors of the terminal, and the variable that says so."""
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR"):
        return 0, "environment NO_COLOR"
    depth = environ.get("COLORTERM", "").strip().lower()
    # GNU screen hands on the variable of the terminal around it and garbles such colors.
    if depth in ("truecolor", "24bit") and multiplexer(environ) != "screen":
        return TRUE_COLORS, f"environment COLORTERM={depth}"
    if "256color" in term or "direct" in term:
        return 256, f"environment TERM={term}"
    return 0 if term.startswith("vt") else 16, f"environment TERM={term}"


def needs_ascii(environ: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether the font may lack glyphs beyond ASCII, and the variable that says so."""
    term = environ.get("TERM", "")
    if term == "linux" or term.startswith("vt"):
        return True, f"environment TERM={term}"
    return False, "default"


def fills_erased(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal erases with the current background (``bce`` of terminfo).

    A list of names is as good as terminfo for the usual terminals, and costs no time.
    """
    if multiplexer(environ) != "plain":
        return False
    term = environ.get("TERM", "")
    return term.startswith(_FILLING) and not term.startswith("xterm-kitty")


def is_installed(name: str) -> bool:
    """Return whether this machine has a locale; without it, programs use the C locale."""
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


def takes_utf8(
    environ: Mapping[str, str],
    *,
    installed: Callable[[str], bool] = is_installed,
    coerced: Callable[[], bool] = was_coerced,
) -> tuple[bool, str]:
    """Return whether the terminal takes UTF-8 by its environment, and the variable that says so.

    A terminal started in the C locale, or in one that is not installed, takes bytes for letters.

    Args:
        environ: The environment.
        installed: Whether this machine has a locale.
        coerced: Whether Python itself has set ``LC_CTYPE``.
    """
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        value = environ.get(name)
        if not value or (name == "LC_CTYPE" and value in _COERCED and coerced()):
            continue
        if "utf8" not in value.lower().replace("-", ""):
            return False, f"environment {name}={value}"
        if not installed(value):
            return False, f"environment {name}={value}, which is not installed"
        return True, f"environment {name}={value}"
    return False, "no locale is set"
