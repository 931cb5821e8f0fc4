"""Copies to the terminal's clipboard with OSC 52, which also works through SSH.

tmux and GNU screen need special handling:

* By default, tmux drops OSC 52 (``set-clipboard external``, ``allow-passthrough off``), but a
  command of tmux accepts a value. The command may fail to reach tmux, for example over SSH from
  inside tmux. Then lockterm sends OSC 52 twice: for tmux itself, and wrapped so that tmux passes it
  on. For each of the two forms, another option of tmux must be set.
* GNU screen passes on device control strings of at most 767 bytes; longer ones spill onto the
  display. Therefore, lockterm sends a long value in pieces, which the terminal joins.
* ``TERM=screen`` without ``STY`` may be tmux or GNU screen.
"""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Mapping
from typing import Any

from textual.app import App

from lockterm.config.look import Multiplexer, look_of
from lockterm.domain.safe_text import clean, clean_lines

SHOWN = 60
"""Maximum number of characters of a copied value that the notification shows."""
LONGEST = 74_994
"""Maximum number of bytes to copy. In base64, they become 100,000 bytes, which is the limit of
xterm and other terminals."""
PIECE = 240
"""Number of bytes in one device control string. Old versions of GNU screen accept 256 bytes, new
versions 768."""
TMUX_ANSWERS_S = 1.0
"""Maximum seconds that tmux may take to accept a value; usually, it takes milliseconds."""

_THROUGH = {"plain": "", "tmux": " through tmux", "screen": " through GNU screen"}
_ADVICE = {
    "plain": "",
    "tmux": " If you cannot paste it, set in that tmux: set -s set-clipboard on",
    "screen": " If you cannot paste it, see: lockterm doctor",
}


def copy(app: App[Any], value: str, what: str, *, lines: bool = False) -> None:
    """Send a value to the terminal's clipboard, and show a notification.

    The terminal does not report whether it accepted the value. Control characters and halves of
    surrogate pairs are replaced, because a paste could execute them or a terminal could reject
    them. A value that is too long for terminals is not sent, because half of it could look
    complete.

    Args:
        app: The running app.
        value: The value, which may contain any characters.
        what: A name for the value in the notification, such as ``number``.
        lines: Whether to keep line ends and tabs, as in indented JSON.
    """
    if len(value) > LONGEST:
        _refuse(app, len(value.encode(errors="replace")), what)
        return
    safe = "\t".join(map(clean_lines, value.split("\t"))) if lines else clean(value)
    app._clipboard = safe  # for a paste into lockterm's own fields
    data = safe.encode()
    if len(data) > LONGEST:
        _refuse(app, len(data), what)
        return
    through = look_of(app).copy
    advice = ""
    if not (through == "tmux" and os.environ.get("TMUX") and _given_to_tmux(data)):
        advice = _ADVICE[through]
        if app._driver is not None:
            app._driver.write(sequences(data, through, os.environ))
    changed = "" if safe == value else " Invisible characters were replaced."
    shown = clean(safe.replace("\n", " ").replace("\t", " "), SHOWN)
    app.notify(
        f"{shown} - sent to the terminal{_THROUGH[through]}.{changed}{advice}",
        title=f"Copied the {what}",
    )


def _refuse(app: App[Any], size: int, what: str) -> None:
    app.notify(
        f"The value has {size:,} bytes, but terminals accept at most {LONGEST:,}.",
        title=f"Too long to copy: {what}",
        severity="warning",
    )


def sequences(data: bytes, through: Multiplexer, environ: Mapping[str, str]) -> str:
    """Return the output that puts a value into the terminal's clipboard.

    Args:
        data: The value in UTF-8.
        through: The multiplexer in which lockterm runs, through which the value must pass.
        environ: The environment variables. ``STY`` shows whether lockterm runs in GNU screen rather
            than tmux.
    """
    plain = f"\x1b]52;c;{base64.b64encode(data).decode('ascii')}\a"
    if through == "tmux":
        return plain + "\x1bPtmux;" + plain.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if through == "screen":
        pieces = [plain[start : start + PIECE] for start in range(0, len(plain), PIECE)]
        wrapped = "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
        # tmux sets TERM=screen, too, and needs the plain form. GNU screen would spill a long one.
        doubtful = not environ.get("STY") and len(plain) <= PIECE
        return wrapped + plain if doubtful else wrapped
    return plain


def _given_to_tmux(data: bytes) -> bool:
    """Pass a value to tmux, and return whether tmux accepted it.

    The result is False if tmux cannot be reached or is older than 3.2.
    """
    try:
        done = subprocess.run(
            ["tmux", "load-buffer", "-w", "-"],
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TMUX_ANSWERS_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
