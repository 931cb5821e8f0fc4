"""Copying over the terminal: OSC 52, the one clipboard that works through SSH.

tmux and GNU screen stand in its way, each in its own manner:

* tmux drops it as it comes by default (``set-clipboard external``, ``allow-passthrough off``), but
  takes a value from its own command and hands it on. Where that command cannot reach it, as over
  SSH from inside of tmux, both spellings are sent: each works with one of the two options.
* GNU screen hands on what is wrapped as a device control string, of at most 767 bytes; longer ones
  spill onto the display. The terminal puts the pieces together again.
* ``TERM=screen`` without more may be either of them.
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
"""The most characters of a copied value that the notice repeats."""
LONGEST = 74_994
"""The most bytes that are sent: encoded, with what is around it, they are 100,000, where xterm and
others stop."""
PIECE = 240
"""Bytes of a device control string: old versions of GNU screen take 256, new ones 768."""
TMUX_ANSWERS_S = 1.0
"""How long tmux may take to accept a value, in seconds; it takes some milliseconds."""

_THROUGH = {"plain": "", "tmux": " through tmux", "screen": " through GNU screen"}
_ADVICE = {
    "plain": "",
    "tmux": " Nothing to paste? Set in that tmux: set -s set-clipboard on",
    "screen": " Nothing to paste? See: lockterm doctor",
}


def copy(app: App[Any], value: str, what: str, *, lines: bool = False) -> None:
    """Send a value to the terminal's clipboard, and say so.

    Whether the terminal took it cannot be known: there is no answer. What a paste could execute or
    a terminal could not take (control characters, halves of surrogate pairs) is replaced. What is
    too long for terminals is not sent at all: half of a value would be taken for the whole.

    Args:
        app: The running app.
        value: As the service sent it.
        what: What it is, for the notice: ``number``.
        lines: Whether line ends and tabs belong to the value, as in indented JSON.
    """
    if len(value) > LONGEST:
        _refuse(app, len(value.encode(errors="replace")), what)
        return
    safe = "\t".join(map(clean_lines, value.split("\t"))) if lines else clean(value)
    app._clipboard = safe  # what fields of lockterm itself paste
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
    changed = "" if safe == value else " Characters that cannot be seen were replaced."
    shown = clean(safe.replace("\n", " ").replace("\t", " "), SHOWN)
    app.notify(
        f"{shown} - sent to the terminal{_THROUGH[through]}.{changed}{advice}",
        title=f"Copied the {what}",
    )


def _refuse(app: App[Any], size: int, what: str) -> None:
    app.notify(
        f"It has {size:,} bytes, and terminals take {LONGEST:,}. Nothing was sent.",
        title=f"Too long to copy: {what}",
        severity="warning",
    )


def sequences(data: bytes, through: Multiplexer, environ: Mapping[str, str]) -> str:
    """What to write so that a value arrives in the terminal's clipboard.

    Args:
        data: The value.
        through: What stands in between.
        environ: The environment: it tells a certain GNU screen from what only looks like one.
    """
    plain = f"\x1b]52;c;{base64.b64encode(data).decode('ascii')}\a"
    if through == "tmux":
        return plain + "\x1bPtmux;" + plain.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if through == "screen":
        pieces = [plain[start : start + PIECE] for start in range(0, len(plain), PIECE)]
        wrapped = "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
        # tmux calls itself screen, too: it takes the plain one. GNU screen would spill a long one.
        doubtful = not environ.get("STY") and len(plain) <= PIECE
        return wrapped + plain if doubtful else wrapped
    return plain


def _given_to_tmux(data: bytes) -> bool:
    """Let tmux itself hand a value on; False where it cannot be reached or is older than 3.2."""
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
