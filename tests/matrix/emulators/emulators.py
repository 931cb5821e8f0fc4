"""The emulators: how each is started, and how it is set."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.matrix.terminals import X256

FONT = "DejaVu Sans Mono"
_VTE = str(Path(__file__).with_name("vte_window.py"))
_SYSTEM_PYTHON = "/usr/bin/python3"


@dataclass(frozen=True, slots=True)
class Emulator:
    """A terminal emulator with one of its settings; each stands at the left top, 80x24."""

    name: str
    command: Sequence[str]
    """What starts it; what is to run in it follows."""
    package: str
    """Debian's package that has it."""
    term: str = X256
    lang: str = "C.UTF-8"
    is_utf8: bool = True
    """Whether it shows more than ASCII, whatever ``lang`` promises."""
    ambiguous: int = 1
    """How many cells it takes for á and the like."""
    varies_names: bool = False
    """Whether a name may look otherwise when it is drawn anew: what one of its signs has in the
    cell of the next depends on which was drawn last."""
    is_brief: bool = False
    """Whether only some of the screens are tried."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What its home has: a path, and what stands in it."""

    @property
    def is_there(self) -> bool:
        """Whether the machine has it."""
        if self.command[0] != _SYSTEM_PYTHON:
            return shutil.which(self.command[0]) is not None
        ask = "import gi; gi.require_version('Vte', '2.91'); from gi.repository import Vte"
        return not subprocess.run([_SYSTEM_PYTHON, "-c", ask], capture_output=True).returncode


def _xterm(name: str, *options: str, term: str = X256, lang: str = "C.UTF-8") -> Emulator:
    is_utf8 = "+u8" not in options
    command = ["xterm", "-fa", FONT, "-fs", "10", "-geometry", "80x24+0+0", *options, "-e"]
    ambiguous = 2 if "-cjk_width" in options else 1
    wide = ambiguous == 2
    return Emulator(name, command, "xterm", term, lang, is_utf8, ambiguous, varies_names=wide)


def _pterm(name: str, ambiguous: int) -> Emulator:
    # A font of the X server is drawn cell by cell, as on Windows; one of the client in whole runs,
    # in which a letter that is shaped moves all that follows it.
    font = "server:-misc-fixed-medium-r-normal--13-120-75-75-c-70-iso10646-1"
    command = ["pterm", "-load", "tried", "-geometry", "80x24+0+0", "-fn", font]
    saved = f"BlinkCur=0\nScrollBar=0\nCJKAmbigWide={ambiguous - 1}\n"
    files = {".putty/sessions/tried": saved}
    return Emulator(
        name,
        [*command, "-e"],
        "pterm xfonts-base",
        ambiguous=ambiguous,
        varies_names=True,
        is_brief=ambiguous == 2,
        files=files,
    )


def _vte(name: str, ambiguous: int) -> Emulator:
    command = [_SYSTEM_PYTHON, _VTE, str(ambiguous), f"{FONT} 10"]
    return Emulator(
        name,
        command,
        "gir1.2-vte-2.91 python3-gi",
        ambiguous=ambiguous,
        varies_names=True,
        is_brief=ambiguous == 2,
    )


def _mlterm(name: str, ambiguous: int) -> Emulator:
    command = ["mlterm", "-g", "80x24+0+0", "-O", "none", "--bel=none", f"--ac={ambiguous}"]
    # Its own fonts have a box for each letter of most scripts.
    command += ["--type=xft", "-w", "14", "-e"]
    files = {".mlterm/aafont": f"DEFAULT={FONT}\nISO10646_UCS4_1={FONT}\n"}
    return Emulator(
        name, command, "mlterm", ambiguous=ambiguous, varies_names=True, is_brief=True, files=files
    )


_IN_PIXELS = f"{FONT}:pixelsize=14"

EMULATORS: tuple[Emulator, ...] = (
    _xterm("xterm"),
    _xterm("xterm-16-colors", term="xterm"),
    _xterm("xterm-wide", "-cjk_width"),
    _xterm("xterm-no-utf8", "+u8", lang="C"),
    _xterm("xterm-no-utf8-though-told", "+u8"),
    Emulator(
        "urxvt",
        ["urxvt", "-fn", f"xft:{_IN_PIXELS}", "-geometry", "80x24+0+0", "+sb", "-e"],
        "rxvt-unicode",
        varies_names=True,
        is_brief=True,
    ),
    _pterm("putty", 1),
    _pterm("putty-wide", 2),
    _vte("vte", 1),
    _vte("vte-wide", 2),
    _mlterm("mlterm", 1),
    _mlterm("mlterm-wide", 2),
    Emulator(
        "st",  # draws the cell alone that the cursor has left
        ["st", "-f", _IN_PIXELS, "-g", "80x24+0+0", "-e"],
        "stterm",
        varies_names=True,
    ),
    Emulator(
        "kitty",
        [
            *("kitty", "--config", "NONE", "-o", "remember_window_size=no"),
            *("-o", "initial_window_width=80c", "-o", "initial_window_height=24c"),
            *("-o", "cursor_blink_interval=0", "-o", "visual_bell_duration=0"),
            *("-o", "enable_audio_bell=no", "-o", f"font_family={FONT}"),
            *("-o", "update_check_interval=0"),
        ],
        "kitty",
        varies_names=True,
        is_brief=True,
    ),
    Emulator(
        "alacritty",
        [
            *("alacritty", "-o", "window.dimensions.columns=80"),
            *("-o", "window.dimensions.lines=24", "-e"),
        ],
        "alacritty",
    ),
)
"""One of each kind, and those that take ambiguous signs for wide."""
