"""Questions to the terminal. No answer is ever taken for typed keys.

The terminal does not echo its answers. The program reads or drops all of them, and restores the
terminal settings however the conversation ends.
"""

from __future__ import annotations

import os
import re
import select
import signal
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
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


OURS = ("·", "…", "─", "│", "▁")
"""What lockterm draws with."""
OF_NAMES = ("e\u0301", "長", "🔑")
"""What names may have: an accent, a wide letter, an emoji. Terminals differ in their cells."""

LETTER = "ä"
"""One cell where UTF-8 is taken, two where its bytes are letters; no byte of it steers."""

MODES = {
    2026: "synchronizedOutput",
    2004: "bracketedPaste",
    1006: "mouse",
    2048: "sizeInBand",
}
"""Number of a private mode -> its name in the report."""

_PLACE = re.compile(r"\x1b\[(\d{1,9});(\d{1,9})R")
_MODE = re.compile(r"\x1b\[\?(\d{1,9});(\d)\$y")
_KITTY = re.compile(r"\x1b\[\?(\d+)u")
_NAME = re.compile(r"\x1bP>\|(.{,80})")
_COLOR = re.compile(r"\x1bP1\$r([0-9;:]*)m\Z")
_PRIMARY = re.compile(r"\x1b\[\?([0-9;]*)c")
_SECONDARY = re.compile(r"\x1b\[>(\d{1,9});(\d*)")
_KEPT = re.compile(r"48[:;]2[:;]+1[:;]2[:;]3")
_MULTIPLEXERS = {84: "tmux", 83: "GNU screen"}
"""What calls itself a terminal of this type."""

_ERASE = b"\r\x1b[K"
_SIZE = b"\x1b7\x1b[999;999H\x1b[6n\x1b8"


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


@dataclass(frozen=True, slots=True)
class TerminalAnswers:
    """What it said; None or missing: it did not say."""

    round_trip_s: float | None = None
    """How long the terminal took to answer, in seconds; None: it did not."""
    name: str | None = None
    """Itself, with its version."""
    multiplexer: str | None = None
    """``tmux`` or ``GNU screen``, where it is one."""
    size: tuple[int, int] | None = None
    """Columns and rows in which its cursor moves."""
    widths: Mapping[str, int] = field(default_factory=dict)
    """Glyph -> the cells that it takes."""
    modes: Mapping[str, bool] = field(default_factory=dict)
    """Name of a mode -> whether it knows it."""
    kitty_keys: bool | None = None
    """Whether keys can be told apart that were always the same, such as ctrl+i and tab."""
    true_color: bool | None = None
    """Whether it keeps a color of 24 bits as it is."""
    clipboard: bool | None = None
    """True: it says that it takes OSC 52. Many do and do not say so."""


def ask_terminal(
    environ: Mapping[str, str], at_end: ExitStack, *, utf8: bool = True
) -> TerminalAnswers:
    """Ask the terminal. What answers nothing to the first question is asked no other.

    The line of the cursor is used for drawing and is empty afterwards.

    Args:
        environ: The environment: old terminals would draw some questions.
        at_end: Until then the terminal is listened to where it still owes an answer.
        utf8: Whether it is sent what is no ASCII; else one letter, by which it shows what it takes.
    """
    glyphs = (*OURS, *OF_NAMES) if utf8 else (LETTER,)
    term = environ.get("TERM", "")
    is_old = term == "linux" or term.startswith("vt")
    with ExitStack() as listening:
        terminal = listening.enter_context(Conversation())
        first = terminal.ask(b"" if is_old else b"\x1b[>c")
        kind = next((_MULTIPLEXERS.get(int(found[1])) for found in _all(_SECONDARY, first)), None)
        drawn = b"".join(b"\r" + glyph.encode() + b"\x1b[6n" for glyph in glyphs)
        places = terminal.ask(_SIZE + drawn + _ERASE)
        more = [] if is_old else terminal.ask(_further(environ, kind) + _ERASE)
        if terminal.is_owed:
            at_end.enter_context(listening.pop_all())
    found = [(int(place[2]), int(place[1])) for place in _all(_PLACE, places)]
    is_whole = len(found) == 1 + len(glyphs)  # they can only be told apart by their order
    name = next(_all(_NAME, more), None)
    kept = next(_all(_COLOR, more), None)
    primary = next(_all(_PRIMARY, first), None)
    return TerminalAnswers(
        round_trip_s=terminal.round_trip_s,
        name=name[1] if name else kind,
        multiplexer=kind,
        size=found[0] if is_whole else None,
        widths=dict(zip(glyphs, (column - 1 for column, _ in found[1:]), strict=True))
        if is_whole
        else {},
        modes={
            MODES[int(mode[1])]: mode[2] != "0"
            for mode in _all(_MODE, more)
            if int(mode[1]) in MODES
        },
        kitty_keys=True if any(_all(_KITTY, more)) else None,
        true_color=_KEPT.search(kept[1]) is not None if kept else None,
        clipboard=True if primary and "52" in primary[1].split(";") else None,
    )


def _further(environ: Mapping[str, str], kind: str | None) -> bytes:
    """Questions that a terminal since about 2000 ignores where it has no answer."""
    questions = b"\x1b[>0q\x1b[?u"
    if environ.get("TERM_PROGRAM") != "Apple_Terminal":  # it draws the last letter
        questions += b"".join(b"\x1b[?%d$p" % number for number in MODES)
    # GNU screen hands this on without its brackets, and the terminal would draw it.
    if kind != "GNU screen" and "STY" not in environ:
        questions += b"\x1b[48;2;1;2;3m\x1bP$qm\x1b\\\x1b[m"
    return questions


def _all(pattern: re.Pattern[str], heard: list[str]) -> Iterator[re.Match[str]]:
    return filter(None, map(pattern.match, heard))
