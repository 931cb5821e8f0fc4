"""Asking the terminal itself, so that no answer is ever taken for something typed.

While it is asked nothing is echoed. What it sends goes back to nobody: it is read here or thrown
away, and the settings of before come back however the conversation ends.
"""

from __future__ import annotations

import os
import re
import select
import signal
import termios
import time
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn, Self

from lockterm.terminal.input_tokens import InputTokenizer, Sequence, String

STDIN, STDERR = 0, 2
"""Where keys are read and screens are drawn, as by Textual."""

TIMEOUT_S = 2.0
"""How long the first answer may take, in seconds: more than a link has that can be worked on."""

_ATTRIBUTES = re.compile(r"\x1b\[\?[0-9;]*c\Z")
_ENDING = (signal.SIGHUP, signal.SIGTERM)
_UNDISTURBED = (termios.VSUSP, termios.VQUIT, termios.VSTART, termios.VSTOP)
"""Keys that do nothing for a moment. Ctrl+C goes on to end the program."""


class Conversation:
    """The terminal, listened to; a context manager for the main thread.

    Args:
        timeout_s: How long the first answer may take, in seconds.
        raw: Whether every key arrives as it is, as in the terminal UI; Ctrl+C ends nothing then.
    """

    def __init__(self, timeout_s: float = TIMEOUT_S, *, raw: bool = False) -> None:
        self._timeout_s = timeout_s
        self._raw = raw
        self.round_trip_s: float | None = None
        """How long the terminal took to answer first, in seconds; None: it did not."""
        self.is_owed = False
        """Whether an answer may still be under way."""
        self._tokenizer = InputTokenizer()
        self._settings: list[Any] = []
        self._handlers: dict[int, Any] = {}

    def ask(self, questions: bytes) -> list[str]:
        """Send questions and read until the terminal has answered all of them.

        Terminals answer in order, and all of them answer what they are (the primary device
        attributes): this is asked last, and its answer is the end.

        Returns:
            The answers, each from its ESC on, strings without their end; what came in time where
            the last did not come.
        """
        heard: list[str] = []
        if self.is_owed:
            return heard
        timeout_s = self._timeout_s
        if self.round_trip_s is not None:
            timeout_s = max(1.0, min(4 * self.round_trip_s, timeout_s))
        began = time.monotonic()
        self.is_owed = True
        if not select.select([], [STDERR], [], timeout_s)[1]:  # it is stalled
            return heard
        os.write(STDERR, questions + b"\x1b[c")
        while not any(map(_ATTRIBUTES.match, heard)):
            left_s = began + timeout_s - time.monotonic()
            more = self.read(left_s) if left_s > 0 else None
            if not more:
                return heard
            tokens = self._tokenizer.feed(more, time.monotonic())
            heard += [one.text for one in tokens if isinstance(one, (Sequence, String))]
        self.is_owed = False
        if self.round_trip_s is None:
            self.round_trip_s = time.monotonic() - began
        return heard

    def read(self, within_s: float) -> bytes | None:
        """What comes next; None if nothing does in that time, empty if it hung up."""
        if not select.select([STDIN], [], [], within_s)[0]:
            return None
        try:
            return os.read(STDIN, 4096)
        except OSError:
            return b""

    def __enter__(self) -> Self:
        self._settings = termios.tcgetattr(STDIN)
        for number in _ENDING:
            self._handlers[number] = signal.signal(number, _end)
        quiet = termios.tcgetattr(STDIN)
        quiet[3] &= ~(termios.ICANON | termios.ECHO | termios.ECHONL)
        for key in _UNDISTURBED:
            quiet[6][key] = b"\0"
        if self._raw:
            quiet[0] &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR)
            quiet[3] &= ~(termios.ISIG | termios.IEXTEN)
        quiet[6][termios.VMIN], quiet[6][termios.VTIME] = 1, 0
        termios.tcsetattr(STDIN, termios.TCSANOW, quiet)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(termios.error, OSError):
            termios.tcflush(STDIN, termios.TCIFLUSH)
            # Not after what was written has been sent: a stalled terminal would hold us up.
            termios.tcsetattr(STDIN, termios.TCSANOW, self._settings)
        for number, handler in self._handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def can_be_asked() -> bool:
    """Whether stdin and stderr are one terminal, and it is ours to speak to."""
    try:
        if os.ttyname(STDIN) != os.ttyname(STDERR):
            return False
    except OSError:
        return False
    try:
        return os.tcgetpgrp(STDIN) == os.getpgrp()  # else it would stop us
    except OSError:
        return True  # a terminal that controls no one stops no one


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
