"""The test ``lockterm doctor --keys``, which shows how pressed keys arrive."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from textual import events

from lockterm.cli.doctor.conversation import Conversation, can_ask_terminal
from lockterm.cli.output import put, put_wrapped
from lockterm.keymap.hints import written
from lockterm.terminal.signals import NoTerminalError, require_terminal
from lockterm.terminal.terminal_input import TerminalInput

KEYS = (
    *("enter", "esc", "tab", "shift+tab", "space", "backspace", "del"),
    *("up", "down", "left", "right", "home", "end", "pgup", "pgdn", "shift+up", "shift+down"),
    *("f1", "f2", "f3", "f4", "f5"),
    *("ctrl+s", "ctrl+n", "ctrl+g", "ctrl+o", "ctrl+r"),
    *("ctrl+t", "ctrl+y", "ctrl+l", "ctrl+p", "ctrl+q"),
)
"""The keys of lockterm that a terminal or a multiplexer may handle itself or send differently."""

TIMEOUT_S = 30.0
"""The time without a key after which the test ends, in seconds."""

_ENDS = ("q", "ctrl+c")
_TICK_S = 0.05


def run_keys(timeout_s: float = TIMEOUT_S) -> int:
    """Print how each pressed key arrives, and finally which keys did not arrive.

    Args:
        timeout_s: The maximum time to wait for the next key, in seconds.

    Returns:
        The exit code, which is always 0, because the user may not have pressed a missing key.

    Raises:
        NoTerminalError: If there is no usable terminal.
    """
    require_terminal(os.environ)
    if not can_ask_terminal():
        raise NoTerminalError(
            "Another program uses this terminal now.", hint="Run the command in the foreground."
        )
    put(
        "Press each of these keys. To end, press q or Ctrl+C, or press no key for"
        f" {timeout_s:.0f} s:"
    )
    put_wrapped("  ", " ".join(KEYS))
    seen: set[str] = set()
    for key, sequence in _read_keys(timeout_s):
        seen.add(key)
        known = "" if key in KEYS or len(key) == 1 else "   not used by lockterm"
        put(f"  {key:<12} arrives as {ascii(sequence)[1:-1]}{known}")
        if key in _ENDS:
            break
    missing = [key for key in KEYS if key not in seen]
    put(f"{len(KEYS) - len(missing)} of {len(KEYS)} keys arrived.")
    if missing:
        put_wrapped("Not seen: ", f"{' '.join(missing)}.")
        then = "In the configuration, set other keys for these actions under [keys]."
        put_wrapped("", f"If you pressed these keys, another program used them. {then}")
    return 0


def _read_keys(timeout_s: float) -> Iterator[tuple[str, str]]:
    """Yield each key's name, as screens receive it, and the characters that the terminal sent."""
    keys = TerminalInput()
    with Conversation(raw=True) as terminal:
        sent, until = b"", time.monotonic() + timeout_s
        while (now_s := time.monotonic()) < until:
            data = terminal.read(_TICK_S)
            if data == b"":
                return  # the terminal hung up
            sent += data or b""
            arrived = list(keys.feed(data, now_s) if data else keys.tick(now_s))
            for message in arrived:
                if isinstance(message, events.Key):
                    until = time.monotonic() + timeout_s
                    yield written(message.key), sent.decode("utf-8", "replace")
            if arrived:
                sent = b""
