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
"""The descriptors of keys and drawing, as in Textual."""

TIMEOUT_S = 2.0
"""Maximum time of the first answer, in seconds; a usable connection needs less."""

_ATTRIBUTES = re.compile(r"\x1b\[\?[0-9;]*c\Z")
_ENDING = (signal.SIGHUP, signal.SIGTERM)
_UNDISTURBED = (termios.VSUSP, termios.VQUIT, termios.VSTART, termios.VSTOP)
"""Control keys without effect during a conversation. Ctrl+C still ends the program."""


OWN_GLYPHS = ("·", "…", "─", "│", "▁")
"""Glyphs that lockterm draws."""
NAME_GLYPHS = ("e\u0301", "長", "🔑")
"""An accent, a wide letter and an emoji, as in names; terminals differ in their width."""

LETTER = "ä"
"""A letter of one cell in UTF-8, and of two in Latin-1. No byte of it is a control character."""

MODES = {
    2026: "synchronizedOutput",
    2004: "bracketedPaste",
    1006: "mouse",
    2048: "sizeInBand",
}
"""Private modes by number, with their names in the report."""

_PLACE = re.compile(r"\x1b\[(\d{1,9});(\d{1,9})R")
_MODE = re.compile(r"\x1b\[\?(\d{1,9});(\d)\$y")
_KITTY = re.compile(r"\x1b\[\?(\d+)u")
_NAME = re.compile(r"\x1bP>\|(.{,80})")
_COLOR = re.compile(r"\x1bP1\$r([0-9;:]*)m\Z")
_PRIMARY = re.compile(r"\x1b\[\?([0-9;]*)c")
_SECONDARY = re.compile(r"\x1b\[>(\d{1,9});(\d*)")
_KEPT = re.compile(r"48[:;]2[:;]+1[:;]2[:;]3")
_MULTIPLEXERS = {84: "tmux", 83: "GNU screen"}
"""Multiplexers by the type of terminal that they report."""

_ERASE = b"\r\x1b[K"
_SIZE = b"\x1b7\x1b[999;999H\x1b[6n\x1b8"


class Conversation:
    """A conversation with the terminal; a context manager for the main thread.

    Args:
        timeout_s: Maximum time of the first answer, in seconds.
        raw: Whether every key arrives as in the terminal UI; then Ctrl+C ends nothing.
    """

    def __init__(self, timeout_s: float = TIMEOUT_S, *, raw: bool = False) -> None:
        self._timeout_s = timeout_s
        self._raw = raw
        self.round_trip_s: float | None = None
        """Time of the first answer, in seconds; None if there was none."""
        self.is_waiting = False
        """Whether an answer may still arrive."""
        self._tokenizer = InputTokenizer()
        self._settings: list[Any] = []
        self._handlers: dict[int, Any] = {}

    def ask(self, questions: bytes) -> list[str]:
        """Send questions and read the answers of the terminal.

        Terminals answer in order, and all of them report their device attributes. This method asks
        for those last, so their answer is the end.

        Returns:
            The answers that came in time. Each starts with its ESC; strings lack their terminator.
        """
        heard: list[str] = []
        if self.is_waiting:
            return heard
        timeout_s = self._timeout_s
        if self.round_trip_s is not None:
            timeout_s = max(1.0, min(4 * self.round_trip_s, timeout_s))
        began = time.monotonic()
        self.is_waiting = True
        if not select.select([], [STDERR], [], timeout_s)[1]:  # the terminal has stalled
            return heard
        os.write(STDERR, questions + b"\x1b[c")
        while not any(map(_ATTRIBUTES.match, heard)):
            left_s = began + timeout_s - time.monotonic()
            more = self.read(left_s) if left_s > 0 else None
            if not more:
                return heard
            tokens = self._tokenizer.feed(more, time.monotonic())
            heard += [one.text for one in tokens if isinstance(one, (Sequence, String))]
        self.is_waiting = False
        if self.round_trip_s is None:
            self.round_trip_s = time.monotonic() - began
        return heard

    def read(self, within_s: float) -> bytes | None:
        """Return the next input; None after a timeout, empty if the terminal hung up."""
        if not select.select([STDIN], [], [], within_s)[0]:
            return None
        try:
            return os.read(STDIN, 4096)
        except OSError:
            return b""

    def __enter__(self) -> Self:
        self._settings = termios.tcgetattr(STDIN)
        for number in _ENDING:
            self._handlers[number] = signal.signal(number, _exit)
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
            # TCSADRAIN would wait for a stalled terminal.
            termios.tcsetattr(STDIN, termios.TCSANOW, self._settings)
        for number, handler in self._handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def can_ask_terminal() -> bool:
    """Return whether stdin and stderr are one terminal that this process controls."""
    try:
        if os.ttyname(STDIN) != os.ttyname(STDERR):
            return False
    except OSError:
        return False
    try:
        return os.tcgetpgrp(STDIN) == os.getpgrp()  # otherwise it would stop this process
    except OSError:
        return True  # not a controlling terminal, so it stops no process


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


@dataclass(frozen=True, slots=True)
class TerminalAnswers:
    """The answers of a terminal; None or missing if it did not answer."""

    round_trip_s: float | None = None
    """Time of the first answer, in seconds."""
    name: str | None = None
    """Its name and version."""
    multiplexer: str | None = None
    """``tmux`` or ``GNU screen``."""
    size: tuple[int, int] | None = None
    """Columns and rows that its cursor can reach."""
    widths: Mapping[str, int] = field(default_factory=dict)
    """The width of each glyph, in cells."""
    modes: Mapping[str, bool] = field(default_factory=dict)
    """Whether it knows each mode."""
    kitty_keys: bool | None = None
    """Whether it can distinguish keys such as Ctrl+I and Tab."""
    true_color: bool | None = None
    """Whether it keeps a color of 24 bits unchanged."""
    clipboard: bool | None = None
    """True if it reports OSC 52; many terminals support it without a report."""


def ask_terminal(
    environ: Mapping[str, str], at_end: ExitStack, *, utf8: bool = True
) -> TerminalAnswers:
    """Ask the terminal about itself. Without a first answer, ask nothing else.

    The questions draw on the cursor's line, and clear it afterwards.

    Args:
        environ: The environment, by which old terminals are spared questions that they would draw.
        at_end: Keeps the conversation open while an answer may still arrive.
        utf8: Whether to draw all glyphs; otherwise one letter, which shows the encoding.
    """
    glyphs = (*OWN_GLYPHS, *NAME_GLYPHS) if utf8 else (LETTER,)
    term = environ.get("TERM", "")
    is_old = term == "linux" or term.startswith("vt")
    with ExitStack() as listening:
        terminal = listening.enter_context(Conversation())
        first = terminal.ask(b"" if is_old else b"\x1b[>c")
        kind = next(
            (_MULTIPLEXERS.get(int(found[1])) for found in _match_all(_SECONDARY, first)), None
        )
        drawn = b"".join(b"\r" + glyph.encode() + b"\x1b[6n" for glyph in glyphs)
        places = terminal.ask(_SIZE + drawn + _ERASE)
        more = [] if is_old else terminal.ask(_list_more_questions(environ, kind) + _ERASE)
        if terminal.is_waiting:
            at_end.enter_context(listening.pop_all())
    found = [(int(place[2]), int(place[1])) for place in _match_all(_PLACE, places)]
    is_whole = len(found) == 1 + len(glyphs)  # only their order distinguishes them
    name = next(_match_all(_NAME, more), None)
    kept = next(_match_all(_COLOR, more), None)
    primary = next(_match_all(_PRIMARY, first), None)
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
            for mode in _match_all(_MODE, more)
            if int(mode[1]) in MODES
        },
        kitty_keys=True if any(_match_all(_KITTY, more)) else None,
        true_color=_KEPT.search(kept[1]) is not None if kept else None,
        clipboard=True if primary and "52" in primary[1].split(";") else None,
    )


def _list_more_questions(environ: Mapping[str, str], kind: str | None) -> bytes:
    """Return questions that terminals since about 2000 ignore if they have no answer."""
    questions = b"\x1b[>0q\x1b[?u"
    if environ.get("TERM_PROGRAM") != "Apple_Terminal":  # it would draw the last letter
        questions += b"".join(b"\x1b[?%d$p" % number for number in MODES)
    # GNU screen passes this on without its brackets, and the terminal would draw it.
    if kind != "GNU screen" and "STY" not in environ:
        questions += b"\x1b[48;2;1;2;3m\x1bP$qm\x1b\\\x1b[m"
    return questions


def _match_all(pattern: re.Pattern[str], heard: list[str]) -> Iterator[re.Match[str]]:
    return filter(None, map(pattern.match, heard))
