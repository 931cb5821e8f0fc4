"""Queries to the terminal, whose replies must never be taken for typed keys.

During a conversation, the terminal does not echo its replies, and this module reads or discards all
replies. At the end, this module restores the terminal settings, even after an error or a signal.
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
"""The file descriptors for reading keys and for drawing screens, which Textual uses too."""

TIMEOUT_S = 2.0
"""The maximum time to wait for the first reply, in seconds. Every usable connection is faster."""

_ATTRIBUTES = re.compile(r"\x1b\[\?[0-9;]*c\Z")
_ENDING = (signal.SIGHUP, signal.SIGTERM)
_UNDISTURBED = (termios.VSUSP, termios.VQUIT, termios.VSTART, termios.VSTOP)
"""The control characters that are disabled during a conversation. Ctrl+C still ends the program."""


OWN_GLYPHS = ("·", "…", "─", "│", "▁")
"""Characters that lockterm itself draws, for example in lines and marks."""
NAME_GLYPHS = ("e\u0301", "長", "🔑")
"""An accented letter, a wide letter and an emoji, whose widths differ between terminals. Names of
remotes may contain such characters."""

LETTER = "ä"
"""A letter that takes one cell in a UTF-8 terminal, and two cells in a Latin-1 terminal.

The bytes of the letter do not contain a control character.
"""

MODES = {
    2026: "synchronizedOutput",
    2004: "bracketedPaste",
    1006: "mouse",
    2048: "sizeInBand",
}
"""Maps the numbers of private terminal modes to their names in the report."""

_PLACE = re.compile(r"\x1b\[(\d{1,9});(\d{1,9})R")
_MODE = re.compile(r"\x1b\[\?(\d{1,9});(\d)\$y")
_KITTY = re.compile(r"\x1b\[\?(\d+)u")
_NAME = re.compile(r"\x1bP>\|(.{,80})")
_COLOR = re.compile(r"\x1bP1\$r([0-9;:]*)m\Z")
_PRIMARY = re.compile(r"\x1b\[\?([0-9;]*)c")
_SECONDARY = re.compile(r"\x1b\[>(\d{1,9});(\d*)")
_KEPT = re.compile(r"48[:;]2[:;]+1[:;]2[:;]3")
_MULTIPLEXERS = {84: "tmux", 83: "GNU screen"}
"""Maps the number that a multiplexer reports as its terminal type to the multiplexer's name."""

_ERASE = b"\r\x1b[K"
_SIZE = b"\x1b7\x1b[999;999H\x1b[6n\x1b8"


class Conversation:
    """A context manager, for the main thread, that exchanges queries and replies with the terminal.

    Args:
        timeout_s: The maximum time to wait for the first reply, in seconds.
        raw: Whether the program receives every key, as in the UI. If so, Ctrl+C does not end the
            program.
    """

    def __init__(self, timeout_s: float = TIMEOUT_S, *, raw: bool = False) -> None:
        self._timeout_s = timeout_s
        self._raw = raw
        self.round_trip_s: float | None = None
        """The time from the first query to its reply, in seconds; None if there was no reply."""
        self.is_waiting = False
        """Whether a reply may still arrive."""
        self._tokenizer = InputTokenizer()
        self._settings: list[Any] = []
        self._handlers: dict[int, Any] = {}

    def ask(self, questions: bytes) -> list[str]:
        """Send queries and return the terminal's replies.

        Terminals reply in order, and every terminal reports its device attributes. This method
        therefore queries the device attributes last, so that their report is the last reply.

        Returns:
            The replies that arrived in time, each with its initial ESC. The terminators of control
            strings are removed.
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
        """Return the next input; None after a timeout, empty if the terminal was closed."""
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
    """Return whether stdin and stderr are the terminal that controls this process."""
    try:
        if os.ttyname(STDIN) != os.ttyname(STDERR):
            return False
    except OSError:
        return False
    try:
        return os.tcgetpgrp(STDIN) == os.getpgrp()  # a terminal stops processes in the background
    except OSError:
        return True  # not a controlling terminal, so it stops no process


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


@dataclass(frozen=True, slots=True)
class TerminalAnswers:
    """The reports of a terminal. A value is None or empty if the terminal did not report it."""

    round_trip_s: float | None = None
    """The time from the first query to its reply, in seconds."""
    name: str | None = None
    """The name and version of the terminal."""
    multiplexer: str | None = None
    """The multiplexer that replied: ``tmux`` or ``GNU screen``."""
    size: tuple[int, int] | None = None
    """The numbers of columns and rows that the cursor can reach."""
    widths: Mapping[str, int] = field(default_factory=dict)
    """Maps characters to the width that the terminal gives them, in cells."""
    modes: Mapping[str, bool] = field(default_factory=dict)
    """Maps the names in :data:`MODES` to whether the terminal supports the mode."""
    kitty_keys: bool | None = None
    """Whether the terminal can distinguish keys such as Ctrl+I and Tab (Kitty's protocol)."""
    true_color: bool | None = None
    """Whether the terminal keeps a 24-bit color unchanged."""
    clipboard: bool | None = None
    """True if the terminal reports that programs can set its clipboard (OSC 52). Otherwise None,
    because many terminals with this feature do not report it."""


def ask_terminal(
    environ: Mapping[str, str], at_end: ExitStack, *, utf8: bool = True
) -> TerminalAnswers:
    """Query the terminal about its abilities.

    If the first query gets no reply, the function sends no other queries. The queries draw on the
    line of the cursor, and clear the line afterwards.

    Args:
        environ: The environment variables, which identify old terminals. Old terminals would show
            some queries as text.
        at_end: The stack that ends the conversation later, if a reply may still arrive.
        utf8: Whether to measure all characters. If not, only one letter is measured, to find the
            encoding.
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
    is_whole = len(found) == 1 + len(glyphs)  # the answers differ only by their order
    name = next(_match_all(_NAME, more), None)
    color = next(_match_all(_COLOR, more), None)
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
        true_color=_KEPT.search(color[1]) is not None if color else None,
        clipboard=True if primary and "52" in primary[1].split(";") else None,
    )


def _list_more_questions(environ: Mapping[str, str], kind: str | None) -> bytes:
    """Return queries that all terminals since about the year 2000 either answer or ignore.

    Args:
        environ: The environment variables.
        kind: The multiplexer, or None if there is none.
    """
    questions = b"\x1b[>0q\x1b[?u"
    if environ.get("TERM_PROGRAM") != "Apple_Terminal":  # Terminal.app would draw the last letter
        questions += b"".join(b"\x1b[?%d$p" % number for number in MODES)
    # GNU screen passes on only the inside of this query, and the terminal would draw it.
    if kind != "GNU screen" and "STY" not in environ:
        questions += b"\x1b[48;2;1;2;3m\x1bP$qm\x1b\\\x1b[m"
    return questions


def _match_all(pattern: re.Pattern[str], heard: list[str]) -> Iterator[re.Match[str]]:
    return filter(None, map(pattern.match, heard))
