"""Converts terminal input to Textual messages: keys, mouse events, pastes and answers to queries.

Answers that lockterm does not use are dropped; see :mod:`lockterm.terminal.input_tokens`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from textual import constants, events, messages
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._keyboard_protocol import FUNCTIONAL_KEYS, MODIFIER_FUNCTIONAL_KEYS
from textual._xterm_parser import IS_ITERM, XTermParser
from textual.keys import KEY_NAME_REPLACEMENTS, _character_to_key
from textual.message import Message

from lockterm.config.look import multiplexer
from lockterm.terminal.input_tokens import (
    ANSWER_S,
    Char,
    Escaped,
    InputTokenizer,
    Paste,
    Sequence,
    Token,
)

_NUMBER = r"(\d{1,6})"
# Strings, because ``re`` compiles and caches each at its first use; the first frame needs few.
_MOUSE = r"\x1b\[<\d{1,6};-?\d{1,6};-?\d{1,6}[Mm]\Z"
_CURSOR = rf"\x1b\[{_NUMBER};{_NUMBER}R\Z"
_MODE = rf"\x1b\[\?{_NUMBER};(\d)\$y\Z"
_SIZE = rf"\x1b\[48{f';{_NUMBER}(?::[0-9:]*)?' * 4}t\Z"
_ANSWER = r"\x1b\[(?:0n|[0-9;]+R|\?[0-9;]+\$y)\Z"
_CODED = r"\x1b\[(\d{0,7})(?::[0-9:]*)?(?:;(\d{0,3})(?::([0-9:]*))?)?(;[0-9:]*)?([~A-Su])\Z"
"""Matches the sequence of a key with modifiers, in the form of xterm and kitty."""
_RELEASED = "3"

_QUESTION = re.compile(r"\x1b\[(?:0?[56]n|\?\d+\$p)")
_LONGEST_QUESTION = 64
"""Maximum number of characters of a query. Longer output, such as a frame, contains no query."""

_MODIFIERS = ("shift", "alt", "ctrl", "super", "hyper", "meta")
_CHARACTERS = {"enter": "\r", "tab": "\t", "backspace": "\x7f", "escape": "\x1b"}
_META = 9
"""The modifier number of alt in older terminals and in iTerm. kitty uses this number for super."""

TWO_KEYS_S = 0.02
"""Minimum number of seconds between an ESC and a key if the user typed two separate keys.

If the user types a key with alt, a terminal sends the ESC and the key together.
"""

_SUPPORTED = (1, 2, 3)
"""The values in a terminal's report of a mode that mean that the terminal supports the mode."""


class StatusReport(events.Event, bubble=False):
    """The terminal's answer to ``ESC [ 5 n``.

    All keys that the user typed before the terminal answered have already arrived.
    """


class LettersDrawn(events.Event, bubble=False):
    """A report of how the terminal draws letters beyond ASCII.

    Args:
        utf8: Whether the terminal reads UTF-8.
        ambiguous: The width of a character of ambiguous width, in cells.
    """

    def __init__(self, utf8: bool, ambiguous: int) -> None:
        super().__init__()
        self.utf8 = utf8
        self.ambiguous = ambiguous


class EscapedKey(events.Event, bubble=False):
    """A key with an ESC just before it.

    Depending on the focus, ESC and key count as one key or as two keys.

    Args:
        key: The key.
        are_two: Whether the user may have typed Escape and the key as two separate keys.
    """

    def __init__(self, key: events.Key, are_two: bool) -> None:
        super().__init__()
        self.key = key
        self.with_alt = events.Key(_with_alt(key.key), None)
        """The ESC and the key as one key with alt."""
        self.escape = _typed("\x1b")
        self.are_two = are_two

    def keys(self, *, in_text: bool) -> tuple[events.Key, ...]:
        """Return the keys that are meant: Escape and the key, or one key with alt.

        Args:
            in_text: Whether letters are text now; if so, the result is always one key with alt.
        """
        return (self.escape, self.key) if self.are_two and not in_text else (self.with_alt,)


Arrived = events.Key | events.Paste | EscapedKey
"""The messages for keyboard input of the terminal."""


class TerminalInput:
    """A converter from bytes of the terminal to messages.

    Args:
        escape_delay_s: Seconds after which an ESC without more input is the Escape key.
        term: The terminal's type; None for the type in the environment. The Linux console has a
            different sequence for shift+tab. Multiplexers send Escape and the next key together:
            tmux within its ``escape-time`` of 0.5 s, GNU screen within its ``maptimeout`` of 0.3 s.
    """

    def __init__(
        self, escape_delay_s: float = constants.ESCAPE_DELAY, term: str | None = None
    ) -> None:
        environ = os.environ if term is None else {"TERM": term}
        self._joins_keys = multiplexer(environ) != "plain"
        self._tokenizer = InputTokenizer(
            escape_delay_s, escape_tab_is_backtab=environ.get("TERM") == "linux"
        )
        self._mouse = XTermParser()
        self.tells_sizes = False
        """Whether to use the terminal's in-band size reports; if False, the reports are ignored."""

    @property
    def due_s(self) -> float | None:
        """The time in seconds when :meth:`tick` must be called; None if it need not be called."""
        return self._tokenizer.due_s

    def note_written(self, data: str, now_s: float) -> None:
        """Count the queries in sent text, because an ESC may then begin an answer.

        Args:
            data: The text that is sent to the terminal.
            now_s: The time in seconds, on the clock of :meth:`feed`.
        """
        if len(data) <= _LONGEST_QUESTION:
            self._tokenizer.owed.extend(now_s + ANSWER_S for _ in _QUESTION.finditer(data))

    def feed(self, data: bytes, now_s: float) -> Iterator[Message]:
        """Yield the messages of new input; see :meth:`InputTokenizer.feed`."""
        for token in self._tokenizer.feed(data, now_s):
            yield from self._messages(token)

    def tick(self, now_s: float) -> Iterator[Message]:
        """Yield the keys that have waited long enough; see :meth:`InputTokenizer.tick`."""
        for token in self._tokenizer.tick(now_s):
            yield from self._messages(token)

    def _messages(self, token: Token) -> Iterator[Message]:
        if isinstance(token, Char):
            yield _typed(token.text)
        elif isinstance(token, Escaped):
            yield from self._escaped(token)
        elif isinstance(token, Paste):
            yield events.Paste(token.text)
        elif isinstance(token, Sequence):
            yield from self._meaning(token)

    def _escaped(self, token: Escaped) -> Iterator[Message]:
        """Yield an :class:`EscapedKey` if a key follows the ESC.

        If another message follows the ESC, yield the Escape key and that message.
        """
        joined = self._joins_keys and isinstance(token.key, Char)
        are_two = token.pause_s >= TWO_KEYS_S or joined
        for message in self._messages(token.key):
            if isinstance(message, events.Key):
                yield EscapedKey(message, are_two)
            else:
                yield from (_typed("\x1b"), message)

    def _meaning(self, token: Sequence) -> Iterator[Message]:
        text = token.text
        if self._tokenizer.owed and re.match(_ANSWER, text):
            self._tokenizer.owed.popleft()
        if text == "\x1b[I":
            yield events.AppFocus()
        elif text == "\x1b[O":
            yield events.AppBlur()
        elif text == "\x1b[0n":
            yield StatusReport()
        elif re.match(_MOUSE, text):
            if (moved := self._mouse.parse_mouse_code(text)) is not None:
                yield moved
        elif found := re.match(_CURSOR, text):
            yield events.CursorPosition(int(found[2]) - 1, int(found[1]) - 1)
        elif found := re.match(_MODE, text):
            yield from _mode(int(found[1]), int(found[2]))
        elif found := re.match(_SIZE, text):
            yield from self._resized(*map(int, found.groups()))
        else:
            yield from _keys(text)

    def _resized(self, rows: int, columns: int, high: int, wide: int) -> Iterator[Message]:
        if not (self.tells_sizes and rows and columns):
            return
        resized = events.Resize.from_dimensions((columns, rows), (wide, high))
        # The terminal reports the mouse in pixels from now on, if it can.
        self._mouse.terminal_size = resized.size
        self._mouse.terminal_pixel_size = resized.pixel_size if wide and high else None
        self._mouse.mouse_pixels = True
        yield resized


def _mode(mode: int, state: int) -> Iterator[Message]:
    if mode == 2026 and state in _SUPPORTED:
        yield messages.TerminalSupportsSynchronizedOutput()
    elif mode == 2048 and constants.SMOOTH_SCROLL and not IS_ITERM:
        yield messages.InBandWindowResize.from_setting_parameter(state)


def _typed(char: str) -> events.Key:
    """Return the key of a single character."""
    if char == "\n":  # sent by phone keyboards for Enter
        char = "\r"
    named = ANSI_SEQUENCES_KEYS.get(char)
    if isinstance(named, tuple):
        return events.Key(named[0].value, char)
    name = char if char.isalnum() else _character_to_key(char)
    return events.Key(KEY_NAME_REPLACEMENTS.get(name, name), char)


def _keys(sequence: str) -> Iterator[Message]:
    """Yield the key of a sequence, or nothing if the sequence is not a key.

    For many keys with alt, Textual's table contains two keys: Escape and another key. Therefore,
    such a sequence is parsed by its form and not with the table.
    """
    named = ANSI_SEQUENCES_KEYS.get(sequence)
    if isinstance(named, tuple) and len(named) == 1:
        yield events.Key(named[0].value, None)
    elif isinstance(named, str):
        yield _typed(named)
    elif found := re.match(_CODED, sequence):
        code, modifiers, how, text, end = found.groups()
        if (
            how != _RELEASED
            and (key := _coded(int(code or 1), int(modifiers or 1), text or "", end)) is not None
        ):
            yield key


def _coded(code: int, modifiers: int, text: str, end: str) -> events.Key | None:
    """Return the key of a sequence with modifiers, or None if the sequence is not a key.

    Such a sequence may arrive because an earlier program requested this form of keys.
    """
    if end == "~" and code == 27:  # xterm's modifyOtherKeys
        code, end, text = int(text[1:] or 0) if text[1:].isdecimal() else 0, "u", ""
    name = FUNCTIONAL_KEYS.get(f"{code}{end}")
    bits = (modifiers - 1) & 0x3F if modifiers else 0
    bits = 0b10 if modifiers == _META else bits
    held = [word for bit, word in enumerate(_MODIFIERS) if bits >> bit & 1]
    if name is not None:
        if name in MODIFIER_FUNCTIONAL_KEYS:
            held = []
        character = None if held else _CHARACTERS.get(name)
        return events.Key("+".join([*sorted(held), name]), character)
    if end != "u" or not 0x20 <= code < 0x110000 or 0xD800 <= code < 0xE000:
        return None
    if held in ([], ["shift"]):
        typed = text[1:].split(":")[0]
        shown = chr(int(typed)) if typed.isdecimal() and 0x20 <= int(typed) < 0xD800 else chr(code)
        return _typed(shown.upper() if held and not typed else shown)
    key = _typed(chr(code))
    return events.Key("+".join([*sorted(held), key.key]), None)


def _with_alt(key: str) -> str:
    """Return the name of a key with Alt.

    The result is alt+backspace for both ESC ^H and ESC DEL.
    """
    *held, name = key.split("+")
    return "+".join([*sorted({*held, "alt"}), name])
