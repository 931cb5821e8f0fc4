"""``lockterm doctor --keys``: which keys arrive here, told by pressing them."""

from __future__ import annotations

import codecs
import os
import time
from collections.abc import Iterator

from lockterm.cli.doctor.conversation import STDERR, Conversation, can_be_asked
from lockterm.cli.output import put, put_wrapped
from lockterm.terminal import NoTerminal, require_terminal

KEYS = (
    *("enter", "esc", "tab", "shift+tab", "space", "backspace", "del"),
    *("up", "down", "left", "right", "home", "end", "pgup", "pgdn", "shift+up", "shift+down"),
    *("f2", "f3", "f4", "ctrl+s", "ctrl+o", "ctrl+r", "ctrl+t", "ctrl+l", "ctrl+p", "ctrl+q"),
)
"""The keys of lockterm that a terminal or a multiplexer may keep for itself, or send otherwise.
Letters, digits and signs always arrive."""

PATIENCE_S = 30.0
"""After so long without a key the test is over, in seconds."""

_ENDS = ("q", "ctrl+c")
_TICK_S = 0.05


def run_keys(patience_s: float = PATIENCE_S) -> int:
    """Say of each key that is pressed how it arrives, and at the end which did not.

    Args:
        patience_s: How long to wait for the next key, in seconds.

    Returns:
        The exit code: 0, for a key that was not seen may not have been pressed.

    Raises:
        NoTerminal: Nobody can press a key here.
    """
    require_terminal(os.environ)
    if not can_be_asked():
        raise NoTerminal(
            "This terminal belongs to another program now.", hint="Run it in the foreground."
        )
    put(f"Press each of these keys; q or ctrl+c ends, as do {patience_s:.0f} s without a key:")
    put_wrapped("  ", " ".join(KEYS))
    seen: set[str] = set()
    for key, sequence in _pressed(patience_s):
        seen.add(key)
        known = "" if key in KEYS or len(key) == 1 else "   no key of lockterm"
        put(f"  {key:<12} arrives as {ascii(sequence)[1:-1]}{known}")
        if key in _ENDS:
            break
    missing = [key for key in KEYS if key not in seen]
    put(f"{len(KEYS) - len(missing)} of {len(KEYS)} arrived.")
    if missing:
        put_wrapped("Not seen: ", f"{' '.join(missing)}.")
        then = "then give their actions others in the configuration, [keys]."
        put_wrapped("", f"Not pressed, or kept by what is in between: {then}")
    return 0


def _pressed(patience_s: float) -> Iterator[tuple[str, str]]:
    """Each key as lockterm's screens see it, and what was sent for it."""
    from textual import constants, events
    from textual._xterm_parser import XTermParser

    from lockterm.keymap.names import written

    parser = XTermParser()
    decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
    # As Textual asks for them: the terminal may tell more keys apart then.
    kitty = not constants.DISABLE_KITTY_KEY
    with Conversation(raw=True) as terminal:
        try:
            if kitty:
                os.write(STDERR, b"\x1b[>25u")
            sent, until = "", time.monotonic() + patience_s
            while time.monotonic() < until:
                data = terminal.read(_TICK_S)
                if data == b"":
                    return  # it hung up
                text = decode(data) if data else ""
                sent += text
                messages = list(parser.feed(text)) if text else list(parser.tick())
                for message in messages:
                    if isinstance(message, events.Key):
                        until = time.monotonic() + patience_s
                        yield written(message.key), sent
                if messages:
                    sent = ""
        finally:
            if kitty:
                os.write(STDERR, b"\x1b[<u")
